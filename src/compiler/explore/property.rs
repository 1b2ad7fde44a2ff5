//! Decides `check` lines: a line is proved, refuted by a run, or left open within the points that were examined.
//!
//! Three ways are tried, the cheapest first: the structure of the chart (`structure`, `ways`), its limits (`limits`), and exploration.
//! Several lines share an exploration if they count nothing. It relaxes limits, which adds runs: a line that holds in it holds for the
//! chart, and a counterexample in it counts only if the chart itself can play it.
//!
//! Example: `check never(paid before approving)` in the README. Structure does not prove it, because the option `settle` leads from
//! `triage` to `paid`. No limits matter. The exploration finds an edge that enters `paid` on a path that has not entered `approving`. The
//! path becomes the witness: `claim`, a turn, and the answer `settle`.

use super::moves::{Bounds, ends_run};
use super::order::{self, Order};
use super::relevant::Slot;
use super::walk::{ExploreContext, MORE, explore_on, obstacles, untried};
use super::ways::always;
use super::witness::{Witness, plays, witness_on};
use super::{Edge, Explored, Happened, Search};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::Map;
use crate::analysis::facts::reach::{ScopeCondition, is_end, is_history, meet, surely_enters};
use crate::analysis::facts::values::{self, declared};
use crate::analysis::turn::cost::{RunCost, cost, ends_at_turns, last_turn};
use chartc_core::arena::{EventId, StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    Action, BinaryOp, Chart, Check, CheckArgument, ChoiceKind, CompareOp, Expr, ExprKind,
    Observable, StateKind, StepKind, Transition, Trigger, VariableKind,
};
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum amount of work for all lines of a chart together, for each point that may be examined: see [`Search::work`].
const WORK: usize = 500;

/// The number of nodes of the graph of moves that are examined in the time of one unit of work.
const SETTING: usize = 8;

/// The result of a `check` line.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// Every run satisfies it.
    Holds,
    /// The state of the line is never entered in any run.
    NeverEntered(StateId),
    /// A run violates the line; and the leaves that are active at its end.
    Refuted(Box<Witness>, Vec<StateId>),
    /// No counterexample was found in this many points; and the reasons why there may be one.
    Open(usize, Vec<String>),
    /// The kind of the line is not known.
    Unknown,
}

/// Decides the `check` lines of one chart.
pub struct Properties<'c> {
    chart: &'c Arc<Chart>,
    facts: &'c Facts,
    /// The maximum number of points that are examined for each line.
    states: usize,
    context: OnceCell<ExploreContext<'c>>,
    /// A context in which guards that bound the turns may hold at any time; `None` if the chart has none.
    unbounded: OnceCell<Option<(ExploreContext<'c>, Bounds<'c>)>>,
    /// The amount of work that is left for all lines together.
    left: Cell<usize>,
    /// By state: whether a run of the chart that enters it was found.
    met: Vec<bool>,
    /// The exploration with relaxed limits, shared by the lines that count nothing.
    plain: Option<Explored>,
    /// The same with the real limits.
    exact: Option<Explored>,
    /// The same with relaxed limits and relaxed guards on the number of turns.
    loose: Option<Explored>,
}

/// The run that was found exists only if limits are relaxed.
struct Unconfirmed;

impl<'c> Properties<'c> {
    /// Prepares the decision of `check` lines. At most `states` points are examined for each.
    pub fn new(chart: &'c Arc<Chart>, facts: &'c Facts, states: usize) -> Self {
        let left = Cell::new(states.saturating_mul(WORK));
        let met = vec![false; chart.states.len()];
        Self {
            chart,
            facts,
            states,
            context: OnceCell::new(),
            unbounded: OnceCell::new(),
            left,
            met,
            plain: None,
            exact: None,
            loose: None,
        }
    }

