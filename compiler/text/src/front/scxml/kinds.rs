//! The kinds of values that an ECMAScript expression may have, and the type that can store them.

use crate::span::Span;
use crate::syntax::{TypeExpr, TypeKind};

/// A set of kinds of values, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kinds {
    own: u8,
    /// The kinds of the items, if the value is a list.
    items: u8,
}

impl Kinds {
    /// No value at all: an expression that always fails.
    pub(super) const NEVER: Self = Self::from_bits(0);
    /// `undefined` and `null`, which are one value here.
    pub(super) const NONE: Self = Self::from_bits(1);
    pub(super) const BOOL: Self = Self::from_bits(2);
    pub(super) const INT: Self = Self::from_bits(4);
    pub(super) const FLOAT: Self = Self::from_bits(8);
    pub(super) const NUMBER: Self = Self::from_bits(12);
    pub(super) const TEXT: Self = Self::from_bits(16);
    pub(super) const MAP: Self = Self { own: 64, items: 127 };
    pub(super) const ANY: Self = Self { own: 127, items: 127 };

    const fn from_bits(own: u8) -> Self {
        Self { own, items: 0 }
    }

    /// A list whose items have these kinds.
    pub(super) const fn list(self) -> Self {
        Self { own: 32, items: self.own }
    }

    /// The kinds of the items, if a value of these kinds is a list. The items of its items are not tracked: they may be of any kind.
    pub(super) const fn item(self) -> Self {
        Self { own: self.items, items: if self.items & 0x60 == 0 { 0 } else { 127 } }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self { own: self.own | other.own, items: self.items | other.items }
    }

    /// These kinds without those of `other`.
    pub(super) const fn less(self, other: Self) -> Self {
        Self { own: self.own & !other.own, items: self.items }
    }

    /// Whether all of these kinds are in `other`.
    pub(super) const fn within(self, other: Self) -> bool {
        self.own & !other.own == 0
    }

    /// Whether any of these kinds is in `other`.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.own & other.own != 0
    }

    /// Whether it is certainly a list, or either a list or nothing.
    pub(super) const fn is_list(self) -> bool {
        self.own == 32 || self.own == 33
    }

    pub(super) const fn may_be_list(self) -> bool {
        self.own & 32 != 0
    }

    /// Whether a value of these kinds may be equal to one of `other`.
    pub(super) const fn may_equal(self, other: Self) -> bool {
        self.meets(other) || self.meets(Self::NUMBER) && other.meets(Self::NUMBER)
    }

    /// The type of a variable that stores such values.
    pub(super) fn class(self) -> Class {
        match self.own {
            2 => Class::Bool,
            4 => Class::Int,
            8 | 12 => Class::Float,
            16 => Class::Text,
            _ => Class::Json,
        }
    }
}

/// The type of a translated expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The literal `none`, which has no type of its own.
    None,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
    Json,
}

impl Class {
    /// The type as it is declared.
    pub(super) fn written(self, span: Span) -> TypeExpr {
        let name = match self {
            Self::Bool => "Bool",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::Text => "Text",
            _ => "Json",
        };
        TypeExpr { kind: TypeKind::Name(name.to_owned()), span }
    }
}
