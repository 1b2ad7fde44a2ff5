//! The changes of variables that may happen while a question waits.

use super::effects::entered;
use super::window::{Wait, Window, mentions};
use crate::facts::reach::domain;
use crate::facts::uses::walk;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, Expr, ExprKind, Observable, StepKind, Transition, Trigger,
    VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The cause of a change of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A transition, or a block that runs with it.
    Transition(TransitionId),
    /// A step, by its answer or its statements.
    Step(StepId),
    /// The host, before a turn or an event.
    Host,
    /// The beginning of a turn.
    Turn,
}

/// A possible change of a variable.
#[derive(Debug, Clone)]
pub(super) struct VariableChange<'c> {
    pub(super) variable: VarId,
    pub(super) by: By,
    /// The conditions under which the change happens.
    pub(super) guards: Vec<&'c Expr>,
}

/// An assignment to a variable.
struct Writer<'c> {
    change: VariableChange<'c>,
    /// All expressions that determine the value, if the assignment is repeated in each turn: then the value changes only with one of them.
    sources: Option<Vec<&'c Expr>>,
}

/// The assignments of a chart by variable.
pub(super) struct Writers<'c>(BTreeMap<VarId, Vec<Writer<'c>>>);

impl<'c> Writers<'c> {
    /// Collects the assignments in one pass over the chart.
    pub(super) fn from_chart(chart: &'c Chart) -> Self {
        let mut found = Self(BTreeMap::new());
        let exits: Vec<StateId> =
            chart.state_ids().filter(|s| !chart.state(*s).exit.is_empty()).collect();
        for (i, transition) in chart.transitions.iter().enumerate() {
            let by = By::Transition(TransitionId::at(i));
            let is_code = |id: StepId| matches!(chart.steps[id.index()].kind, StepKind::Code(_));
            let repeats = matches!(transition.trigger, Trigger::Turn | Trigger::When)
                || transition.trigger.step().is_some_and(is_code);
            let guard: Vec<&Expr> = transition.guard.iter().collect();
            for block in blocks(chart, transition, &exits) {
                found.block(chart, by, &guard, block, repeats);
            }
            if let Trigger::Choice(choice) = transition.trigger
                && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
            {
                found.add(VariableChange { variable, by, guards: guard }, None);
            }
        }
        for (i, step) in chart.steps.iter().enumerate() {
            let by = By::Step(StepId::at(i));
            let guard: Vec<&Expr> = step.guard.iter().collect();
            if let StepKind::Code(actions) = &step.kind {
                found.block(chart, by, &guard, actions, true);
            }
            if let Some(variable) = step.into {
                found.add(VariableChange { variable, by, guards: guard }, None);
            }
        }
        found
    }

    fn add(&mut self, change: VariableChange<'c>, sources: Option<Vec<&'c Expr>>) {
        self.0.entry(change.variable).or_default().push(Writer { change, sources });
    }

    fn block(
        &mut self,
        chart: &'c Chart,
        by: By,
        guard: &[&'c Expr],
        actions: &'c [Action],
        repeats: bool,
    ) {
        // A `when` transition is taken again only if its guard changes.
        let is_when =
            matches!(by, By::Transition(id) if chart.transition(id).trigger == Trigger::When);
        let mut set: BTreeSet<VarId> = BTreeSet::new();
        assignments(actions, &mut guard.to_vec(), &mut Vec::new(), &mut |made| {
            let is_first = set.insert(made.variable);
            // A value that is computed from the variable itself differs each time.
            let grows = !is_when && is_first && mentions(chart, made.value, made.variable);
            let sources = if is_when { made.guards.to_vec() } else { made.sources() };
            let change =
                VariableChange { variable: made.variable, by, guards: made.guards.to_vec() };
            self.add(change, (repeats && !grows).then_some(sources));
        });
    }
}

/// Finds the changes of variables within a window.
pub(super) struct ChangeSearch<'w, 'c> {
    window: &'w Window<'c>,
    writers: &'w Writers<'c>,
    /// The results so far: whether a variable changes. A variable that is being examined is `false`, so that depending on itself is no
    /// change.
    known: BTreeMap<VarId, bool>,
}

impl<'w, 'c> ChangeSearch<'w, 'c> {
    pub(super) fn new(window: &'w Window<'c>, writers: &'w Writers<'c>) -> Self {
        Self { window, writers, known: BTreeMap::new() }
    }

