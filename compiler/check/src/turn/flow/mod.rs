//! The values that variables and answers may have where they are read: a forward data-flow analysis over the points of runs.
//!
//! **The problem.** "The answer of `plan` may be missing here" or "this guard always holds" depends on how a run got there: through which
//! states, and how far the walk of the turn was. Bounds that hold everywhere ([`crate::facts::range`]) cannot say that.
//!
//! **The idea.** A *point* is an active leaf together with what the run does in it: it waits for the host, a turn begins, the walk is
//! before a step, or the walk awaits a step (`point`). *Edges* lead from point to point: transitions, steps and turns, each with the
//! operations on the way, such as "this guard holds", "this expression is read", "this block runs" (`edge`). A *cell* is a variable or the
//! answer of a step. At each point, each cell has a set of possible contents: its initial value, constants that something sets it to, or
//! anything else, one bit each (`cell`). Starting from the initial values, operations are applied along all edges until no set grows
//! (`solve`, `apply`). As sets only grow, a cell never holds what its set lacks. (An exception are livelocks, which the engine stops.)
//! On the way, each reading records what it may see.
//!
//! A set over all runs may combine what no single run does. So before a missing value is reported, [`Flow::unset`] searches for one run
//! that gets there, and decides its conditions with symbolic values (`way`, `path`).
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

mod apply;
mod cell;
mod code;
mod edge;
mod empty;
mod enter;
mod parts;
mod path;
mod point;
mod read;
mod solve;
mod test;
mod transition;
mod walk;
mod way;

pub use cell::Cells;
pub use parts::with_values;
pub use point::By;
pub use read::Site;

use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide};
use crate::facts::uses::reads;
use crate::turn::dataflow::Value;
use apply::Records;
use cell::FRESH;
use chartc_core::arena::{StateId, VarId};
use chartc_core::model::{Chart, Expr, StateKind, VariableKind};
use path::Goal;
use point::Points;
use solve::{MOST_WORK, Solved};
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
    pub fn may_be_fresh(&self, sites: &[Site], id: VarId) -> bool {
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
                if let Some(way) = way::find(self.chart, &self.cells, &points, solved, goal) {
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
            let whole = test::constant(self.chart, &self.cells, guard, &seen);
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
    pub fn never_permits(&self) -> Vec<(usize, Holds)> {
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
            let holds = test::constant(self.chart, &self.cells, guard, &seen)
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
                && let Some(kind) = parts::literal(value)
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
    pub fn may_hold(&self, condition: &Expr, leaf: StateId) -> bool {
        let test = test::Test::from_condition(self.chart, &self.cells, condition, true);
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
