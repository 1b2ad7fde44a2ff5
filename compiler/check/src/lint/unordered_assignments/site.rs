//! The assignments that transitions and steps make.

use crate::facts::Facts;
use crate::facts::counter::Owner;
use crate::facts::reach::{domain, entered_by_default, entries};
use crate::facts::uses::reads;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, Expr, ExprKind, StepKind, Transition, Trigger,
};
use std::collections::{BTreeMap, BTreeSet};

/// The cause of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// The transition is taken.
    Transition(TransitionId),
    /// The step ends: its answer is stored, or its code has run.
    Step(StepId),
}

impl Cause {
    /// The state that must be active for the cause to occur.
    pub(super) fn state(self, chart: &Chart) -> StateId {
        match self {
            Self::Transition(id) => chart.transition(id).source,
            Self::Step(id) => chart.steps[id.index()].state,
        }
    }
}

/// The phases of a microstep, in order. Exit blocks run from the last region to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Exit,
    Actions,
    Entry,
}

/// An assignment with its cause and its conditions.
#[derive(Debug)]
pub(super) struct Site<'c> {
    pub(super) cause: Cause,
    /// The block that contains it, and its index among the block owner's assignments to the variable; `None` for an answer.
    pub(super) place: Option<(Owner, usize)>,
    /// The assigned value; `None` for an answer.
    pub(super) value: Option<&'c Expr>,
    /// The phase of a microstep in which the assignment is made.
    pub(super) phase: Phase,
    /// The conditions of the `if`s around it, each with the value that it must have.
    pub(super) under: Vec<(&'c Expr, bool)>,
}

/// Every assignment that a run may make, by variable, in the document order of causes.
pub(super) fn sites<'c>(chart: &'c Chart, facts: &Facts) -> BTreeMap<VarId, Vec<Site<'c>>> {
    let mut found = SiteCollector(BTreeMap::new());
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) {
            continue;
        }
        let cause = Cause::Transition(id);
        found.block(cause, Owner::Transition(id), [&transition.actions], |_| Some(Phase::Actions));
        for (state, enters) in moved(chart, transition) {
            let row = chart.state(state);
            let entered = row.entry.len() + 1;
            let blocks = row.entry.iter().chain([&row.default_actions]).chain(&row.exit);
            found.block(cause, Owner::State(state), blocks, |nth| match (enters, nth < entered) {
                (true, true) => Some(Phase::Entry),
                (false, false) => Some(Phase::Exit),
                (true, false) | (false, true) => None,
            });
        }
        if let Trigger::Choice(choice) = transition.trigger
            && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
        {
            found.answer(cause, variable);
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !facts.reach.can_enter(step.state) || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        if let StepKind::Code(actions) = &step.kind {
            found.block(Cause::Step(id), Owner::Step(id), [actions], |_| Some(Phase::Actions));
        }
        if let Some(variable) = step.into {
            found.answer(Cause::Step(id), variable);
        }
    }
    found.0
}

/// The states that a transition certainly exits (`false`) and enters (`true`).
fn moved(chart: &Chart, transition: &Transition) -> Vec<(StateId, bool)> {
    let Some(domain) = domain(chart, transition) else { return Vec::new() };
    let below = |state: StateId| chart.ancestors(state).take_while(move |s| *s != domain);
    let mut found: BTreeSet<(StateId, bool)> =
        below(transition.source).map(|s| (s, false)).collect();
    let mut open = entries(chart, transition);
    while let Some(state) = open.pop() {
        found.extend(below(state).map(|s| (s, true)));
        open.extend(entered_by_default(chart, state));
    }
    found.into_iter().collect()
}

struct SiteCollector<'c>(BTreeMap<VarId, Vec<Site<'c>>>);

impl<'c> SiteCollector<'c> {
    fn answer(&mut self, cause: Cause, variable: VarId) {
        let site =
            Site { cause, place: None, value: None, phase: Phase::Actions, under: Vec::new() };
        self.0.entry(variable).or_default().push(site);
    }

