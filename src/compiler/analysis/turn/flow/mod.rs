//! The values that variables and answers may have where they are read: a forward data-flow analysis over the points of runs.
//!
//! **The problem.** "The answer of `plan` may be missing here" or "this guard always holds" depends on how a run got there: through which
//! states, and how far the walk of the turn was. Bounds that hold everywhere ([`super::super::facts::ranges`]) cannot say that.
//!
//! **The idea.** A *point* is an active leaf together with what the run does in it: it waits for the host, a turn begins, the walk is
//! before a step, or the walk awaits a step (`points`). *Edges* lead from point to point: transitions, steps and turns, each with the
//! operations on the way, such as "this guard holds", "this expression is read", "this block runs" (`points`). A *cell* is a variable or the
//! answer of a step. At each point, each cell has a set of possible contents: its initial value, constants that something sets it to, or
//! anything else, one bit each (`cells`). Starting from the initial values, operations are applied along all edges until no set grows
//! (`solve`). As sets only grow, a cell never holds what its set lacks. (Livelocks, which the engine stops, are the exception.)
//! On the way, each reading records what it may see.
//!
//! A set over all runs may combine what no single run does. So before a missing value is reported, [`Flow::unset`] searches for one run
//! that gets there, and decides its conditions with symbolic values (`find`, [`Path`]).
//!
//! Charts with parallels, and those beyond `MOST_WORK`, have one set for all points.
//!
//! **Example.**
//!
//! ```text
//! var mode: Text = "idle"
//! initial home
//! state home { on go -> riding { mode = "fast" } }
//! state riding {
//!   on stop if mode == "fast" -> home { mode = "idle" }
//!   on quit -> done
//! }
//! ```
//!
//! The cell `mode` has the bits *initial*, *other*, *"fast"* and *"idle"*. The points are `home` and `riding`, each waiting for the host or
//! at the beginning of a turn; the latter change nothing here.
//!
//! | edge | set before | operations | set at the point behind it |
//! |---|---|---|---|
//! | start → `home` | initial | | initial |
//! | `on go`: `home` → `riding` | initial | `mode = "fast"` | "fast" |
//! | `on stop`: `riding` → `home` | "fast" | the guard holds; `mode = "idle"` | initial or "idle" |
//! | `on go`, again | initial or "idle" | `mode = "fast"` | "fast": nothing new, so this is the fixpoint |
//!
//! The guard of `on stop` has only seen "fast", so [`Flow::fixed`] reports that it always holds.

mod cells;
mod points;
mod solve;

pub use cells::{Cells, Site};
pub use points::By;
pub(crate) use points::with_values;

use super::calls::Value;
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::{Map, Verdict, decide};
use crate::analysis::facts::usage::{reads, walk};
use cells::{FRESH, How, Op, Reader, Records, constant, look};
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate};
use chartc_core::model::{
    Action, AskOn, Chart, Expr, ExprKind, Observable, Position, Receiver, StateKind, StepKind,
    TemplatePart, VariableKind,
};
use points::{Point, Points, fold, split};
use solve::{MOST_WORK, Solved};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The maximum number of readings for which a run is searched.
const MOST_WAYS: usize = 40;

/// The result of the analysis of one chart: what its variables and answers may hold.
#[derive(Debug, Clone)]
pub struct Flow<'c> {
    chart: &'c Chart,
    /// The variables and answers that the analysis follows.
    cells: Cells,
    /// By reading: the contents that it may see.
    records: Records,
    /// By point: the possible contents. `None` if the analysis does not distinguish points.
    solved: Option<Solved>,
}

/// A reading of a value that is not set.
#[derive(Debug, Clone, PartialEq)]
pub struct Unset {
    /// The place that reads.
    pub site: Site,
    /// The variable or answer that is read.
    pub value: Value,
    /// A run that gets there without setting the value. `None` if every run that gets there does.
    pub way: Option<Vec<By>>,
    /// The kind of content that is read instead.
    pub lack: Lack,
}

/// The kind of content that is read instead of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// `none`, or no answer.
    Missing,
    /// An empty text, list or map.
    Empty,
    /// Another default.
    Default,
}

/// Variables, each with all values that it may have.
pub type Holds = Vec<(VarId, Vec<chartc_core::expr::Value>)>;

/// A condition that has the same value at every evaluation, because of what its variables hold there.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// The place of the condition.
    pub site: Site,
    /// The value of the condition.
    pub holds: bool,
    /// The values that the variables of the condition may have there.
    pub values: Holds,
}