    fn context(&self) -> &ExploreContext<'c> {
        self.context.get_or_init(|| ExploreContext::new(self.chart))
    }

    fn unbounded(&self) -> Option<&(ExploreContext<'c>, Bounds<'c>)> {
        let make = || {
            let bounds = Bounds::new(self.chart)?;
            Some((ExploreContext::unbounded(self.chart, &bounds)?, bounds))
        };
        self.unbounded.get_or_init(make).as_ref()
    }

    /// Explores within the work that is left for all lines.
    fn explore(&self, search: &Search) -> Explored {
        self.explore_on(self.context(), search)
    }

    fn explore_on(&self, context: &ExploreContext<'c>, search: &Search) -> Explored {
        let left = self.left.get();
        if left == 0 {
            return untried("the other lines took all that may be tried");
        }
        let found = explore_on(context, &Search { work: Some(left), ..search.clone() });
        let setting = self.facts.moves.nodes() / SETTING;
        self.left.set(left.saturating_sub(found.work + setting));
        found
    }

    /// Decides all lines, and returns what the runs of the chart do if every run was tried.
    pub fn decide_all(self) -> (Vec<Verdict>, Option<Seen>) {
        self.decide_unless(&|| false).unwrap_or_default()
    }

    /// Like [`Self::decide_all`]. `None` if `is_outdated`, which is asked before each line, returns `true`.
    pub(crate) fn decide_unless(
        mut self,
        is_outdated: &dyn Fn() -> bool,
    ) -> Option<(Vec<Verdict>, Option<Seen>)> {
        let chart = self.chart;
        // Lines that only look for one state come last, because explorations for other lines may answer them.
        let (later, first): (Vec<usize>, Vec<usize>) =
            (0..chart.checks.len()).partition(|nth| chart.checks[*nth].name == "reaches");
        let mut verdicts = vec![Verdict::Unknown; chart.checks.len()];
        // The last state is often the furthest, and a run into it enters others on the way.
        for nth in first.into_iter().chain(later.into_iter().rev()) {
            if is_outdated() {
                return None;
            }
            let check = &chart.checks[nth];
            verdicts[nth] =
                if check.given.is_empty() { self.decide(check) } else { self.decide_given(check) };
        }
        Some((verdicts, self.seen()))
    }

    /// What runs do, with the real bounds of turns if these are small enough to try all runs.
    fn seen(&self) -> Option<Seen> {
        let all =
            |found: &Explored| found.is_complete().then(|| Seen::all_of(self.context(), found));
        if let Some(found) = &self.plain {
            return all(found);
        }
        let turns = self.unbounded().map_or(0, |(_, bounds)| bounds.most());
        let is_small = |found: &&Explored| {
            found.is_complete() && found.states.saturating_mul(1 + turns) <= self.states
        };
        match self.loose.as_ref().filter(is_small) {
            Some(_) => all(&self.explore(&Search { whole: true, ..self.search() })),
            None => Seen::on(self.context()),
        }
    }

    /// Decides a line about runs with some params only: as a line of a chart whose params have these ranges.
    fn decide_given(&self, check: &Check) -> Verdict {
        let mut chart = Chart::clone(self.chart);
        for (id, low, high) in &check.given {
            let row = &mut chart.variables[id.index()];
            row.kind = VariableKind::Param { range: Some((low.clone(), high.clone())) };
            // Without a default, each run names the value.
            row.default = None;
        }
        chart.checks = vec![Check { given: Vec::new(), ..check.clone() }];
        let chart = Arc::new(chart);
        let facts = Facts::new(&chart);
        let mut properties = Properties::new(&chart, &facts, self.states);
        properties.left.set(self.left.get());
        let verdict = properties.decide(&chart.checks[0]);
        self.left.set(properties.left.get());
        verdict
    }

    /// Decides one line: by structure, or else by limits, or else by search.
    pub fn decide(&mut self, check: &Check) -> Verdict {
        if proves(self.chart, self.facts, check) || prove(self.chart, self.facts, check) {
            return Verdict::Holds;
        }
        match (check.name.as_str(), &check.arguments[..]) {
            ("reaches", [CheckArgument::State(state)]) => self.decide_reachable(*state),
            ("always_reaches", [CheckArgument::State(state)]) => self.always(*state),
            ("no_call", [CheckArgument::State(state)]) => self.no_call(*state),
            (_, [argument]) if let Some(order) = Order::of(argument) => self.order(order),
            ("ends_within", [CheckArgument::Bound(bound, unit)]) if unit == "turns" => {
                let turns = Some(bound.clone());
                self.counted(Search { turns, ..self.search() })
            }
            ("at_most", [CheckArgument::Bound(bound, unit)]) if unit == "calls" => {
                let calls = Some(bound.clone());
                self.counted(Search { calls, ..self.search() })
            }
            _ => Verdict::Unknown,
        }
    }

    /// A search in which limits may be reached at any time. A line that holds for its runs holds for those of the chart.
    fn search(&self) -> Search {
        Search { states: self.states, abstract_limits: true, ..Search::default() }
    }

    /// Judges the exploration with everything relaxed. If that decides nothing, continues with [`Self::by_bounds`].
    fn by(&mut self, judge: impl Fn(&Self, &Explored) -> Result<Verdict, Unconfirmed>) -> Verdict {
        if let Some(found) = self.take_loose(&self.search()) {
            let verdict = judge(self, &found);
            self.loose = Some(found);
            if let Ok(verdict @ (Verdict::Holds | Verdict::Refuted(..))) = verdict {
                return verdict;
            }
        }
        self.by_bounds(judge)
    }

    /// Judges the exploration with relaxed limits, or the one with the real limits if the first finds a run that the chart does not have.
    fn by_bounds(
        &mut self,
        judge: impl Fn(&Self, &Explored) -> Result<Verdict, Unconfirmed>,
    ) -> Verdict {
        let found = self.plain.take().filter(|found| found.goal.is_none());
        let found = found.unwrap_or_else(|| self.explore(&self.search()));
        let verdict = judge(self, &found);
        self.plain = Some(found);
        if let Ok(verdict) = verdict {
            return verdict;
        }
        let found = self
            .exact
            .take()
            .unwrap_or_else(|| self.explore(&Search { abstract_limits: false, ..self.search() }));
        let verdict = judge(self, &found).unwrap_or(Verdict::Unknown);
        self.exact = Some(found);
        verdict
    }

    /// If transitions bound the turns: the exploration in which the bounds may be reached at any time. The caller puts it back into
    /// `loose`.
    fn take_loose(&mut self, search: &Search) -> Option<Explored> {
        let found = self.loose.take();
        let (context, _) = self.unbounded()?;
        Some(found.unwrap_or_else(|| self.explore_on(context, search)))
    }

    /// The context in which an exploration was made, in which its runs are replayed.
    fn ground_of(&self, found: &Explored) -> &ExploreContext<'c> {
        match self.unbounded.get() {
            Some(Some((context, _))) if found.unbounded => context,
            Some(_) | None => self.context(),
        }
    }

    /// Decides a line about a number of turns or calls, by a search for a point beyond it.
    fn counted(&self, search: Search) -> Verdict {
        let judge = |found: &Explored| match found.goal {
            Some(goal) => self.refuted(found, &found.way(goal), goal),
            None => Ok(closed(found)),
        };
        judge(&self.explore(&search)).unwrap_or_else(|Unconfirmed| {
            let found = self.explore(&Search { abstract_limits: false, ..search });
            judge(&found).unwrap_or(Verdict::Unknown)
        })
    }

    /// The verdict that the edges of `way`, which end in the point `at`, violate a line; an error if the chart itself cannot play them.
    fn refuted(&self, found: &Explored, way: &[&Edge], at: usize) -> Result<Verdict, Unconfirmed> {
        let context = self.ground_of(found);
        if found.relaxed && !plays(context, found, way) {
            return Err(Unconfirmed);
        }
        let leaves = found.points[at].leaves.clone();
        Ok(Verdict::Refuted(Box::new(witness_on(context, way)), leaves))
    }

    /// Decides whether a run enters the state, by a best-first search for it.
    fn decide_reachable(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.can_enter(state) {
            return Verdict::NeverEntered(state);
        }
        if self.met[state.index()] {
            return Verdict::Holds;
        }
        if let Some(found) = self.plain.take() {
            let enters = self.replay_entering(&found, state);
            let is_complete = found.is_complete();
            self.plain = Some(found);
            match enters {
                Some(true) => return Verdict::Holds,
                None if is_complete => return Verdict::NeverEntered(state),
                Some(false) | None => {}
            }
        }
        let distances = self.facts.moves.distances(state);
        let search = Search { entered: Some(state), distances, ..self.search() };
        let found = self.explore(&search);
        match self.replay_entering(&found, state) {
            Some(true) => Verdict::Holds,
            Some(false) => {
                let found = self.explore(&Search { abstract_limits: false, ..search });
                if found.goal.is_some() { Verdict::Holds } else { closed(&found) }
            }
            None if found.is_complete() => {
                self.plain = Some(found);
                Verdict::NeverEntered(state)
            }
            None => closed(&found),
        }
    }

    /// Whether the chart itself can play the way by which the exploration first entered the state; `None` if it never did.
    fn replay_entering(&mut self, found: &Explored, state: StateId) -> Option<bool> {
        let entered = Happened::Entered(state);
        let (from, edge) = found.all_edges().find(|(_, e)| found.story(e).contains(&entered))?;
        let mut way = from.map(|from| found.way(from)).unwrap_or_default();
        way.push(edge);
        let plays = !found.relaxed || plays(self.context(), found, &way);
        if plays {
            for happened in way.iter().flat_map(|edge| found.story(edge)) {
                if let Happened::Entered(state) = happened {
                    self.met[state.index()] = true;
                }
            }
        }
        Some(plays)
    }

    /// Decides that no tool is called while a leaf inside the state is active.
    fn no_call(&mut self, state: StateId) -> Verdict {
        let chart = self.chart;
        self.by(|this, found| {
            let calls = |edge: &Edge| {
                found.story(edge).iter().any(
                    |one| matches!(one, Happened::Called(leaf) if chart.contains(state, *leaf)),
                )
            };
            let first = found.all_edges().find(|(_, edge)| calls(edge));
            let Some((from, edge)) = first else { return Ok(closed(found)) };
            let mut way = from.map(|from| found.way(from)).unwrap_or_default();
            way.push(edge);
            let at = from.unwrap_or(edge.to);
            this.refuted(found, &way, at)
        })
    }
}

