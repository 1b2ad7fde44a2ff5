//! Bounds on the model calls of a turn and a run, and on what they cost.
//!
//! **The problem.** What a run costs depends on its way through the chart, but an author wants to know the bounds before the first run.
//!
//! **The idea.** Four bounds, each certain for all runs:
//!
//! - The calls of a turn that begins in a leaf, from its walk (`walk`).
//! - The most calls of a run (`bound`): the least of what the chart's limits allow, and of the limit of turns times the most expensive
//!   turn. If nothing bounds the calls, [`CallBound::None`] names a step, and `round` finds a cycle through it to show.
//! - The fewest calls of a run that ends `ok` ([`least`]): a shortest path over transitions, of which each costs 0 or 1 call. All
//!   conditions count as true, so no run makes fewer. The same search gives the fewest calls or turns of a stay in a state (`Goal::Out`).
//! - The cost in money ([`money`]): calls or tokens times the prices of the clients.
//!
//! **Example.**
//!
//! ```text
//! limits { turns 10  calls 2 per turn }
//! initial write
//! state write { llm draft { prompt "…" } -> check }
//! state check { llm judge { prompt "…"  returns Bool  done if judge -> published  done -> write } }
//! final published
//! ```
//!
//! A turn that begins in `write` makes at most 2 calls, as `draft` leads to `judge`. So a run makes at most 10 × 2 calls. It makes at least
//! 2, for `draft` and `judge` on the way `write` → `check` → `published`, and so needs at least one turn.

use super::calls::region;
use super::walk::{Shared, Walks, turn};
use super::{Driver, TurnCost, calls_model};
use crate::analysis::facts::Facts;
use crate::analysis::facts::reach::{
    GraphNode, domain, entered_by_default, entries, is_end, restored,
};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::machine::{LimitKind, Status};
use chartc_core::model::{
    Chart, ChoiceKind, Client, Expr, StateKind, Step, StepKind, Target, Transition, Trigger,
};
use chartc_core::tables::is_free;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The model calls of a chart.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The calls of a turn that begins in each leaf, ascending by leaf.
    pub turns: Vec<TurnCost>,
    /// The questions that wait for an event, with the most calls that one such event causes.
    pub events: Vec<Driver>,
    /// The calls of a whole run.
    pub run: RunCost,
}

/// The model calls of one run.
#[derive(Debug, Clone)]
pub struct RunCost {
    /// The minimum number of calls of a run that ends `ok`, with the transitions taken; `None` if no run does.
    pub least: Option<(u64, Vec<TransitionId>)>,
    /// The bound on the calls of any run.
    pub worst: CallBound,
    /// If nothing bounds the calls: the shortest cycle of transitions through the leaf or the step's state. Empty if the calls repeat
    /// without exiting it.
    pub round: Vec<TransitionId>,
}

/// The bound on the calls of a run, by its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallBound {
    /// No model step can run.
    NoCalls,
    /// `limits { calls … }` of the chart.
    Calls(u64),
    /// `limits { calls … }` of states: each calling step is inside a state with such a limit. The sum of these limits.
    States(u64),
    /// `limits { turns … }` of the chart, times the calls of the worst turn.
    Turns {
        /// The limit on the turns.
        turns: u64,
        /// The maximum number of calls of a turn.
        each: u64,
    },
    /// `limits { calls … }` of the chart, computed from its params. No number is known before a run.
    Formula,
    /// No bound: this step may call in every turn that begins in the leaf, or whenever its event occurs.
    None {
        /// The step that calls.
        step: StepId,
        /// The leaf, if the step runs in turns.
        leaf: Option<StateId>,
    },
}

impl CallBound {
    /// The maximum number of calls of a run, if it is known.
    pub fn calls(self) -> Option<u64> {
        match self {
            Self::NoCalls => Some(0),
            Self::Calls(calls) | Self::States(calls) => Some(calls),
            Self::Turns { turns, each } => Some(turns.saturating_mul(each)),
            Self::Formula | Self::None { .. } => None,
        }
    }
}

/// Computes all bounds. If any event may arrive while a step is under way and no states are parallel, the work for each leaf is about its
/// depth; otherwise it is the number of steps that may run in a turn that begins there.
pub fn cost(chart: &Chart, facts: &Facts) -> Cost {
    let walks = Walks::new(chart, facts);
    bounds(chart, facts, &walks, Shared::new(&walks))
}

/// Like [`cost`], but always with one walk for each leaf. Slower; tests compare the results of both.
#[cfg(test)]
pub(crate) fn cost_by_walks(chart: &Chart, facts: &Facts) -> Cost {
    bounds(chart, facts, &Walks::new(chart, facts), None)
}

