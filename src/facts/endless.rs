//! Rounds of model calls that nothing bounds.

use crate::facts::Facts;
use crate::facts::graph::{Moves, Node};
use crate::facts::reach::{is_end, is_leaf};
use crate::facts::uses::{assigned, reads, walk, written};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, AskOn, Chart, ChoiceKind, Expr, ExprKind, Limits, Observable, Receiver, Step, StepKind,
    Trigger,
};
use std::collections::BTreeSet;

/// A round that calls the model each time it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// A step that calls in it.
    pub step: StepId,
    /// The lines that make it up, ascending; empty where the step may just stay in its state.
    pub lines: Vec<TransitionId>,
}

/// The first round of model calls that a run may make as often as it likes although the chart is meant to end: nothing the host does is
/// needed for it, no limit and no deadline ends it, and no condition in it counts. Linear, up to logarithms.
pub fn endless(chart: &Chart, facts: &Facts) -> Option<Round> {
    let ends = chart.state_ids().any(|s| is_end(chart, s) && facts.reach.enters(s));
    if !ends || is_limited(&chart.state(StateId::at(0)).limits) || !chart.steps.iter().any(calls) {
        return None;
    }
    let moves = alone(chart, facts)?;
    let around = Around::of(chart, facts, &counted(chart));
    for component in moves.components().iter().rev() {
        let mut lines: Vec<TransitionId> = Vec::new();
        let mut leaves: Vec<StateId> = Vec::new();
        for node in component {
            match node {
                Node::Line(line) => lines.push(*line),
                Node::Active(state) if is_leaf(chart, *state) => leaves.push(*state),
                Node::Active(_) | Node::Entered(_) | Node::Any(_) => {}
            }
        }
        lines.sort_unstable();
        leaves.sort_unstable();
        if let Some(round) = around.round(chart, &leaves, lines) {
            return Some(round);
        }
    }
    None
}

/// What the chart can do without an event of the host or a person's answer; `None` where that is not told apart.
pub fn alone(chart: &Chart, facts: &Facts) -> Option<Moves> {
    let alone = Alone::of(chart)?;
    let mut places = facts.places.clone();
    for (i, place) in places.lines.iter_mut().enumerate() {
        if !alone.takes(chart, TransitionId::at(i)) {
            place.within.clear();
        }
    }
    Some(Moves::of(chart, &places, &facts.reach))
}

/// Whether a turn makes the step call the model.
fn calls(step: &Step) -> bool {
    matches!(step.kind, StepKind::Llm | StepKind::Ask { on: AskOn::Turn, .. })
}

fn is_limited(limits: &Limits) -> bool {
    limits.calls.is_some()
        || limits.tokens.is_some()
        || limits.cost.is_some()
        || limits.time.is_some()
        || limits.turns.is_some()
}

/// What happens without the host.
struct Alone {
    /// Events that the chart gives itself.
    own: BTreeSet<EventId>,
}

impl Alone {
    /// `None` where some questions wait for an event of the host and others do not: whose options are taken is not told apart.
    fn of(chart: &Chart) -> Option<Self> {
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

    fn takes(&self, chart: &Chart, line: TransitionId) -> bool {
        match &chart.transition(line).trigger {
            Trigger::Event(events) => events.iter().any(|event| self.own.contains(event)),
            Trigger::AnyEvent => !self.own.is_empty(),
            // A person answers as seldom as a host, and a chart that is run has limits of its own.
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

/// By state: what is true of it or of a state around it.
struct Around {
    /// The first step that a turn makes call the model there.
    calling: Vec<Option<StepId>>,
    /// A step there always moves on when it has answered.
    moves_on: Vec<bool>,
    /// An option of a question there has no target. That no answer of the model is usable, round after round, is not meant.
    asks_on: Vec<bool>,
    /// Options that a question there may offer, two for one that is not taken unasked.
    offers: Vec<usize>,
    /// A limit, a deadline or a condition that counts ends what happens there.
    bounded: Vec<bool>,
}

impl Around {
    fn of(chart: &Chart, facts: &Facts, counted: &BTreeSet<VarId>) -> Self {
        let count = chart.states.len();
        let (mut calling, mut moves_on) = (vec![None; count], vec![false; count]);
        let (mut asks_on, mut offers) = (vec![false; count], vec![0_usize; count]);
        let mut bounded: Vec<bool> = chart.states.iter().map(|s| is_limited(&s.limits)).collect();
        for (i, (step, place)) in chart.steps.iter().zip(&facts.places.steps).enumerate() {
            let counts = step.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            for state in place.within.iter().map(|s| s.index()) {
                moves_on[state] |= always_moves_on(chart, step);
                bounded[state] |= counts;
                if calls(step) && place.except.is_empty() {
                    calling[state] = calling[state].or(Some(StepId::at(i)));
                }
            }
        }
        for (line, place) in chart.transitions.iter().zip(&facts.places.lines) {
            let ends = matches!(line.trigger, Trigger::After(_) | Trigger::AfterTurns(_))
                || line.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            if ends {
                place.within.iter().for_each(|state| bounded[state.index()] = true);
            }
            let stays = line.targets.is_empty();
            if let Trigger::Choice(choice) = line.trigger {
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

    /// The round that the leaves and lines make, if it calls and nothing ends it.
    fn round(&self, chart: &Chart, leaves: &[StateId], lines: Vec<TransitionId>) -> Option<Round> {
        if leaves.iter().any(|leaf| self.bounded[leaf.index()]) {
            return None;
        }
        let step = leaves.iter().find_map(|leaf| self.calling[leaf.index()])?;
        // A step beside it that always moves on ends what stays as well as its own line.
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
        (!lines.is_empty() || stays).then_some(Round { step, lines })
    }
}

/// Whether the step leads elsewhere whenever it has answered.
fn always_moves_on(chart: &Chart, step: &Step) -> bool {
    step.outcomes.iter().map(|line| chart.transition(*line)).any(|line| {
        matches!(line.trigger, Trigger::StepDone(_))
            && line.guard.is_none()
            && !line.targets.is_empty()
    })
}

/// Variables that the chart counts up or down.
fn counted(chart: &Chart) -> BTreeSet<VarId> {
    let mut counted = BTreeSet::new();
    for block in written(chart) {
        // A list that grows, or a text, bounds as well as a number.
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

/// Whether a condition reads what counts: turns, time, or a variable that is counted.
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
                    | Observable::Elapsed
                    | Observable::ElapsedHere
                    | Observable::Streak(_)
            );
        }
    });
    found
}
