//! Cycles of model calls that nothing bounds: neither the host, nor a limit, a deadline or a counter.

use crate::facts::Facts;
use crate::facts::graph::{GraphNode, Moves};
use crate::facts::reach::{is_end, is_leaf};
use crate::facts::uses::{assigned, reads, walk, written};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, AskOn, Chart, ChoiceKind, Expr, ExprKind, Limits, Observable, Receiver, Step, StepKind,
    Trigger,
};
use std::collections::BTreeSet;

/// A cycle that calls a model in each iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// A step of the cycle that calls a model.
    pub step: StepId,
    /// The transitions of the cycle, ascending. Empty if the step may run again in each turn without leaving its state.
    pub transitions: Vec<TransitionId>,
}

/// The first cycle of model calls that a run may repeat without bound although the chart has a reachable end. The cycle needs no input
/// from the host, no limit or deadline ends it, and no condition in it reads a counter. Takes linear time, up to logarithms.
pub fn endless(chart: &Chart, facts: &Facts) -> Option<Round> {
    let ends = chart.state_ids().any(|s| is_end(chart, s) && facts.reach.can_enter(s));
    if !ends || is_limited(&chart.state(StateId::at(0)).limits) || !chart.steps.iter().any(calls) {
        return None;
    }
    let moves = alone(chart, facts)?;
    let around = Around::new(chart, facts, &counted(chart));
    // Components are in reverse topological order: the reverse begins where the run does, so a run reaches the reported cycle first.
    for component in moves.components().iter().rev() {
        let mut transitions: Vec<TransitionId> = Vec::new();
        let mut leaves: Vec<StateId> = Vec::new();
        for node in component {
            match node {
                GraphNode::Transition(transition) => transitions.push(*transition),
                GraphNode::Active(state) if is_leaf(chart, *state) => leaves.push(*state),
                GraphNode::Active(_) | GraphNode::Entered(_) | GraphNode::Any(_) => {}
            }
        }
        transitions.sort_unstable();
        leaves.sort_unstable();
        if let Some(round) = around.round(chart, &leaves, transitions) {
            return Some(round);
        }
    }
    None
}

/// The graph of moves without host events and without answers of people. `None` if some question waits for a host event.
pub fn alone(chart: &Chart, facts: &Facts) -> Option<Moves> {
    let alone = Alone::new(chart)?;
    let mut places = facts.scopes.clone();
    for (i, place) in places.transitions.iter_mut().enumerate() {
        if !alone.takes(chart, TransitionId::at(i)) {
            place.within.clear();
        }
    }
    Some(Moves::new(chart, &places, &facts.reach))
}

/// Whether the step calls a model in the walk of a turn.
fn calls(step: &Step) -> bool {
    matches!(step.kind, StepKind::Llm | StepKind::Ask { on: AskOn::Turn, .. })
}

fn is_limited(limits: &Limits) -> bool {
    *limits != Limits::default()
}

/// The triggers that occur without the host.
struct Alone {
    /// Events that the chart raises or sends to itself.
    own: BTreeSet<EventId>,
}

impl Alone {
    /// `None` if some question waits for a host event, because it is not known which question offers an option.
    fn new(chart: &Chart) -> Option<Self> {
        let mut own = BTreeSet::new();
        for block in chart.blocks() {
            Action::walk(block, &mut |action| match action {
                Action::Raise(event, ..) => {
                    own.insert(*event);
                }
                Action::Send { event, to: Receiver::Own, .. } => {
                    own.insert(*event);
                }
                _ => {}
            });
        }
        let waits = |step: &&Step| match &step.kind {
            StepKind::Ask { on: AskOn::Event(events), .. } => {
                !events.iter().any(|event| own.contains(event))
            }
            _ => false,
        };
        (!chart.steps.iter().any(|s| waits(&s))).then_some(Self { own })
    }

    fn takes(&self, chart: &Chart, transition: TransitionId) -> bool {
        match &chart.transition(transition).trigger {
            Trigger::Event(events) => events.iter().any(|event| self.own.contains(event)),
            Trigger::AnyEvent => !self.own.is_empty(),
            // People count as part of the host, and a child chart has limits of its own.
            Trigger::StepDone(step)
            | Trigger::StepError(step)
            | Trigger::StepTimeout(step, _)
            | Trigger::StepDoubt(step)
            | Trigger::StepElse(step) => {
                let kind = &chart.steps[step.index()].kind;
                !matches!(kind, StepKind::Human(_) | StepKind::Run(..))
            }
            _ => true,
        }
    }
}

/// Properties of a state or one of its ancestors, by state.
struct Around {
    /// The first step that calls a model in a turn while the state is active.
    calling: Vec<Option<StepId>>,
    /// Whether a step leaves the state whenever it is done.
    moves_on: Vec<bool>,
    /// Whether an option of a question has no target, so that choosing it stays in the state. Unusable answers do not count.
    asks_on: Vec<bool>,
    /// The number of options that a question may offer. An option with fields counts twice, because even alone it is never chosen
    /// without asking.
    offers: Vec<usize>,
    /// Whether a limit, a deadline or a condition on a counter bounds the time in the state.
    bounded: Vec<bool>,
}