impl<'c> Flow<'c> {
    /// Analyzes a chart. Takes about linear time in its states, transitions and steps.
    pub fn new(chart: &'c Chart, facts: &Facts) -> Self {
        let cells = Cells::new(chart);
        let mut flow = Self { chart, cells, records: Records::new(), solved: None };
        if flow.cells.rows.is_empty() {
            return flow;
        }
        let parallel = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        let points = Points::new(chart, facts);
        let parts = 4 * (chart.states.len() + chart.transitions.len()) + 12 * chart.steps.len();
        // An estimate of the number of points times cells. `Solved::solve` also gives up by itself, but only after that much work.
        let small = parts * (1 + flow.cells.rows.len()) <= MOST_WORK;
        let solved =
            if small && !parallel { Solved::solve(&flow.cells, &points, None) } else { None };
        match solved {
            Some((records, solved)) => (flow.records, flow.solved) = (records, Some(solved)),
            None => flow.records = solve::everywhere(&flow.cells, &points),
        }
        flow
    }

    /// Whether a value that is initially `none` may be unset, and whether it may be set, where it is read. `None` if no run reads it there,
    /// or if the analysis does not follow it.
    pub fn at(&self, site: Site, value: Value) -> Option<ValuePresence> {
        let cell = self.cells.number(value)?;
        let seen = self.records.get(&(site, cell as u32))?;
        let none = FRESH | self.cells.rows[cell].none_bits();
        Some(ValuePresence { unset: seen.all & none != 0, set: seen.all & !none != 0 })
    }

    /// Whether a run may reach one of the places while the variable still has its initial value. True if the analysis does not follow it.
    pub(crate) fn may_be_fresh(&self, sites: &[Site], id: VarId) -> bool {
        let Some(cell) = self.cells.number(Value::Variable(id)) else { return true };
        let fresh = FRESH | self.cells.rows[cell].default_bits();
        let mut seen = sites.iter().filter_map(|s| self.records.get(&(*s, cell as u32))).peekable();
        seen.peek().is_none() || seen.any(|seen| seen.all & fresh != 0)
    }

    /// The readings of values that are not set, ordered by place. `inferred` tells which variables have no default in the source.
    pub fn unset(&self, facts: &Facts, inferred: &dyn Fn(VarId) -> bool) -> Vec<Unset> {
        let Some(solved) = &self.solved else { return Vec::new() };
        let points = Points::new(self.chart, facts);
        let mut found = Vec::new();
        let mut ways = 0;
        for ((site, cell), seen) in &self.records {
            let row = &self.cells.rows[*cell as usize];
            let missing = row.is_missing(self.chart)
                || row.default.is_some()
                    && matches!(row.value, Value::Variable(id) if inferred(id));
            let lack = match (row.is_missing(self.chart), row.is_empty()) {
                (true, _) => Lack::Missing,
                (false, true) => Lack::Empty,
                (false, false) => Lack::Default,
            };
            let blank = if lack == Lack::Empty { row.default_bits() } else { 0 };
            // In every run: the reading sees no content but the initial one, `none`, or an empty value.
            let always = seen.all & !row.none_bits() & !blank & !FRESH == 0;
            let shown = seen.shown && (missing || lack != Lack::Default);
            let asked = row.per_turn && is_condition(*site) && row.default.is_some();
            if always && row.is_set && (shown || asked) {
                found.push(Unset { site: *site, value: row.value, way: None, lack });
            } else if missing && seen.hard & (FRESH | row.none_bits()) != 0 && ways < MOST_WAYS {
                ways += 1;
                let goal = Goal { site: *site, value: row.value, with: &[] };
                if let Some(way) = find(self.chart, &self.cells, &points, solved, goal) {
                    found.push(Unset { site: *site, value: row.value, way: Some(way), lack });
                }
            }
        }
        found
    }

    /// The variables that nothing sets and whose initial value is a placeholder, each with the first place that shows it, or else the first
    /// that reads it.
    pub fn blank(&self) -> BTreeMap<VarId, Site> {
        let mut found: BTreeMap<VarId, (bool, Site)> = BTreeMap::new();
        for ((site, cell), seen) in &self.records {
            let row = &self.cells.rows[*cell as usize];
            let Value::Variable(id) = row.value else { continue };
            let var = matches!(self.chart.variables[id.index()].kind, VariableKind::Var { .. });
            if var && !row.is_set && row.is_blank() && !row.is_missing(self.chart) {
                let place = found.entry(id).or_insert((seen.shown, *site));
                if seen.shown && !place.0 {
                    *place = (true, *site);
                }
            }
        }
        found.into_iter().map(|(id, (_, site))| (id, site)).collect()
    }