/// The verdict if no counterexample was found: the line holds if everything was tried.
fn closed(found: &Explored) -> Verdict {
    if found.is_complete() {
        Verdict::Holds
    } else {
        Verdict::Open(found.states, found.reasons.iter().cloned().collect())
    }
}

// Decides `always_reaches`: whether a run can still enter the state, wherever it is.

/// The maximum number of points without a way to the state that are replayed until the chart itself confirms one.
const TRIED: usize = 20;

impl Properties<'_> {
    /// Decides the line. Ignores that limits or bounds on turns may end a run earlier: just before one is reached, most runs get nowhere.
    fn always(&mut self, state: StateId) -> Verdict {
        let facts = self.facts;
        let chart = self.chart;
        if !facts.reach.can_enter(state) {
            return Verdict::NeverEntered(state);
        }
        let leads = facts.moves.leads_to([state]);
        let inside = |leaf: StateId| chart.contains(state, leaf);
        // If the graph leads to the state from everywhere, only a complete exploration can show that some runs do not get there.
        let is_open = facts.reach.leaves(chart).any(|leaf| !leads[leaf.index()] && !inside(leaf));
        let whole = !is_open && !self.others_look();
        let search = Search { whole, ..self.search() };
        let cut = |found: &Explored| {
            let is_cut = whole && !found.is_complete() && !found.reasons.contains(MORE);
            is_cut.then(|| Verdict::Open(0, found.reasons.iter().cloned().collect()))
        };
        if self.unbounded().is_some_and(|(_, bounds)| !bounds.lead_to(state))
            && let Some(found) = self.take_loose(&search)
        {
            let verdict = cut(&found);
            let verdict = verdict.unwrap_or_else(|| self.always_in(&found, state, &leads));
            self.loose = Some(found);
            return verdict;
        }
        if self.plain.is_none() && !is_open {
            let found = self.explore(&search);
            if let Some(verdict) = cut(&found) {
                return verdict;
            }
            self.plain = Some(found);
        }
        self.by_bounds(|this, found| Ok(this.always_in(found, state, &leads)))
    }

    /// Whether another line looks for a single run, which even an incomplete exploration may find.
    fn others_look(&self) -> bool {
        self.chart.checks.iter().any(|check| match &check.arguments[..] {
            [CheckArgument::State(of)] => {
                check.name == "no_call" && may_call(self.chart, self.facts, *of)
            }
            [argument] => Order::of(argument).is_some(),
            _ => false,
        })
    }

    /// Judges an exploration. `leads` tells, by state, whether the graph of moves leads from it to the state.
    fn always_in(&self, found: &Explored, state: StateId, leads: &[bool]) -> Verdict {
        let good = leading(found, |edge| found.story(edge).contains(&Happened::Entered(state)));
        let complete = found.is_complete();
        let inside = |leaf: &StateId| self.chart.contains(state, *leaf);
        let lost = (0..found.points.len()).filter(|nth| {
            let point = &found.points[*nth];
            let is_there = point.ended || point.leaves.iter().any(inside);
            !is_there
                // If not everything was tried, only leaves from which the graph never leads to the state are certain.
                && if complete {
                    !good[*nth]
                } else {
                    point.leaves.iter().all(|leaf| !leads[leaf.index()])
                }
        });
        let mut verdict = Ok(closed(found));
        for lost in lost.take(TRIED) {
            verdict = self.refuted(found, &found.way(lost), lost);
            if verdict.is_ok() {
                break;
            }
        }
        verdict.unwrap_or_else(|Unconfirmed| {
            let mut reasons = found.reasons.clone();
            reasons.insert("a limit is used up before".into());
            Verdict::Open(found.states, reasons.into_iter().collect())
        })
    }
}

