//! Operations translated to cells. Each operation is translated once and then executed whenever the analysis passes its edge.

use super::apply::{CellContents, Sights};
use super::cell::{Cells, constant};
use super::edge::Op;
use super::read::{How, Reader, Site, look};
use super::test::{Test, cell_of, fails, is_plain};
use crate::facts::hash::Map;
use crate::facts::uses::{own_expressions, walk};
use crate::turn::dataflow::Value;
use chartc_core::model::{Action, Chart, Expr};

/// An operation in terms of cells.
#[derive(Debug)]
pub(super) enum Code {
    /// A condition has a value: the cells in it, the readings when it is evaluated, and what its value implies.
    Assume(Vec<Note>, Vec<Look>, Test),
    /// These cells are read.
    Read(Vec<Look>),
    /// A block runs.
    Do(Vec<ActionEffect>),
    /// A block runs, or not.
    Maybe(Vec<ActionEffect>),
    /// A cell gets an unknown value.
    Set(usize),
    /// These cells get their initial values.
    Fresh(Vec<usize>),
}

/// A reading: its number, and the number of the cell that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    pub(super) number: usize,
    pub(super) cell: usize,
}

/// The readings of an expression, in the order of evaluation.
#[derive(Debug)]
pub(super) enum Look {
    /// A cell is read.
    Cell(Note, How),
    /// These readings take place only if a condition has a value.
    Under(Test, Vec<Self>),
}

/// The readings and the effect of an action.
#[derive(Debug)]
pub(super) struct ActionEffect {
    /// The readings of the action's expressions.
    pub(super) looks: Vec<Look>,
    /// Whether the action may fail, which ends its block.
    pub(super) fails: bool,
    pub(super) does: Does,
}

/// The effect of an action on cells.
#[derive(Debug)]
pub(super) enum Does {
    /// No cell changes.
    Nothing,
    /// The cell then has exactly this content, a single bit.
    Set(usize, u16),
    /// One of two blocks runs, each with the test that holds before it.
    If([(Test, Vec<ActionEffect>); 2]),
    /// A block runs any number of times.
    For(Vec<ActionEffect>),
}

/// The operations that have been translated, each with a number.
pub(super) struct Book<'b, 'c> {
    chart: &'c Chart,
    cells: &'b Cells,
    /// By number: the translated operations.
    pub(super) codes: Vec<Code>,
    /// By operation: its number; `None` if it has no effect.
    numbers: Map<Key, Option<u32>>,
    /// By number of the reading: the place that reads, and the cell.
    pub(super) notes: Vec<(Site, u32)>,
    /// By place and cell: the number of the reading.
    noted: Map<(Site, u32), usize>,
}

/// The identity of an operation. Expressions and blocks are compared by address, which does not change while the chart is borrowed.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Assume(Option<Site>, *const Expr, bool),
    Read(Site, *const Expr, How),
    Do(Site, *const Action, usize),
    Maybe(Site, *const Action, usize),
    Set(Value),
    Fresh,
}

impl<'b, 'c> Book<'b, 'c> {
    pub(super) fn new(chart: &'c Chart, cells: &'b Cells) -> Self {
        Self {
            chart,
            cells,
            codes: Vec::new(),
            numbers: Map::default(),
            notes: Vec::new(),
            noted: Map::default(),
        }
    }

    /// The number of an operation, which is translated if it is new. `None` if it has no effect on cells.
    pub(super) fn number(&mut self, op: &Op<'c>) -> Option<u32> {
        let key = match op {
            Op::Assume(site, condition, value) => Key::Assume(*site, *condition, *value),
            Op::Read(site, expr, how) => Key::Read(*site, *expr, *how),
            Op::Do(site, block) => Key::Do(*site, block.as_ptr(), block.len()),
            Op::Maybe(site, block) => Key::Maybe(*site, block.as_ptr(), block.len()),
            Op::Set(value) => Key::Set(*value),
            Op::Fresh => Key::Fresh,
            Op::Stir | Op::Started(_) | Op::Needs(_) => return None,
        };
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.code(op).map(|code| {
            self.codes.push(code);
            self.codes.len() as u32 - 1
        });
        self.numbers.insert(key, number);
        number
    }

