//! The enums of a generated file: names of the chart, and events, options and answers with their data.
//!
//! The problem: each such enum needs its spelling, its number and its conversions from and to values, which follow from the variants and
//! the numbers of their rows alone. The idea: the file declares the enum, with the row and the name of each variant where Rust has the
//! discriminant, and a macro writes the rest. For example:
//!
//! ```text
//! names! { #[rows("state", StateId)] pub enum State { Off = (1, "off") } }                 State::Off.name() is "off", its id 1
//! items! { #[rows("event", EventId, EventName)] pub enum Event { Set { to: i64 } = (0, "set") } }      and `EventName`
//! answers! { #[rows(Step)] pub enum Answer { Ask(String) = 2 } }                           Answer::Ask(…).step() is Step::Ask
//! ```

use super::UnknownName;
use crate::arena::StepId;
use core::fmt::Debug;

/// An enum of names of the chart.
pub trait Name: Copy + PartialEq + Debug + 'static {
    /// Room for each name once.
    type Each: AsMut<[Option<Self>]> + IntoIterator<Item = Option<Self>>;
    /// The kind of thing that is named, such as `state`.
    const WHAT: &'static str;
    /// Every name, in document order.
    const NAMES: &'static [Self];
    /// Room without any name.
    const NONE: Self::Each;
    /// The name as the chart spells it.
    fn spelled(self) -> &'static str;
    /// The number of its row in the tables.
    fn row(self) -> u32;
}

/// An enum of events or options, with their data.
pub trait Item: Clone + PartialEq + Debug {
    /// The enum of their names.
    type Name: Name;
    /// The name.
    fn named(&self) -> Self::Name;
    /// Whether its numbers are within their ranges. Those in records count as checked when the record was made.
    fn is_in_range(&self) -> bool;
    /// Whether it has data that a guard or an action may read.
    fn has_data(&self) -> bool;
    /// Reads the item of a row from its values, of which `values` has as many as are declared.
    ///
    /// # Errors
    /// A value does not fit, or there is no such row.
    #[cfg(feature = "alloc")]
    fn read(row: u32, values: &mut super::Values) -> Result<Self, crate::host::Mismatch>;
    /// The data in declared order.
    #[cfg(feature = "alloc")]
    fn into_values(self) -> super::Vec<crate::expr::Value>;
}

/// An enum of the answers of steps.
pub trait Answers: Clone + PartialEq + Debug {
    /// The step whose answer it is.
    fn of(&self) -> StepId;
    /// Whether it is within the range of the step's answers.
    fn is_in_range(&self) -> bool;
    /// Reads the answer of a step; `None` if the step has no answer.
    #[cfg(feature = "alloc")]
    fn read(step: StepId, value: crate::expr::Value)
    -> Option<Result<Self, crate::host::Mismatch>>;
}

/// Stands for what a chart does not have, such as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {}

impl Name for Absent {
    type Each = [Option<Self>; 0];
    const WHAT: &'static str = "";
    const NAMES: &'static [Self] = &[];
    const NONE: Self::Each = [];

    fn spelled(self) -> &'static str {
        match self {}
    }

    fn row(self) -> u32 {
        match self {}
    }
}

impl Item for Absent {
    type Name = Self;

    fn named(&self) -> Self {
        *self
    }

    fn is_in_range(&self) -> bool {
        match *self {}
    }

    fn has_data(&self) -> bool {
        match *self {}
    }

    #[cfg(feature = "alloc")]
    fn read(_: u32, _: &mut super::Values) -> Result<Self, crate::host::Mismatch> {
        Err(crate::host::Mismatch("the chart has none".into()))
    }

    #[cfg(feature = "alloc")]
    fn into_values(self) -> super::Vec<crate::expr::Value> {
        match self {}
    }
}

impl Answers for Absent {
    fn of(&self) -> StepId {
        match *self {}
    }

    fn is_in_range(&self) -> bool {
        match *self {}
    }

    #[cfg(feature = "alloc")]
    fn read(_: StepId, _: crate::expr::Value) -> Option<Result<Self, crate::host::Mismatch>> {
        None
    }
}

/// The variant with this name.
///
/// # Errors
/// No variant has the name, or several have it.
pub fn named<N: Name>(name: &str) -> Result<N, UnknownName> {
    let mut all = N::NAMES.iter().filter(|one| one.spelled() == name);
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(*one),
        _ => Err(UnknownName(N::WHAT)),
    }
}

