//! The possible contents of cells at each point: a least fixpoint over all edges.

use super::apply::{Applier, Records, Sights};
use super::cell::{Cells, Masks};
use super::code::Book;
use super::edge::{Edge, Op};
use super::point::{By, Mode, Point, Points};
use crate::facts::hash::Map;
use chartc_core::arena::{StateId, StepId};
use std::collections::VecDeque;
use std::ops::Range;

/// Most cells times points, and most operations, of an analysis by points.
pub(super) const MOST_WORK: usize = 1_500_000;

/// What is known at each point.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    numbers: Map<Point, u32>,
    /// By number of the point.
    rows: Vec<PointState>,
    /// By number of the point and of the cell.
    masks: Masks,
    /// The number of cells.
    width: usize,
}

/// A point, with its state in the search.
#[derive(Debug, Clone)]
struct PointState {
    point: Point,
    /// Whether a run gets there.
    reached: bool,
    /// Whether its contents have changed since its ways were last followed.
    open: bool,
    /// Its ways, once they are computed.
    ways: Option<Range<usize>>,
}

/// A way from a point to another.
struct Way {
    to: u32,
    /// The number of its operations.
    ops: u32,
    /// Where the numbers of its codes are in `Search::codes`.
    codes: Range<u32>,
}

/// The computation of the fixpoint.
struct FixpointSearch<'b, 'c> {
    book: Book<'b, 'c>,
    ways: Vec<Way>,
    codes: Vec<u32>,
    open: VecDeque<u32>,
    /// The number of points that runs get to.
    reached: usize,
    /// Runs are followed until they start this step.
    until: Option<StepId>,
    known: Solved,
}

impl Solved {
    /// Computes what holds at each point, and what is read on all ways; `None` if that is too much work. With `until`, only for the part
    /// of each run before it starts this step.
    pub(super) fn solve(
        cells: &Cells,
        points: &Points<'_, '_>,
        until: Option<StepId>,
    ) -> Option<(Records, Self)> {
        let known =
            Self { numbers: Map::default(), rows: vec![], masks: vec![], width: cells.rows.len() };
        let mut search = FixpointSearch {
            book: Book::new(points.chart, cells),
            ways: Vec::new(),
            codes: Vec::new(),
            open: VecDeque::new(),
            reached: 0,
            until,
            known,
        };
        let mut starts = Vec::new();
        for (point, ops) in points.start() {
            let way = search.way(point, &ops);
            let mut masks = cells.fresh();
            if search.walk(&way, &mut masks, None) {
                search.join(way.to, &masks);
            }
            starts.push(way);
        }
        search.spread(points)?;
        let mut sights: Sights = vec![None; search.book.notes.len()];
        for way in &starts {
            search.walk(way, &mut cells.fresh(), Some(&mut sights));
        }
        let mut after = cells.fresh();
        for (nth, row) in search.known.rows.iter().enumerate() {
            for way in &search.ways[row.ways.clone().unwrap_or_default()] {
                after.copy_from_slice(search.known.masks(nth));
                search.walk(way, &mut after, Some(&mut sights));
            }
        }
        Some((search.book.seen(&sights).collect(), search.known))
    }

    /// The possible contents of cells at a point; `None` if no run gets there.
    pub(super) fn at(&self, point: Point) -> Option<&[u16]> {
        let number = *self.numbers.get(&point)? as usize;
        self.rows[number].reached.then(|| self.masks(number))
    }

    /// All possible contents of a cell when the walk is before a step.
    pub(super) fn before(&self, step: StepId, cell: usize) -> u16 {
        let is_before = |row: &PointState| {
            row.reached && matches!(row.point.mode, Mode::Walk(at, _) if at == step.0)
        };
        let points = self.rows.iter().enumerate().filter(|(_, row)| is_before(row));
        points.fold(0, |all, (nth, _)| all | self.masks(nth)[cell])
    }

    /// The possible contents of cells at each point in a leaf.
    pub(super) fn inside(&self, leaf: StateId) -> impl Iterator<Item = &[u16]> {
        let points = self.rows.iter().enumerate();
        let is_inside = move |row: &PointState| row.reached && row.point.leaf == leaf;
        points.filter(move |(_, row)| is_inside(row)).map(|(nth, _)| self.masks(nth))
    }