/// Like [`cost`]; `None` if that would take long.
pub(crate) fn cost_soon(chart: &Chart, facts: &Facts) -> Option<Cost> {
    let walks = Walks::new(chart, facts);
    let shared = Shared::new(&walks);
    let leaves = walks.leaves.len();
    let is_soon = shared.is_some()
        || !walks.calls
        || leaves.saturating_mul(leaves + chart.steps.len()) <= MOST;
    is_soon.then(|| bounds(chart, facts, &walks, shared))
}

/// The maximum number of visits of leaves and steps that [`cost_soon`] makes.
const MOST: usize = 4_000_000;

fn bounds(
    chart: &Chart,
    facts: &Facts,
    walks: &Walks<'_>,
    mut shared: Option<Shared<'_, '_>>,
) -> Cost {
    let mut one = |leaf: &StateId| {
        let quick = shared.as_mut().and_then(|shared| shared.turn(*leaf));
        quick.unwrap_or_else(|| turn(walks, *leaf))
    };
    let turns: Vec<TurnCost> = walks.leaves.iter().map(&mut one).collect();
    let waits = |step: &&(usize, &Step)| {
        step.1.is_on_event() && matches!(step.1.kind, StepKind::Llm | StepKind::Ask { .. })
    };
    let steps = chart.steps.iter().enumerate();
    let events: Vec<Driver> = steps
        .filter(|s| waits(&s) && !facts.scopes.steps[s.0].within.is_empty())
        .map(|(i, _)| walks.driver(StepId::at(i)))
        .collect();
    let worst = bound(chart, facts, &turns, &events);
    let round = match worst {
        CallBound::None { step, leaf } => {
            round(chart, facts, leaf.unwrap_or(chart.steps[step.index()].state))
        }
        _ => Vec::new(),
    };
    let least = self::least(chart, facts);
    Cost { turns, events, run: RunCost { least, worst, round } }
}

/// The shortest cycle of transitions from a state back to it. Empty if there is none.
fn round(chart: &Chart, facts: &Facts, state: StateId) -> Vec<TransitionId> {
    let goal = GraphNode::Active(state);
    // An ancestor that stays active does not lead back into the state.
    let is_up = |node, next| matches!((node, next), (GraphNode::Active(s), GraphNode::Active(t)) if chart.contains(t, s));
    let is_top = chart.state(state).parent.is_none();
    let goes_on = |node, next| !(is_top && is_up(node, next));
    facts.moves.path(&[goal], goes_on, |node| node == goal).unwrap_or_default()
}

/// The sum of the call limits of states, if each calling step is inside a state with such a limit.
fn by_states(chart: &Chart, turns: &[TurnCost], events: &[Driver]) -> Option<u64> {
    let mut limited: BTreeMap<StateId, u64> = BTreeMap::new();
    for driver in turns.iter().flat_map(|turn| &turn.drivers).chain(events) {
        let state = chart.steps[driver.step.index()].state;
        let limit = |s: StateId| Some((s, u64::try_from(chart.state(s).limits.calls?).ok()?));
        // The limit of the outermost state covers all calls inside it.
        let (state, calls) = chart.ancestors(state).filter_map(limit).last()?;
        limited.insert(state, calls);
    }
    Some(limited.values().fold(0, |sum: u64, calls| sum.saturating_add(*calls)))
}

/// The turn with which `limits` ends every run, unless a transition handles the limit and the run continues.
pub fn last_turn(chart: &Chart, facts: &Facts) -> Option<u64> {
    // A turn is counted when it ends, so that a limit of 0 is never met.
    let turns = chart.state(StateId::at(0)).limits.turns.filter(|turns| *turns > 0)?;
    u64::try_from(turns).ok().filter(|_| ends_at_turns(chart, facts))
}

/// Whether the run ends when its limit of turns is reached: no transition handles the limit and lets the run continue.
pub(crate) fn ends_at_turns(chart: &Chart, facts: &Facts) -> bool {
    let goes_on = |(i, transition): (usize, &Transition)| {
        let handles = if let Trigger::Error(pattern) = &transition.trigger {
            let prefix = pattern.strip_suffix(".*").unwrap_or(pattern);
            prefix == "*" || "limit.turns".starts_with(prefix)
        } else {
            transition.trigger == Trigger::AnyOccurrence
        };
        let ends = |target: &Target| is_end(chart, target.state);
        let ends = !transition.targets.is_empty() && transition.targets.iter().all(ends);
        handles && facts.reach.can_take(TransitionId::at(i)) && !ends
    };
    !chart.transitions.iter().enumerate().any(goes_on)
}