/// The number of texts.
pub const fn count(texts: &[&str]) -> usize {
    texts.len()
}

/// Declares an enum of names with `ALL`, `name`, `id`, `Display`, `FromStr`, and `serde` by name. An enum without an id is one of the types
/// of the chart, which has conversions from and to values.
#[macro_export]
macro_rules! names {
    (@rest $what:literal $name:ident [$($variant:ident = $spelled:literal,)*] $row:expr) => {
        impl $name {
            #[doc = concat!("Every ", $what, ", in document order.")]
            pub const ALL: [Self; $crate::generated::count(&[$($spelled),*])] =
                [$(Self::$variant),*];

            /// As the chart spells it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $spelled,)*
                }
            }
        }

        impl $crate::generated::Name for $name {
            type Each = [Option<Self>; $crate::generated::count(&[$($spelled),*])];
            const WHAT: &'static str = $what;
            const NAMES: &'static [Self] = &Self::ALL;
            const NONE: Self::Each = [None; $crate::generated::count(&[$($spelled),*])];

            fn spelled(self) -> &'static str {
                self.name()
            }

            #[inline]
            fn row(self) -> u32 {
                let row: fn(Self) -> u32 = $row;
                row(self)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::generated::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::generated::UnknownName> {
                $crate::generated::named(name)
            }
        }

        $crate::serde_by_name!($name);
    };
    (
        @enum [$(#[$meta:meta])*]
        $name:ident [$([$(#[$doc:meta])*] $variant:ident = $row:literal, $spelled:literal;)+]
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* #[doc = ""] #[doc = concat!("`", $spelled, "`.")] $variant = $row,)+
        }
    };
    (#[rows($what:literal, $id:ident)] $(#[$meta:meta])* pub enum $name:ident {}) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {}

        impl $name {
            /// Its row in the tables of the chart.
            pub const fn id(self) -> $crate::arena::$id {
                match self {}
            }
        }

        $crate::names!(@rest $what $name [] |name| match name {});
    };
    (
        #[rows($what:literal)]
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = ($row:literal, $spelled:literal),)+
        }
    ) => {
        $crate::names!(@enum [$(#[$meta])*] $name [$([$(#[$doc])*] $variant = $row, $spelled;)+]);
        $crate::names!(@rest $what $name [$($variant = $spelled,)+] |name| name as u32);
        $crate::when_alloc! {
            impl $crate::expr::IntoValue for $name {
                fn into_value(self) -> $crate::expr::Value {
                    $crate::generated::text(self.name())
                }
            }

            impl $crate::expr::FromValue for $name {
                fn type_text() -> $crate::generated::String {
                    $what.into()
                }

                fn from_value(
                    value: $crate::expr::Value,
                ) -> Result<Self, $crate::host::Mismatch> {
                    $crate::generated::parsed(value)
                }
            }
        }
    };
    (
        #[rows($what:literal, $id:ident)]
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = ($row:literal, $spelled:literal),)+
        }
    ) => {
        $crate::names!(@enum [$(#[$meta])*] $name [$([$(#[$doc])*] $variant = $row, $spelled;)+]);

        impl $name {
            /// Its row in the tables of the chart.
            pub const fn id(self) -> $crate::arena::$id {
                $crate::arena::$id(self as u32)
            }
        }

        $crate::names!(@rest $what $name [$($variant = $spelled,)+] |name| name as u32);
    };
}

/// Declares an enum of events or options with `name` and `Display`, and the enum of their names.
#[macro_export]
macro_rules! items {
    (
        #[rows($what:literal, $id:ident, $names:ident)]
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident $({
                    $(
                        $(#[doc = $told:literal])*
                        $(#[within($low:literal..=$high:literal)])?
                        $field:ident: $type:ty,
                    )+
                })? = ($row:literal, $spelled:literal),
            )+
        }
    ) => {
        $crate::names! {
            #[rows($what, $id)]
            #[doc = concat!("The name of an ", $what, ".")]
            pub enum $names {
                $($(#[$doc])* $variant = ($row, $spelled),)+
            }
        }

        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $(
                $(#[$doc])* #[doc = ""] #[doc = concat!("`", $spelled, "`.")]
                $variant $({ $($(#[doc = $told])* $field: $type,)+ })?,
            )+
        }

        impl $name {
            #[doc = concat!("Which ", $what, " it is.")]
            pub const fn name(&self) -> $names {
                match self {
                    $(Self::$variant { .. } => $names::$variant,)+
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name().name())
            }
        }

        impl $crate::generated::Item for $name {
            type Name = $names;

            #[inline]
            fn named(&self) -> $names {
                self.name()
            }

            #[inline]
            fn is_in_range(&self) -> bool {
                match self {
                    $(Self::$variant $({ $($field,)+ })? => {
                        $($(let _ = $field;)+)?
                        true $($($(&& ($low..=$high).contains($field))?)+)?
                    })+
                }
            }

            #[inline]
            fn has_data(&self) -> bool {
                match self {
                    $(Self::$variant { .. } => {
                        $crate::generated::count(&[$($(stringify!($field)),+)?]) > 0
                    })+
                }
            }

            $crate::when_alloc! {
                fn read(
                    row: u32,
                    values: &mut $crate::generated::Values,
                ) -> Result<Self, $crate::host::Mismatch> {
                    let _ = &values;
                    Ok(match row {
                        $($row => Self::$variant $({
                            $($field: {
                                let value = values.take::<$type>()?;
                                $(values.within(value, $low, $high)?;)?
                                value
                            },)+
                        })?,)+
                        _ => return Err($crate::generated::no_row($what, row)),
                    })
                }

                fn into_values(self) -> $crate::generated::Vec<$crate::expr::Value> {
                    match self {
                        $(Self::$variant $({ $($field,)+ })? => {
                            $crate::generated::Vec::from([
                                $($($crate::expr::IntoValue::into_value($field),)+)?
                            ])
                        })+
                    }
                }
            }
        }
    };
}

/// Declares an enum of the answers of steps, with `step`.
#[macro_export]
macro_rules! answers {
    (
        #[rows($steps:ident)]
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident($(#[within($low:literal..=$high:literal)])? $type:ty) = $row:literal,
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $($(#[$doc])* $variant($type),)+
        }

        impl $name {
            /// Whose answer it is.
            pub const fn step(&self) -> $steps {
                match self {
                    $(Self::$variant(_) => $steps::$variant,)+
                }
            }
        }

        impl $crate::generated::Answers for $name {
            fn of(&self) -> $crate::arena::StepId {
                self.step().id()
            }

            fn is_in_range(&self) -> bool {
                match self {
                    $(Self::$variant(value) => {
                        let _ = value;
                        true $(&& ($low..=$high).contains(value))?
                    })+
                }
            }

            $crate::when_alloc! {
                fn read(
                    step: $crate::arena::StepId,
                    value: $crate::expr::Value,
                ) -> Option<Result<Self, $crate::host::Mismatch>> {
                    match step.0 {
                        $($row => Some($crate::generated::read::<$type>(value)
                            $(.and_then(|value| $crate::generated::in_range(value, $low, $high)))?
                            .map(Self::$variant)),)+
                        _ => None,
                    }
                }
            }
        }
    };
}

/// Declares a record of the chart with conversions from and to values. A field whose type is optional may be absent.
#[macro_export]
macro_rules! record {
    (
        #[rows($name:literal $(, $spelled:literal)*)]
        $(#[$meta:meta])*
        pub struct $record:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[within($low:literal..=$high:literal)])?
                pub $field:ident: $type:ty,
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $record {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        $crate::when_alloc! {
            impl $crate::expr::IntoValue for $record {
                fn into_value(self) -> $crate::expr::Value {
                    $crate::generated::record([
                        $(($spelled, $crate::expr::IntoValue::into_value(self.$field)),)*
                    ])
                }
            }

            impl $crate::expr::FromValue for $record {
                fn type_text() -> $crate::generated::String {
                    $name.into()
                }

                fn from_value(
                    value: $crate::expr::Value,
                ) -> Result<Self, $crate::host::Mismatch> {
                    let mut fields = $crate::generated::Fields::of::<Self>(value)?;
                    let record = Self {
                        $($field: {
                            let value = fields.take::<$type>($spelled)?;
                            $($crate::generated::Fields::within($spelled, value, $low, $high)?;)?
                            value
                        },)*
                    };
                    fields.end(&[$($spelled),*])?;
                    Ok(record)
                }
            }
        }
    };
}
