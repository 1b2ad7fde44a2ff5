//! The possible contents of cells at each point: the least fixpoint over all edges, computed with a work list.
//!
//! Edges are translated to cells once, when the search first comes to their point, and are then executed each time its contents grow. After
//! the fixpoint, each edge is executed once more to record what its readings see.

use super::cells::{Applier, Book, Cells, Masks, Op, Records, Sights};
use super::points::{By, Edge, Mode, Point, Points};
use crate::analysis::facts::conditions::Map;
use chartc_core::arena::{StateId, StepId};
use std::collections::VecDeque;
use std::ops::Range;

/// The bound on an analysis by points: on cells times points, and on cells times executed operations.
pub(super) const MOST_WORK: usize = 1_500_000;

/// The contents of all cells at each point.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// The number of each point.
    numbers: Map<Point, u32>,
    /// By number of the point: its state in the search.
    rows: Vec<PointState>,
    /// The possible contents, by point and then by cell.
    masks: Masks,
    /// The number of cells.
    width: usize,
}

/// A point, with its state in the search.
#[derive(Debug, Clone)]
struct PointState {
    point: Point,
    /// Whether a run reaches the point.
    reached: bool,
    /// Whether the contents have grown since the edges of the point were last executed.
    open: bool,
    /// The translated edges of the point: their indexes in the search, once they are computed.
    ways: Option<Range<usize>>,
}

/// A translated edge.
struct Way {
    /// The number of the point to which it leads.
    to: u32,
    /// The number of its operations, including those without effect on cells.
    ops: u32,
    /// The range of its operations in [`FixpointSearch::codes`], each by its number in the book.
    codes: Range<u32>,
}

/// The computation of the fixpoint.
struct FixpointSearch<'b, 'c> {
    /// The translated operations.
    book: Book<'b, 'c>,
    /// The translated edges of all points.
    ways: Vec<Way>,
    /// The numbers of the operations of all edges.
    codes: Vec<u32>,
    /// The points whose edges are to be executed.
    open: VecDeque<u32>,
    /// The number of points that runs reach.
    reached: usize,
    /// The step at which runs end, if only the part before it is analyzed.
    until: Option<StepId>,
    /// The result so far.
    known: Solved,
}

impl Solved {
    /// Computes the contents at each point, and the contents that each reading sees. `None` if that exceeds [`MOST_WORK`]. With `until`,
    /// considers only the part of each run before it starts this step.
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
        // Only now, because readings would otherwise record sets that are not complete yet.
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

    /// The points, in the order of their numbers.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> {
        self.rows.iter().map(|row| row.point)
    }

    /// The number of a point; `None` if the search has not come to it.
    pub(super) fn number_of(&self, point: Point) -> Option<usize> {
        self.numbers.get(&point).map(|number| *number as usize)
    }

    pub(super) fn point(&self, number: usize) -> Point {
        self.rows[number].point
    }

    /// The possible contents of cells at a point; `None` if no run reaches it.
    pub(super) fn at(&self, number: usize) -> Option<&[u16]> {
        self.rows[number].reached.then(|| self.masks(number))
    }

    /// All possible contents of a cell when the walk is before the step, over all runs.
    pub(super) fn before(&self, step: StepId, cell: usize) -> u16 {
        let is_before = |row: &PointState| {
            row.reached && matches!(row.point.mode, Mode::Walk(at, _) if at == step.0)
        };
        let points = self.rows.iter().enumerate().filter(|(_, row)| is_before(row));
        points.fold(0, |all, (nth, _)| all | self.masks(nth)[cell])
    }

    /// The possible contents of cells at each point of a leaf.
    pub(super) fn inside(&self, leaf: StateId) -> impl Iterator<Item = &[u16]> {
        let points = self.rows.iter().enumerate();
        let is_inside = move |row: &PointState| row.reached && row.point.leaf == leaf;
        points.filter(move |(_, row)| is_inside(row)).map(|(nth, _)| self.masks(nth))
    }

    fn masks(&self, point: usize) -> &[u16] {
        &self.masks[point * self.width..][..self.width]
    }

    /// The number of a point, which is added if it is new.
    fn number(&mut self, point: Point) -> u32 {
        *self.numbers.entry(point).or_insert_with(|| {
            self.rows.push(PointState { point, reached: false, open: false, ways: None });
            self.masks.resize(self.rows.len() * self.width, 0);
            self.rows.len() as u32 - 1
        })
    }
}

impl<'c> FixpointSearch<'_, 'c> {
    /// Executes edges until no contents grow. `None` if that exceeds the bound on work.
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

    /// The translated edges of a point, by their indexes.
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
            // The step does not start; a run in which it is skipped goes on.
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

    /// Translates an edge.
    fn way(&mut self, to: Point, ops: &[Op<'c>]) -> Way {
        let from = self.codes.len() as u32;
        self.codes.extend(ops.iter().filter_map(|op| self.book.number(op)));
        let codes = from..self.codes.len() as u32;
        Way { to: self.known.number(to), ops: ops.len() as u32, codes }
    }

    /// Executes the operations of an edge on `masks`. Returns whether a run can get to its end.
    fn walk(&self, way: &Way, masks: &mut [u16], sights: Option<&mut Sights>) -> bool {
        let mut run = Applier { masks, sights };
        let codes = &self.codes[way.codes.start as usize..way.codes.end as usize];
        codes.iter().all(|code| run.code(&self.book.codes[*code as usize]))
    }

    /// Adds possible contents to a point. If they are new, its edges will be executed again.
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

/// The readings of conditions in the whole chart, if each cell may hold at any time what it may hold at some time. For charts that are not
/// analyzed by points.
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