    /// The conditions that have the same value at every evaluation although something sets what they read.
    pub fn fixed(&self) -> Vec<Fixed> {
        let mut found = Vec::new();
        let mut by_site: BTreeMap<Site, Vec<(usize, u16)>> = BTreeMap::new();
        for ((site, cell), seen) in &self.records {
            if is_condition(*site) {
                by_site.entry(*site).or_default().push((*cell as usize, seen.asked));
            }
        }
        for (site, seen) in by_site {
            let Some(guard) = self.guard(site) else { continue };
            let whole = cells::constant_test(self.chart, &self.cells, guard, &seen);
            if let Some(holds) = whole.or_else(|| self.fixed_by_some(guard, &seen)) {
                let values = self.values(&seen);
                if values.iter().any(|(id, _)| {
                    self.cells
                        .number(Value::Variable(*id))
                        .is_some_and(|c| self.cells.rows[c].is_set)
                }) {
                    found.push(Fixed { site, holds, values });
                }
            }
        }
        found
    }

    /// The rows of the transition table whose condition never holds, whatever its variables are set to; with the values that they may have.
    pub(crate) fn never_permits(&self) -> Vec<(usize, Holds)> {
        let rows = self.chart.permissions.iter().enumerate();
        let guarded: Vec<(usize, &Expr)> =
            rows.filter_map(|(row, p)| Some((row, p.guard.as_ref()?))).collect();
        if guarded.is_empty() {
            return Vec::new();
        }
        let all = self.cells.all(self.chart);
        let mut found = Vec::new();
        for (row, guard) in guarded {
            let mut read = BTreeSet::new();
            reads(self.chart, guard, &mut read);
            let cells = read.iter().filter_map(|id| self.cells.variable(*id));
            let seen: Vec<(usize, u16)> = cells.map(|cell| (cell, all[cell])).collect();
            let holds = cells::constant_test(self.chart, &self.cells, guard, &seen)
                .or_else(|| self.fixed_by_some(guard, &seen));
            if holds == Some(false) {
                found.push((row, self.values(&seen)));
            }
        }
        found
    }

    /// The variables among the cells, with their possible values, where these are known.
    fn values(&self, seen: &[(usize, u16)]) -> Holds {
        let values = seen.iter().filter_map(|(cell, mask)| {
            let Value::Variable(id) = self.cells.rows[*cell].value else { return None };
            Some((id, self.cells.rows[*cell].values(*mask)?))
        });
        values.collect()
    }

    /// The value that a condition always has because some of its variables hold a single value, whatever the others are.
    fn fixed_by_some(&self, guard: &Expr, seen: &[(usize, u16)]) -> Option<bool> {
        let mut known: BTreeMap<VarId, Expr> = BTreeMap::new();
        for (cell, mask) in seen {
            let row = &self.cells.rows[*cell];
            if let (Value::Variable(id), Some(values)) = (row.value, row.values(*mask))
                && let [value] = &values[..]
                && let Some(kind) = points::literal(value)
            {
                known.insert(id, Expr { kind, ty: self.chart.variables[id.index()].ty.clone() });
            }
        }
        if known.is_empty() {
            return None;
        }
        let guard = with_values(self.chart, guard, &|id| known.get(&id).cloned());
        [false, true]
            .into_iter()
            .find(|held| decide(self.chart, &[(&guard, !held)]) == Verdict::Never)
    }

    fn guard(&self, site: Site) -> Option<&'c Expr> {
        match site {
            Site::Transition(id) => self.chart.transition(id).guard.as_ref(),
            Site::Guard(id) => self.chart.steps[id.index()].guard.as_ref(),
            Site::Prompt(..)
            | Site::Injection(..)
            | Site::Fragment(..)
            | Site::Code(_)
            | Site::Arguments(_)
            | Site::EndsTurn(_)
            | Site::Moves(_)
            | Site::State(_) => None,
            Site::Permission(row, _) => self.chart.permissions[row].guard.as_ref(),
        }
    }

    /// Whether a condition may hold in a leaf, as far as the contents of its variables decide that.
    pub(crate) fn may_hold(&self, condition: &Expr, leaf: StateId) -> bool {
        let test = cells::Test::from_condition(self.chart, &self.cells, condition, true);
        match &self.solved {
            Some(solved) => solved.inside(leaf).any(|masks| test.refine(&mut masks.to_vec())),
            None => test.refine(&mut self.cells.all(self.chart)),
        }
    }

    /// Whether the analysis distinguishes the points of runs.
    pub fn is_exact(&self) -> bool {
        self.solved.is_some()
    }
}

/// Whether a place is a condition: a guard, or the condition of a step or permission.
const fn is_condition(site: Site) -> bool {
    matches!(site, Site::Transition(_) | Site::Guard(_) | Site::Permission(..))
}

