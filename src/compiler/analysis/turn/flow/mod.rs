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
//! that gets there, and decides its conditions with symbolic values (`path`).
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
mod path;
mod points;
mod solve;

pub use cells::{Cells, Site};
pub use points::By;
pub(crate) use points::with_values;

use super::calls::Value;
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::{Known, Verdict, decide_with};
use crate::analysis::facts::usage::{reads, walk};
use cells::{FRESH, Records};
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate};
use chartc_core::model::{
    Chart, Expr, ExprKind, Position, StateKind, StepKind, TemplatePart, VariableKind,
};
use path::{Goal, Search};
use points::Points;
use solve::{MOST_WORK, Solved};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

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
        let cells = Cells::new(chart, facts);
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
        let search = OnceCell::new();
        let search = || {
            search.get_or_init(|| Search::new(&self.cells, &Points::new(self.chart, facts), solved))
        };
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
                if let Some(way) = search().find(goal) {
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
            // A line may test again what another one has tested before it counts, so only a count that is never right is a fault.
            let is_counted = seen.iter().any(|(cell, _)| self.cells.rows[*cell].is_counted());
            if let Some(holds) = self.constant(guard, &seen).filter(|holds| !(*holds && is_counted))
            {
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
            if self.constant(guard, &seen) == Some(false) {
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

    /// The value that a condition always has because of the values that its variables may have, whatever else it reads.
    fn constant(&self, guard: &Expr, seen: &[(usize, u16)]) -> Option<bool> {
        let few = |id| {
            let own = |(cell, _): &&(usize, u16)| self.cells.variable(id) == Some(*cell);
            let (cell, mask) = seen.iter().find(own)?;
            self.cells.rows[*cell].values(*mask).filter(|values| !values.is_empty())
        };
        let known = Known { range: None, few: Some(&few) };
        let is = |held: &bool| decide_with(self.chart, known, &[(guard, !held)]) == Verdict::Never;
        let is_known = |(cell, _): &(usize, u16)| match self.cells.rows[*cell].value {
            Value::Variable(id) => few(id).is_some(),
            Value::Answer(_) => false,
        };
        [false, true].into_iter().find(|held| seen.iter().any(is_known) && is(held))
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

impl<'c> Flow<'c> {
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
        points: &Points<'c, '_>,
        solved: &Solved,
        step: StepId,
        shown: &[ShownVariable],
    ) -> Option<Unset> {
        let (_, first) = Solved::solve(&self.cells, points, Some(step))?;
        let ShownVariable { variable, site, .. } = self.sometimes_empty(&first, step, shown)?;
        let with: Vec<VarId> = shown.iter().map(|one| one.variable).collect();
        let value = Value::Variable(variable);
        let goal = Goal { site, value, with: &with };
        let way = Search::new(&self.cells, points, solved).find(goal)?;
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
            StepKind::Llm | StepKind::Human(_) | StepKind::Ask { .. } => !step.is_on_event(),
            StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => false,
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
