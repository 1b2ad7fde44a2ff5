//! Proves that a host can always bring a run into a state, whatever the data are. No run is tried.
//!
//! An action of the host *leads on* if all of its possible results are good: each enters the goal, or leads to leaves that are good
//! already. A leaf is *good* if some action leads on there. Guards may hold or fail, unless the host decides them (`free`). Starting from
//! the leaves inside the goal, more and more leaves become good; the proof succeeds if all do.
//!
//! Example: `on stop -> done` in `work` and `on go -> work` in `idle`, both without guards, and the goal `done`. First `work` is good, by
//! `stop`, and then `idle`, by `go`.

use crate::analysis::facts::Facts;
use crate::analysis::facts::reach::{
    entered_by_default, entries, is_end, is_history, is_leaf, surely_enters,
};
use chartc_core::arena::{ChoiceId, EventId, StateId, StepId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, CompareOp, Expr, ExprKind, Limits, StateKind, Step,
    StepKind, Transition, Trigger, Type, UnaryOp, VariableKind,
};
use std::collections::BTreeMap;

/// Whether from every point of every run, the host has a way into the state.
pub(super) fn always(chart: &Chart, facts: &Facts, goal: StateId) -> bool {
    if is_history(chart, goal) || !is_plain(chart) {
        return false;
    }
    let leaves: Vec<StateId> =
        facts.reach.leaves(chart).filter(|leaf| !is_end(chart, *leaf)).collect();
    let inside = |state: StateId| chart.contains(goal, state);
    let good = chart.state_ids().map(inside).collect();
    let mut ways = Ways { chart, goal, good };
    loop {
        let next = leaves.iter().find(|leaf| !ways.is_good(**leaf) && ways.has_way(**leaf));
        match next {
            Some(leaf) => ways.good[leaf.index()] = true,
            None => return leaves.iter().all(|leaf| ways.is_good(*leaf)),
        }
    }
}

/// Whether nothing happens but by the host: a single leaf is active, no event is sent or raised, no fault is handled, and no tool, child
/// chart or limit intervenes. Limits on turns and calls are ignored, although they may end a run.
fn is_plain(chart: &Chart) -> bool {
    let counted = |limits: &Limits| {
        Limits { calls: None, calls_warn: None, turns: None, turns_warn: None, ..limits.clone() }
            == Limits::default()
    };
    let states = chart
        .states
        .iter()
        .all(|state| !matches!(state.kind, StateKind::Parallel) && counted(&state.limits));
    // A deferred event that is recalled happens without the host.
    let states = states && !chart.defers();
    let triggers = chart.transitions.iter().all(|transition| match &transition.trigger {
        Trigger::AnyOccurrence | Trigger::Error(_) | Trigger::LimitWarn(_) => false,
        Trigger::After(bound) | Trigger::StepTimeout(_, bound) => {
            matches!(bound.kind, ExprKind::Duration(1..))
        }
        _ => true,
    });
    let steps = chart.steps.iter().all(|step| {
        // A step fails if its list is too long.
        step.tools.is_none()
            && step.each.is_none()
            && match step.kind {
                StepKind::Ask { .. } => true,
                StepKind::Code(_) | StepKind::Llm => step.is_walked(),
                StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(_) => false,
            }
    });
    let mut sends = false;
    chart.blocks().for_each(|block| {
        Action::walk(block, &mut |action| {
            sends |= matches!(action, Action::Raise(..) | Action::Send { .. });
        });
    });
    let calls = chart.choices.iter().any(|choice| matches!(choice.kind, ChoiceKind::Call(..)));
    states && triggers && steps && !sends && !calls && chart.permissions.is_empty()
}

/// The leaves that are known to be good for a goal.
struct Ways<'c> {
    chart: &'c Chart,
    goal: StateId,
    /// By state: whether it is a leaf from which the host can bring a run into the goal.
    good: Vec<bool>,
}

impl<'c> Ways<'c> {
    fn is_good(&self, leaf: StateId) -> bool {
        self.good[leaf.index()]
    }

    /// Whether the leaf is good because of what is known so far.
    fn has_way(&self, leaf: StateId) -> bool {
        let events = (0..self.chart.events.len()).map(EventId::at);
        events.into_iter().any(|event| self.by_event(leaf, event)) || self.by_turn(leaf)
    }