    /// Translates an operation. `None` if it has no effect on cells.
    pub(super) fn code(&mut self, op: &Op<'c>) -> Option<Code> {
        match op {
            Op::Assume(site, condition, value) => {
                let test = Test::from_condition(self.chart, self.cells, condition, *value);
                let (mut asked, mut looks) = (Vec::new(), Vec::new());
                if let Some(site) = site {
                    walk(self.chart, condition, &mut |e| {
                        asked.extend(cell_of(self.cells, e).map(|cell| self.note(*site, cell)));
                    });
                    looks = self.looks(*site, condition, How::Soft);
                }
                let some = test != Test::Open || !asked.is_empty();
                some.then_some(Code::Assume(asked, looks, test))
            }
            Op::Read(site, expr, how) => {
                let looks = self.looks(*site, expr, *how);
                (!looks.is_empty()).then_some(Code::Read(looks))
            }
            Op::Do(site, block) => {
                let acts = self.block(*site, block);
                (!acts.is_empty()).then_some(Code::Do(acts))
            }
            Op::Maybe(site, block) => {
                let acts = self.block(*site, block);
                (!acts.is_empty()).then_some(Code::Maybe(acts))
            }
            Op::Set(value) => self.cells.number(*value).map(Code::Set),
            Op::Fresh => {
                let rows = self.cells.rows.iter().enumerate();
                Some(Code::Fresh(
                    rows.filter(|(_, row)| row.per_turn).map(|(nth, _)| nth).collect(),
                ))
            }
            Op::Stir | Op::Started(_) | Op::Needs(_) => None,
        }
    }

    /// The contents that each reading has seen, by place and cell. Clears the readings.
    pub(super) fn seen(
        &mut self,
        sights: &Sights,
    ) -> impl Iterator<Item = ((Site, u32), CellContents)> {
        self.noted.clear();
        let notes = self.notes.drain(..).zip(sights);
        notes.filter_map(|(key, seen)| Some((key, (*seen)?)))
    }

    /// The reading of a cell by a place; the same one each time.
    fn note(&mut self, site: Site, cell: usize) -> Note {
        let key = (site, cell as u32);
        let number = *self.noted.entry(key).or_insert_with(|| {
            self.notes.push(key);
            self.notes.len() - 1
        });
        Note { number, cell }
    }

    /// The readings of an expression.
    fn looks(&mut self, site: Site, expr: &'c Expr, how: How) -> Vec<Look> {
        let chart = self.chart;
        let mut reading = ReadRecorder { book: self, site, looks: Vec::new(), under: Vec::new() };
        look(chart, expr, how, &mut reading);
        reading.looks
    }

    /// The effects of a block, without actions that neither read, nor set a cell, nor fail.
    fn block(&mut self, site: Site, actions: &'c [Action]) -> Vec<ActionEffect> {
        let acts = actions.iter().map(|action| self.act(site, action));
        acts.filter(|act| act.fails || !act.looks.is_empty() || !matches!(act.does, Does::Nothing))
            .collect()
    }

    /// The effect of an action.
    fn act(&mut self, site: Site, action: &'c Action) -> ActionEffect {
        let how = match action {
            Action::Log(_) | Action::Assign(..) => How::Soft,
            _ => How::Hard,
        };
        let mut looks = Vec::new();
        for expr in own_expressions(action) {
            let how = if is_plain(expr) { How::Soft } else { how };
            looks.extend(self.looks(site, expr, how));
        }
        let does = match action {
            Action::Assign(id, value) => self.cells.variable(*id).map_or(Does::Nothing, |cell| {
                Does::Set(cell, self.cells.rows[cell].bit(constant(value).as_ref()))
            }),
            Action::If(test, then, other) => {
                Does::If([(then, true), (other, false)].map(|(part, value)| {
                    let test = Test::from_condition(self.chart, self.cells, test, value);
                    (test, self.block(site, part))
                }))
            }
            Action::For(_, _, body) => Does::For(self.block(site, body)),
            _ => Does::Nothing,
        };
        ActionEffect { looks, fails: fails(action), does }
    }
}

/// Records the readings of an expression.
struct ReadRecorder<'r, 'b, 'c> {
    book: &'r mut Book<'b, 'c>,
    site: Site,
    looks: Vec<Look>,
    /// The conditions that are assumed, innermost last, each with the readings before it.
    under: Vec<(Test, Vec<Look>)>,
}

impl Reader for ReadRecorder<'_, '_, '_> {
    fn read(&mut self, value: Value, how: How) {
        if let Some(cell) = self.book.cells.number(value) {
            let note = self.book.note(self.site, cell);
            self.looks.push(Look::Cell(note, how));
        }
    }

    fn assume(&mut self, condition: &Expr, holds: bool) -> bool {
        let test = Test::from_condition(self.book.chart, self.book.cells, condition, holds);
        let can = test != Test::Never;
        if let Some((under, _)) = self.under.last_mut() {
            *under = test;
        }
        can
    }

    fn mark(&mut self) -> usize {
        self.under.push((Test::Open, std::mem::take(&mut self.looks)));
        self.under.len() - 1
    }

    fn back(&mut self, mark: usize) {
        while self.under.len() > mark
            && let Some((test, before)) = self.under.pop()
        {
            let looks = std::mem::replace(&mut self.looks, before);
            match test {
                Test::Open => self.looks.extend(looks),
                _ if looks.is_empty() => {}
                _ => {
                    self.looks.push(Look::Under(test, looks));
                }
            }
        }
    }
}