/// By point: whether an edge for which `goal` holds can still be taken from it. Follows the edges backwards.
pub fn leading(found: &Explored, goal: impl Fn(&Edge) -> bool) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); found.points.len()];
    let mut good = vec![false; found.points.len()];
    let mut todo = Vec::new();
    for (from, edge) in found.all_edges() {
        let Some(from) = from else { continue };
        before[edge.to].push(from);
        if goal(edge) && !std::mem::replace(&mut good[from], true) {
            todo.push(from);
        }
    }
    while let Some(point) = todo.pop() {
        for from in &before[point] {
            if !std::mem::replace(&mut good[*from], true) {
                todo.push(*from);
            }
        }
    }
    good
}

// The search of an exploration together with the monitor.

/// The maximum number of pairs of a point and a count that are visited.
const PAIRS: usize = 200_000;

impl Properties<'_> {
    /// Decides a line by explorations.
    fn order(&mut self, order: Order<'_>) -> Verdict {
        if let Some(why) = order.unclear(self.chart) {
            return Verdict::Open(0, vec![why]);
        }
        self.by(|this, found| this.in_order(found, order))
    }

    /// Judges an exploration: a breadth-first search for the shortest run that does `what` once more than it may. A pair is left out if its
    /// point was reached with as few times left before.
    fn in_order(&self, found: &Explored, order: Order<'_>) -> Result<Verdict, Unconfirmed> {
        let chart = self.chart;
        // Only a line of the chart itself is told of.
        let Some(what) = order.sign(chart, order.what) else { return Ok(Verdict::Unknown) };
        let until = order.until.map(|until| order.sign(chart, until));
        if until == Some(None) {
            return Ok(Verdict::Unknown);
        }
        // The visited pairs, each with the pair before it, the edge that leads to it, and the times left.
        let mut pairs: Vec<(Option<usize>, &Edge, u32)> = Vec::new();
        let mut least: Map<usize, u32> = Map::default();
        let mut edges: VecDeque<(Option<usize>, &Edge, u32)> = VecDeque::new();
        for start in &found.starts {
            let Some(allowed) = order.allowed(chart, start) else {
                let reasons = vec!["the bound is no sum of params".into()];
                return Ok(Verdict::Open(found.states, reasons));
            };
            edges.push_back((None, start, allowed));
        }
        let mut at = 0;
        loop {
            while let Some((from, edge, mut left)) = edges.pop_front() {
                let mut is_over = false;
                for one in found.story(edge) {
                    if *one == what {
                        if left == 0 {
                            let mut way = vec![edge];
                            let mut before = from;
                            while let Some(nth) = before {
                                way.push(pairs[nth].1);
                                before = pairs[nth].0;
                            }
                            way.reverse();
                            return self.refuted(found, &way, edge.to);
                        }
                        left -= 1;
                    } else if until == Some(Some(*one)) {
                        is_over = true;
                        break;
                    }
                }
                if is_over || least.get(&edge.to).is_some_and(|least| *least <= left) {
                    continue;
                }
                least.insert(edge.to, left);
                pairs.push((from, edge, left));
            }
            let Some((_, edge, left)) = pairs.get(at) else { return Ok(closed(found)) };
            if pairs.len() > PAIRS {
                return Ok(Verdict::Open(found.states, vec![MORE.into()]));
            }
            edges.extend(found.edges[edge.to].iter().map(|next| (Some(at), next, *left)));
            at += 1;
        }
    }
}