/// Whether a value may be unset or set where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValuePresence {
    /// The value may be unset.
    pub unset: bool,
    /// The value may be set.
    pub set: bool,
}

// Searches for a run that reaches a reading without setting the value that it reads.
//
// A breadth-first search over points, as in `solve`, but each entry carries one run with symbolic data ([`Path`]) instead of sets. So
// several runs may visit the same point.

/// The maximum number of entries for one reading.
const MOST_ENTRIES: usize = 1_500;
/// The maximum number of different runs that are followed from one point.
const EACH: usize = 4;
/// The maximum number of conditions that are decided for one reading.
const FUEL: usize = 2_000;

/// The shortest such run that is found, as the causes that lead from point to point. As far as was decided, its conditions can hold one
/// after the other. `None` if there is none, or if the search exceeds its bounds.
fn find(
    chart: &Chart,
    cells: &Cells,
    points: &Points<'_, '_>,
    solved: &Solved,
    goal: Goal<'_>,
) -> Option<Vec<By>> {
    let cell = cells.number(goal.value)?;
    let row = &cells.rows[cell];
    let wanted = FRESH | row.none_bits();
    let fuel = Cell::new(FUEL);
    let world = World { chart, cells, goal, fuel: &fuel };
    let mut visited = Visited::default();
    for (point, ops) in points.start() {
        match Path::new(chart).all(&world, &ops) {
            Came::Found => return Some(Vec::new()),
            Came::On(paths) => {
                for path in paths {
                    visited.add(point, path, None, By::Passed);
                }
            }
        }
    }
    let mut edges = Vec::new();
    while let Some(at) = visited.open.pop_front() {
        if visited.nodes.len() > MOST_ENTRIES || fuel.get() == 0 {
            return None;
        }
        let (point, mut path) = (visited.nodes[at].0, visited.nodes[at].1.clone());
        path.leaf = Some(point.leaf);
        edges.clear();
        points.edges(point, &mut edges);
        // Edges that are not sure may not exist in any run, so they are no evidence.
        for edge in edges.iter().filter(|e| e.sure) {
            match path.all(&world, &edge.ops) {
                Came::Found => return Some(visited.way(at, edge.by)),
                Came::On(paths) => {
                    for path in paths {
                        // Answers and per-turn variables are reset when a turn begins, so having one now does not matter.
                        let waits = matches!(row.value, Value::Answer(_)) || row.per_turn;
                        let lacks = waits || path.lacks(&world);
                        let may =
                            // The value must stay unset all the way, also according to the fixpoint.
                            solved.at(edge.to).is_some_and(|m| m[cell] & wanted != 0 || waits);
                        if lacks && may && visited.is_new(edge.to, &path) {
                            visited.add(edge.to, path, Some(at), edge.by);
                        }
                    }
                }
            }
        }
    }
    None
}

/// The entries of a search.
#[derive(Default)]
struct Visited {
    /// Each entry with the one before it, and the cause that leads from there.
    nodes: Vec<(Point, Path, Option<usize>, By)>,
    by_point: Map<Point, Vec<usize>>,
    /// The entries whose edges are still to be followed.
    open: VecDeque<usize>,
}

impl Visited {
    fn add(&mut self, point: Point, path: Path, from: Option<usize>, by: By) {
        let at = self.nodes.len();
        self.open.push_back(at);
        self.by_point.entry(point).or_default().push(at);
        self.nodes.push((point, path, from, by));
    }

    /// Whether no similar run, and not too many others, have visited the point.
    fn is_new(&self, point: Point, path: &Path) -> bool {
        let known = self.by_point.get(&point).map_or(&[][..], Vec::as_slice);
        known.len() < EACH && !known.iter().any(|n| self.nodes[*n].1.is_like(path))
    }

    /// The causes from the start to an entry, and `last`.
    fn way(&self, at: usize, last: By) -> Vec<By> {
        let mut way = vec![last];
        let mut from = Some(at);
        while let Some(nth) = from {
            way.push(self.nodes[nth].3);
            from = self.nodes[nth].2;
        }
        way.reverse();
        way.retain(|by| *by != By::Passed);
        way
    }
}

// Prompts that may show nothing when they are first sent, because their variables still have empty initial values.

/// The maximum number of prompts that are examined. Each of them takes another analysis of the chart.
const MOST_PROMPTS: usize = 10;

/// A variable that a prompt shows.
#[derive(Debug, Clone, Copy)]
struct ShownVariable {
    variable: VarId,
    /// The part of the prompt that shows the variable.
    site: Site,
    /// Whether this part shows nothing as long as the variable has its initial value.
    is_empty: bool,
}

