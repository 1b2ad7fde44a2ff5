//! Computes facts about a chart's types that the emitter needs before it writes them.

use chartc_core::model::{Action, Chart, StepKind, Type, TypeKind};

/// Facts about the declared types, by id.
#[derive(Debug)]
pub(super) struct Facts {
    copy: Vec<bool>,
    allocates: Vec<bool>,
    nests: Vec<bool>,
}

impl Facts {
    /// Computes the facts in time linear in the size of the declarations, times the longest chain of records that refer to earlier ones.
    pub(super) fn new(chart: &Chart) -> Self {
        let types = chart.types.len();
        let mut facts = Self {
            copy: vec![true; types],
            allocates: vec![false; types],
            nests: vec![false; types],
        };
        let mut changed = true;
        while changed {
            changed = false;
            // Backwards, so that a record comes after later ones to which it refers.
            for (i, def) in chart.types.iter().enumerate().rev() {
                let TypeKind::Record(fields) = &def.kind else { continue };
                let allocates = fields.iter().any(|f| facts.allocates(&f.ty));
                let copy = fields.iter().all(|f| facts.is_copy(&f.ty));
                let nests = fields.iter().any(|f| facts.nests(&f.ty));
                let before = (facts.allocates[i], facts.copy[i], facts.nests[i]);
                changed |= before != (allocates, copy, nests);
                (facts.allocates[i], facts.copy[i], facts.nests[i]) = (allocates, copy, nests);
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

    /// Whether values of `ty` can nest to any depth, because they contain JSON.
    pub(super) fn nests(&self, ty: &Type) -> bool {
        match ty {
            Type::Json => true,
            Type::Bool | Type::Int | Type::Float | Type::Duration | Type::Text => false,
            Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => self.nests(inner),
            Type::Named(id) => self.nests[id.index()],
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

/// Whether no declaration needs an allocator. Expressions may still need one.
pub(super) fn is_bare(chart: &Chart, facts: &Facts) -> bool {
    let plain = |ty: &Type| !facts.allocates(ty);
    let fields = |list: &[chartc_core::model::Field]| list.iter().all(|f| plain(&f.ty));
    chart.variables.iter().all(|v| plain(&v.ty))
        && chart
            .types
            .iter()
            .enumerate()
            .all(|(i, _)| plain(&Type::Named(chartc_core::arena::TypeId::at(i))))
        && chart.events.iter().all(|e| fields(&e.fields))
        && chart.functions.iter().all(|f| {
            fields(&f.params)
                && match &f.kind {
                    chartc_core::model::FunctionKind::Pure { result, .. } => plain(result),
                    chartc_core::model::FunctionKind::Effect => true,
                }
        })
        && chart.choices.is_empty()
        && chart.steps.iter().all(|s| matches!(s.kind, StepKind::Code(_)))
        && chart.states.iter().all(|s| {
            s.advice.is_none()
                && match &s.kind {
                    chartc_core::model::StateKind::Final { params, .. } => fields(params),
                    chartc_core::model::StateKind::Atomic
                    | chartc_core::model::StateKind::Compound { .. }
                    | chartc_core::model::StateKind::Parallel
                    | chartc_core::model::StateKind::History { .. } => true,
                }
        })
        && chart.blocks().all(|block| silent(block))
}

/// Whether no action logs, which would need an allocator.
fn silent(actions: &[Action]) -> bool {
    let mut silent = true;
    Action::walk(actions, &mut |action| silent &= !matches!(action, Action::Log(_)));
    silent
}