    /// The transitions with such a trigger that may be taken in the leaf.
    fn transitions(&self, leaf: StateId, is_it: impl Fn(&Trigger) -> bool) -> Vec<&'c Transition> {
        let here = |transition: &&Transition| self.chart.contains(transition.source, leaf);
        self.chart
            .transitions
            .iter()
            .filter(here)
            .filter(|transition| is_it(&transition.trigger))
            .collect()
    }

    /// The steps that may run in the leaf.
    fn steps(&self, leaf: StateId) -> impl Iterator<Item = (StepId, &'c Step)> {
        let chart = self.chart;
        let rows = chart.steps.iter().enumerate();
        rows.filter(move |(_, step)| chart.contains(step.state, leaf))
            .map(|(i, step)| (StepId::at(i), step))
    }

    /// Whether an event leads on: a transition surely takes it, or a question is asked of which some option leads on.
    fn by_event(&self, leaf: StateId, event: EventId) -> bool {
        let transitions = self.transitions(leaf, |trigger| {
            *trigger == Trigger::AnyEvent
                || matches!(trigger, Trigger::Event(events) if events.contains(&event))
        });
        if !transitions.iter().all(|transition| self.leads(leaf, transition)) {
            return false;
        }
        if transitions.iter().any(|transition| is_sure(transition)) {
            return true;
        }
        let on = |step: &Step| step.events().contains(&event);
        let mut asks = self.steps(leaf).filter(|(_, step)| on(step)).peekable();
        asks.peek().is_some()
            && asks.all(|(_, step)| step.guard.is_none())
            && self.steps(leaf).all(|(_, step)| !matches!(step.kind, StepKind::Llm))
            && self.transitions(leaf, rests).iter().all(|transition| self.leads(leaf, transition))
            && (0..self.chart.choices.len()).map(ChoiceId::at).any(|c| self.by_choice(leaf, c))
    }

    /// Whether this option is in every question of the leaf, and leads on.
    fn by_choice(&self, leaf: StateId, choice: ChoiceId) -> bool {
        let fields = match &self.chart.choices[choice.index()].kind {
            ChoiceKind::Option(fields) => fields.len(),
            ChoiceKind::Call(..) => return false,
        };
        let transitions = self.transitions(leaf, |trigger| *trigger == Trigger::Choice(choice));
        fields == 0
            && transitions.iter().any(|transition| is_sure(transition))
            && transitions.iter().all(|transition| self.leads(leaf, transition))
    }

    /// Whether a turn leads on: the walk comes to a model step whose answer does, and the host can skip the model steps before it.
    fn by_turn(&self, leaf: StateId) -> bool {
        let chart = self.chart;
        let asks = self.steps(leaf).any(|(_, step)| matches!(step.kind, StepKind::Ask { .. }));
        let moves = |trigger: &Trigger| *trigger == Trigger::Turn || rests(trigger);
        if asks || !self.transitions(leaf, moves).is_empty() {
            return false;
        }
        let mut before: Vec<&Step> = Vec::new();
        for (id, step) in self.steps(leaf) {
            if step.kind == StepKind::Llm && step.guard.is_none() {
                return self.is_answered(leaf, id)
                    && can_skip(chart, &before)
                    && self.can_end(leaf, id);
            }
            if step.kind != StepKind::Llm && !step.outcomes.is_empty() {
                return false;
            }
            before.push(step);
        }
        false
    }

    /// Whether every answer of the step leads on.
    fn is_answered(&self, leaf: StateId, step: StepId) -> bool {
        let transitions = self.transitions(leaf, |trigger| *trigger == Trigger::StepDone(step));
        transitions.iter().any(|transition| is_sure(transition))
            && transitions.iter().all(|transition| self.leads(leaf, transition))
    }

    /// Whether the host can end a walk that is under way in the leaf: each answer leads on, or stays in the leaf. This ends, because the
    /// walk visits each step once.
    fn can_end(&self, leaf: StateId, last: StepId) -> bool {
        let ends = |transition: &&Transition| {
            let results = self.results(leaf, transition);
            self.enters_goal(transition)
                || results.iter().all(|result| *result == leaf || self.is_good(*result))
        };
        let is_end =
            |trigger: &Trigger| matches!(trigger, Trigger::StepDone(step) if *step != last);
        self.transitions(leaf, is_end).iter().chain(&self.moves_on(leaf)).all(ends)
    }

    /// The transitions that may be taken without an input, or when a walk that was under way continues.
    fn moves_on(&self, leaf: StateId) -> Vec<&'c Transition> {
        let is_turned = |step: &Step| step.is_walked() && matches!(step.kind, StepKind::Ask { .. });
        let asks = self.steps(leaf).any(|(_, step)| is_turned(step));
        let walks = |step: StepId| {
            let step = &self.chart.steps[step.index()];
            matches!(step.kind, StepKind::Code(_)) || is_turned(step)
        };
        self.transitions(leaf, |trigger| {
            rests(trigger)
                || matches!(trigger, Trigger::AfterTurns(_))
                || asks && matches!(trigger, Trigger::Choice(_))
                || trigger.step().is_some_and(walks)
        })
    }

    /// Whether the transition enters the goal, or leads only to good leaves.
    fn leads(&self, leaf: StateId, transition: &Transition) -> bool {
        self.enters_goal(transition)
            || self.results(leaf, transition).iter().all(|result| self.is_good(*result))
    }

    fn enters_goal(&self, transition: &Transition) -> bool {
        surely_enters(self.chart, &entries(self.chart, transition), self.goal)
    }

    /// The leaves and final states in which a run may be when the transition has been taken and the macrostep is over.
    fn results(&self, leaf: StateId, transition: &Transition) -> Vec<StateId> {
        let mut found = Vec::new();
        let mut open = self.targets(leaf, transition);
        while let Some(at) = open.pop() {
            if !found.contains(&at) {
                found.push(at);
                for transition in self.moves_on(at) {
                    open.extend(self.targets(at, transition));
                }
            }
        }
        found
    }

    /// The leaves and final states to which the transition itself may lead.
    fn targets(&self, leaf: StateId, transition: &Transition) -> Vec<StateId> {
        if transition.targets.is_empty() {
            return vec![leaf];
        }
        let chart = self.chart;
        let mut found = Vec::new();
        let mut open = entries(chart, transition);
        while let Some(state) = open.pop() {
            match chart.state(state).kind {
                StateKind::History { .. } => {
                    let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
                    let below = (parent.0..chart.state(parent).end.0).map(StateId);
                    found.extend(below.filter(|s| is_leaf(chart, *s)));
                    open.extend(entered_by_default(chart, state));
                }
                StateKind::Atomic | StateKind::Final { .. } => found.push(state),
                StateKind::Compound { .. } | StateKind::Parallel => {
                    open.extend(entered_by_default(chart, state));
                }
            }
        }
        found
    }
}

