//! The assignments that may be made while a question waits.

use super::window::{Wait, Window, mentions};
use crate::facts::reach::domain;
use crate::facts::uses::walk;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, Expr, ExprKind, Observable, StepKind, Transition, Trigger,
    VariableKind,
};
use std::collections::BTreeSet;

/// What changes a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A transition, or a block that runs with it.
    Line(TransitionId),
    /// The answer of a step, or its statements.
    Step(StepId),
    /// The host, before a turn or an event.
    Host,
    /// The beginning of a turn.
    Turn,
}

/// A variable that may change.
#[derive(Debug, Clone)]
pub(super) struct Change<'c> {
    pub(super) variable: VarId,
    pub(super) by: By,
    /// Conditions that hold then.
    pub(super) guards: Vec<&'c Expr>,
}

/// An assignment that may happen, before it is known whether it changes anything.
struct Candidate<'c> {
    change: Change<'c>,
    /// Changes a value only if one of these does; `None` if it changes the value anyway.
    only_with: Option<Vec<&'c Expr>>,
}

impl<'c> Window<'c> {
    /// Every variable that may change while the step waits.
    pub(super) fn changes(&self) -> Vec<Change<'c>> {
        let mut open = self.by_lines();
        open.extend(self.by_steps());
        let mut found: Vec<Change<'c>> = self.by_itself();
        let mut changing: BTreeSet<VarId> = found.iter().map(|change| change.variable).collect();
        loop {
            let before = open.len();
            open.retain(|candidate| {
                let changes = candidate
                    .only_with
                    .as_ref()
                    .is_none_or(|all| all.iter().any(|e| varies(self.chart, e, &changing)));
                if changes {
                    changing.insert(candidate.change.variable);
                    found.push(candidate.change.clone());
                }
                !changes
            });
            if open.len() == before {
                return found;
            }
        }
    }

    /// Inputs, and variables that are reset in each turn.
    fn by_itself(&self) -> Vec<Change<'c>> {
        if self.wait == Wait::Call {
            return Vec::new();
        }
        let variables = self.chart.variables.iter().enumerate();
        let by = variables.filter_map(|(i, row)| {
            let by = match row.kind {
                VariableKind::Input => By::Host,
                VariableKind::Var { per_turn: true } => By::Turn,
                VariableKind::Var { per_turn: false } | VariableKind::Param { .. } => return None,
            };
            Some(Change { variable: VarId::at(i), by, guards: Vec::new() })
        });
        by.collect()
    }

    fn by_lines(&self) -> Vec<Candidate<'c>> {
        let chart = self.chart;
        let mut found = Vec::new();
        for (i, line) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let own = line.trigger.step() == Some(self.step);
            if own || self.exits(line) || !self.is_between(id) {
                continue;
            }
            let (repeats, with_value) = match &line.trigger {
                Trigger::Turn => (true, true),
                Trigger::When => (true, false),
                trigger => (
                    trigger.step().is_some_and(|id| {
                        matches!(chart.steps[id.index()].kind, StepKind::Code(_))
                    }),
                    true,
                ),
            };
            let guard: Vec<&Expr> = line.guard.iter().collect();
            let by = By::Line(id);
            for block in blocks(self.chart, line) {
                assignments(block, &mut guard.clone(), &mut Vec::new(), &mut |made| {
                    let repeats = repeats && !(with_value && self.grows(&made, by, &found));
                    let sources = if with_value { made.sources() } else { made.guards.to_vec() };
                    let only_with = repeats.then_some(sources);
                    found.push(Candidate { change: made.change(by), only_with });
                });
            }
            if let Trigger::Choice(choice) = line.trigger
                && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
            {
                let change = Change { variable, by, guards: guard };
                found.push(Candidate { change, only_with: None });
            }
        }
        found
    }

    fn by_steps(&self) -> Vec<Candidate<'c>> {
        let chart = self.chart;
        let mut found = Vec::new();
        for (i, step) in chart.steps.iter().enumerate() {
            let id = StepId::at(i);
            let leaves = |line: &TransitionId| {
                let line = chart.transition(*line);
                line.trigger == Trigger::StepDone(id) && line.guard.is_none() && self.exits(line)
            };
            let place = self.facts.places.step(id);
            // The walk of a turn waits for a model; those of other regions go on.
            let others = self.leaves_of(place, &self.beside).next().is_some();
            let acts = match self.wait {
                Wait::Turns => others || self.leaves_of(place, &self.inside).next().is_some(),
                Wait::Call => others,
            };
            if id == self.step || !acts || step.outcomes.iter().any(leaves) {
                continue;
            }
            let guard: Vec<&Expr> = step.guard.iter().collect();
            let by = By::Step(id);
            if let StepKind::Code(actions) = &step.kind {
                assignments(actions, &mut guard.clone(), &mut Vec::new(), &mut |made| {
                    // It has run before the question was asked, unless it comes later in the walk.
                    let repeats = id < self.step && !self.grows(&made, by, &found);
                    let only_with = repeats.then(|| made.sources());
                    found.push(Candidate { change: made.change(by), only_with });
                });
            }
            if let Some(variable) = step.into {
                let change = Change { variable, by, guards: guard };
                found.push(Candidate { change, only_with: None });
            }
        }
        found
    }

    /// Whether the assignment gives its variable another value each time: it reads the variable, and nothing set that before it.
    fn grows(&self, made: &Made<'_, 'c>, by: By, before: &[Candidate<'c>]) -> bool {
        let is_set = |c: &Candidate<'_>| c.change.by == by && c.change.variable == made.variable;
        mentions(self.chart, made.value, made.variable) && !before.iter().any(is_set)
    }
}

