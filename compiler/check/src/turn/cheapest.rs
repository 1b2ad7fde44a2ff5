//! The fewest model calls of a run to its end, or of a stay in a state: a shortest path over transitions.
//!
//! Transitions cost 0 or 1 call each, so the search is a breadth-first search with two ends of the queue (0-1 BFS): free moves are pushed
//! to the front, moves that cost a call to the back.

use crate::facts::Facts;
use crate::facts::reach::{domain, entered_by_default, entries, restored};
use crate::turn::calls::region;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::machine::Status;
use chartc_core::model::{AskOn, Chart, ChoiceKind, StateKind, StepKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How a state became active: the state that was active before, and the transition taken. `None` at the start.
type Cause = Option<(StateId, TransitionId)>;

/// An entry of the queue: a state that is entered, and the number of calls made until then.
#[derive(Clone, Copy)]
struct QueueItem {
    calls: u64,
    /// The state that is entered.
    state: StateId,
    /// Whether the state is entered by default, so that others are entered along with it.
    default: bool,
    cause: Cause,
    /// Whether the transition has exited the state of [`Goal::Out`].
    is_out: bool,
}

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// The end of the run with the status `ok`.
    End,
    /// The exit from this state, or its completion. Calls are counted from its entry.
    Out(StateId),
}

/// The fewest model calls of a run that ends `ok`, with its transitions; `None` if no run does. This is a lower bound: all conditions
/// count as true, and a question that may be settled without a call as free. Takes linear time.
pub fn least(chart: &Chart, facts: &Facts) -> Option<(u64, Vec<TransitionId>)> {
    search(chart, facts, false, Goal::End)
}

/// The fewest turns of a run that ends `ok`, with its transitions: its fewest calls in walks, divided by the most calls of a turn. `None`
/// if no run ends `ok`, or if the calls of a turn are not limited.
pub fn least_turns(chart: &Chart, facts: &Facts) -> Option<(u64, Vec<TransitionId>)> {
    let each = calls_of_a_turn(chart)?;
    let (calls, way) = search(chart, facts, true, Goal::End)?;
    Some((calls.div_ceil(each.max(1)), way))
}

/// The fewest model calls from the entry of a state until a transition exits it or it completes, with the transitions. `None` if only
/// errors or limits lead out of it.
pub fn least_through(
    chart: &Chart,
    facts: &Facts,
    state: StateId,
) -> Option<(u64, Vec<TransitionId>)> {
    search(chart, facts, false, Goal::Out(state))
}

/// The fewest turns from the entry of a state until a transition exits it or it completes, computed like [`least_turns`].
pub fn least_turns_through(
    chart: &Chart,
    facts: &Facts,
    state: StateId,
) -> Option<(u64, Vec<TransitionId>)> {
    let each = calls_of_a_turn(chart)?;
    let (calls, way) = search(chart, facts, true, Goal::Out(state))?;
    Some((calls.div_ceil(each.max(1)), way))
}

/// The maximum number of model calls of one turn, in which each region has a walk with calls of its own. `None` if they are not limited.
fn calls_of_a_turn(chart: &Chart) -> Option<u64> {
    let states = chart.state_ids().skip(1);
    let walks = 1 + states.filter(|s| region(chart, *s) == *s).count() as u64;
    Some(u64::from(chart.calls_per_turn?).saturating_mul(walks))
}

/// Whether the search takes the transition. A way out of a state does not count if it only handles an error or a warning.
fn serves(transition: &Transition, goal: Goal) -> bool {
    let fault = matches!(transition.trigger, Trigger::Error(_) | Trigger::LimitWarn(_));
    goal == Goal::End || !fault
}

