//! Lines that split one moment among themselves, and leave one case out.

use super::Facts;
use super::guard::{Verdict, compatible, decide};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::model::{BinaryOp, Chart, CompareOp, Expr, ExprKind, Trigger, Type, UnaryOp};
use std::collections::BTreeMap;

/// Most lines of one moment that are looked at.
const MOST: usize = 20;
/// Most variables of the case that is left out.
const VARIABLES: usize = 2;

/// A case that no line takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The lines, in the order tried; at least two, each with a condition.
    pub lines: Vec<TransitionId>,
    /// The only values that none of the conditions holds for: variables with their values.
    pub case: Vec<(Expr, Value)>,
}

/// When lines are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Done(StepId),
    Event(StateId, EventId),
}

/// Every such case, by the first of its lines. Reported is only what looks forgotten: two or more lines that share every case but one
/// among themselves, which is one value of each variable that they read. A wider rest may be meant to stay.
pub fn gaps(chart: &Chart, facts: &Facts) -> Vec<Gap> {
    let mut moments: BTreeMap<Moment, Vec<TransitionId>> = BTreeMap::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        match &line.trigger {
            Trigger::StepDone(step) => moments.entry(Moment::Done(*step)).or_default().push(id),
            Trigger::Event(events) => {
                for event in events {
                    moments.entry(Moment::Event(line.source, *event)).or_default().push(id);
                }
            }
            Trigger::AnyEvent
            | Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::StateDone(_)
            | Trigger::After(_)
            | Trigger::AfterTurns(_)
            | Trigger::Choice(_)
            | Trigger::StepError(_)
            | Trigger::StepTimeout(..)
            | Trigger::StepDoubt(_)
            | Trigger::StepElse(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => {}
        }
    }
    // States whose own lines or questions may take any event.
    let any = |line: &TransitionId| {
        matches!(chart.transition(*line).trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
    };
    let catching: Vec<bool> = chart
        .states
        .iter()
        .map(|row| row.transitions.iter().any(any) || !row.steps.is_empty())
        .collect();
    let mut found: Vec<Gap> = moments
        .iter()
        .filter(|(moment, _)| !is_taken_elsewhere(chart, **moment, &moments, &catching))
        .filter_map(|(_, lines)| gap(chart, facts, lines))
        .collect();
    found.sort_by_key(|gap| gap.lines.first().copied());
    found.dedup();
    found
}

/// Whether something else may take what the lines leave: of a state around theirs, any line for the same event, or a question.
fn is_taken_elsewhere(
    chart: &Chart,
    moment: Moment,
    moments: &BTreeMap<Moment, Vec<TransitionId>>,
    catching: &[bool],
) -> bool {
    let Moment::Event(state, event) = moment else { return false };
    chart.ancestors(state).any(|around| {
        let same = around != state && moments.contains_key(&Moment::Event(around, event));
        same || catching[around.index()]
    })
}

fn gap(chart: &Chart, facts: &Facts, lines: &[TransitionId]) -> Option<Gap> {
    if !(2..=MOST).contains(&lines.len()) {
        return None;
    }
    let mut rest = Vec::new();
    for id in lines {
        let line = chart.transition(*id);
        if line.scope.is_some() || !facts.reach.takes(*id) {
            return None;
        }
        rest.push((line.guard.as_ref()?, false));
    }
    // What overlaps was not meant to split the cases.
    let guards: Vec<&Expr> = rest.iter().map(|(guard, _)| *guard).collect();
    let apart = |(i, guard): (usize, &&Expr)| {
        guards[..i].iter().all(|other| !compatible(chart, Some(*other), Some(*guard)))
    };
    if !guards.iter().enumerate().all(apart) {
        return None;
    }
    let Verdict::Example(case) = decide(chart, &rest) else { return None };
    if !(1..=VARIABLES).contains(&case.len()) {
        return None;
    }
    let only = case.iter().map(|(term, value)| is(term, value)).reduce(|a, b| {
        let both = ExprKind::Binary(BinaryOp::And, Box::new(a?), Box::new(b?));
        Some(Expr { kind: both, ty: Type::Bool })
    })??;
    rest.push((&only, false));
    (decide(chart, &rest) == Verdict::Never).then(|| Gap { lines: lines.to_vec(), case })
}

/// A condition that holds for this value of the term only.
fn is(term: &Expr, value: &Value) -> Option<Expr> {
    let kind = match (value, &term.ty) {
        (Value::Bool(true), Type::Bool) => return Some(term.clone()),
        (Value::Bool(false), Type::Bool) => {
            let not = ExprKind::Unary(UnaryOp::Not, Box::new(term.clone()));
            return Some(Expr { kind: not, ty: Type::Bool });
        }
        (Value::Int(n), Type::Int) => ExprKind::Int(*n),
        (Value::Float(n), Type::Float) => ExprKind::Float(*n),
        (Value::Text(name), Type::Named(id)) => ExprKind::Enum(*id, name.clone()),
        (
            Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Duration(_)
            | Value::List(_)
            | Value::Map(_),
            _,
        ) => return None,
    };
    let constant = Expr { kind, ty: term.ty.clone() };
    let compare = ExprKind::Compare(Box::new(term.clone()), vec![(CompareOp::Equal, constant)]);
    Some(Expr { kind: compare, ty: Type::Bool })
}
