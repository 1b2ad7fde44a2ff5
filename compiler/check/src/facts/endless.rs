//! Unbounded cycles of model calls.

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

/// A cycle that calls the model in each iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// A step of the cycle that calls the model.
    pub step: StepId,
    /// The transitions of the cycle, ascending; empty if the step may simply stay in its state.
    pub transitions: Vec<TransitionId>,
}

/// The first cycle of model calls that a run may repeat without bound although the chart has a reachable end: it needs no input
/// from the host, no limit and no deadline ends it, and no condition in it reads a counter. Linear, up to logarithms.
pub fn endless(chart: &Chart, facts: &Facts) -> Option<Round> {
    let ends = chart.state_ids().any(|s| is_end(chart, s) && facts.reach.can_enter(s));
    if !ends || is_limited(&chart.state(StateId::at(0)).limits) || !chart.steps.iter().any(calls) {
        return None;
    }
    let moves = alone(chart, facts)?;
    let around = Around::new(chart, facts, &counted(chart));
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

/// The moves of the chart without host events and without answers of people; `None` if some question waits for a host event.
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

/// Whether the step calls the model in a turn.
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
    /// `None` if some question waits for a host event, because the analysis does not track which question offers an option.
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
                Action::Send { .. }
                | Action::Assign(..)
                | Action::Do(..)
                | Action::If(..)
                | Action::For(..)
                | Action::Cancel(_)
                | Action::Result(..)
                | Action::Log(_) => {}
            });
        }
        let waits = |step: &&Step| match &step.kind {
            StepKind::Ask { on: AskOn::Event(events), .. } => {
                !events.iter().any(|event| own.contains(event))
            }
            StepKind::Ask { .. }
            | StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Human(_)
            | StepKind::Run(..) => false,
        };
        (!chart.steps.iter().any(|s| waits(&s))).then_some(Self { own })
    }

    fn takes(&self, chart: &Chart, transition: TransitionId) -> bool {
        match &chart.transition(transition).trigger {
            Trigger::Event(events) => events.iter().any(|event| self.own.contains(event)),
            Trigger::AnyEvent => !self.own.is_empty(),
            // People count as the host, and a child chart has limits of its own.
            Trigger::StepDone(step)
            | Trigger::StepError(step)
            | Trigger::StepTimeout(step, _)
            | Trigger::StepDoubt(step)
            | Trigger::StepElse(step) => {
                let kind = &chart.steps[step.index()].kind;
                !matches!(kind, StepKind::Human(_) | StepKind::Run(..))
            }
            Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::StateDone(_)
            | Trigger::After(_)
            | Trigger::AfterTurns(_)
            | Trigger::Choice(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => true,
        }
    }
}

/// By state: properties of the state or of one of its ancestors.
struct Around {
    /// The first step that calls the model in a turn there.
    calling: Vec<Option<StepId>>,
    /// Whether a step there leaves the state whenever it is done.
    moves_on: Vec<bool>,
    /// Whether an option of a question there has no target. Repeated unusable answers do not count.
    asks_on: Vec<bool>,
    /// The number of options that a question there may offer; an option with fields counts twice, because it is never chosen
    /// without asking.
    offers: Vec<usize>,
    /// Whether a limit, a deadline or a condition on a counter bounds the time there.
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

    /// The cycle of these leaves and transitions, if it calls the model and nothing bounds it.
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
        // A step that always leaves the state when it is done ends the stay, too.
        let asks = |always: bool| {
            leaves.iter().map(|leaf| leaf.index()).any(|leaf| {
                self.asks_on[leaf] && (self.offers[leaf] > 1 || always && self.offers[leaf] > 0)
            })
        };
        let stays = match chart.steps[step.index()].kind {
            StepKind::Llm => true,
            StepKind::Ask { always, .. } => asks(always),
            StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => {
                false
            }
        };
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

/// Variables that the chart counts up or down.
fn counted(chart: &Chart) -> BTreeSet<VarId> {
    let mut counted = BTreeSet::new();
    for block in written(chart) {
        // A growing list or text bounds a cycle like a number does.
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

/// Whether a condition reads a count: of turns, of time, or in a counted variable.
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