/// Whether a transition with this trigger waits for nothing.
fn rests(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::When | Trigger::StateDone(_))
}

/// Whether the transition is taken whenever its source is active and its trigger occurs, unless another one is.
fn is_sure(transition: &Transition) -> bool {
    let is_true = |guard: &Expr| guard.kind == ExprKind::Bool(true);
    transition.guard.as_ref().is_none_or(is_true) && transition.scope.is_none()
}

// Guards that the host can keep from holding, by the inputs that it sets.
//
// Tries one choice: the host sets all whole-number inputs to the current value of one variable of the chart. Then their differences are
// known: with `clock` and `last` equal, the guard `clock - last >= 10` fails, so the host can make the walk skip that step.

/// The nesting beyond which an expression is unknown.
const DEEP: u32 = 64;

/// The value of an expression, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Worth {
    /// The value of the variable to which the inputs are set.
    Same,
    Int(i64),
    Bool(bool),
}

/// Whether the host can set the inputs so that the walk of a turn skips all these model steps, and no `code` among them fails.
pub(super) fn can_skip(chart: &Chart, steps: &[&Step]) -> bool {
    let is_kept = |id: &VarId| {
        let row = &chart.variables[id.index()];
        row.ty == Type::Int
            && row.default.is_some()
            && row.kind == VariableKind::Var { per_turn: false }
    };
    let anchors = (0..chart.variables.len()).map(VarId::at).filter(is_kept);
    steps.is_empty() || anchors.into_iter().any(|anchor| skips(chart, steps, anchor))
}