impl Flow<'_> {
    /// The prompts that may show only initial values when the step first asks, some of them empty, although in other runs one of these
    /// variables was set before; for each prompt, the first such variable. A variable that is set only after the step has asked is not
    /// reported, because it is empty at the first asking of every run.
    pub(crate) fn empty_prompts(&self, facts: &Facts) -> Vec<Unset> {
        let Some(solved) = &self.solved else { return Vec::new() };
        let points = Points::new(self.chart, facts);
        let steps = (0..self.chart.steps.len()).map(StepId::at);
        let runs = |id: &StepId| !facts.scopes.step(*id).within.is_empty();
        // A cheap test first, over all askings: the exact one for the first asking repeats the analysis.
        let candidates = steps.filter(runs).filter_map(|id| {
            let shown = self.initial(id)?;
            let is_initial =
                |one: &ShownVariable| self.seen(solved, id, one).is_some_and(|seen| seen.0);
            let may =
                shown.iter().all(is_initial) && self.sometimes_empty(solved, id, &shown).is_some();
            may.then_some((id, shown))
        });
        candidates
            .take(MOST_PROMPTS)
            .filter_map(|(id, shown)| self.first_asking(&points, solved, id, &shown))
            .collect()
    }

    /// The first of the variables that may be set before the first asking, with a run in which all of them are unset.
    fn first_asking(
        &self,
        points: &Points<'_, '_>,
        solved: &Solved,
        step: StepId,
        shown: &[ShownVariable],
    ) -> Option<Unset> {
        let (_, first) = Solved::solve(&self.cells, points, Some(step))?;
        let ShownVariable { variable, site, .. } = self.sometimes_empty(&first, step, shown)?;
        let with: Vec<VarId> = shown.iter().map(|one| one.variable).collect();
        let value = Value::Variable(variable);
        let goal = Goal { site, value, with: &with };
        let way = find(self.chart, &self.cells, points, solved, goal)?;
        Some(Unset { site, value, way: Some(way), lack: Lack::Empty })
    }

    /// Whether a variable may have its initial value before the step, and whether it may have another one.
    fn seen(&self, solved: &Solved, step: StepId, one: &ShownVariable) -> Option<(bool, bool)> {
        let cell = self.cells.variable(one.variable)?;
        let initial = FRESH | self.cells.rows[cell].default_bits();
        let seen = solved.before(step, cell);
        Some((seen & initial != 0, seen & !initial != 0))
    }

    /// The first of the variables that shows nothing in some runs, and something in others.
    fn sometimes_empty(
        &self,
        solved: &Solved,
        step: StepId,
        shown: &[ShownVariable],
    ) -> Option<ShownVariable> {
        let is_it = |one: &&ShownVariable| {
            one.is_empty && self.seen(solved, step, one) == Some((true, true))
        };
        shown.iter().find(is_it).copied()
    }

    /// The variables that the prompt of a step shows. `None` if it may show anything else, or if the step asks nothing.
    fn initial(&self, id: StepId) -> Option<Vec<ShownVariable>> {
        let chart = self.chart;
        let step = &chart.steps[id.index()];
        let is_asked = match &step.kind {
            StepKind::Llm | StepKind::Human(_) | StepKind::Ask { on: AskOn::Turn, .. } => true,
            StepKind::Ask { on: AskOn::Event(_), .. }
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Run(_) => false,
        };
        if !is_asked || step.each.is_some() {
            return None;
        }
        let mut shown = Vec::new();
        for (nth, part) in chart.own_prompt(id)?.parts.iter().enumerate() {
            let TemplatePart::Hole { expr, .. } = part else { continue };
            let site = match step.kind {
                StepKind::Human(_) => Site::Arguments(id),
                _ => Site::Prompt(id, nth),
            };
            let (read, is_empty) = shows(chart, expr)?;
            shown.extend(read.into_iter().map(|variable| ShownVariable {
                variable,
                site,
                is_empty,
            }));
        }
        for (component, insert) in chart.inserts(id) {
            if insert.guard.is_some() || insert.place == Position::Replace {
                return None;
            }
            for expr in component.text.holes() {
                shows(chart, expr)?;
            }
        }
        Some(shown)
    }
}

