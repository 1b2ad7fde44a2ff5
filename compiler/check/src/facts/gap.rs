//! Transitions that distinguish the cases of one trigger and omit exactly one case.
//!
//! For example, `done if mode == Mode.fast -> a` and `done if mode == Mode.slow -> b` omit `Mode.off` if that is the only other name.

use crate::facts::Facts;
use crate::facts::guard::{Verdict, compatible, decide, implies};
use crate::facts::term::root;
use crate::facts::usage::{ExprOwner, expressions};
use crate::facts::uses::own_walk;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::model::{BinaryOp, Chart, CompareOp, Expr, ExprKind, Trigger, Type, UnaryOp};
use std::collections::BTreeMap;

/// The maximum number of transitions of one trigger that are examined.
const MOST: usize = 20;
/// The maximum number of variables in the omitted case.
const VARIABLES: usize = 2;

/// A case that no transition takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The transitions of the trigger in document order: at least two, each with a guard.
    pub transitions: Vec<TransitionId>,
    /// The only values for which no guard holds, as pairs of a variable and its value.
    pub case: Vec<(Expr, Value)>,
}

impl Gap {
    /// Whether the case is about an answer or the data of an event, and not about variables.
    pub fn is_given(&self) -> bool {
        self.case
            .iter()
            .any(|(term, _)| matches!(root(term).kind, ExprKind::Answer(_) | ExprKind::Payload(_)))
    }
}

/// A trigger whose transitions are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GapTrigger {
    Done(StepId),
    Event(StateId, EventId),
}

/// The gaps, ordered by their first transition. Reports only gaps that look forgotten: two or more disjoint guards cover every case
/// except one, which is a single value of each variable that they read. A larger remainder may be intended.
pub fn gaps(chart: &Chart, facts: &Facts) -> Vec<Gap> {
    let mut moments: BTreeMap<GapTrigger, Vec<TransitionId>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        match &transition.trigger {
            Trigger::StepDone(step) => moments.entry(GapTrigger::Done(*step)).or_default().push(id),
            Trigger::Event(events) => {
                for event in events {
                    moments
                        .entry(GapTrigger::Event(transition.source, *event))
                        .or_default()
                        .push(id);
                }
            }
            _ => {}
        }
    }
    // States that may handle any event: by a transition for any event, or by a step, which may be a question.
    let any = |transition: &TransitionId| {
        matches!(chart.transition(*transition).trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
    };
    let catching: Vec<bool> = chart
        .states
        .iter()
        .map(|row| row.transitions.iter().any(any) || !row.steps.is_empty())
        .collect();
    let last = Last::new(chart, facts);
    let mut found: Vec<Gap> = moments
        .iter()
        .filter(|(_, transitions)| (2..=MOST).contains(&transitions.len()))
        .filter(|(moment, _)| !is_taken_elsewhere(chart, &last, **moment, &moments, &catching))
        .filter_map(|(_, transitions)| gap(chart, facts, transitions))
        .collect();
    found.retain(|gap| !is_asked_elsewhere(chart, gap));
    found.sort_by_key(|gap| gap.transitions.first().copied());
    found.dedup();
    found
}

/// The last step, by index, that may run in each state.
struct Last<'f> {
    facts: &'f Facts,
    /// By state: the last step whose scope condition lists the state.
    own: Vec<Option<usize>>,
    /// By state: the last step whose scope condition lists the state or a descendant.
    below: Vec<Option<usize>>,
}

impl<'f> Last<'f> {
    fn new(chart: &Chart, facts: &'f Facts) -> Self {
        let mut own = vec![None; chart.states.len()];
        for (nth, place) in facts.scopes.steps.iter().enumerate() {
            for state in &place.within {
                own[state.index()] = Some(nth);
            }
        }
        let mut below = own.clone();
        for i in (0..below.len()).rev() {
            if let Some(parent) = chart.states[i].parent {
                below[parent.index()] = below[parent.index()].max(below[i]);
            }
        }
        Self { facts, own, below }
    }

    /// Whether a later step may run in a state where this step may run.
    fn is_after(&self, chart: &Chart, step: StepId) -> bool {
        let later = |last: Option<usize>| last > Some(step.index());
        self.facts.scopes.step(step).within.iter().any(|here| {
            later(self.below[here.index()])
                || chart.ancestors(*here).any(|s| later(self.own[s.index()]))
        })
    }
}

