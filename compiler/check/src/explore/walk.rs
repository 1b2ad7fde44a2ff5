//! The search over the points of a chart's runs. One machine serves for all of them: it is set back to a point before each input.

use super::abstract_limits::AbstractLimits;
use super::bounded::WAYS;
use super::budget::Budget;
use super::bytes::Bytes;
use super::heuristic::Heuristic;
use super::host::Anything;
use super::key::{Counting, Keys};
use super::log::Log;
use super::moves::{HostAct, Moves};
use super::obstacles::{obstacles, opaque_charts};
use super::perform::{Machined, perform};
use super::shared::ExploreContext;
use super::{Cut, Edge, Explored, Happened, Reached, Search, fixed, witness};
use crate::facts::hash::Map;
use chartc_core::interpreter::{Interpreter, Point};
use chartc_core::model::{Chart, Expr};
use chartc_core::plan::Plan;
use std::collections::BTreeSet;

/// The reason that a bound was reached, so that not everything was found.
pub(super) const MORE: &str = "there are more";

/// The reason that a host function was called too often, or has too many results.
const RESULTS: &str = "too many results of host functions together";

/// Tries everything that a host can do, from every start of a run, until the goal or a bound of the search is reached.
pub fn explore(chart: &Chart, search: &Search) -> Explored {
    explore_on(&ExploreContext::new(chart), search)
}

/// Like [`explore`], with the data that explorations share.
pub(super) fn explore_on(context: &ExploreContext<'_>, search: &Search) -> Explored {
    let ExploreContext { chart, relevant, .. } = context;
    let plan = context.plan();
    let moves = if search.inputs.is_some() {
        context.survey_moves(search)
    } else if search.given.is_empty() {
        context.moves().clone()
    } else {
        context.moves_with(&search.given)
    };
    let limits = if search.abstract_limits {
        AbstractLimits::new(chart, relevant, search.calls.is_none(), search.turns.is_none())
    } else {
        AbstractLimits::default()
    };
    // A survey counts runs, and calls of different tools make different runs.
    let is_blind = search.inputs.is_none();
    let keys = Keys::new(chart, relevant, &plan.tables(), &limits, is_blind);
    let mut reasons = obstacles(context);
    if !search.children.is_empty() {
        for reason in opaque_charts(chart) {
            reasons.remove(&reason);
        }
    }
    // If not everything can be tried, the search only looks for a counterexample, and most of these are short.
    let is_open = !reasons.is_empty() || !moves.reasons.is_empty();
    let states =
        if is_open && search.inputs.is_none() { search.states.div_ceil(4) } else { search.states };
    let budget = Budget::new(chart, states, search.work);
    let found = Explored {
        reasons,
        relaxed: context.is_unbounded || !limits.is_empty(),
        unbounded: context.is_unbounded,
        ..Explored::nothing()
    };
    Walk {
        chart,
        search,
        moves,
        keys,
        limits,
        turns: if context.is_unbounded { &WAYS } else { &[] },
        units: budget.units(),
        budget,
        heuristic: Heuristic::new(&search.distances),
        known: Map::default(),
        key: Bytes::default(),
        log: Log::new(chart),
        told: Map::from_iter([(Vec::new(), 0)]),
        points: Vec::new(),
        todo: BTreeSet::new(),
        depths: Vec::new(),
        found,
    }
    .run(plan, context.host())
}

/// The result of an exploration that tried nothing, for this reason.
pub(super) fn untried(why: &str) -> Explored {
    Explored { reasons: BTreeSet::from([why.to_owned()]), ..Explored::nothing() }
}

/// The state of a search.
struct Walk<'c> {
    chart: &'c Chart,
    search: &'c Search,
    moves: Moves<'c>,
    keys: Keys<'c>,
    limits: AbstractLimits,
    /// The numbers to which the turns of the run are set before each input. If empty, the turns stay as they are.
    turns: &'static [u32],
    budget: Budget,
    /// The priorities of points; `None` if they are tried in the order found.
    heuristic: Option<Heuristic<'c>>,
    /// By key: the number of the point.
    known: Map<Box<[u8]>, usize>,
    /// The key of the point at which the machine is.
    key: Bytes,
    /// The happenings on the current edge.
    log: Log<'c>,
    /// By sequence of happenings: its index among the stories.
    told: Map<Vec<Happened>, usize>,
    /// By number of the point: what is left to try there; `None` if nothing is.
    points: Vec<Option<OpenPoint>>,
    /// The numbers of these points, ordered by the priority from [`Heuristic`], which grows with what was tried there.
    todo: BTreeSet<(u32, usize)>,
    /// By number of the point: how many inputs after the start it was found.
    depths: Vec<u32>,
    /// The number of units that evaluations may still spend.
    units: u64,
    found: Explored,
}

/// A point with the actions that are still to be tried there; `None` for all.
struct OpenPoint {
    point: Point,
    acts: Option<std::vec::IntoIter<HostAct>>,
}