/// The least upper bound on the calls of any run.
fn bound(chart: &Chart, facts: &Facts, turns: &[TurnCost], events: &[Driver]) -> CallBound {
    let limits = &chart.state(StateId::at(0)).limits;
    let given = |limit: Option<i64>| limit.and_then(|n| u64::try_from(n).ok());
    // Of equally expensive turns, the one of the first leaf.
    let dearest = turns.iter().max_by_key(|t| (t.worst, std::cmp::Reverse(t.leaf)));
    let each = dearest.map_or(0, |t| t.worst);
    let by_turns = last_turn(chart, facts).filter(|_| events.is_empty());
    let by_turns = by_turns.map(|turns| CallBound::Turns { turns, each });
    let by_calls = given(limits.calls).map(CallBound::Calls);
    let by_states = by_states(chart, turns, events).map(CallBound::States);
    let least = [by_turns, by_calls, by_states].into_iter().flatten().min_by_key(|b| b.calls());
    let formula = limits.formula(LimitKind::Calls).map(|_| CallBound::Formula);
    let least = least.or(formula);
    match (dearest.and_then(|t| Some((t, t.drivers.first()?))), events.first()) {
        (None, None) => CallBound::NoCalls,
        (Some((turn, driver)), _) => {
            least.unwrap_or(CallBound::None { step: driver.step, leaf: Some(turn.leaf) })
        }
        (None, Some(event)) => least.unwrap_or(CallBound::None { step: event.step, leaf: None }),
    }
}

// Lower and upper bounds on the money that the model calls of a run cost.

/// The cost of the model calls of a run, in the unit of the prices. Calls of a child chart count for the child.
#[derive(Debug, Clone, PartialEq)]
pub struct Money<'c> {
    /// The minimum cost of a run that ends `ok`; `None` if no run does. Assumes one input and one output token for each call.
    pub least: Option<f64>,
    /// The maximum cost of any run.
    pub most: Most<'c>,
}

/// The bound on the cost of a run, by its reason.
#[derive(Debug, Clone, PartialEq)]
pub enum Most<'c> {
    /// No model step can run.
    NoCalls,
    /// `limits { cost … }` of the chart.
    Cost(f64),
    /// `limits { tokens … }` of the chart, all of them at the highest price.
    Tokens {
        /// The limit on tokens.
        tokens: i64,
        /// The highest price of a million tokens, of input or output, among all clients that may be called.
        price: f64,
    },
    /// `limits { cost … }` of the chart, computed from its params.
    CostOf(&'c Expr),
    /// `limits { tokens … }` of the chart, computed from its params, all of them at the highest price.
    TokensOf {
        /// The limit on tokens.
        tokens: &'c Expr,
        /// The highest price of a million tokens, as above.
        price: f64,
    },
    /// A bound on the cost of the answers alone: the maximum number of calls, each with the longest answer of any client. Nothing bounds
    /// the length of the prompts.
    Answers(f64),
    /// No bound is known.
    Unbounded,
}

impl Most<'_> {
    /// The bound, if it is known before a run and covers all costs.
    pub fn known(&self) -> Option<f64> {
        match self {
            Self::NoCalls => Some(0.0),
            Self::Cost(cost) => Some(*cost),
            Self::Tokens { tokens, price } => Some(*tokens as f64 * price / 1e6),
            _ => None,
        }
    }
}

/// The cost of a run that makes these calls. `None` if a step calls a model without a known price, or if all of them are free.
pub fn money<'c>(chart: &'c Chart, run: &RunCost) -> Option<Money<'c>> {
    let steps: Vec<&Step> = chart.steps.iter().filter(|step| calls_model(step)).collect();
    let mut clients: Vec<&Client> = Vec::new();
    for step in &steps {
        let mut next = Some(step.client?);
        // The loop ends, because fallbacks are acyclic.
        while let Some(id) = next {
            let client = &chart.clients[id.index()];
            let is_priced = client.input_price.or(client.output_price).is_some();
            if !is_priced && !is_free(&client.model) {
                return None;
            }
            clients.push(client);
            next = client.fallback;
        }
    }
    let price = |price: Option<f64>| price.unwrap_or(0.0);
    let dearest = |client: &&Client| price(client.input_price).max(price(client.output_price));
    let dearest = clients.iter().map(dearest).fold(0.0, f64::max);
    if dearest == 0.0 && !clients.is_empty() {
        return None;
    }
    let each = |client: &&Client| (price(client.input_price) + price(client.output_price)) / 1e6;
    // A fallback may be cheaper than the client, so every call counts with the cheapest price.
    let cheapest = clients.iter().map(each).fold(f64::INFINITY, f64::min);
    let least = run.least.as_ref().map(|(calls, _)| match calls {
        0 => 0.0,
        calls => *calls as f64 * cheapest,
    });
    Some(Money { least, most: most(chart, run, &clients, dearest) })
}