    /// All changes of a variable that may happen while the step waits.
    pub(super) fn of(&mut self, variable: VarId) -> Vec<VariableChange<'c>> {
        let mut found: Vec<VariableChange<'c>> = Vec::new();
        found.extend(self.by_itself(variable));
        let writers = self.writers;
        for writer in writers.0.get(&variable).into_iter().flatten() {
            if !self.window.is_between(writer.change.by) {
                continue;
            }
            let before = match writer.change.by {
                By::Step(id) => id < self.window.step,
                By::Transition(_) | By::Host | By::Turn => true,
            };
            // A repeated assignment was also made before the question was asked, unless its step comes later in the walk.
            let sources = writer.sources.as_ref().filter(|_| before);
            if sources.is_none_or(|all| all.iter().any(|e| self.varies(e))) {
                found.push(writer.change.clone());
            }
        }
        found
    }

    /// The change of a variable without an assignment: the host sets an input, and the beginning of a turn resets a per-turn variable.
    fn by_itself(&self, variable: VarId) -> Option<VariableChange<'c>> {
        let by = match self.window.chart.variables[variable.index()].kind {
            VariableKind::Input => By::Host,
            VariableKind::Var { per_turn: true } => By::Turn,
            VariableKind::Var { per_turn: false } | VariableKind::Param { .. } => return None,
        };
        let may = self.window.wait == Wait::Turns;
        may.then(|| VariableChange { variable, by, guards: Vec::new() })
    }

    /// Whether the value of an expression may change while the step waits.
    fn varies(&mut self, expr: &Expr) -> bool {
        let (mut varies, mut read) = (false, BTreeSet::new());
        walk(self.window.chart, expr, &mut |e| {
            if let ExprKind::Variable(id) = e.kind {
                read.insert(id);
            }
            varies |= matches!(
                e.kind,
                ExprKind::Payload(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Call(..)
                    | ExprKind::Unknown(_)
            ) || matches!(&e.kind, ExprKind::Observable(of) if !matches!(of, Observable::In(_)));
        });
        varies || read.into_iter().any(|id| self.changes(id))
    }

    fn changes(&mut self, variable: VarId) -> bool {
        if let Some(known) = self.known.get(&variable) {
            return *known;
        }
        self.known.insert(variable, false);
        let changes = !self.of(variable).is_empty();
        self.known.insert(variable, changes);
        changes
    }
}

/// The actions of a transition, and the blocks of the states that it may exit or enter.
fn blocks<'c>(
    chart: &'c Chart,
    transition: &'c Transition,
    exits: &[StateId],
) -> Vec<&'c [Action]> {
    let mut found: Vec<&[Action]> = vec![&transition.actions];
    let Some(top) = domain(chart, transition) else { return found };
    if let Some(own) = chart.ancestors(transition.source).take_while(|s| *s != top).last() {
        let from = exits.partition_point(|s| *s < own);
        let inside = exits[from..].iter().take_while(|s| **s < chart.state(own).end);
        found.extend(inside.flat_map(|s| chart.state(*s).exit.iter().map(Vec::as_slice)));
    }
    let entered = entered(chart, transition);
    for state in entered {
        let row = chart.state(state);
        found.extend(row.entry.iter().map(Vec::as_slice));
        found.push(&row.default_actions);
    }
    found
}

/// An assignment, with the conditions and the lists of the loops around it.
struct Made<'m, 'c> {
    variable: VarId,
    value: &'c Expr,
    guards: &'m [&'c Expr],
    lists: &'m [&'c Expr],
}

impl<'c> Made<'_, 'c> {
    /// All expressions that determine the value.
    fn sources(&self) -> Vec<&'c Expr> {
        [self.guards, self.lists, &[self.value]].concat()
    }
}

/// Calls `visit` with every assignment of a block.
fn assignments<'c>(
    actions: &'c [Action],
    guards: &mut Vec<&'c Expr>,
    lists: &mut Vec<&'c Expr>,
    visit: &mut dyn FnMut(Made<'_, 'c>),
) {
    for action in actions {
        match action {
            Action::Assign(variable, value) => {
                visit(Made { variable: *variable, value, guards, lists });
            }
            Action::If(condition, then, otherwise) => {
                guards.push(condition);
                assignments(then, guards, lists, visit);
                guards.pop();
                // In the `else` branch the condition does not hold, but it still determines the value.
                lists.push(condition);
                assignments(otherwise, guards, lists, visit);
                lists.pop();
            }
            Action::For(_, list, body) => {
                lists.push(list);
                assignments(body, guards, lists, visit);
                lists.pop();
            }
            _ => {}
        }
    }
}
