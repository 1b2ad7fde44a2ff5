//! What the emitter has to know of a chart's types before it names one.

use chartc_core::arena::TypeId;
use chartc_core::model::{Chart, Type, TypeKind};

/// Facts of the declared types, by id.
#[derive(Debug)]
pub(super) struct Facts {
    copy: Vec<bool>,
    allocates: Vec<bool>,
    circle: Vec<bool>,
}

impl Facts {
    /// Linear in the size of the declarations, but for chains of records, which cost their length once more.
    pub(super) fn of(chart: &Chart) -> Self {
        let circle = circles(chart);
        let mut facts =
            Self { copy: vec![true; chart.types.len()], allocates: circle.clone(), circle };
        // A record that takes a fact away from another one is mostly declared later: going backwards settles at once.
        let mut changed = true;
        while changed {
            changed = false;
            for (i, def) in chart.types.iter().enumerate().rev() {
                let TypeKind::Record(fields) = &def.kind else { continue };
                let allocates = facts.circle[i] || fields.iter().any(|f| facts.allocates(&f.ty));
                let copy = !allocates && fields.iter().all(|f| facts.is_copy(&f.ty));
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

    /// Whether a field of type `ty` in the record `owner` would hold the record itself and so stands in a `Box`.
    pub(super) fn is_boxed(&self, owner: TypeId, ty: &Type) -> bool {
        self.circle[owner.index()] && held(ty).is_some_and(|inner| self.circle[inner.index()])
    }
}

/// The declared type that a value of `ty` holds in itself, not behind a list or map.
fn held(ty: &Type) -> Option<TypeId> {
    match ty {
        Type::Named(id) => Some(*id),
        Type::Optional(inner) => held(inner),
        Type::Bool
        | Type::Int
        | Type::Float
        | Type::Text
        | Type::Duration
        | Type::Json
        | Type::List(_)
        | Type::Map(_) => None,
    }
}

/// By type: whether it is a record on a circle of records that hold each other, or between two such circles.
fn circles(chart: &Chart) -> Vec<bool> {
    let mut forth = vec![Vec::new(); chart.types.len()];
    let mut back = vec![Vec::new(); chart.types.len()];
    for (i, def) in chart.types.iter().enumerate() {
        if let TypeKind::Record(fields) = &def.kind {
            for inner in fields.iter().filter_map(|f| held(&f.ty)) {
                forth[i].push(inner.index());
                back[inner.index()].push(i);
            }
        }
    }
    let ends = peeled(&forth, &back);
    peeled(&back, &forth).into_iter().zip(ends).map(|(a, b)| !a && !b).collect()
}

/// By node: whether every walk from it ends.
fn peeled(forth: &[Vec<usize>], back: &[Vec<usize>]) -> Vec<bool> {
    let mut left: Vec<usize> = forth.iter().map(Vec::len).collect();
    let mut peeled: Vec<bool> = left.iter().map(|n| *n == 0).collect();
    let mut open: Vec<usize> = (0..left.len()).filter(|i| peeled[*i]).collect();
    while let Some(node) = open.pop() {
        for from in &back[node] {
            left[*from] -= 1;
            if left[*from] == 0 {
                peeled[*from] = true;
                open.push(*from);
            }
        }
    }
    peeled
}