/// The maximum cost. `price` is the highest one of a million tokens.
fn most<'c>(chart: &'c Chart, run: &RunCost, clients: &[&Client], price: f64) -> Most<'c> {
    let calls = run.worst.calls();
    if calls == Some(0) || clients.is_empty() {
        return Most::NoCalls;
    }
    let limits = &chart.state(StateId::at(0)).limits;
    let known =
        [limits.cost.map(Most::Cost), limits.tokens.map(|tokens| Most::Tokens { tokens, price })];
    let known = known.into_iter().flatten();
    let least = known.min_by(|a, b| {
        let amount = |most: &Most<'_>| most.known().unwrap_or(f64::INFINITY);
        amount(a).total_cmp(&amount(b))
    });
    if let Some(least) = least {
        return least;
    }
    if let Some(cost) = limits.formula(LimitKind::Cost) {
        return Most::CostOf(cost);
    }
    if let Some(tokens) = limits.formula(LimitKind::Tokens) {
        return Most::TokensOf { tokens, price };
    }
    let longest = |client: &&Client| {
        Some(client.max_tokens? as f64 * client.output_price.unwrap_or(0.0) / 1e6)
    };
    let longest: Option<Vec<f64>> = clients.iter().map(longest).collect();
    match (calls, longest) {
        (Some(calls), Some(answers)) => {
            Most::Answers(calls as f64 * answers.into_iter().fold(0.0, f64::max))
        }
        _ => Most::Unbounded,
    }
}

// The fewest model calls of a run to its end, or of a stay in a state: a shortest path over transitions.
//
// Transitions cost 0 or 1 call each, so the search is a breadth-first search with two ends of the queue (0-1 BFS): free moves are pushed
// to the front, moves that cost a call to the back.

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
pub(crate) fn least_turns(chart: &Chart, facts: &Facts) -> Option<(u64, Vec<TransitionId>)> {
    let each = calls_of_a_turn(chart)?;
    let (calls, way) = search(chart, facts, true, Goal::End)?;
    Some((calls.div_ceil(each.max(1)), way))
}

/// The fewest model calls from the entry of a state until a transition exits it or it completes, with the transitions. `None` if only
/// errors or limits lead out of it.
pub(crate) fn least_through(
    chart: &Chart,
    facts: &Facts,
    state: StateId,
) -> Option<(u64, Vec<TransitionId>)> {
    search(chart, facts, false, Goal::Out(state))
}

/// The fewest turns from the entry of a state until a transition exits it or it completes, computed like [`least_turns`].
pub(crate) fn least_turns_through(
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
    let mut transitions = by_state(chart, facts, goal);
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
            if goal == Goal::End && is_ok_end(chart, state) {
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
                let (pays, transition) = (prices.pays(chart, id), chart.transition(id));
                let next = QueueItem {
                    calls: calls + u64::from(pays),
                    state,
                    default: true,
                    cause: Some((state, id)),
                    is_out: leads_out(chart, transition, goal),
                };
                for state in entries(chart, transition) {
                    let item = QueueItem { state, ..next };
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

/// By state of the scope condition: the transitions that the search takes.
fn by_state(chart: &Chart, facts: &Facts, goal: Goal) -> Vec<Vec<TransitionId>> {
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
    transitions
}

fn is_ok_end(chart: &Chart, state: StateId) -> bool {
    let row = chart.state(state);
    matches!(row.kind, StateKind::Final { status: Status::Ok, .. })
        && row.parent == Some(StateId::at(0))
}

/// Whether the transition exits the state of [`Goal::Out`].
fn leads_out(chart: &Chart, transition: &Transition, goal: Goal) -> bool {
    match goal {
        Goal::End => false,
        Goal::Out(state) => {
            domain(chart, transition).is_some_and(|top| !chart.contains(state, top))
        }
    }
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
    /// Whether only calls in walks count.
    walks: bool,
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
        let waits = |s: &Step| s.is_on_event() && matches!(s.kind, StepKind::Ask { .. });
        let outside = walks && chart.steps.iter().any(waits);
        Self { open, always: !chart.steps.iter().any(|s| free(&s.kind)), outside, walks }
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
        let step = &chart.steps[step.index()];
        match step.kind {
            // The list of an `each` may be empty.
            StepKind::Llm => step.each.is_none() && !(self.walks && step.is_on_event()),
            // Without an enabled option, the `else` of a question is taken without a call.
            StepKind::Ask { .. } => {
                !self.outside && (!matches!(transition.trigger, Trigger::StepElse(_)) || open > 0)
            }
            _ => false,
        }
    }
}