// `check` lines that limits prove, whatever the data are. No run is tried.

/// Whether the limits of the chart and its states prove the line.
fn prove(chart: &Chart, facts: &Facts, check: &Check) -> bool {
    let [CheckArgument::Bound(bound, unit)] = &check.arguments[..] else { return false };
    let least = |bound| values::range(bound, &|id| declared(chart, id)).low;
    let holds = |most: Option<u64>| {
        most.zip(least(bound)).is_some_and(|(most, n)| u64::try_from(n).is_ok_and(|n| most <= n))
    };
    match (check.name.as_str(), unit.as_str()) {
        ("ends_within", "turns") => {
            holds(last_turn(chart, facts))
                || ends_within(chart, bound)
                // A limit of 0 turns is never reached, because turns are counted when they end.
                || is_limit(chart, LimitKind::Turns, bound)
                    && least(bound) > Some(0)
                    && ends_at_turns(chart, facts)
        }
        ("at_most", "calls") => {
            holds(most_calls(chart, facts)) || is_limit(chart, LimitKind::Calls, bound)
        }
        _ => false,
    }
}

/// Whether the chart's limit is the same expression over params as the bound of the line.
fn is_limit(chart: &Chart, kind: LimitKind, bound: &Expr) -> bool {
    chart.state(StateId::at(0)).limits.formula(kind) == Some(bound)
}