/// The actions of a transition, and the blocks of the states that it may exit or enter.
fn blocks<'c>(chart: &'c Chart, line: &'c Transition) -> Vec<&'c [Action]> {
    let mut found: Vec<&[Action]> = vec![&line.actions];
    let Some(top) = domain(chart, line) else { return found };
    let own = chart.ancestors(line.source).take_while(|s| *s != top).last();
    let exited = own.map_or(top.0 + 1..top.0 + 1, |s| s.0..chart.state(s).end.0);
    found.extend(exited.flat_map(|s| chart.state(StateId(s)).exit.iter().map(Vec::as_slice)));
    let mut entered: BTreeSet<StateId> = BTreeSet::new();
    for target in &line.targets {
        entered.extend(chart.ancestors(target.state).take_while(|s| *s != top));
        entered.extend((target.state.0..chart.state(target.state).end.0).map(StateId));
    }
    for state in entered {
        let row = chart.state(state);
        found.extend(row.entry.iter().map(Vec::as_slice));
        found.push(&row.default_actions);
    }
    found
}

/// Whether the value of an expression may change while the step waits.
fn varies(chart: &Chart, expr: &Expr, changing: &BTreeSet<VarId>) -> bool {
    let mut varies = false;
    walk(chart, expr, &mut |e| {
        if let ExprKind::Observable(Observable::In(_)) = e.kind {
            return;
        }
        varies |= matches!(
            e.kind,
            ExprKind::Payload(_)
                | ExprKind::Answer(_)
                | ExprKind::Observable(_)
                | ExprKind::Call(..)
                | ExprKind::Unknown(_)
        );
        if let ExprKind::Variable(id) = e.kind {
            varies |= changing.contains(&id);
        }
    });
    varies
}

/// An assignment, with the conditions and the lists of the loops around it.
struct Made<'m, 'c> {
    variable: VarId,
    value: &'c Expr,
    guards: &'m [&'c Expr],
    lists: &'m [&'c Expr],
}

impl<'c> Made<'_, 'c> {
    fn change(&self, by: By) -> Change<'c> {
        Change { variable: self.variable, by, guards: self.guards.to_vec() }
    }

    /// Everything that decides about the value.
    fn sources(&self) -> Vec<&'c Expr> {
        [self.guards, self.lists, &[self.value]].concat()
    }
}

/// Calls `visit` with every assignment.
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
                lists.push(condition);
                assignments(otherwise, guards, lists, visit);
                lists.pop();
            }
            Action::For(_, list, body) => {
                lists.push(list);
                assignments(body, guards, lists, visit);
                lists.pop();
            }
            Action::Do(..)
            | Action::Raise(..)
            | Action::Send { .. }
            | Action::Cancel(_)
            | Action::Log(_)
            | Action::Result(..) => {}
        }
    }
}