impl Around {
    fn new(chart: &Chart, facts: &Facts, counted: &BTreeSet<VarId>) -> Self {
        let count = chart.states.len();
        let (mut calling, mut moves_on) = (vec![None; count], vec![false; count]);
        let (mut asks_on, mut offers) = (vec![false; count], vec![0_usize; count]);
        let mut bounded: Vec<bool> = chart.states.iter().map(|s| is_limited(&s.limits)).collect();
        for (i, (step, place)) in chart.steps.iter().zip(&facts.scopes.steps).enumerate() {
            let counts = step.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            for state in place.within.iter().map(|s| s.index()) {
                moves_on[state] |= always_moves_on(chart, step);
                bounded[state] |= counts;
                if calls(step) && place.except.is_empty() {
                    calling[state] = calling[state].or(Some(StepId::at(i)));
                }
            }
        }
        for (transition, place) in chart.transitions.iter().zip(&facts.scopes.transitions) {
            let ends = matches!(transition.trigger, Trigger::After(_) | Trigger::AfterTurns(_))
                || transition.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            if ends {
                place.within.iter().for_each(|state| bounded[state.index()] = true);
            }
            let stays = transition.targets.is_empty();
            if let Trigger::Choice(choice) = transition.trigger {
                let alone = matches!(&chart.choices[choice.index()].kind, ChoiceKind::Option(fields) if fields.is_empty());
                for state in place.within.iter().map(|s| s.index()) {
                    offers[state] += if alone { 1 } else { 2 };
                    asks_on[state] |= stays;
                }
            }
        }
        // Document order visits parents first, so each state inherits from all of its ancestors.
        for (i, state) in chart.states.iter().enumerate() {
            let Some(parent) = state.parent.map(StateId::index) else { continue };
            calling[i] = match (calling[i], calling[parent]) {
                (Some(own), Some(around)) => Some(own.min(around)),
                (one, other) => one.or(other),
            };
            moves_on[i] |= moves_on[parent];
            asks_on[i] |= asks_on[parent];
            offers[i] += offers[parent];
            bounded[i] |= bounded[parent];
        }
        Self { calling, moves_on, asks_on, offers, bounded }
    }

    /// The cycle of these leaves and transitions, if it calls a model and nothing bounds it.
    fn round(
        &self,
        chart: &Chart,
        leaves: &[StateId],
        transitions: Vec<TransitionId>,
    ) -> Option<Round> {
        if leaves.iter().any(|leaf| self.bounded[leaf.index()]) {
            return None;
        }
        let step = leaves.iter().find_map(|leaf| self.calling[leaf.index()])?;
        // A question with a single option takes it without asking a model, unless it is asked `always`.
        let asks = |always: bool| {
            leaves.iter().map(|leaf| leaf.index()).any(|leaf| {
                self.asks_on[leaf] && (self.offers[leaf] > 1 || always && self.offers[leaf] > 0)
            })
        };
        let stays = match chart.steps[step.index()].kind {
            StepKind::Llm => true,
            StepKind::Ask { always, .. } => asks(always),
            _ => false,
        };
        // A step that leaves the state whenever it is done ends the repetition, too.
        let stays = stays && !leaves.iter().any(|leaf| self.moves_on[leaf.index()]);
        (!transitions.is_empty() || stays).then_some(Round { step, transitions })
    }
}

/// Whether the step leaves its state whenever it is done.
fn always_moves_on(chart: &Chart, step: &Step) -> bool {
    step.outcomes.iter().map(|transition| chart.transition(*transition)).any(|transition| {
        matches!(transition.trigger, Trigger::StepDone(_))
            && transition.guard.is_none()
            && !transition.targets.is_empty()
    })
}

/// The variables that the chart counts: those assigned a value that depends on themselves or on others of the same block.
fn counted(chart: &Chart) -> BTreeSet<VarId> {
    let mut counted = BTreeSet::new();
    for block in written(chart) {
        // This includes lists and texts, which bound a cycle by their length.
        Action::walk(block, &mut |action| {
            if let Action::Assign(variable, value) = action {
                let mut read = BTreeSet::new();
                reads(chart, value, &mut read);
                if read.contains(variable) || !read.is_disjoint(&assigned(block)) {
                    counted.insert(*variable);
                }
            }
        });
    }
    counted
}

/// Whether a condition reads a quantity that grows: turns, time, calls, failures, or a counted variable.
fn counts(chart: &Chart, guard: &Expr, counted: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    walk(chart, guard, &mut |e| {
        if let ExprKind::Variable(id) = &e.kind {
            found |= counted.contains(id);
        }
        if let ExprKind::Observable(seen) = &e.kind {
            found |= matches!(
                seen,
                Observable::Turns
                    | Observable::TurnsHere
                    | Observable::TurnsIn(_)
                    | Observable::FailsHere
                    | Observable::Calls(_)
                    | Observable::Tokens(_)
                    | Observable::Cost(_)
                    | Observable::Elapsed
                    | Observable::ElapsedHere
                    | Observable::Streak(_)
                    | Observable::Repeated(..)
            );
        }
    });
    found
}