/// The variables that an expression reads, and whether it shows nothing while they have their initial values. `None` if it reads anything
/// else, or nothing.
fn shows(chart: &Chart, expr: &Expr) -> Option<(Vec<VarId>, bool)> {
    let (mut read, mut is_known) = (Vec::new(), true);
    walk(chart, expr, &mut |e| {
        is_known &= !matches!(
            e.kind,
            ExprKind::Payload(_)
                | ExprKind::Answer(_)
                | ExprKind::Observable(_)
                | ExprKind::Predicate(_)
                | ExprKind::Call(..)
                | ExprKind::Unknown(_)
        );
        if let ExprKind::Variable(id) = e.kind {
            is_known &= matches!(chart.variables[id.index()].kind, VariableKind::Var { .. });
            read.push(id);
        }
    });
    if !is_known || read.is_empty() {
        return None;
    }
    let values = read.iter().map(|id| {
        let default = chart.variables[id.index()].default.as_ref()?;
        Some((*id, cells::constant(default)?))
    });
    let values: Vec<(VarId, Data)> = values.collect::<Option<_>>()?;
    let shown = evaluate(expr, &Defaults(&values), &Fuel::default()).ok()?;
    let is_empty = match shown {
        Data::None => true,
        Data::Text(text) => text.trim().is_empty(),
        Data::List(items) => items.is_empty(),
        Data::Map(map) => map.is_empty(),
        _ => false,
    };
    Some((read, is_empty))
}

/// An environment in which each variable has its initial value.
struct Defaults<'v>(&'v [(VarId, Data)]);

impl Environment for Defaults<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        self.0.iter().find(|(of, _)| *of == id).map(|(_, data)| data)
    }
}

// One run with symbolic data: the values of variables as expressions, and the conditions that have been assumed.
//
// Decides whether the conditions of a run can hold one after the other. For example, after `n = 1`, the assumption `n > 3` is impossible,
// because `1 > 3` is false; after an event with the payload `p` and `n = p`, assuming `n > 3` adds the condition `p > 3`.

/// The maximum size of an expression that is kept as the value of a variable, in nodes.
const LONGEST: usize = 40;

/// The maximum number of conditions that are kept; the oldest are dropped first.
const CONDITIONS: usize = 12;

/// The knowledge about the data of one run.
#[derive(Debug, Clone)]
struct Path {
    /// The values of variables, where they are known, as expressions over data that has not changed since.
    values: BTreeMap<VarId, Expr>,
    /// The steps with an answer in this turn.
    given: BTreeSet<StepId>,
    /// The steps that were started and that the walk does not await.
    started: BTreeSet<StepId>,
    /// The active leaf, if it is known.
    leaf: Option<StateId>,
    /// The conditions that were assumed and still apply to the current data, with their values.
    known: Vec<(Expr, bool)>,
}

/// The reading that is searched for, and what must be unset when it happens.
#[derive(Debug, Clone, Copy)]
struct Goal<'g> {
    site: Site,
    value: Value,
    /// Variables that must be unset then, too.
    with: &'g [VarId],
}

/// The result of executing operations on a path.
enum Came {
    /// The goal has been reached: the value is read while it is unset.
    Found,
    /// The run continues in one of these ways; in none if its conditions cannot hold.
    On(Vec<Path>),
}

/// The data that all paths of one search share.
struct World<'w> {
    chart: &'w Chart,
    cells: &'w Cells,
    goal: Goal<'w>,
    /// The number of conditions that may still be decided.
    fuel: &'w Cell<usize>,
}

impl Path {
    fn new(chart: &Chart) -> Self {
        let mut values = BTreeMap::new();
        for (i, row) in chart.variables.iter().enumerate() {
            if let (VariableKind::Var { .. }, Some(default)) = (&row.kind, &row.default)
                && constant(default).is_some()
            {
                values.insert(VarId::at(i), default.clone());
            }
        }
        Self {
            values,
            given: BTreeSet::new(),
            started: BTreeSet::new(),
            leaf: None,
            known: Vec::new(),
        }
    }

    /// Whether the goal's value is unset, and its other variables, too.
    fn lacks(&self, world: &World<'_>) -> bool {
        let own = match world.goal.value {
            Value::Answer(step) => !self.given.contains(&step),
            Value::Variable(id) => self.is_unset(world, id),
        };
        own && world.goal.with.iter().all(|id| self.is_unset(world, *id))
    }

    fn is_unset(&self, world: &World<'_>, id: VarId) -> bool {
        let cell = world.cells.variable(id).map(|c| &world.cells.rows[c]);
        let default = cell.and_then(|c| c.default.clone());
        let now = self.values.get(&id).and_then(constant);
        now.is_some() && (now == default || now == Some(Data::None))
    }