/// The maximum number of model calls of a run, if it is known.
fn most_calls(chart: &Chart, facts: &Facts) -> Option<u64> {
    let limit =
        chart.state(StateId::at(0)).limits.calls.and_then(|calls| u64::try_from(calls).ok());
    let RunCost { worst, .. } = cost(chart, facts).run;
    limit.into_iter().chain(worst.calls()).min()
}

// `check` lines that the structure of a chart proves, whatever the data are. No run is tried.
//
// The graph of moves contains every run of the chart and more. So what none of its paths does, no run does; but it refutes nothing.

/// Whether the structure proves the line.
fn proves(chart: &Chart, facts: &Facts, check: &Check) -> bool {
    match (check.name.as_str(), &check.arguments[..]) {
        ("reaches", [CheckArgument::State(state)]) => begins_in(chart, *state),
        ("always_reaches", [CheckArgument::State(state)]) => {
            facts.reach.can_enter(*state)
                && (at_once(chart, *state) || always(chart, facts, *state))
        }
        (_, [argument]) if let Some(order) = Order::of(argument) => {
            order::proves(chart, facts, order)
        }
        ("no_call", [CheckArgument::State(state)]) => !may_call(chart, facts, *state),
        _ => false,
    }
}

/// Whether every run begins by entering the state.
fn begins_in(chart: &Chart, state: StateId) -> bool {
    !is_history(chart, state) && surely_enters(chart, &[StateId::at(0)], state)
}

/// Whether a leaf inside the state may call a tool.
fn may_call(chart: &Chart, facts: &Facts, state: StateId) -> bool {
    let calls = |trigger: &Trigger| {
        matches!(trigger, Trigger::Choice(choice)
            if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)))
    };
    let transitions =
        chart.transitions.iter().enumerate().filter(|(_, transition)| calls(&transition.trigger));
    let transitions = transitions.map(|(i, _)| facts.scopes.transition(TransitionId::at(i)));
    let steps = chart.steps.iter().zip(&facts.scopes.steps);
    let steps =
        steps.filter(|(step, _)| step.tools.is_some() || matches!(step.kind, StepKind::Call(..)));
    let is_met = |place: &ScopeCondition| {
        meet(chart, &place.within, &[state]).iter().any(|inside| facts.reach.can_enter(*inside))
    };
    facts.reach.can_enter(state) && transitions.chain(steps.map(|(_, place)| place)).any(is_met)
}

// Properties that the chart alone proves, without exploration.

/// The maximum number of microsteps of a macrostep that is assumed to end, far fewer than the machine allows.
const MICROSTEPS: usize = 500;

/// Whether an event that no other transition handles leads into the state, wherever a run is.
pub(super) fn at_once(chart: &Chart, state: StateId) -> bool {
    // A deadline of zero may end the run before the host can send the event.
    let in_time = chart.transitions.iter().all(|transition| {
        let (Trigger::After(bound) | Trigger::StepTimeout(_, bound)) = &transition.trigger else {
            return true;
        };
        matches!(bound.kind, ExprKind::Duration(1..))
    });
    let takes = |transition: &Transition, event: EventId| {
        matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
            || matches!(&transition.trigger, Trigger::Event(events) if events.contains(&event))
    };
    let alone = |event: &EventId| {
        chart.transitions.iter().filter(|other| takes(other, *event)).count() == 1
            && !chart.states.iter().any(|state| state.defers.contains(event))
    };
    let leads = |transition: &Transition| {
        transition.source == StateId(0)
            && transition.guard.is_none()
            && transition.scope.as_ref().is_none_or(|scope| {
                // If the scope excludes the active state, the run is over or in the goal already.
                let over = |s: &StateId| chart.contains(state, *s) || is_end(chart, *s);
                scope.any_of.is_empty() && scope.none_of.iter().all(over)
            })
            && transition.targets.iter().any(|target| chart.contains(state, target.state))
            && matches!(&transition.trigger, Trigger::Event(events) if events.iter().any(alone))
    };
    in_time && chart.transitions.iter().any(leads)
}

