//! Values that a step reads before the turn can have set them, because only later steps set them.

use crate::facts::Facts;
use crate::facts::scope::meet;
use crate::facts::uses::{assigned, code_reads, early_reads};
use chartc_core::arena::{ComponentId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Chart, Expr, ExprKind, Insert, Permission, Step, StepKind, Template, TemplatePart, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a step that reads a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadingPart {
    /// The condition of the step.
    Guard,
    /// A part of the step's prompt, by its index.
    Prompt(usize),
    /// The condition of a component in the prompt.
    Injection(ComponentId),
    /// A part of a component in the prompt, by its index.
    Fragment(ComponentId, usize),
    /// The statements of a `code` step.
    Code,
    /// The guard of a transition on the step's outcome.
    Transition(TransitionId),
    /// The guard of a row of the transition table that the step's move needs, by the index of the row.
    Permission(usize),
}

/// A value that is not set at the start of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A per-turn variable.
    Variable(VarId),
    /// The answer of a step.
    Answer(StepId),
}

/// A step that always reads the default of a value, because only later steps of the turn set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Early {
    /// The step that reads.
    pub step: StepId,
    /// The part of the step that reads.
    pub reading: ReadingPart,
    /// The value that is read.
    pub value: Value,
    /// The first step that sets the value.
    pub setter: StepId,
}

/// The readings of values that only later steps set, ordered by step. Considers only variables with a constant default that nothing but
/// steps sets: what an event or the host sets may be set before the turn.
pub fn early(chart: &Chart, facts: &Facts) -> Vec<Early> {
    let setters = setters(chart);
    let table = table(chart);
    let mut injected: BTreeMap<StepId, Vec<(ComponentId, &Insert)>> = BTreeMap::new();
    for (i, component) in chart.components.iter().enumerate() {
        for insert in &component.inserts {
            injected.entry(insert.step).or_default().push((ComponentId::at(i), insert));
        }
    }
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        // With `own`, the step may have set the value itself before this reading, as in the guard of its outcome.
        let mut note = |reading: ReadingPart, read: BTreeSet<Value>, own: bool| {
            for value in read {
                let setter = match value {
                    Value::Variable(variable) => setters.get(&variable).copied(),
                    Value::Answer(step) => Some(step),
                };
                if let Some(setter) = setter.filter(|s| *s > id || (*s == id && !own)) {
                    found.push(Early { step: id, reading, value, setter });
                }
            }
        };
        if let Some(guard) = &step.guard {
            note(ReadingPart::Guard, reads(chart, guard), false);
        }
        for (part, expr) in step.prompt.iter().flat_map(parts) {
            note(ReadingPart::Prompt(part), reads(chart, expr), false);
        }
        for (component, insert) in injected.get(&id).into_iter().flatten() {
            if let Some(guard) = &insert.guard {
                note(ReadingPart::Injection(*component), reads(chart, guard), false);
            }
            for (part, expr) in parts(&chart.components[component.index()].text) {
                note(ReadingPart::Fragment(*component, part), reads(chart, expr), false);
            }
        }
        if let StepKind::Code(statements) = &step.kind {
            let own = assigned(statements);
            let read = code_reads(chart, statements).into_iter().map(Value::Variable);
            let read = read.filter(|v| !matches!(v, Value::Variable(v) if own.contains(v)));
            note(ReadingPart::Code, read.collect(), true);
        }
        for transition in &step.outcomes {
            if let Some(guard) = &chart.transition(*transition).guard {
                note(ReadingPart::Transition(*transition), reads(chart, guard), true);
            }
        }
        for (row, guard) in needed(chart, facts, &table, step) {
            note(ReadingPart::Permission(row), reads(chart, guard), true);
        }
    }
    found.sort_by_key(|e| (e.step, e.reading, e.value));
    found.dedup();
    found
}

/// By per-turn variable: the first step that sets it. Without variables that actions set or whose default is not constant.
fn setters(chart: &Chart) -> BTreeMap<VarId, StepId> {
    let mut first: BTreeMap<VarId, StepId> = BTreeMap::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let code = match &step.kind {
            StepKind::Code(statements) => assigned(statements),
            _ => BTreeSet::new(),
        };
        for variable in code.into_iter().chain(step.into) {
            first.entry(variable).or_insert(StepId::at(i));
        }
    }
    // Actions may run before any step, so a variable that they set may be set early.
    for variable in chart.blocks().flat_map(|actions| assigned(actions)) {
        first.remove(&variable);
    }
    first.retain(|id, _| {
        let variable = &chart.variables[id.index()];
        let fresh = matches!(variable.kind, VariableKind::Var { per_turn: true });
        fresh && variable.default.as_ref().is_some_and(is_constant)
    });
    first
}

/// Whether an expression reads nothing. Answers only for literals and empty collections.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..) => true,
        _ => false,
    }
}

/// The variables and answers that an expression reads, except on the left side of `??`.
fn reads(chart: &Chart, expr: &Expr) -> BTreeSet<Value> {
    let mut read = BTreeSet::new();
    early_reads(chart, expr, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            read.insert(Value::Variable(id));
        }
        if let ExprKind::Answer(step) = e.kind {
            read.insert(Value::Answer(step));
        }
    });
    read
}

/// The expressions in a template, with the indexes of their parts.
fn parts(text: &Template) -> impl Iterator<Item = (usize, &Expr)> {
    text.parts.iter().enumerate().filter_map(|(i, part)| match part {
        TemplatePart::Hole { expr, .. } => Some((i, expr)),
        TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
    })
}

/// The rows of the transition table with their indexes, by the state that they permit to enter.
type Table<'c> = BTreeMap<StateId, Vec<(usize, &'c Permission)>>;

fn table(chart: &Chart) -> Table<'_> {
    let mut rows = Table::new();
    for (row, permission) in chart.permissions.iter().enumerate() {
        rows.entry(permission.to).or_default().push((row, permission));
    }
    rows
}

/// The guards of rows without which a move of the step is not permitted, with the indexes of the rows.
fn needed<'c>(
    chart: &'c Chart,
    facts: &Facts,
    table: &Table<'c>,
    step: &Step,
) -> Vec<(usize, &'c Expr)> {
    let mut rows = Vec::new();
    for transition in &step.outcomes {
        let place = facts.scopes.transition(*transition);
        for target in &chart.transition(*transition).targets {
            let rows_to = table.get(&target.state).map_or(&[][..], Vec::as_slice);
            let fits = rows_to.iter().filter(|(_, p)| {
                p.from.is_none_or(|from| !meet(chart, &place.within, &[from]).is_empty())
            });
            let guards: Vec<_> = fits.map(|(row, p)| (*row, p.guard.as_ref())).collect();
            // If a row without a guard permits the move, none of the guards is needed.
            if guards.iter().all(|(_, guard)| guard.is_some()) {
                rows.extend(guards.into_iter().filter_map(|(row, guard)| Some((row, guard?))));
            }
        }
    }
    rows
}
