//! What may change while a question waits for its answer.

use crate::facts::Facts;
use crate::facts::guard::implies;
use crate::facts::place::exclusive;
use crate::facts::reach::{domain, entered_by_default, is_leaf};
use crate::facts::uses::walk;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, Expr, ExprKind, Observable, Step, StepKind, Transition, Trigger,
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
    /// Where it happens; `None` if in any leaf.
    pub(super) leaf: Option<StateId>,
    /// Conditions that hold then.
    pub(super) guards: Vec<&'c Expr>,
}

/// An assignment that may happen, before it is known whether it changes anything.
struct Candidate<'c> {
    change: Change<'c>,
    /// Changes a value only if one of these does; `None` if it changes the value anyway.
    only_with: Option<Vec<&'c Expr>>,
}

/// The time in which a step waits.
pub(super) struct Window<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    step: StepId,
    /// The step is canceled when this state is exited.
    home: StateId,
    /// The leaves inside, in which the step may wait.
    inside: BTreeSet<StateId>,
    /// The leaves of other regions.
    beside: Vec<StateId>,
}

impl<'c> Window<'c> {
    /// The window of a step that is started in a walk and that no walk awaits.
    pub(super) fn of(chart: &'c Chart, facts: &'c Facts, step: StepId) -> Self {
        let home = chart.steps[step.index()].state;
        let is_beside = |leaf: &StateId| {
            !chart.contains(home, *leaf)
                && !chart.contains(*leaf, home)
                && !exclusive(chart, home, *leaf)
        };
        let beside = facts.reach.leaves(chart).filter(is_beside).collect();
        let mut window = Self { chart, facts, step, home, inside: BTreeSet::new(), beside };
        window.fill();
        window
    }

    /// The leaves in which the step may start, and those to which lines lead from there while it waits.
    fn fill(&mut self) {
        let Self { chart, facts, .. } = *self;
        let place = facts.places.step(self.step);
        let mut open: Vec<StateId> =
            facts.reach.leaves(chart).filter(|leaf| place.covers(chart, *leaf)).collect();
        while let Some(leaf) = open.pop() {
            if !self.inside.insert(leaf) {
                continue;
            }
            for id in self.lines(leaf) {
                let line = chart.transition(id);
                if self.exits(line) {
                    continue;
                }
                for target in &line.targets {
                    let around = chart.state(target.state).parent.unwrap_or(target.state);
                    let into = if entered_by_default(chart, target.state).is_empty() {
                        target.state
                    } else {
                        around
                    };
                    let all = (into.0..chart.state(into).end.0).map(StateId);
                    open.extend(all.filter(|s| is_leaf(chart, *s) && facts.reach.enters(*s)));
                }
            }
        }
    }