/// Whether a `when` transition ends the run as soon as it has had this many turns, wherever it is. This works because a configuration is
/// stable only if no `when` transition is enabled.
pub(super) fn ends_within(chart: &Chart, turns: &Expr) -> bool {
    let ends = |transition: &Transition| {
        transition.trigger == Trigger::When
            && transition.guard.as_ref().is_some_and(|guard| holds_after(chart, guard, turns))
            && ends_run(chart, transition)
            && transition.scope.as_ref().is_none_or(|scope| {
                scope.any_of.is_empty() && scope.none_of.iter().all(|s| is_end(chart, *s))
            })
            && is_everywhere(chart, transition.source)
    };
    chart.transitions.iter().any(ends) && always_rests(chart)
}

/// Whether a guard holds after this many turns: `turns >= n`, alone or as the first operand of an `or`, with an `n` that is certainly not
/// above that number.
fn holds_after(chart: &Chart, guard: &Expr, turns: &Expr) -> bool {
    let least = match &guard.kind {
        ExprKind::Binary(BinaryOp::Or, first, _) => return holds_after(chart, first, turns),
        ExprKind::Compare(left, rest) => match (&left.kind, &rest[..]) {
            (ExprKind::Observable(Observable::Turns), [(CompareOp::GreaterEqual, least)]) => least,
            _ => return false,
        },
        _ => return false,
    };
    match (&least.kind, &turns.kind) {
        (ExprKind::Int(least), ExprKind::Int(turns)) => least <= turns,
        (ExprKind::Variable(id), kind) => {
            matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
                && match kind {
                    ExprKind::Variable(other) => id == other,
                    ExprKind::Binary(BinaryOp::Add, a, b) => {
                        a.kind == ExprKind::Variable(*id) && matches!(b.kind, ExprKind::Int(0..))
                    }
                    _ => false,
                }
        }
        _ => false,
    }
}

/// Whether the state is active from the start of a run to its end.
fn is_everywhere(chart: &Chart, state: StateId) -> bool {
    let root = StateId(0);
    let is_only = || chart.children(root).all(|child| child == state || is_end(chart, child));
    state == root || chart.state(state).parent == Some(root) && is_only()
}

/// Whether every macrostep ends by itself: the transitions that need no input form no cycle, and are few.
fn always_rests(chart: &Chart) -> bool {
    let by_itself = |transition: &&Transition| {
        !matches!(
            transition.trigger,
            Trigger::Event(_) | Trigger::Turn | Trigger::After(_) | Trigger::Choice(_)
        )
    };
    let is_history = |s: StateId| matches!(chart.state(s).kind, StateKind::History { .. });
    let transitions: Vec<&Transition> = chart
        .transitions
        .iter()
        .filter(by_itself)
        .filter(|transition| !ends_run(chart, transition))
        .collect();
    // A transition without target, or into a history, may be followed by any other one.
    let stays = |transition: &&Transition| {
        transition.targets.is_empty()
            || transition.targets.iter().any(|target| is_history(target.state))
    };
    if transitions.len() > 50
        || transitions.iter().any(stays)
        || chart.bodies().any(|all| raises(all))
    {
        return false;
    }
    let related = |a: StateId, b: StateId| chart.contains(a, b) || chart.contains(b, a);
    let leads = |from: &Transition, to: &Transition| {
        from.targets.iter().any(|target| related(target.state, to.source))
    };
    // The maximum number of times that each is taken: once by itself, and once after each transition that leads to it.
    let mut times = vec![1_usize; transitions.len()];
    for _ in 0..=transitions.len() {
        let before = |to: &&Transition| {
            let rows = transitions.iter().zip(&times).filter(|(from, _)| leads(from, to));
            rows.fold(1, |all: usize, (_, times)| all.saturating_add(*times))
        };
        let next: Vec<usize> = transitions.iter().map(before).collect();
        if next == times {
            // Each guard and block may also fail, which raises a further event.
            let taken = times.iter().fold(1, |all: usize, n| all.saturating_add(*n));
            let faults = 3 * chart.states.len() + 2 * chart.transitions.len();
            return taken.saturating_mul(faults) <= MICROSTEPS;
        }
        times = next;
    }
    false
}

/// Whether the actions raise an event.
fn raises(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::Raise(..) => true,
        Action::If(_, then, otherwise) => raises(then) || raises(otherwise),
        Action::For(_, _, body) => raises(body),
        _ => false,
    })
}

/// The maximum number of points that are examined in a chart without `check` lines.
const STATES: usize = 300;

/// The maximum number of states and transitions of a chart that is explored.
const SIZE: usize = 400;

