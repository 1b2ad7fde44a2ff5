//! Conditions that are to bound rounds and come out alike in each, because of how their counter is counted.
//!
//! What is set within a line of its own is told of by `miscount` and `counting`; here it is the whole round that counts: what its states
//! do when they are entered and left, its other lines, the code of its steps.

mod stops;
mod track;
mod way;

pub use way::{Uncounted, uncounted};

use crate::facts::Facts;
use crate::facts::counter::{Bound, Change, Owner, Writer, bounds, is_of_turn, value, writers};
use crate::facts::graph::Node;
use crate::facts::interval::{Range, within};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{Chart, CompareOp, Trigger};
use std::collections::BTreeMap;
use track::Track;

/// Counters that are looked at, and assignments to each of them; a chart with more is built by a program.
const MOST: usize = 32;
/// Conditions that are looked at.
const ASKED: usize = 128;

/// Whose condition asks for a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// A line.
    Line(TransitionId),
    /// A step.
    Step(StepId),
    /// A line of the table of moves.
    Permission(usize),
}

/// A condition on a counter that bounds no round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Whose condition.
    pub asker: Asker,
    /// The counter.
    pub counter: VarId,
    /// Whether it always holds; else it never does.
    pub holds: bool,
    /// Why it comes out alike.
    pub why: Why,
}

/// Why a counter gets nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Each round sets it back here.
    Reset(Writer),
    /// It is counted away from the bound, and nowhere towards it.
    Away(Writer),
    /// It is counted here, where no round that asks for it passes.
    Elsewhere(Writer),
    /// It begins afresh in each turn, and a turn counts too little.
    Turn(Writer),
    /// It is only ever set to one constant.
    Never(Writer),
}

/// Every such condition, by place.
pub fn lost(chart: &Chart, facts: &Facts) -> Vec<Lost> {
    let mut asked: BTreeMap<VarId, Vec<(Asker, Bound<'_>)>> = BTreeMap::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        for bound in line.guard.iter().flat_map(|guard| bounds(chart, guard)) {
            asked.entry(bound.counter).or_default().push((Asker::Line(id), bound));
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        for bound in step.guard.iter().flat_map(|guard| bounds(chart, guard)) {
            asked.entry(bound.counter).or_default().push((Asker::Step(StepId::at(i)), bound));
        }
    }
    for (i, row) in chart.permissions.iter().enumerate() {
        for bound in row.guard.iter().flat_map(|guard| bounds(chart, guard)) {
            asked.entry(bound.counter).or_default().push((Asker::Permission(i), bound));
        }
    }
    let mut found = Vec::new();
    let mut rounds = None;
    let mut left = ASKED;
    for (counter, mut asked) in asked.into_iter().take(MOST) {
        asked.truncate(left);
        left -= asked.len();
        let Some(writers) = few_writers(chart, counter).filter(|w| !w.is_empty()) else {
            continue;
        };
        let turn = if is_of_turn(chart, counter) {
            match in_a_turn(chart, counter, &writers) {
                Some(range) => Some(range),
                None => continue,
            }
        } else {
            None
        };
        let track = Track::of(chart, facts, counter);
        let mut free = None;
        let rounds = rounds.get_or_insert_with(|| Rounds::of(facts));
        for (asker, bound) in asked {
            let range = turn.or_else(|| track.asked_by(asker));
            let Some(holds) = range.and_then(|range| alike(chart, &bound, range)) else {
                continue;
            };
            // What begins otherwise has been counted on the way.
            let first = chart.variables[counter.index()].default.as_ref().and_then(|default| {
                alike(chart, &bound, value(chart, default, counter, Range::default()))
            });
            let Some(round) = rounds.around(chart, facts, asker).filter(|_| first == Some(holds))
            else {
                continue;
            };
            // Up, for the comparison to come out otherwise.
            let low = matches!(bound.op, CompareOp::Less | CompareOp::LessEqual);
            let why = why(chart, facts, rounds, counter, &writers, (holds == low, &round));
            // That a condition never holds anywhere is told of otherwise, though not who counts the wrong way.
            let taken = !matches!(asker, Asker::Line(id) if !facts.reach.takes(id));
            let why = why.filter(|why| taken || matches!(why, Why::Away(_)));
            // Another bound may hold it back as well as what sets it back.
            let why = why.filter(|why| {
                let free = matches!(why, Why::Reset(_)).then(|| {
                    free.get_or_insert_with(|| Track::without_resets(chart, facts, counter))
                });
                let alone = free.and_then(|free| alike(chart, &bound, free.asked_by(asker)?));
                alone.is_none()
            });
            found.extend(why.map(|why| Lost { asker, counter, holds, why }));
        }
    }
    found.sort_by_key(|lost| lost.asker);
    found.dedup_by_key(|lost| (lost.asker, lost.counter));
    found
}