/// Whether something else may handle the omitted case: for an event, a transition or step of an ancestor; for the outcome of a step, a
/// later step of the same walk.
fn is_taken_elsewhere(
    chart: &Chart,
    last: &Last<'_>,
    moment: GapTrigger,
    moments: &BTreeMap<GapTrigger, Vec<TransitionId>>,
    catching: &[bool],
) -> bool {
    let (state, event) = match moment {
        GapTrigger::Event(state, event) => (state, event),
        GapTrigger::Done(step) => return last.is_after(chart, step),
    };
    chart.ancestors(state).any(|around| {
        let same = around != state && moments.contains_key(&GapTrigger::Event(around, event));
        same || catching[around.index()]
    })
}

/// Whether other conditions test the answer that the omitted case is about, directly or in the variable that stores it.
fn is_asked_elsewhere(chart: &Chart, gap: &Gap) -> bool {
    let steps: Vec<StepId> =
        gap.case
            .iter()
            .filter_map(|(term, _)| {
                if let ExprKind::Answer(step) = root(term).kind { Some(step) } else { None }
            })
            .collect();
    let mut asked = false;
    if !steps.is_empty() {
        expressions(chart, &mut |spot, expr| {
            let own = matches!(spot, ExprOwner::Transition(id)
                if chart.transition(id).trigger.step().is_some_and(|s| steps.contains(&s)));
            if own || matches!(spot, ExprOwner::Value(_) | ExprOwner::Other) {
                return;
            }
            own_walk(expr, &mut |e| {
                if let ExprKind::Answer(step) = e.kind {
                    asked |= steps.contains(&step);
                } else if let ExprKind::Variable(id) = e.kind {
                    asked |= steps.iter().any(|s| chart.steps[s.index()].into == Some(id));
                }
            });
        });
    }
    asked
}

/// The gap that these transitions of one trigger leave, if there is one.
fn gap(chart: &Chart, facts: &Facts, all: &[TransitionId]) -> Option<Gap> {
    if !(2..=MOST).contains(&all.len()) {
        return None;
    }
    let mut transitions: Vec<TransitionId> = Vec::new();
    let mut guards: Vec<&Expr> = Vec::new();
    for id in all {
        let transition = chart.transition(*id);
        if transition.scope.is_some() || !facts.reach.can_take(*id) {
            return None;
        }
        let guard = transition.guard.as_ref()?;
        // A transition that an earlier one shadows covers no case.
        if !guards.iter().any(|other| implies(chart, Some(guard), Some(*other))) {
            transitions.push(*id);
            guards.push(guard);
        }
    }
    // Overlapping guards were not meant to partition the cases.
    let apart = |(i, guard): (usize, &&Expr)| {
        guards[..i].iter().all(|other| !compatible(chart, Some(*other), Some(*guard)))
    };
    if transitions.len() < 2 || !guards.iter().enumerate().all(apart) {
        return None;
    }
    let rest: Vec<(&Expr, bool)> = guards.iter().map(|guard| (*guard, false)).collect();
    only_case(chart, &rest).map(|case| Gap { transitions, case })
}

/// The only values of the terms, at most [`VARIABLES`] of them, under which each condition has its wanted value; `None` if there are others.
pub(crate) fn only_case(chart: &Chart, goals: &[(&Expr, bool)]) -> Option<Vec<(Expr, Value)>> {
    let Verdict::Example(case) = decide(chart, goals) else { return None };
    if !(1..=VARIABLES).contains(&case.len()) {
        return None;
    }
    let only = case.iter().map(|(term, value)| is(term, value)).reduce(|a, b| {
        let both = ExprKind::Binary(BinaryOp::And, Box::new(a?), Box::new(b?));
        Some(Expr { kind: both, ty: Type::Bool })
    })??;
    let others: Vec<_> = goals.iter().copied().chain([(&only, false)]).collect();
    (decide(chart, &others) == Verdict::Never).then_some(case)
}

/// A condition that holds only if the term has this value. `None` if the language has no literal for the value.
fn is(term: &Expr, value: &Value) -> Option<Expr> {
    let ty = if let Type::Optional(inner) = &term.ty { inner } else { &term.ty };
    let kind = match (value, ty) {
        (Value::Bool(true), Type::Bool) if *ty == term.ty => return Some(term.clone()),
        (Value::Bool(false), Type::Bool) if *ty == term.ty => {
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
    let constant = Expr { kind, ty: ty.clone() };
    let compare = ExprKind::Compare(Box::new(term.clone()), vec![(CompareOp::Equal, constant)]);
    Some(Expr { kind: compare, ty: Type::Bool })
}
