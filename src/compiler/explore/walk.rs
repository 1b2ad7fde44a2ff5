//! The search over the points of a chart's runs. One machine serves for all of them: it is set back to a point before each input.
//!
//! **The problem.** At each point, many inputs are possible, each with many values and many results of host functions. Even a small chart
//! may have more points than can be tried.
//!
//! **The idea.** `Walk` keeps the known points by key, and those with untried actions (`todo`). It takes the first point, sets the machine
//! to it, and performs one action of the host (`step`). The action is repeated for each combination of limits that may be reached, and for
//! each result of the host functions that it calls (`step_in`). Where the machine arrives, `arrive` adds an edge, and the point if its key
//! is new.
//!
//! - Points are tried in the order found, so ways to them are shortest. In a search for a state, `Heuristic` tries those first that are
//!   near it in the graph of moves.
//! - `Budget` bounds the points, inputs, work and evaluation, all in proportion to the points that may be found.
//! - Whatever could not be tried is a reason in `Explored::reasons`: known obstacles (`obstacles`), values that are not exhaustive, and
//!   bounds that were reached. With a reason, only what was found is certain.
//!
//! `ExploreContext` holds what several explorations of a chart share.
//!
//! **Example.** In the example of [`super`], the first point is (`idle`, 0). Its actions are `go`, `fail(499)` (which stands for all events
//! that nothing handles there) and a turn. `go` arrives at (`work`, 0), whose key is new. The others arrive at the key of the same point
//! without any happenings, so no edge is added.

use super::host::{self, Anything, HostAct, Log, Machined, perform};
use super::key::{Bytes, Counting, Keys};
use super::moves::{AbstractLimits, Bounds, Moves, WAYS};
use super::relevant::{self, Read, Relevant, Slot};
use super::values::{Hints, shown};
use super::{Cut, Edge, Explored, Happened, Reached, Search};
use crate::analysis::facts::conditions::Map;
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::Value;
use chartc_core::interpreter::{Interpreter, Point};
use chartc_core::model::{Chart, Expr, Step, StepKind};
use chartc_core::plan::Plan;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// The reason that a bound was reached, so that not everything was found.
pub(super) const MORE: &str = "there are more";

/// The reason that a host function was called too often, or has too many results.
const RESULTS: &str = "too many results of host functions together";