/// The cheapest path to the goal. With `walks`, only calls in walks count.
fn search(
    chart: &Chart,
    facts: &Facts,
    walks: bool,
    goal: Goal,
) -> Option<(u64, Vec<TransitionId>)> {
    let mut transitions: Vec<Vec<TransitionId>> = vec![Vec::new(); chart.states.len()];
    for (i, place) in facts.scopes.transitions.iter().enumerate() {
        let row = &chart.transitions[i];
        // `done` of a parallel needs all of its regions; `Regions::end` enables these transitions.
        if Regions::waits(chart, TransitionId::at(i)).is_some() || !serves(row, goal) {
            continue;
        }
        for state in &place.within {
            transitions[state.index()].push(TransitionId::at(i));
        }
    }
    let mut regions = Regions::new(chart);
    let root = StateId::at(0);
    let prices = Prices::new(chart, walks);
    let mut active: Vec<Option<Cause>> = vec![None; chart.states.len()];
    let mut entered = vec![false; chart.states.len()];
    let mut taken = vec![false; chart.transitions.len()];
    let first = if let Goal::Out(state) = goal { state } else { root };
    let begins = QueueItem { calls: 0, state: first, default: true, cause: None, is_out: false };
    let mut open = VecDeque::from([begins]);
    while let Some(QueueItem { calls, state, default, cause, is_out }) = open.pop_front() {
        let is_end = matches!(chart.state(state).kind, StateKind::Final { .. })
            && goal == Goal::Out(chart.state(state).parent.unwrap_or(root));
        if is_out || is_end {
            return Some((calls, trace(&active, cause)));
        }
        if active[state.index()].is_none() {
            active[state.index()] = Some(cause);
            if let StateKind::Final { status: Status::Ok, .. } = chart.state(state).kind
                && chart.state(state).parent == Some(root)
                && goal == Goal::End
            {
                return Some((calls, trace(&active, cause)));
            }
            let parent = chart.state(state).parent;
            let inner = QueueItem { calls, state, default: false, cause, is_out: false };
            open.all_first(parent, |state| QueueItem { state, ..inner });
            let ready = regions.end(chart, state);
            // The transitions are taken out: the first visit of a state is the cheapest.
            for id in std::mem::take(&mut transitions[state.index()]).into_iter().chain(ready) {
                if std::mem::replace(&mut taken[id.index()], true) {
                    continue;
                }
                let pays = prices.pays(chart, id);
                let transition = chart.transition(id);
                let is_out = match goal {
                    Goal::End => false,
                    Goal::Out(state) => {
                        domain(chart, transition).is_some_and(|top| !chart.contains(state, top))
                    }
                };
                for target in entries(chart, chart.transition(id)) {
                    let item = QueueItem {
                        calls: calls + u64::from(pays),
                        state: target,
                        default: true,
                        cause: Some((state, id)),
                        is_out,
                    };
                    if pays { open.push_back(item) } else { open.push_front(item) }
                }
            }
        }
        if default && !std::mem::replace(&mut entered[state.index()], true) {
            let with = entered_by_default(chart, state).into_iter().chain(restored(chart, state));
            let inner = QueueItem { calls, state, default: true, cause, is_out: false };
            open.all_first(with, |state| QueueItem { state, ..inner });
        }
    }
    None
}

/// A queue that accepts several items at its front.
trait AllFirst {
    fn all_first(
        &mut self,
        states: impl IntoIterator<Item = StateId>,
        make: impl Fn(StateId) -> QueueItem,
    );
}

impl AllFirst for VecDeque<QueueItem> {
    fn all_first(
        &mut self,
        states: impl IntoIterator<Item = StateId>,
        make: impl Fn(StateId) -> QueueItem,
    ) {
        for state in states {
            self.push_front(make(state));
        }
    }
}

/// The transitions that led to a cause, in the order taken.
fn trace(active: &[Option<Cause>], last: Cause) -> Vec<TransitionId> {
    let mut transitions = Vec::new();
    let mut at = last;
    while let Some((state, transition)) = at {
        transitions.push(transition);
        at = active[state.index()].flatten();
    }
    transitions.reverse();
    transitions
}

/// The parallels whose completion some transition waits for.
struct Regions {
    /// By parallel: the number of its regions that have not completed.
    left: BTreeMap<StateId, usize>,
    /// The regions that have completed.
    ended: BTreeSet<StateId>,
    /// By parallel: the transitions on its `done`.
    transitions: BTreeMap<StateId, Vec<TransitionId>>,
}