    /// Adds the assignments of those blocks of an owner for which `phase` gives a phase by their index.
    fn block(
        &mut self,
        cause: Cause,
        owner: Owner,
        blocks: impl IntoIterator<Item = &'c Vec<Action>>,
        phase: impl Fn(usize) -> Option<Phase>,
    ) {
        let mut seen = BTreeMap::new();
        for (nth, block) in blocks.into_iter().enumerate() {
            let mut each = |variable, value, under: &[_]| {
                let place: &mut usize = seen.entry(variable).or_default();
                if let Some(phase) = phase(nth) {
                    let (place, under) = (Some((owner, *place)), under.to_vec());
                    let site = Site { cause, place, value: Some(value), phase, under };
                    self.0.entry(variable).or_default().push(site);
                }
                // Counted even without a phase: the index is one among all assignments of the owner.
                *place += 1;
            };
            walk(block, &mut Vec::new(), &mut each);
        }
    }
}

/// A function that takes the variable, the value and the conditions of an assignment.
type Take<'t, 'c> = dyn FnMut(VarId, &'c Expr, &[(&'c Expr, bool)]) + 't;

fn walk<'c>(actions: &'c [Action], under: &mut Vec<(&'c Expr, bool)>, each: &mut Take<'_, 'c>) {
    for action in actions {
        match action {
            Action::Assign(variable, value) => each(*variable, value, under),
            Action::If(condition, then, otherwise) => {
                for (block, wanted) in [(then, true), (otherwise, false)] {
                    under.push((condition, wanted));
                    walk(block, under, each);
                    under.pop();
                }
            }
            Action::For(_, _, body) => walk(body, under, each),
            _ => {}
        }
    }
}

/// Whether the expression reads the variable.
pub(super) fn mentions(chart: &Chart, expr: &Expr, variable: VarId) -> bool {
    let mut read = BTreeSet::new();
    reads(chart, expr, &mut read);
    read.contains(&variable)
}

/// An operation for which the order of updates does not matter: `x = x + a`, then `x = x + b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Update {
    Add,
    Multiply,
    And,
    Or,
    Least,
    Greatest,
}

/// Whether both assignments are kept, whichever is first: both update the old value by the same operation, or both assign the
/// same value. `at_once` says that both read the data of the same event.
pub(super) fn agree(
    chart: &Chart,
    variable: VarId,
    one: &Site<'_>,
    two: &Site<'_>,
    at_once: bool,
) -> bool {
    let (Some(one), Some(two)) = (one.value, two.value) else { return false };
    let how = update(chart, variable, one);
    if how.is_some() && how == update(chart, variable, two) {
        return true;
    }
    let mut is_own = mentions(chart, one, variable);
    // At different times, such an expression may have different values.
    if !at_once {
        crate::facts::uses::walk(chart, one, &mut |e| {
            is_own |= matches!(
                e.kind,
                ExprKind::Payload(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Observable(_)
                    | ExprKind::Call(..)
                    | ExprKind::Variable(_)
            );
        });
    }
    one == two && !is_own
}

fn update(chart: &Chart, variable: VarId, value: &Expr) -> Option<Update> {
    let is_old = |e: &Expr| e.kind == ExprKind::Variable(variable);
    let is_other = |e: &Expr| !mentions(chart, e, variable);
    let either = |a: &Expr, b: &Expr, how| {
        ((is_old(a) && is_other(b)) || (is_old(b) && is_other(a))).then_some(how)
    };
    match &value.kind {
        ExprKind::Binary(op, a, b) => match op {
            // `x + a + b` is `(x + a) + b`.
            BinaryOp::Add if update(chart, variable, a) == Some(Update::Add) && is_other(b) => {
                Some(Update::Add)
            }
            BinaryOp::Add => either(a, b, Update::Add),
            BinaryOp::Subtract => (is_old(a) && is_other(b)).then_some(Update::Add),
            BinaryOp::Multiply => either(a, b, Update::Multiply),
            BinaryOp::And => either(a, b, Update::And),
            BinaryOp::Or => either(a, b, Update::Or),
            _ => None,
        },
        ExprKind::Builtin(builtin, parts) => {
            let [a, b] = parts.as_slice() else { return None };
            let how = [
                (Builtin::JsAdd, Update::Add),
                (Builtin::Min, Update::Least),
                (Builtin::Max, Update::Greatest),
            ];
            let (_, how) = how.into_iter().find(|(known, _)| known == builtin)?;
            either(a, b, how)
        }
        _ => None,
    }
}
