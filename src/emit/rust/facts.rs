//! What the emitter has to know of a chart's types before it names one.

use chartc_core::model::{Chart, Type, TypeKind};

/// Facts of the declared types, by id.
#[derive(Debug)]
pub(super) struct Facts {
    copy: Vec<bool>,
    allocates: Vec<bool>,
}

impl Facts {
    /// Linear in the size of the declarations, times the longest chain of records declared in the order of their use.
    pub(super) fn of(chart: &Chart) -> Self {
        let types = chart.types.len();
        let mut facts = Self { copy: vec![true; types], allocates: vec![false; types] };
        let mut changed = true;
        while changed {
            changed = false;
            for (i, def) in chart.types.iter().enumerate().rev() {
                let TypeKind::Record(fields) = &def.kind else { continue };
                let allocates = fields.iter().any(|f| facts.allocates(&f.ty));
                let copy = fields.iter().all(|f| facts.is_copy(&f.ty));
                changed |= (facts.allocates[i], facts.copy[i]) != (allocates, copy);
                (facts.allocates[i], facts.copy[i]) = (allocates, copy);
            }
        }
        facts
    }

    /// Whether the Rust type is `Copy`.
    pub(super) fn is_copy(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Duration => true,
            Type::Text | Type::Json | Type::List(_) | Type::Map(_) => false,
            Type::Optional(inner) => self.is_copy(inner),
            Type::Named(id) => self.copy[id.index()],
        }
    }

    /// Whether values of `ty` need an allocator.
    pub(super) fn allocates(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Duration => false,
            Type::Text | Type::Json | Type::List(_) | Type::Map(_) => true,
            Type::Optional(inner) => self.allocates(inner),
            Type::Named(id) => self.allocates[id.index()],
        }
    }
}
