//! What variables and answers may hold where they are read: a forward analysis over the points of runs.
//!
//! A point is an active leaf with what the run does there: it rests, a turn begins, the walk is before a step or awaits one. From point
//! to point go lines, steps and turns, with all that they read and set. Each cell (a variable or the answer of a step) has a set of
//! what it may hold: what it begins with, constants that something sets it to, or anything else. The sets only grow, so that what
//! is not in one is never there; but for runs that the engine stops where they go round without end. Charts with parallels, and those beyond [`MOST_WORK`], have one set for all points.

mod apply;
mod cell;
mod edge;
mod enter;
mod parts;
mod path;
mod point;
mod read;
mod test;
mod walk;
mod way;

pub use cell::Cells;
pub use point::By;
pub use read::Site;

use super::Facts;
use super::dataflow::Value;
use apply::Records;
use cell::{FRESH, Masks};
use chartc_core::arena::VarId;
use chartc_core::model::{Chart, Expr, StateKind};
use point::{Point, Points};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most cells times points, and most operations, of an analysis by points.
const MOST_WORK: usize = 1_500_000;

/// Most readings for which a way is looked for.
const MOST_WAYS: usize = 40;

/// What is known of a chart's data.
#[derive(Debug, Clone)]
pub struct Flow<'c> {
    chart: &'c Chart,
    cells: Cells,
    /// What each reading sees.
    records: Records,
    /// Whether readings are told apart by point.
    exact: bool,
    /// What is known at each point.
    masks: BTreeMap<Point, Masks>,
}

/// A reading of what is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct Unset {
    /// Where.
    pub site: Site,
    /// What is read.
    pub value: Value,
    /// A run that comes there without setting it; `None`: every run does.
    pub way: Option<Vec<By>>,
    /// What is there instead.
    pub lack: Lack,
}

/// What is there instead of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Nothing.
    Missing,
    /// A text, a list or a map with nothing in it.
    Empty,
    /// Another default.
    Default,
}

/// A condition that has one value wherever it is asked for, because of what its variables hold there.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// Where.
    pub site: Site,
    /// Which.
    pub holds: bool,
    /// What its variables hold there.
    pub values: Vec<(VarId, Vec<chartc_core::expr::Value>)>,
}

impl<'c> Flow<'c> {
    /// Analyses a chart. About linear in states, lines and steps.
    pub fn of(chart: &'c Chart, facts: &Facts) -> Self {
        let cells = Cells::of(chart);
        let mut flow =
            Self { chart, cells, records: Records::new(), exact: false, masks: BTreeMap::new() };
        if flow.cells.rows.is_empty() {
            return flow;
        }
        let parallel = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        let points = Points::of(chart, facts);
        let parts = 4 * (chart.states.len() + chart.transitions.len()) + 12 * chart.steps.len();
        let small = parts * (1 + flow.cells.rows.len()) <= MOST_WORK;
        flow.exact = small && !parallel && flow.solve(&points);
        if !flow.exact {
            flow.masks.clear();
            flow.records.clear();
            flow.everywhere(&points);
        }
        flow
    }

    /// Finds what holds at each point; `false` where that is too much.
    fn solve(&mut self, points: &Points<'_, '_>) -> bool {
        let start = points.start();
        let mut known: BTreeMap<Point, Masks> = BTreeMap::new();
        let mut open = Open::default();
        let mut work = 0;
        let mut first = self.cells.fresh();
        for (point, ops) in &start {
            let mut masks = first.clone();
            apply::all(self.chart, &self.cells, ops, &mut masks, None);
            join(&mut known, &mut open, *point, &masks);
        }
        first.clear();
        let mut edges = Vec::new();
        while let Some(point) = open.next() {
            let Some(masks) = known.get(&point).cloned() else { continue };
            edges.clear();
            points.edges(point, &mut edges);
            for edge in &edges {
                work += (1 + edge.ops.len()) * (1 + masks.len());
                let mut after = masks.clone();
                if apply::all(self.chart, &self.cells, &edge.ops, &mut after, None) {
                    join(&mut known, &mut open, edge.to, &after);
                }
            }
            if work > MOST_WORK || known.len() * masks.len() > MOST_WORK {
                return false;
            }
        }
        for (_, ops) in &start {
            let mut masks = self.cells.fresh();
            apply::all(self.chart, &self.cells, ops, &mut masks, Some(&mut self.records));
        }
        for (point, masks) in &known {
            edges.clear();
            points.edges(*point, &mut edges);
            for edge in &edges {
                let mut after = masks.clone();
                apply::all(self.chart, &self.cells, &edge.ops, &mut after, Some(&mut self.records));
            }
        }
        self.masks = known;
        true
    }