    /// Executes operations in order. An `if` in a block splits the path, so there may be several results, but at most four.
    fn all(&self, world: &World<'_>, ops: &[Op<'_>]) -> Came {
        let mut paths = vec![self.clone()];
        for op in ops {
            let mut next = Vec::new();
            for path in paths {
                if path.pass(world, op, &mut next) {
                    return Came::Found;
                }
            }
            next.truncate(4);
            paths = next;
        }
        // Event data and loop variables exist only on one edge.
        for path in &mut paths {
            path.forget(world.chart, &|e| {
                matches!(e.kind, ExprKind::Payload(_) | ExprKind::Local(_))
            });
        }
        Came::On(paths)
    }

    /// Adds the paths after one operation. Returns whether the operation needs the goal's value while it is unset.
    fn pass(mut self, world: &World<'_>, op: &Op<'_>, next: &mut Vec<Self>) -> bool {
        match op {
            Op::Assume(site, condition, value) => {
                if site.is_some()
                    && *site == Some(world.goal.site)
                    && self.reads(world, condition, How::Soft)
                {
                    return true;
                }
                if self.assume(world, condition, *value) {
                    next.push(self);
                }
            }
            Op::Read(site, expr, how) => {
                if *site == world.goal.site && self.reads(world, expr, *how) {
                    return true;
                }
                next.push(self);
            }
            Op::Do(site, actions) => match self.block(world, *site, actions) {
                None => return true,
                Some(done) => next.extend(done),
            },
            // Only blocks that run surely are evidence, so a path with this operation is dropped.
            Op::Maybe(..) => {}
            Op::Set(value) => {
                self.set(world.chart, *value);
                next.push(self);
            }
            Op::Fresh => {
                self.turn(world.chart);
                next.push(self);
            }
            Op::Stir => {
                self.stir(world.chart);
                next.push(self);
            }
            Op::Started(step) => {
                self.started.insert(*step);
                next.push(self);
            }
            Op::Needs(step) => {
                let starts = matches!(&world.chart.steps[step.index()].kind, StepKind::Run(run) if run.on_entry);
                if starts || self.started.remove(step) {
                    next.push(self);
                }
            }
        }
        false
    }

    /// Whether the goal's value is needed in this expression while it is unset.
    fn reads(&self, world: &World<'_>, expr: &Expr, how: How) -> bool {
        let mut seeing = Seeing { world, path: self.clone(), saved: Vec::new(), found: false };
        look(world.chart, expr, how, &mut seeing);
        seeing.found
    }

    fn assume(&mut self, world: &World<'_>, condition: &Expr, value: bool) -> bool {
        let left = world.fuel.get();
        if left == 0 {
            return false;
        }
        world.fuel.set(left - 1);
        let condition = self.told(world.chart, condition);
        let mut goals: Vec<(&Expr, bool)> = self.known.iter().map(|(e, v)| (e, *v)).collect();
        goals.push((&condition, value));
        if decide(world.chart, &goals) == Verdict::Never
            || decide(world.chart, &[(&condition, value)]) == Verdict::Never
        {
            return false;
        }
        // The parts are kept apart, so that forgetting one of them keeps the others.
        for part in split(condition, value) {
            if constant(&part.0).is_none() {
                if self.known.len() == CONDITIONS {
                    self.known.remove(0);
                }
                self.known.push(part);
            }
        }
        true
    }

    /// The expression with known values in place of its parts.
    fn told(&self, chart: &Chart, expr: &Expr) -> Expr {
        let mut told = expr.clone();
        self.replace(chart, &mut told, 0);
        told
    }

    fn replace(&self, chart: &Chart, expr: &mut Expr, depth: usize) {
        if depth > 100 {
            return;
        }
        if let ExprKind::Predicate(id) = expr.kind {
            *expr = chart.predicates[id.index()].expr.clone();
        }
        if let (ExprKind::Observable(Observable::In(state)), Some(leaf)) = (&expr.kind, self.leaf) {
            expr.kind = ExprKind::Bool(chart.contains(*state, leaf));
            return;
        }
        if let ExprKind::Variable(id) = expr.kind
            && let Some(value) = self.values.get(&id)
        {
            *expr = value.clone();
            return;
        }
        if let ExprKind::Answer(id) = expr.kind
            && !self.given.contains(&id)
        {
            expr.kind = ExprKind::None;
            return;
        }
        expr.each_part_mut(&mut |part| self.replace(chart, part, depth + 1));
        fold(expr);
    }

    fn set(&mut self, chart: &Chart, value: Value) {
        match value {
            Value::Variable(id) => {
                self.values.remove(&id);
                self.forget(chart, &|e| e.kind == ExprKind::Variable(id));
            }
            Value::Answer(step) => {
                self.given.insert(step);
                self.forget(chart, &|e| e.kind == ExprKind::Answer(step));
            }
        }
    }

    fn assign(&mut self, chart: &Chart, id: VarId, value: &Expr) {
        let value = self.told(chart, value);
        self.set(chart, Value::Variable(id));
        let (mut size, mut own) = (0, false);
        walk(chart, &value, &mut |e| {
            size += 1;
            own |= e.kind == ExprKind::Variable(id);
        });
        let same = value.ty == chart.variables[id.index()].ty || constant(&value).is_some();
        if size <= LONGEST && !own && same {
            self.values.insert(id, value);
        }
    }

    fn turn(&mut self, chart: &Chart) {
        for (i, row) in chart.variables.iter().enumerate() {
            if matches!(row.kind, VariableKind::Var { per_turn: true }) {
                let id = VarId::at(i);
                self.set(chart, Value::Variable(id));
                if let Some(default) = row.default.as_ref().filter(|d| constant(d).is_some()) {
                    self.values.insert(id, default.clone());
                }
            }
        }
        self.given.clear();
        self.forget(chart, &|e| matches!(e.kind, ExprKind::Answer(_)));
    }

    /// Lets time pass: whatever comes from the host is unknown again.
    fn stir(&mut self, chart: &Chart) {
        self.forget(chart, &|e| match e.kind {
            ExprKind::Variable(id) => {
                matches!(chart.variables[id.index()].kind, VariableKind::Input)
            }
            ExprKind::Call(..) | ExprKind::Observable(_) | ExprKind::Payload(_) => true,
            _ => false,
        });
    }

    /// Drops all values and conditions that contain an expression for which `is` holds.
    fn forget(&mut self, chart: &Chart, is: &dyn Fn(&Expr) -> bool) {
        let about = |expr: &Expr| {
            let mut about = false;
            walk(chart, expr, &mut |e| about |= is(e));
            about
        };
        let gone: Vec<VarId> =
            self.values.iter().filter(|(_, e)| about(e)).map(|(id, _)| *id).collect();
        for id in gone {
            self.values.remove(&id);
            self.known.retain(|(e, _)| {
                let mut own = false;
                walk(chart, e, &mut |e| own |= e.kind == ExprKind::Variable(id));
                !own
            });
        }
        self.known.retain(|(e, _)| !about(e));
    }

    /// Runs a block; `None` if the goal is reached in it. Assumes that no action fails, and drops paths on which the chart sends events to
    /// itself, because those are not followed.
    fn block(&self, world: &World<'_>, site: Site, actions: &[Action]) -> Option<Vec<Self>> {
        // Between exits and entries, no leaf is active.
        let leaf = if matches!(site, Site::Code(_)) { self.leaf } else { None };
        let mut paths = vec![Self { leaf, ..self.clone() }];
        for action in actions {
            let mut next = Vec::new();
            for mut path in paths {
                if site == world.goal.site {
                    let how = if matches!(action, Action::Log(_) | Action::Assign(..)) {
                        How::Soft
                    } else {
                        How::Hard
                    };
                    for expr in super::super::facts::usage::own_expressions(action) {
                        let how = if cells::is_plain(expr) { How::Soft } else { how };
                        if path.reads(world, expr, how) {
                            return None;
                        }
                    }
                }
                match action {
                    Action::Assign(id, value) => {
                        path.assign(world.chart, *id, value);
                        next.push(path);
                    }
                    Action::If(test, then, other) => {
                        for (part, value) in [(then, true), (other, false)] {
                            let mut path = path.clone();
                            if path.assume(world, test, value) {
                                next.extend(path.block(world, site, part)?);
                            }
                        }
                    }
                    // The loop is assumed to run zero times, which a literal list excludes.
                    Action::For(_, source, _) => {
                        if !matches!(source.kind, ExprKind::List(_)) {
                            next.push(path);
                        }
                    }
                    Action::Raise(..) => {}
                    Action::Send { to: Receiver::Own, .. } => {}
                    _ => next.push(path),
                }
            }
            next.truncate(4);
            paths = next;
        }
        Some(paths)
    }

    /// Whether two paths have the same knowledge, so that one of them suffices.
    fn is_like(&self, other: &Self) -> bool {
        self.values == other.values && self.given == other.given && self.known == other.known
    }
}

/// Reads an expression on a path, and looks for the goal.
struct Seeing<'s> {
    world: &'s World<'s>,
    path: Path,
    saved: Vec<Path>,
    found: bool,
}

impl Reader for Seeing<'_> {
    fn read(&mut self, value: Value, how: How) {
        self.found |=
            how == How::Hard && value == self.world.goal.value && self.path.lacks(self.world);
    }

    fn assume(&mut self, condition: &Expr, value: bool) -> bool {
        self.path.assume(self.world, condition, value)
    }

    fn mark(&mut self) -> usize {
        self.saved.push(self.path.clone());
        self.saved.len() - 1
    }

    fn back(&mut self, mark: usize) {
        if let Some(path) = self.saved.get(mark) {
            self.path = path.clone();
        }
        self.saved.truncate(mark);
    }
}