/// Whether the steps are skipped if all whole-number inputs have the value of the variable `anchor`.
fn skips(chart: &Chart, steps: &[&Step], anchor: VarId) -> bool {
    let mut worth: BTreeMap<VarId, Option<Worth>> = BTreeMap::from([(anchor, Some(Worth::Same))]);
    steps.iter().all(|step| {
        let known = ExprValues { chart, worth: &worth };
        let holds = step.guard.as_ref().map(|guard| known.of(guard, 0));
        match (&step.kind, holds) {
            (_, Some(Some(Worth::Bool(false)))) => true,
            (StepKind::Code(actions), None) => actions.iter().all(|action| {
                let Action::Assign(id, expr) = action else { return false };
                let value = ExprValues { chart, worth: &worth }.of(expr, 0);
                worth.insert(*id, value);
                value.is_some()
            }),
            _ => false,
        }
    })
}

/// Evaluates expressions, given the values that `code` has assigned so far.
struct ExprValues<'c> {
    chart: &'c Chart,
    worth: &'c BTreeMap<VarId, Option<Worth>>,
}

impl ExprValues<'_> {
    /// The value of an expression; `None` if it is not known, or if its evaluation may fail.
    fn of(&self, expr: &Expr, depth: u32) -> Option<Worth> {
        if depth > DEEP {
            return None;
        }
        let of = |expr: &Expr| self.of(expr, depth + 1);
        match &expr.kind {
            ExprKind::Int(n) => Some(Worth::Int(*n)),
            ExprKind::Bool(value) => Some(Worth::Bool(*value)),
            ExprKind::Variable(id) => match self.worth.get(id) {
                Some(worth) => *worth,
                None if self.is_input(*id) && expr.ty == Type::Int => Some(Worth::Same),
                None => None,
            },
            ExprKind::Field(of, _) => match &of.kind {
                ExprKind::Variable(id) if self.is_input(*id) && expr.ty == Type::Int => {
                    Some(Worth::Same)
                }
                _ => None,
            },
            ExprKind::Predicate(id) => of(&self.chart.predicates[id.index()].expr),
            ExprKind::Unary(UnaryOp::Not, inner) => match of(inner)? {
                Worth::Bool(value) => Some(Worth::Bool(!value)),
                Worth::Same | Worth::Int(_) => None,
            },
            // The left side decides alone whether the right side is evaluated.
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => match of(a)? {
                Worth::Bool(value) if value == (*op == BinaryOp::Or) => Some(Worth::Bool(value)),
                Worth::Bool(_) => of(b),
                Worth::Same | Worth::Int(_) => None,
            },
            ExprKind::Binary(BinaryOp::Subtract, a, b) => match (of(a)?, of(b)?) {
                (Worth::Same, Worth::Same) => Some(Worth::Int(0)),
                (Worth::Int(a), Worth::Int(b)) => a.checked_sub(b).map(Worth::Int),
                _ => None,
            },
            ExprKind::Compare(first, rest) => match &rest[..] {
                [(op, second)] => compare(*op, of(first)?, of(second)?).map(Worth::Bool),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_input(&self, id: VarId) -> bool {
        self.chart.variables[id.index()].kind == VariableKind::Input
    }
}

fn compare(op: CompareOp, a: Worth, b: Worth) -> Option<bool> {
    let order = match (a, b) {
        (Worth::Same, Worth::Same) => std::cmp::Ordering::Equal,
        (Worth::Int(a), Worth::Int(b)) => a.cmp(&b),
        _ => return None,
    };
    Some(match op {
        CompareOp::Equal => order.is_eq(),
        CompareOp::NotEqual => order.is_ne(),
        CompareOp::Less => order.is_lt(),
        CompareOp::LessEqual => order.is_le(),
        CompareOp::Greater => order.is_gt(),
        CompareOp::GreaterEqual => order.is_ge(),
        CompareOp::In | CompareOp::NotIn => return None,
    })
}