    /// The same, with what a cell may hold anywhere.
    fn everywhere(&mut self, points: &Points<'_, '_>) {
        let masks = self.cells.all(self.chart);
        points.each_site(&mut |ops| {
            let mut after = masks.clone();
            apply::sites(self.chart, &self.cells, ops, &masks, &mut after, &mut self.records);
        });
    }

    /// What a value that begins as `none` may be where it is read: `None` if no run reads it there, or if it is not looked at.
    pub fn at(&self, site: Site, value: Value) -> Option<Held> {
        let cell = self.cells.number(value)?;
        let seen = self.records.get(&(site, cell as u32))?;
        let none = FRESH | self.cells.rows[cell].none_bits();
        Some(Held { unset: seen.all & none != 0, set: seen.all & !none != 0 })
    }

    /// All that is read where it is not there, by place; `inferred` says which variables nobody gave a default.
    pub fn unset(&self, facts: &Facts, inferred: &dyn Fn(VarId) -> bool) -> Vec<Unset> {
        if !self.exact {
            return Vec::new();
        }
        let points = Points::of(self.chart, facts);
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
            let always = seen.all & !row.none_bits() & !FRESH == 0;
            let shown = seen.shown && (missing || lack != Lack::Default);
            let asked = row.per_turn && is_condition(*site) && row.default.is_some();
            if always && row.is_set && (shown || asked) {
                found.push(Unset { site: *site, value: row.value, way: None, lack });
            } else if missing && seen.hard & (FRESH | row.none_bits()) != 0 && ways < MOST_WAYS {
                ways += 1;
                if let Some(way) =
                    way::find(self.chart, &self.cells, &points, &self.masks, *site, *cell as usize)
                {
                    found.push(Unset { site: *site, value: row.value, way: Some(way), lack });
                }
            }
        }
        found
    }

    /// Conditions that always come out alike although something sets what they read.
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
            if let Some(holds) = test::constant(self.chart, &self.cells, guard, &seen) {
                let values = seen.iter().filter_map(|(cell, mask)| {
                    let Value::Variable(id) = self.cells.rows[*cell].value else { return None };
                    Some((id, self.cells.rows[*cell].values(*mask)?))
                });
                let values: Vec<_> = values.collect();
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

    fn guard(&self, site: Site) -> Option<&'c Expr> {
        match site {
            Site::Line(id) => self.chart.transition(id).guard.as_ref(),
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

    /// Whether readings are told apart by the points of runs.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}

/// Whether a place is a condition of its own.
const fn is_condition(site: Site) -> bool {
    matches!(site, Site::Line(_) | Site::Guard(_) | Site::Permission(..))
}

/// What a value may be where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Not there.
    pub unset: bool,
    /// There.
    pub set: bool,
}

/// Points that have something new to lead on, each once.
#[derive(Default)]
struct Open {
    row: VecDeque<Point>,
    all: BTreeSet<Point>,
}

impl Open {
    fn add(&mut self, point: Point) {
        if self.all.insert(point) {
            self.row.push_back(point);
        }
    }

    fn next(&mut self) -> Option<Point> {
        let point = self.row.pop_front()?;
        self.all.remove(&point);
        Some(point)
    }
}

fn join(known: &mut BTreeMap<Point, Masks>, open: &mut Open, point: Point, masks: &Masks) {
    match known.get_mut(&point) {
        None => {
            known.insert(point, masks.clone());
            open.add(point);
        }
        Some(row) => {
            let mut grown = false;
            for (old, new) in row.iter_mut().zip(masks) {
                grown |= *new & !*old != 0;
                *old |= new;
            }
            if grown {
                open.add(point);
            }
        }
    }
}