impl Walk<'_> {
    fn run(mut self, plan: &Plan<'_>, mut host: Anything) -> Explored {
        for start in self.moves.starts.clone() {
            if self.budget.is_spent() {
                self.cut(Cut::Work);
                break;
            }
            let params = witness::params(self.chart, &start);
            let Ok(mut machine) = Interpreter::new(plan, std::mem::take(&mut host), params) else {
                self.found.reasons.insert("a run cannot begin with some params".into());
                return self.found;
            };
            machine.allow(self.units);
            let before = machine.point();
            self.step(&mut machine, &before, None, &HostAct::Start(start));
            self.units = machine.allowed();
            host = machine.with_host(std::mem::take);
        }
        let first = self.moves.starts.first().map(|start| witness::params(self.chart, start));
        if let Ok(mut machine) = Interpreter::new(plan, host, first.unwrap_or_default()) {
            // A point includes its params, so one machine serves all starts.
            machine.allow(self.units);
            self.go(&mut machine);
            self.units = machine.allowed();
            if machine.with_host(|host| host.capped) {
                self.found.reasons.insert(RESULTS.into());
            }
        }
        if !self.todo.is_empty()
            && self.found.goal.is_none()
            && !(self.search.whole && self.is_open())
        {
            self.cut(Cut::Work);
        }
        self.found.reasons.extend(std::mem::take(&mut self.moves.reasons));
        self.found.work = self.budget.took(self.units);
        self.found.states = self.budget.found;
        self.found
    }

    fn go(&mut self, machine: &mut Machined<'_>) {
        while self.found.goal.is_none()
            && machine.allowed() > 0
            && !(self.search.whole && self.is_open())
            && !self.budget.is_spent()
            && let Some(mut at) = self.todo.pop_first()
        {
            let Some(OpenPoint { point, acts }) = self.points[at.1].take() else { continue };
            let mut acts = acts.unwrap_or_else(|| {
                machine.go_to(&point);
                self.moves.here(machine, self.has_waited(at.1)).into_iter()
            });
            let mut is_left = false;
            while !is_left && let Some(act) = acts.next() {
                if self.budget.is_spent() {
                    self.cut(Cut::Work);
                    break;
                }
                self.step(machine, &point, Some(at.1), &act);
                if self.heuristic.is_some() {
                    at.0 = at.0.saturating_add(1);
                    // Another point is more promising now; this one waits until its turn comes again.
                    is_left = self.todo.first().is_some_and(|first| *first < at);
                }
            }
            if is_left {
                self.points[at.1] = Some(OpenPoint { point, acts: Some(acts) });
                self.todo.insert(at);
                continue;
            }
            self.found.tried += 1;
            self.found.points[at.1].tried = true;
        }
    }

    /// Whether it is certain that not everything will be tried.
    fn is_open(&self) -> bool {
        !self.found.reasons.is_empty() || !self.moves.reasons.is_empty()
    }

    /// Whether the edge that found the point was a wait for something that was due at once, and is still due.
    fn has_waited(&self, point: usize) -> bool {
        match self.found.points[point].by {
            (Some(from), nth) => self.found.edges[from][nth].act == HostAct::Wait(0),
            (None, _) => false,
        }
    }

    /// Performs an action of the host at a point, with all results of functions and all combinations of reached limits.
    fn step(&mut self, machine: &mut Machined<'_>, at: &Point, from: Option<usize>, act: &HostAct) {
        for nth in 0..self.turns.len().max(1) {
            let turns = self.turns.get(nth).copied().filter(|_| from.is_some());
            let counts = self.step_in(machine, at, from, act, (0, turns));
            // Without calls and turns, the other combinations would have the same effect.
            if counts {
                for way in 1..self.limits.combinations.len() {
                    self.step_in(machine, at, from, act, (way, turns));
                }
            }
        }
    }

    /// Performs an action with one combination of limits and this number of turns. Returns whether limits counted anything.
    fn step_in(
        &mut self,
        machine: &mut Machined<'_>,
        at: &Point,
        from: Option<usize>,
        act: &HostAct,
        (way, turns): (usize, Option<u32>),
    ) -> bool {
        let mut counts = false;
        machine.with_host(Anything::begin);
        loop {
            if self.found.goal.is_some() {
                return false;
            }
            machine.go_to(at);
            for (state, calls, turns) in self.limits.combinations.get(way).into_iter().flatten() {
                machine.set_counted(*state, *calls, *turns);
            }
            if let Some(turns) = turns {
                machine.set_turns(turns);
            }
            self.log.clear();
            let left = machine.allowed();
            let taken = perform(self.chart, machine, act, &mut self.log);
            let (called, full) = machine.with_host(|host| (host.work, host.full));
            let weight = from.map_or(1, |from| self.found.points[from].weight);
            self.budget.tried(&self.log, called, weight);
            let spent = (left - machine.allowed()).saturating_mul(weight as u64);
            machine.allow(left.saturating_sub(spent));
            if full {
                self.found.reasons.insert(RESULTS.into());
                return false;
            }
            if machine.allowed() == 0 {
                // With more units, conditions that failed now might hold, so the behavior says nothing.
                self.found.reasons.insert("its conditions and actions compute too much".into());
                return false;
            }
            let Log { calls, forbidden, turns, .. } = self.log;
            counts |= calls + forbidden + turns > 0;
            // The classes of limits describe the next call only, so further calls in the same input may have other effects.
            if !self.limits.is_empty() && calls > 0 && calls + forbidden > 1 {
                self.found.reasons.insert("several model calls are made at once".into());
            }
            if taken && (!self.log.runs || !self.search.children.is_empty()) {
                self.arrive(machine, from, act);
            }
            if !machine.with_host(Anything::next) {
                return counts;
            }
            if self.budget.is_spent() {
                self.cut(Cut::Work);
                return counts;
            }
        }
    }

    /// Records that a bound was reached, so that there may be more than was found.
    fn cut(&mut self, by: Cut) {
        self.found.reasons.insert(MORE.into());
        self.found.cut.get_or_insert(by);
    }

    /// Adds the edge to the point at which the machine has arrived, and the point itself if it is new.
    fn arrive(&mut self, machine: &mut Machined<'_>, from: Option<usize>, act: &HostAct) {
        self.count(machine);
        let (races, weight) = self.keys.key(machine, &mut self.key);
        if races {
            self.found.reasons.insert("deadlines run at the same time".into());
        }
        let next = self.found.points.len();
        let known = self.known.get(&self.key.0[..]).copied();
        if known.is_none() && !self.budget.try_reserve(weight) {
            self.cut(Cut::States);
            return;
        }
        let to = known.unwrap_or(next);
        let story = self.place();
        let edges = match from {
            None => &mut self.found.starts,
            Some(from) => &mut self.found.edges[from],
        };
        let calls = self.log.calls;
        let alike = edges.iter_mut().find(|e| (e.to, e.story) == (to, story));
        if let Some(alike) = alike {
            alike.calls = alike.calls.max(calls);
        } else if known.is_none() || !(from == known && story == 0) {
            let results = machine.with_host(|host| host.chosen());
            edges.push(Edge { to, act: act.clone(), story, calls, results });
        }
        let enters = |state| self.log.story.contains(&Happened::Entered(state));
        if self.search.entered.is_some_and(enters) {
            self.found.goal = Some(to);
        }
        if known.is_none() {
            let by = (from, edges.len() - 1);
            self.known.insert(self.key.0.as_slice().into(), next);
            let (leaves, values) = (machine.leaves(), self.keys.values(machine));
            self.found.points.push(Reached::new(by, machine.ended(), leaves, values, weight));
            self.found.edges.push(Vec::new());
            self.points.push(Some(OpenPoint { point: machine.point(), acts: None }));
            let depth = from.map_or(0, |from| self.depths[from] + 1);
            self.depths.push(depth);
            let leaves = &self.found.points[next].leaves;
            let far = self.heuristic.as_mut().map_or(0, |lead| lead.assign_priority(leaves, depth));
            if self.search.inputs.is_none_or(|inputs| depth < inputs) {
                self.todo.insert((far, next));
            }
            if self.is_goal(machine) {
                self.found.goal = Some(next);
            }
        }
    }

    /// The index of the current story among all stories, which is added if it is new.
    fn place(&mut self) -> usize {
        let story = &self.log.story;
        if story.is_empty() {
            return 0;
        }
        if let Some(place) = self.told.get(story) {
            return *place;
        }
        let place = self.found.stories.len();
        self.found.stories.push(story.clone());
        self.told.insert(story.clone(), place);
        place
    }

    /// Sets the quantities that keys count, which depend on the params of this run.
    fn count(&mut self, machine: &Machined<'_>) {
        let bound = |expr: Option<&Expr>, more: i64| {
            let bound = bound(expr?, machine)?;
            Some(u32::try_from(bound.saturating_add(more).max(0)).unwrap_or(u32::MAX))
        };
        let Search { turns, calls, .. } = self.search;
        let counting =
            Counting { turns: bound(turns.as_ref(), 0), calls: bound(calls.as_ref(), 1) };
        if counting.turns.is_some() != turns.is_some()
            || counting.calls.is_some() != calls.is_some()
        {
            self.found.reasons.insert("the bound is no sum of params".into());
        }
        self.keys.counting = counting;
    }

    fn is_goal(&self, machine: &Machined<'_>) -> bool {
        let at = machine.standing();
        let counting = &self.keys.counting;
        let turned = counting.turns.is_some_and(|n| machine.ended().is_none() && at.turns >= n);
        turned
            || counting
                .calls
                .is_some_and(|n| at.cells.counts(chartc_core::arena::StateId(0)).calls >= n)
    }
}

/// The value of an expression over params in the machine's run; `None` if it is no whole number.
fn bound(expr: &Expr, machine: &Machined<'_>) -> Option<i64> {
    let values = machine.facts().variables;
    fixed::number(expr, &|id| values.get(id.index()).cloned().flatten())
}