impl Regions {
    fn new(chart: &Chart) -> Self {
        let mut transitions: BTreeMap<StateId, Vec<TransitionId>> = BTreeMap::new();
        let mut left = BTreeMap::new();
        for id in (0..chart.transitions.len()).map(TransitionId::at) {
            if let Some(parallel) = Self::waits(chart, id) {
                transitions.entry(parallel).or_default().push(id);
                let regions = chart.children(parallel);
                let last =
                    regions.filter(|r| matches!(chart.state(*r).kind, StateKind::Compound { .. }));
                left.insert(parallel, last.count());
            }
        }
        Self { left, ended: BTreeSet::new(), transitions }
    }

    /// The parallel whose completion the transition waits for. `None` for other triggers, and if a region is not a compound.
    fn waits(chart: &Chart, id: TransitionId) -> Option<StateId> {
        let transition = chart.transition(id);
        let Trigger::StateDone(state) = transition.trigger else { return None };
        let parallel = matches!(chart.state(state).kind, StateKind::Parallel);
        let simple = chart
            .children(state)
            .all(|r| matches!(chart.state(r).kind, StateKind::Compound { .. }));
        (parallel && simple).then_some(state)
    }

    /// The transitions that become available because this state, a final one, completes the last region of a parallel.
    fn end(&mut self, chart: &Chart, state: StateId) -> Vec<TransitionId> {
        let is_final = matches!(chart.state(state).kind, StateKind::Final { .. });
        let region = chart.state(state).parent.filter(|_| is_final);
        let parallel = region.and_then(|r| chart.state(r).parent);
        let (Some(region), Some(parallel)) = (region, parallel) else { return Vec::new() };
        let Some(left) = self.left.get_mut(&parallel) else { return Vec::new() };
        if self.ended.insert(region) {
            *left -= 1;
        }
        if *left == 0 { self.transitions.remove(&parallel).unwrap_or_default() } else { Vec::new() }
    }
}

/// Decides which transitions cost a model call.
struct Prices {
    /// By state: the number of options that are enabled whenever the state is active.
    open: Vec<u32>,
    /// Whether every question is asked even if it has a single option.
    always: bool,
    /// Whether options may be chosen outside of walks, whose calls do not count here.
    outside: bool,
}

impl Prices {
    fn new(chart: &Chart, walks: bool) -> Self {
        let mut open = vec![0; chart.states.len()];
        for transition in &chart.transitions {
            let plain = transition.guard.is_none() && transition.scope.is_none();
            if plain && matches!(transition.trigger, Trigger::Choice(_)) {
                open[transition.source.index()] += 1;
            }
        }
        for i in 1..chart.states.len() {
            let above = chart.states[i].parent.map_or(0, |p| open[p.index()]);
            open[i] += above;
        }
        let free = |kind: &StepKind| matches!(kind, StepKind::Ask { always: false, .. });
        let waits = |kind: &StepKind| matches!(kind, StepKind::Ask { on: AskOn::Event(_), .. });
        let outside = walks && chart.steps.iter().any(|s| waits(&s.kind));
        Self { open, always: !chart.steps.iter().any(|s| free(&s.kind)), outside }
    }

    /// Whether taking the transition costs a model call.
    fn pays(&self, chart: &Chart, id: TransitionId) -> bool {
        let transition = chart.transition(id);
        let open = self.open[transition.source.index()];
        if let Trigger::Choice(choice) = transition.trigger {
            if self.outside {
                return false;
            }
            let asked = match &chart.choices[choice.index()].kind {
                ChoiceKind::Option(fields) => !fields.is_empty(),
                ChoiceKind::Call(..) => true,
            };
            let own = u32::from(transition.guard.is_none() && transition.scope.is_none());
            return asked || self.always || open > own;
        }
        let Some(step) = transition.trigger.step() else { return false };
        match chart.steps[step.index()].kind {
            // The list of an `each` may be empty.
            StepKind::Llm => chart.steps[step.index()].each.is_none(),
            // Without an enabled option, the `else` of a question is taken without a call.
            StepKind::Ask { .. } => {
                !self.outside && (!matches!(transition.trigger, Trigger::StepElse(_)) || open > 0)
            }
            _ => false,
        }
    }
}
