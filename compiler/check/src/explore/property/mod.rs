//! Decides `check` lines: a line is proved, refuted by a run, or left open within the points that were examined.
//!
//! Three ways are tried, the cheapest first: the structure of the chart (`structure`, `ways`), its limits (`limits`), and exploration.
//! Several lines share an exploration if they count nothing. It relaxes limits, which adds runs: a line that holds in it holds for the
//! chart, and a counterexample in it counts only if the chart itself can play it.
//!
//! Example: `check never(paid before approving)` in the README. Structure does not prove it, because the option `settle` leads from
//! `triage` to `paid`. No limits matter. The exploration finds an edge that enters `paid` on a path that has not entered `approving`. The
//! path becomes the witness: `claim`, a turn, and the answer `settle`.

mod always;
mod free;
mod limits;
mod never;
mod structure;
mod ways;

pub use always::leading;

use super::bounded::Bounds;
use super::seen::Seen;
use super::shared::ExploreContext;
use super::walk::{explore_on, untried};
use super::witness::{Witness, plays, witness_on};
use super::{Edge, Explored, Happened, Search};
use crate::facts::Facts;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Check, CheckArgument};
use std::cell::{Cell, OnceCell};

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
    chart: &'c Chart,
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
    pub fn new(chart: &'c Chart, facts: &'c Facts, states: usize) -> Self {
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
    pub fn decide_unless(
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
            verdicts[nth] = self.decide(&chart.checks[nth]);
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

    /// Decides one line: by structure, or else by limits, or else by search.
    pub fn decide(&mut self, check: &Check) -> Verdict {
        if structure::proves(self.chart, self.facts, check)
            || limits::prove(self.chart, self.facts, check)
        {
            return Verdict::Holds;
        }
        match (check.name.as_str(), &check.arguments[..]) {
            ("reaches", [CheckArgument::State(state)]) => self.decide_reachable(*state),
            ("always_reaches", [CheckArgument::State(state)]) => self.always(*state),
            ("no_call", [CheckArgument::State(state)]) => self.no_call(*state),
            ("never", [CheckArgument::Before(first, then)]) => self.never(*first, *then),
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

    /// Decides that no run enters `first` before `then`.
    fn never(&mut self, first: StateId, then: StateId) -> Verdict {
        self.by(|this, found| this.never_in(found, first, then))
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