    fn masks(&self, point: usize) -> &[u16] {
        &self.masks[point * self.width..][..self.width]
    }

    /// The number of a point.
    fn number(&mut self, point: Point) -> u32 {
        *self.numbers.entry(point).or_insert_with(|| {
            self.rows.push(PointState { point, reached: false, open: false, ways: None });
            self.masks.resize(self.rows.len() * self.width, 0);
            self.rows.len() as u32 - 1
        })
    }
}

impl<'c> FixpointSearch<'_, 'c> {
    /// Iterates until nothing changes; `None` if that is too much work.
    fn spread(&mut self, points: &Points<'c, '_>) -> Option<()> {
        let width = self.known.width;
        let (mut before, mut after) = (vec![0; width], vec![0; width]);
        let (mut work, mut edges) = (0, Vec::new());
        while let Some(point) = self.open.pop_front() {
            let point = point as usize;
            self.known.rows[point].open = false;
            before.copy_from_slice(self.known.masks(point));
            for nth in self.ways(point, points, &mut edges) {
                let way = &self.ways[nth];
                work += (1 + way.ops as usize) * (1 + width);
                after.copy_from_slice(&before);
                if self.walk(way, &mut after, None) {
                    self.join(way.to, &after);
                }
            }
            if work > MOST_WORK || self.reached * width > MOST_WORK {
                return None;
            }
        }
        Some(())
    }

    /// The ways from a point.
    fn ways(
        &mut self,
        nth: usize,
        points: &Points<'c, '_>,
        edges: &mut Vec<Edge<'c>>,
    ) -> Range<usize> {
        if let Some(ways) = &self.known.rows[nth].ways {
            return ways.clone();
        }
        let from = self.ways.len();
        let point = self.known.rows[nth].point;
        points.edges(point, edges);
        if let (Some(step), Mode::Walk(at, _)) = (self.until, point.mode)
            && at == step.0
        {
            edges.retain(|edge| edge.by == By::Skipped(step));
        }
        for edge in edges.drain(..) {
            let way = self.way(edge.to, &edge.ops);
            self.ways.push(way);
        }
        let ways = from..self.ways.len();
        self.known.rows[nth].ways = Some(ways.clone());
        ways
    }

    fn way(&mut self, to: Point, ops: &[Op<'c>]) -> Way {
        let from = self.codes.len() as u32;
        self.codes.extend(ops.iter().filter_map(|op| self.book.number(op)));
        let codes = from..self.codes.len() as u32;
        Way { to: self.known.number(to), ops: ops.len() as u32, codes }
    }

    /// Executes the operations of a way. Returns whether the run can get to its end.
    fn walk(&self, way: &Way, masks: &mut [u16], sights: Option<&mut Sights>) -> bool {
        let mut run = Applier { masks, sights };
        let codes = &self.codes[way.codes.start as usize..way.codes.end as usize];
        codes.iter().all(|code| run.code(&self.book.codes[*code as usize]))
    }

    /// Adds possible contents to a point. If they are new, its ways are followed again.
    fn join(&mut self, point: u32, masks: &[u16]) {
        let row = &mut self.known.rows[point as usize];
        let mut grown = !row.reached;
        self.reached += usize::from(grown);
        row.reached = true;
        let from = point as usize * self.known.width;
        for (old, new) in self.known.masks[from..].iter_mut().zip(masks) {
            grown |= *new & !*old != 0;
            *old |= new;
        }
        if grown && !row.open {
            row.open = true;
            self.open.push_back(point);
        }
    }
}

/// All readings of the chart, if a cell may always hold what it may hold at any time.
pub(super) fn everywhere(cells: &Cells, points: &Points<'_, '_>) -> Records {
    let before = cells.all(points.chart);
    let mut after = before.clone();
    let mut book = Book::new(points.chart, cells);
    let mut records = Records::new();
    points.each_site(&mut |op| {
        if let Some(code) = book.code(op) {
            let mut sights = vec![None; book.notes.len()];
            after.copy_from_slice(&before);
            Applier { masks: &mut after, sights: Some(&mut sights) }.code(&code);
            records.extend(book.seen(&sights));
        }
    });
    records
}