    /// The leaves in which the step may wait.
    pub(super) fn leaves(&self) -> impl Iterator<Item = StateId> + '_ {
        self.inside.iter().copied()
    }

    /// The lines that may be taken in a leaf, in the order in which they are tried.
    pub(super) fn lines(&self, leaf: StateId) -> impl Iterator<Item = TransitionId> + use<'c> {
        let Self { chart, facts, .. } = *self;
        let lines = chart.ancestors(leaf).flat_map(|s| chart.state(s).transitions.iter().copied());
        lines.filter(move |id| facts.reach.takes(*id) && facts.places.line(*id).covers(chart, leaf))
    }

    /// Whether a transition withdraws the question.
    fn exits(&self, line: &Transition) -> bool {
        let top = domain(self.chart, line);
        top.is_some_and(|top| top != self.home && self.chart.contains(top, self.home))
    }

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
                    .is_none_or(|all| all.iter().any(|e| self.varies(e, &changing)));
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
        let variables = self.chart.variables.iter().enumerate();
        let by = variables.filter_map(|(i, row)| {
            let by = match row.kind {
                VariableKind::Input => By::Host,
                VariableKind::Var { per_turn: true } => By::Turn,
                VariableKind::Var { per_turn: false } | VariableKind::Param { .. } => return None,
            };
            Some(Change { variable: VarId::at(i), by, leaf: None, guards: Vec::new() })
        });
        by.collect()
    }

    fn by_lines(&self) -> Vec<Candidate<'c>> {
        let chart = self.chart;
        let mut found = Vec::new();
        for (i, line) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            if line.trigger.step() == Some(self.step) || self.exits(line) {
                continue;
            }
            let Some(leaf) = self.acts_in(id) else { continue };
            if self.asks_again(leaf, line) {
                continue;
            }
            let (repeats, with_value) = match &line.trigger {
                Trigger::Turn => (true, true),
                Trigger::When => (true, false),
                trigger => {
                    (trigger.step().is_some_and(|id| is_code(&chart.steps[id.index()])), true)
                }
            };
            let guard: Vec<&Expr> = line.guard.iter().collect();
            let by = By::Line(id);
            for block in self.blocks(leaf, line) {
                assignments(block, &mut guard.clone(), &mut Vec::new(), &mut |made| {
                    let repeats = repeats && !(with_value && self.grows(&made, by, &found));
                    let sources = if with_value { made.sources() } else { made.guards.to_vec() };
                    let change = made.change(by, leaf);
                    found.push(Candidate { change, only_with: repeats.then_some(sources) });
                });
            }
            if let Trigger::Choice(choice) = line.trigger
                && let ChoiceKind::Call(_, Some(variable)) = chart.choices[choice.index()].kind
            {
                let change = Change { variable, by, leaf: Some(leaf), guards: guard };
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
            let place = self.facts.places.step(id);
            let Some(leaf) = self.all().find(|leaf| place.covers(chart, *leaf)) else { continue };
            let leaves = |line: &TransitionId| {
                let line = chart.transition(*line);
                line.trigger == Trigger::StepDone(id) && line.guard.is_none() && self.exits(line)
            };
            if id == self.step || step.outcomes.iter().any(leaves) {
                continue;
            }
            let guard: Vec<&Expr> = step.guard.iter().collect();
            let by = By::Step(id);
            if let StepKind::Code(actions) = &step.kind {
                assignments(actions, &mut guard.clone(), &mut Vec::new(), &mut |made| {
                    // It has run before the question was asked, unless it comes later in the walk.
                    let repeats = id < self.step && !self.grows(&made, by, &found);
                    let only_with = repeats.then(|| made.sources());
                    found.push(Candidate { change: made.change(by, leaf), only_with });
                });
            }
            if let Some(variable) = step.into {
                let change = Change { variable, by, leaf: Some(leaf), guards: guard };
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

    fn all(&self) -> impl Iterator<Item = StateId> + '_ {
        self.inside.iter().chain(&self.beside).copied()
    }

    /// The first leaf in which the transition may be taken while the step waits.
    fn acts_in(&self, id: TransitionId) -> Option<StateId> {
        let place = self.facts.places.line(id);
        let acts = |leaf: &StateId| place.covers(self.chart, *leaf) && !self.is_hidden(*leaf, id);
        self.facts.reach.takes(id).then(|| self.all().find(acts)).flatten()
    }

    /// Whether other lines take all events of the transition before it.
    fn is_hidden(&self, leaf: StateId, id: TransitionId) -> bool {
        let line = self.chart.transition(id);
        let Trigger::Event(events) = &line.trigger else { return false };
        let before: Vec<TransitionId> = self.lines(leaf).take_while(|other| *other != id).collect();
        events.iter().all(|event| {
            before.iter().any(|other| {
                let other = self.chart.transition(*other);
                takes(other, *event)
                    && implies(self.chart, line.guard.as_ref(), other.guard.as_ref())
            })
        })
    }

    /// Whether the question is asked again when the transition is taken, because of the events that trigger it or that it raises.
    fn asks_again(&self, leaf: StateId, line: &Transition) -> bool {
        let mut raised = false;
        Action::walk(&line.actions, &mut |action| match action {
            Action::Raise(event, _) | Action::Send { event, after: None, .. } => {
                raised |= self.withdraws(*event);
            }
            Action::Send { .. }
            | Action::Assign(..)
            | Action::If(..)
            | Action::For(..)
            | Action::Do(..)
            | Action::Cancel(_)
            | Action::Log(_)
            | Action::Result(..) => {}
        });
        let withdrawn = matches!(&line.trigger, Trigger::Event(events)
            if events.iter().all(|event| self.withdraws(*event)));
        raised || withdrawn && !self.inside.contains(&leaf)
    }

    /// Whether the event surely withdraws the question.
    fn withdraws(&self, event: EventId) -> bool {
        let first = |leaf: StateId| {
            let mut lines = self.lines(leaf).map(|id| self.chart.transition(id));
            let line = lines.find(|line| takes(line, event));
            line.is_some_and(|line| line.guard.is_none() && self.exits(line))
        };
        !self.inside.is_empty() && self.inside.iter().all(|leaf| first(*leaf))
    }

    /// Whether a `when` line that reads the variable withdraws the question.
    pub(super) fn is_watched(&self, variable: VarId) -> bool {
        let watches = |id: TransitionId| {
            let line = self.chart.transition(id);
            let guard = line.guard.as_ref().filter(|_| line.trigger == Trigger::When);
            guard.is_some_and(|guard| self.exits(line) && mentions(self.chart, guard, variable))
        };
        !self.inside.is_empty() && self.inside.iter().all(|leaf| self.lines(*leaf).any(watches))
    }

    /// The actions of a transition, and the blocks of the states that it may exit or enter.
    fn blocks(&self, leaf: StateId, line: &'c Transition) -> Vec<&'c [Action]> {
        let chart = self.chart;
        let mut found: Vec<&[Action]> = vec![&line.actions];
        let Some(top) = domain(chart, line) else { return found };
        let exited = chart.ancestors(leaf).take_while(|s| *s != top);
        found.extend(exited.flat_map(|s| chart.state(s).exit.iter().map(Vec::as_slice)));
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
    fn varies(&self, expr: &Expr, changing: &BTreeSet<VarId>) -> bool {
        let mut varies = false;
        walk(self.chart, expr, &mut |e| {
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
}

/// Whether the transition has the event as a trigger.
fn takes(line: &Transition, event: EventId) -> bool {
    matches!(&line.trigger, Trigger::Event(events) if events.contains(&event))
        || matches!(line.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
}

const fn is_code(step: &Step) -> bool {
    matches!(step.kind, StepKind::Code(_))
}

/// Whether an expression reads a variable.
pub(super) fn mentions(chart: &Chart, expr: &Expr, variable: VarId) -> bool {
    let mut found = false;
    walk(chart, expr, &mut |e| found |= e.kind == ExprKind::Variable(variable));
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
    fn change(&self, by: By, leaf: StateId) -> Change<'c> {
        let (variable, guards) = (self.variable, self.guards.to_vec());
        Change { variable, by, leaf: Some(leaf), guards }
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