/// The states, transitions and values of all runs.
#[derive(Debug, Clone)]
pub struct Seen {
    /// By state: whether a run enters it.
    pub entered: Vec<bool>,
    /// By transition: whether a run takes it.
    pub taken: Vec<bool>,
    /// The points at which runs wait for an input.
    pub rests: Vec<Rest>,
    /// Points at which runs have become unable to end, other than by a limit: a few of them, at most one for each leaf.
    pub lost: Vec<Lost>,
}

/// A point from which no run ends any more, although from the preceding point some do.
#[derive(Debug, Clone)]
pub struct Lost {
    /// The leaf that is active at the point.
    pub leaf: StateId,
    /// The values of the vars that decide moves.
    pub values: Vec<(VarId, Value)>,
    /// A run that leads to the point.
    pub run: Witness,
}

/// The maximum number of lost points that are kept.
const LOST: usize = 3;

impl Lost {
    fn all(context: &ExploreContext<'_>, found: &Explored) -> Vec<Self> {
        let ends = |nth: usize| found.points[nth].ended && !found.points[nth].limited;
        if !found.is_complete() || !(0..found.points.len()).any(ends) {
            return Vec::new();
        }
        let good = leading(found, |edge| ends(edge.to));
        let mut lost: Vec<Self> = Vec::new();
        for (nth, point) in found.points.iter().enumerate() {
            let (Some(from), &[leaf]) = (point.by.0, &point.leaves[..]) else { continue };
            if point.ended || good[nth] || !good[from] || lost.iter().any(|l| l.leaf == leaf) {
                continue;
            }
            let way = found.way(nth);
            // With relaxed limits, the way may be none of a real run.
            if !found.relaxed || plays(context, found, &way) {
                lost.push(Self {
                    leaf,
                    values: point.values.clone(),
                    run: witness_on(context, &way),
                });
            }
            if lost.len() == LOST {
                break;
            }
        }
        lost
    }
}

/// The active leaves of a point, with the values of the vars that decide moves.
pub type Rest = (Vec<StateId>, Vec<(VarId, Value)>);

impl Seen {
    /// Tries all runs of a chart. `None` if that was not possible, or if no vars decide moves: then the graph of moves tells as much.
    pub fn new(chart: &Arc<Chart>) -> Option<Self> {
        Self::on(&ExploreContext::new(chart))
    }

    pub(super) fn on(context: &ExploreContext<'_>) -> Option<Self> {
        let ExploreContext { chart, relevant, .. } = context;
        if chart.states.len() + chart.transitions.len() > SIZE {
            return None;
        }
        let decides = |(i, row): (usize, &chartc_core::model::Variable)| {
            matches!(row.kind, VariableKind::Var { .. })
                && relevant.slots.contains(&Slot::Variable(VarId::at(i)))
        };
        let is_read = chart.variables.iter().enumerate().any(decides);
        if !is_read || !obstacles(context).is_empty() || !context.moves().reasons.is_empty() {
            return None;
        }
        let search =
            Search { states: STATES, abstract_limits: true, whole: true, ..Search::default() };
        let found = explore_on(context, &search);
        found.is_complete().then(|| Self::all_of(context, &found))
    }

    /// Collects what the runs of an exploration do.
    pub fn in_all(chart: &Arc<Chart>, found: &Explored) -> Self {
        Self::all_of(&ExploreContext::new(chart), found)
    }

    pub(super) fn all_of(context: &ExploreContext<'_>, found: &Explored) -> Self {
        let chart = context.chart;
        let mut entered = vec![false; chart.states.len()];
        let mut taken = vec![false; chart.transitions.len()];
        for (_, edge) in found.all_edges() {
            for happened in found.story(edge) {
                match happened {
                    Happened::Entered(state) => entered[state.index()] = true,
                    Happened::Taken(transition) => taken[transition.index()] = true,
                    Happened::Called(_) | Happened::Met(_) | Happened::Livelock => {}
                }
            }
        }
        let open = found.points.iter().filter(|point| !point.ended);
        let rests = open.map(|point| (point.leaves.clone(), point.values.clone())).collect();
        Self { entered, taken, rests, lost: Lost::all(context, found) }
    }

    /// Whether a run takes a transition.
    pub fn is_taken(&self, transition: TransitionId) -> bool {
        self.taken[transition.index()]
    }

    /// The values of a var at all points inside a state, each once, in the order found.
    pub fn values(&self, chart: &Chart, state: StateId, variable: VarId) -> Vec<&Value> {
        let mut values = Vec::new();
        for (leaves, row) in &self.rests {
            if leaves.iter().any(|leaf| chart.contains(state, *leaf)) {
                let here = row.iter().filter(|(id, _)| *id == variable).map(|(_, value)| value);
                for value in here {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
        values
    }
}