/// Tries everything that a host can do, from every start of a run, until the goal or a bound of the search is reached.
pub fn explore(chart: &Arc<Chart>, search: &Search) -> Explored {
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
    let keys = Keys::new(chart, relevant, plan.tables(), &limits, is_blind);
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
        log: if is_blind { Log::new(chart) } else { Log::blind(chart) },
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
    fn run(mut self, plan: &Plan, mut host: Anything) -> Explored {
        for start in self.moves.starts.clone() {
            if self.budget.is_spent() {
                self.cut(Cut::Work);
                break;
            }
            let params = host::params(self.chart, &start);
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
        let first = self.moves.starts.first().map(|start| host::params(self.chart, start));
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

    fn go(&mut self, machine: &mut Machined) {
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
    fn step(&mut self, machine: &mut Machined, at: &Point, from: Option<usize>, act: &HostAct) {
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
        machine: &mut Machined,
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
    fn arrive(&mut self, machine: &mut Machined, from: Option<usize>, act: &HostAct) {
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
    fn count(&mut self, machine: &Machined) {
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

    fn is_goal(&self, machine: &Machined) -> bool {
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
fn bound(expr: &Expr, machine: &Machined) -> Option<i64> {
    let values = machine.facts().variables;
    relevant::number(expr, &|id| values.get(id.index()).cloned().flatten())
}

// The order in which points are tried in a search for a state: best first, by an estimate of the distance.

/// The weight of each node on the path from a point to the goal in the graph of moves.
const NODE: u32 = 4;

/// The weight of each earlier point with the same leaf. The graph has paths that the chart does not have in every run, such as those back
/// into a history. After an attempt in vain, such a path is postponed.
const AGAIN: u32 = 2;

/// The priorities of points, from the distances of their leaves to the goal.
#[derive(Debug)]
pub(super) struct Heuristic<'s> {
    /// By state: its distance to the goal.
    distances: &'s [u32],
    /// By state: the number of points with this leaf that were found.
    found: Vec<u32>,
}

impl<'s> Heuristic<'s> {
    /// `None` if there are no distances, that is, no goal.
    pub(super) fn new(distances: &'s [u32]) -> Option<Self> {
        (!distances.is_empty()).then(|| Self { distances, found: vec![0; distances.len()] })
    }

    /// The priority of a new point with these leaves, found this many inputs after the start. The lowest is tried first. Counts the point.
    pub(super) fn assign_priority(&mut self, leaves: &[StateId], depth: u32) -> u32 {
        let distance = leaves.iter().map(|leaf| self.distances[leaf.index()]).min();
        let again = leaves.iter().map(|leaf| self.found[leaf.index()]).min();
        for leaf in leaves {
            self.found[leaf.index()] += 1;
        }
        let [distance, again] = [distance, again].map(Option::unwrap_or_default);
        let far = distance.saturating_mul(NODE).saturating_add(again.saturating_mul(AGAIN));
        far.saturating_add(depth)
    }
}

// The bounds on the work of an exploration, so that no small chart takes long, whatever its actions repeat.

/// The maximum number of inputs that are tried, for each point that may be found.
const INPUTS: usize = 20;

/// The maximum amount of work (records, effects, calls of host functions), for each point that may be found.
const WORK: usize = 100;

/// The maximum amount of work on inputs that are stopped as a livelock. Each of them makes thousands of records, although its first
/// cycle shows all of its happenings.
const CYCLES: usize = 40_000;

/// The number of units of evaluation for all conditions and actions together, for each point that may be found.
const UNITS: u64 = 500;

/// The minimum number of units, however few points may be found: as many as one block may spend.
const LEAST: u64 = 1_000_000;

/// The number of units of evaluation that take as long as one unit of work.
const UNITS_A_THING: u64 = 4;

/// The maximum number of registers that are kept at the same time, which bounds the memory for big charts.
const REGISTERS: usize = 4_000_000;

/// The number of states whose registers are set in the time of one unit of work.
const STATES_A_THING: usize = 64;

/// The work that was done, and the bounds on it.
#[derive(Debug)]
pub(super) struct Budget {
    /// The maximum number of points.
    room: usize,
    /// The number of points found.
    pub(super) found: usize,
    /// The number of inputs tried.
    inputs: usize,
    /// The work on all inputs.
    work: usize,
    /// The work on inputs that were stopped as a livelock.
    cycles: usize,
    /// The work for each input of setting the registers of all states.
    setting: usize,
    /// The maximum amount of work of all kinds: see [`super::Search::work`].
    most: usize,
    /// The number of units that evaluations may spend in total.
    units: u64,
}

impl Budget {
    /// The budget for this many points, and at most this much work.
    pub(super) fn new(chart: &Chart, states: usize, most: Option<usize>) -> Self {
        let room = states.min(REGISTERS / chart.states.len()).max(1);
        let most = most.unwrap_or(usize::MAX);
        let units = (room as u64).saturating_mul(UNITS).max(LEAST);
        let setting = 1 + chart.states.len() / STATES_A_THING;
        let units = units.min((most as u64).saturating_mul(UNITS_A_THING)).max(LEAST);
        Self { room, found: 0, inputs: 0, work: 0, cycles: 0, setting, most, units }
    }

    /// The number of units that evaluations may spend in total.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Counts an input that was tried at a point of this weight; `called` is the work of host functions.
    pub(super) fn tried(&mut self, log: &Log<'_>, called: usize, weight: usize) {
        let work = (log.work + called).saturating_mul(weight);
        self.inputs += weight;
        self.work += work;
        if log.cycles {
            self.cycles += work;
        }
    }

    /// Reserves room for a point of this weight. Returns `false` if there is none left.
    pub(super) fn try_reserve(&mut self, weight: usize) -> bool {
        let found = self.found.saturating_add(weight);
        self.found = found.min(self.room);
        found <= self.room
    }

    /// Whether any bound is exceeded, so that nothing more may be tried.
    pub(super) fn is_spent(&self) -> bool {
        self.inputs > self.room.saturating_mul(INPUTS)
            || self.work > self.room.saturating_mul(WORK)
            || self.cycles > CYCLES
            || self.took(self.units) > self.most
    }

    /// The work done so far, given the number of units that evaluations have left.
    pub(super) fn took(&self, left: u64) -> usize {
        let evaluated = (self.units - left) / UNITS_A_THING;
        self.inputs * self.setting + self.work + evaluated as usize
    }
}

// The reasons why an exploration cannot try everything.

/// The reasons that are known before anything is tried, in words.
pub(super) fn obstacles(context: &ExploreContext<'_>) -> BTreeSet<String> {
    let ExploreContext { chart, relevant, .. } = context;
    let mut reasons = BTreeSet::new();
    reasons.extend(opaque_charts(chart));
    // The length of a list decides whether its step fails, and it is not among the values that are compared.
    let each = chart.steps.iter().filter(|step| step.each.is_some());
    reasons.extend(each.map(|step| format!("`{}` goes through a list", step.name)));
    let counters = &relevant.counters;
    let reads = [
        (counters.time, "the time is read"),
        (counters.last_result, "`last_result` is read"),
        (counters.repeated, "`repeated` is read"),
        (counters.advice, "`advice` is read"),
    ];
    reasons.extend(reads.iter().filter(|(read, _)| *read).map(|(_, why)| (*why).to_owned()));
    reasons
}

/// The `run` steps with the names of their charts, in words.
pub(super) fn opaque_charts(chart: &Chart) -> Vec<String> {
    let run = |row: &Step| {
        let StepKind::Run(run) = &row.kind else { return None };
        Some(format!("`{}` runs {}", row.name, run.chart))
    };
    chart.steps.iter().filter_map(run).collect()
}

// The data that all explorations of one chart share, computed when they are first needed.

/// A chart with its tables, the actions of its host, and the values on which its moves depend.
pub(super) struct ExploreContext<'c> {
    pub(super) chart: &'c Arc<Chart>,
    pub(super) relevant: Rc<Relevant<'c>>,
    plan: OnceCell<Plan>,
    moves: OnceCell<Moves<'c>>,
    /// Whether guards that bound the turns may hold at any time: see [`super::moves`].
    pub(super) is_unbounded: bool,
}

impl<'c> ExploreContext<'c> {
    pub(super) fn new(chart: &'c Arc<Chart>) -> Self {
        Self::with_relevant(chart, Relevant::new(chart), false)
    }

    /// A context in which the guards of `bounds` may hold at any time. `None` if anything else reads the number of turns.
    pub(super) fn unbounded(chart: &'c Arc<Chart>, bounds: &Bounds<'c>) -> Option<Self> {
        let relevant = Relevant::without(chart, &bounds.conditions());
        (relevant.counters.turns == Read::Never).then(|| Self::with_relevant(chart, relevant, true))
    }

    fn with_relevant(chart: &'c Arc<Chart>, relevant: Relevant<'c>, is_unbounded: bool) -> Self {
        let (plan, moves) = (OnceCell::new(), OnceCell::new());
        Self { chart, relevant: Rc::new(relevant), plan, moves, is_unbounded }
    }

    /// The tables on which a machine runs.
    pub(super) fn plan(&self) -> &Plan {
        self.plan.get_or_init(|| Plan::new(self.chart))
    }

    /// The actions that are tried, with all values.
    pub(super) fn moves(&self) -> &Moves<'c> {
        self.moves.get_or_init(|| self.moves_with(&[]))
    }

    /// The actions that are tried, with only the given values of params and inputs.
    pub(super) fn moves_with(&self, given: &[(VarId, Value)]) -> Moves<'c> {
        Moves::new(self.chart, &self.relevant, given, None)
    }

    /// The actions that a survey tries: also with values that literals suggest, and with child charts as black boxes.
    pub(super) fn survey_moves(&self, search: &Search) -> Moves<'c> {
        let hints = Rc::new(Hints::new(self.chart));
        let mut moves = Moves::new(self.chart, &self.relevant, &search.given, Some(hints));
        moves.children.clone_from(&search.children);
        let open = search.children.iter().filter(|(_, child)| !child.is_whole);
        let named = |step: &StepId| format!("unbounded {}", shown(self.chart, Slot::Answer(*step)));
        moves.reasons.extend(open.map(|(step, _)| named(step)));
        moves
    }

    /// A host whose functions return every possible result.
    pub(super) fn host(&self) -> Anything {
        Anything::new(self.chart, &self.relevant)
    }
}