/// Every assignment to the counter; `None` where an answer sets it, too, or there are many.
fn few_writers(chart: &Chart, counter: VarId) -> Option<Vec<Writer>> {
    writers(chart, counter).filter(|writers| writers.len() <= MOST)
}

/// Between what bounds a counter of a turn is: each step comes once in it. `None` where something else sets it.
fn in_a_turn(chart: &Chart, counter: VarId, writers: &[Writer]) -> Option<Range> {
    let default = chart.variables[counter.index()].default.as_ref()?;
    let mut range = value(chart, default, counter, Range::default());
    let mut moved = Range::one(0);
    for writer in writers {
        let once = match writer.owner {
            Owner::Line(id) => chart.transition(id).trigger.step().is_some(),
            Owner::State(_) => false,
            Owner::Step(_) => !writer.is_repeated,
        };
        match writer.change {
            Change::By(by) if once => {
                let more = moved.plus(Range::one(by));
                moved = moved.join(more);
            }
            Change::To(Some(value)) => range = range.join(Range::one(value)),
            Change::By(_) | Change::To(None) | Change::Other => return None,
        }
    }
    Some(range.plus(moved))
}

/// What a comparison always comes out as within these bounds.
fn alike(chart: &Chart, bound: &Bound<'_>, range: Range) -> Option<bool> {
    let than = value(chart, bound.than, bound.counter, Range::default());
    let opposite = match bound.op {
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => return None,
    };
    if range.meet(within(bound.op, than)).is_empty() {
        Some(false)
    } else if range.meet(within(opposite, than)).is_empty() {
        Some(true)
    } else {
        None
    }
}

/// Which nodes lead to each other.
struct Rounds {
    /// By place of the node.
    component: Vec<usize>,
    /// By component.
    sizes: Vec<usize>,
}

impl Rounds {
    fn of(facts: &Facts) -> Self {
        let mut component = vec![usize::MAX; facts.moves.nodes()];
        let mut sizes = Vec::new();
        for (number, nodes) in facts.moves.components().iter().enumerate() {
            sizes.push(nodes.len());
            for node in nodes {
                component[facts.moves.place(*node)] = number;
            }
        }
        Self { component, sizes }
    }

    fn at(&self, facts: &Facts, node: Node) -> usize {
        self.component[facts.moves.place(node)]
    }

    /// What is active where the asker asks again and again; `None` if it does not.
    fn around(&self, chart: &Chart, facts: &Facts, asker: Asker) -> Option<Round> {
        let (within, own) = match asker {
            Asker::Line(id) => {
                let line = chart.transition(id);
                // A step is done again in the next turn where nothing moves on.
                let again = line.targets.is_empty()
                    || line.trigger.step().is_some()
                    || matches!(line.trigger, Trigger::Choice(_) | Trigger::When);
                let within = &facts.places.line(id).within;
                (if within.is_empty() { vec![line.source] } else { within.clone() }, again)
            }
            Asker::Step(id) => (facts.places.step(id).within.clone(), true),
            Asker::Permission(i) => {
                (vec![chart.permissions[i].from.unwrap_or(StateId::at(0))], true)
            }
        };
        let first = within.iter().find(|s| facts.reach.enters(**s))?;
        let component = self.at(facts, Node::Active(*first));
        if self.sizes[component] <= 1 && !own {
            return None;
        }
        let mut holds = vec![false; chart.states.len()];
        let mut active = vec![false; chart.states.len()];
        for state in chart.state_ids() {
            if self.at(facts, Node::Active(state)) == component {
                active[state.index()] = true;
                let above = chart.ancestors(state);
                for above in above.take_while(|s| !holds[s.index()]).collect::<Vec<_>>() {
                    holds[above.index()] = true;
                }
            }
        }
        Some(Round { component, active, holds })
    }

    /// Whether what is written there is done in the round.
    fn passes(&self, chart: &Chart, facts: &Facts, writer: &Writer, round: &Round) -> bool {
        match writer.owner {
            Owner::Line(id) => {
                self.at(facts, Node::Line(id)) == round.component
                    || chart.transition(id).targets.is_empty()
                        && round.is_in(&facts.places.line(id).within)
            }
            Owner::State(state) => {
                round.active[state.index()]
                    || self.at(facts, Node::Entered(state)) == round.component
            }
            Owner::Step(id) => round.is_in(&facts.places.step(id).within),
        }
    }
}

/// A component of the graph in which something is asked again and again.
struct Round {
    component: usize,
    /// By state: whether it belongs to it.
    active: Vec<bool>,
    /// By state: whether it, or a state in it, does.
    holds: Vec<bool>,
}

impl Round {
    /// Whether one of the states is active in it, or a state in one.
    fn is_in(&self, states: &[StateId]) -> bool {
        states.iter().any(|s| self.holds[s.index()])
    }
}

/// Why a comparison comes out alike that would change if the counter went up, or down.
fn why(
    chart: &Chart,
    facts: &Facts,
    rounds: &Rounds,
    counter: VarId,
    writers: &[Writer],
    (up, round): (bool, &Round),
) -> Option<Why> {
    let takes = |w: &&Writer| match w.owner {
        Owner::Line(id) => facts.reach.takes(id),
        Owner::State(id) => facts.reach.enters(id),
        Owner::Step(_) => true,
    };
    let mut toward = None;
    let (mut away, mut reset, mut passed) = (None, None, false);
    let default = chart.variables[counter.index()].default.as_ref();
    let first = default.map(|e| value(chart, e, counter, Range::default()));
    let mut back = Vec::new();
    for writer in writers.iter().filter(takes) {
        let here = rounds.passes(chart, facts, writer, round);
        match writer.change {
            Change::By(by) if (by > 0) == up => {
                passed |= here;
                toward = toward.or(Some(*writer));
            }
            Change::By(_) if here => away = away.or(Some(*writer)),
            Change::By(_) => {}
            Change::To(value) => {
                // What a turn counts may be as little as one.
                let further = value.zip(first).is_some_and(|(value, first)| {
                    if up { first.high < Some(value) } else { Some(value) < first.low }
                });
                if further && is_of_turn(chart, counter) {
                    toward = toward.or(Some(*writer));
                    continue;
                }
                back.push((*writer, value));
                if here {
                    reset = reset.or(Some(*writer));
                }
            }
            Change::Other => return None,
        }
    }
    match (toward, away) {
        (Some(toward), _) if is_of_turn(chart, counter) => Some(Why::Turn(toward)),
        (Some(_), _) if passed => reset.map(Why::Reset),
        (Some(toward), None) => Some(Why::Elsewhere(toward)),
        (None, Some(away)) if !is_of_turn(chart, counter) => Some(Why::Away(away)),
        (None, None) => {
            // A variable that takes several constants is a mode, not a counter.
            let (one, only) = back.first().filter(|(_, value)| value.is_some())?;
            if back.iter().any(|(_, value)| value != only) {
                return None;
            }
            Some(Why::Never(*one))
        }
        (Some(_) | None, Some(_)) => None,
    }
}
