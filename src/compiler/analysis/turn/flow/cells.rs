//! Cells, the operations on their possible contents, and what conditions and readings say about them.
//!
//! **The problem.** The analysis applies the operations of an edge again and again, until no set grows. Evaluating the expressions of the
//! chart each time would be slow, and sets of arbitrary values might grow forever.
//!
//! **The idea.** The possible contents of a cell are a mask of 16 bits: `FRESH` for the initial value, one bit for each of the first
//! `MOST_CONSTANTS` constants that the chart assigns, and `OTHER` for anything else. `Book` translates each operation (`Op`) once into one
//! on masks (`Code`), which `Applier` executes. Contents of two paths are joined with a bitwise or.
//!
//! - A condition becomes a `Test`: the bits that remain if it has a certain value. A part that reads a single cell is evaluated with each
//!   known value of the cell. A part that reads several cells, event data or the configuration excludes nothing (`Test::Open`).
//! - A condition whose evaluation fails is false, and an action that fails ends its block. Both are taken into account (`may_fail`,
//!   `fails`).
//! - Each reading of a cell by a place (`Site`) has a number. Once the masks are final, `Applier` records what each reading may see, and
//!   whether the place needs the value or only tests it (`How`).
//!
//! **Example.** With `var n: Int = 0`, and the assignments `n = 3` and `n = n + 1` somewhere, the cell `n` has the bits *initial* (0), *3*
//! and *other*.
//!
//! | in the chart | translated | contents *initial* or *3* become |
//! |---|---|---|
//! | `n > 2` holds | `Within(n, …)` without *initial* | *3* |
//! | `n > 2` does not hold | `Within(n, …)` without *3* | *initial* |
//! | `n = 3` | `Set(n, 3)` | *3* |
//! | `n = n + 1` | `Compute(n, n, …)` | *other* |
//!
//! If the bounds of `n` in the whole chart are narrow, say 0..=3, each of its values has a bit, and `n + 1` leads from bit to bit.

use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::Map;
use crate::analysis::facts::ranges::Range;
use crate::analysis::facts::usage::{actions, expressions, walk};
use crate::analysis::facts::values::{fails, may_fail};
use crate::analysis::turn::calls::Value;
use chartc_core::arena::{ComponentId, StateId, StepId, TransitionId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate, holds};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, CompareOp, Expr, ExprKind, TemplatePart, Type,
    UnaryOp, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The bit of the initial value.
pub(super) const FRESH: u16 = 1;
/// The bit of an unknown value.
pub(super) const OTHER: u16 = 2;
/// The maximum number of constants that are distinguished in one cell: the remaining bits of a mask. Further ones count as unknown.
const MOST_CONSTANTS: usize = 14;
/// The maximum number of cells that are followed.
const CELLS: usize = 256;

/// The possible contents of each cell, by cell index.
pub(super) type Masks = Vec<u16>;

/// A variable or answer that the analysis follows.
#[derive(Debug, Clone)]
pub(super) struct CellInfo {
    /// The variable or answer.
    pub(super) value: Value,
    /// The initial value, if it is a constant.
    pub(super) default: Option<Data>,
    /// The constants that the chart assigns to the cell: bit 2 of a mask is the first, and so on.
    pub(super) constants: Vec<Data>,
    /// The bits of all other values: [`OTHER`]; for a whole number with few values, those of its constants.
    pub(super) unknown: u16,
    /// Whether the cell is reset in each turn.
    pub(super) per_turn: bool,
    /// Whether anything sets the cell.
    pub(super) is_set: bool,
}

impl CellInfo {
    /// The values that a mask stands for; `None` if some of them are unknown.
    pub(super) fn values(&self, mask: u16) -> Option<Vec<Data>> {
        let mut values = Vec::new();
        if mask & OTHER != 0 {
            return None;
        }
        if mask & FRESH != 0 {
            values.push(self.default.clone()?);
        }
        for (nth, value) in self.constants.iter().enumerate() {
            if mask & (4 << nth) != 0 && !values.contains(value) {
                values.push(value.clone());
            }
        }
        Some(values)
    }

    /// The bits that stand for a single value, each with this value.
    pub(super) fn bits(&self) -> impl Iterator<Item = (u16, &Data)> {
        let constants = self.constants.iter().enumerate().map(|(nth, data)| (4 << nth, data));
        self.default.iter().map(|data| (FRESH, data)).chain(constants)
    }

    /// The bits of a value that is assigned. All unknown ones if it is no constant, or none that is distinguished.
    pub(super) fn bit(&self, value: Option<&Data>) -> u16 {
        let nth = value.and_then(|v| self.constants.iter().position(|c| c == v));
        nth.map_or(self.unknown, |nth| 4 << nth)
    }

    /// Whether the chart computes the value, and all values are known.
    pub(super) const fn is_counted(&self) -> bool {
        self.unknown != OTHER
    }

    /// Distinguishes all values of a whole number, if they are few.
    fn distinguish(&mut self, range: Range) {
        let Some((low, high)) = range.low.zip(range.high) else { return };
        if high.checked_sub(low).is_none_or(|more| more >= MOST_CONSTANTS as i64) {
            return;
        }
        self.constants = (low..=high).map(Data::Int).collect();
        self.unknown = (0..self.constants.len()).fold(0, |all, nth| all | 4 << nth);
    }

    /// The bits of the constants that are `none`.
    pub(super) fn none_bits(&self) -> u16 {
        let bits = self.constants.iter().enumerate().filter(|(_, c)| **c == Data::None);
        bits.fold(0, |all, (nth, _)| all | 4 << nth)
    }

    /// The bits of the constants that equal the initial value.
    pub(super) fn default_bits(&self) -> u16 {
        let same = |data: &&Data| self.default.as_ref() == Some(*data);
        let bits = self.constants.iter().enumerate().filter(|(_, c)| same(c));
        bits.fold(0, |all, (nth, _)| all | 4 << nth)
    }

    /// Whether the cell is initially `none`.
    pub(super) fn is_missing(&self, chart: &Chart) -> bool {
        let may = match self.value {
            Value::Answer(_) => true,
            Value::Variable(id) => {
                matches!(chart.variables[id.index()].ty, Type::Json | Type::Optional(_))
            }
        };
        may && self.default == Some(Data::None)
    }

    /// Whether the initial value is a placeholder: `0`, `false`, `none` or empty.
    pub(super) fn is_blank(&self) -> bool {
        match &self.default {
            Some(Data::Bool(is)) => !is,
            Some(Data::Int(number)) => *number == 0,
            Some(Data::Float(number)) => *number == 0.0,
            Some(Data::Duration(time)) => *time == 0,
            Some(_) => self.is_empty(),
            None => false,
        }
    }

    /// Whether the initial value is empty or `none`.
    pub(super) fn is_empty(&self) -> bool {
        match &self.default {
            Some(Data::Text(text)) => text.is_empty(),
            Some(Data::List(items)) => items.is_empty(),
            Some(Data::Map(map)) => map.is_empty(),
            Some(Data::None) => true,
            Some(Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Duration(_)) | None => false,
        }
    }
}

/// The cells of a chart.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    pub(super) rows: Vec<CellInfo>,
    numbers: BTreeMap<Value, usize>,
}

/// An environment in which nothing can be read.
struct Constants;

impl Environment for Constants {}

/// The value of an expression that reads nothing. `None` if it reads something, or if its evaluation fails.
pub(super) fn constant(expr: &Expr) -> Option<Data> {
    if expr.is_closed() { evaluate(expr, &Constants, &Fuel::default()).ok() } else { None }
}

impl Cells {
    pub(super) fn new(chart: &Chart, facts: &Facts) -> Self {
        let mut read: BTreeSet<Value> = BTreeSet::new();
        expressions(chart, &mut |_, expr| {
            expr.walk(&mut |e| {
                if let ExprKind::Variable(id) = e.kind
                    && matches!(chart.variables[id.index()].kind, VariableKind::Var { .. })
                {
                    read.insert(Value::Variable(id));
                }
                if let ExprKind::Answer(step) = e.kind {
                    read.insert(Value::Answer(step));
                }
            });
        });
        let mut cells = Self::default();
        for value in read.into_iter().take(CELLS) {
            let (default, per_turn, is_set) = match value {
                Value::Variable(id) => {
                    let row = &chart.variables[id.index()];
                    let fresh = matches!(row.kind, VariableKind::Var { per_turn: true });
                    (row.default.as_ref().and_then(constant), fresh, false)
                }
                Value::Answer(_) => (Some(Data::None), true, true),
            };
            cells.numbers.insert(value, cells.rows.len());
            let (constants, unknown) = (Vec::new(), OTHER);
            cells.rows.push(CellInfo { value, default, constants, unknown, per_turn, is_set });
        }
        let mut computed: BTreeSet<VarId> = BTreeSet::new();
        actions(chart, &mut |action| {
            let Action::Assign(id, expr) = action else { return };
            let Some(nth) = cells.numbers.get(&Value::Variable(*id)) else { return };
            let row = &mut cells.rows[*nth];
            row.is_set = true;
            match constant(expr) {
                Some(value) => {
                    if row.constants.len() < MOST_CONSTANTS && !row.constants.contains(&value) {
                        row.constants.push(value);
                    }
                }
                None => drop(computed.insert(*id)),
            }
        });
        for id in into(chart) {
            if let Some(nth) = cells.numbers.get(&Value::Variable(id)) {
                cells.rows[*nth].is_set = true;
            }
        }
        for id in computed {
            if let Some((nth, range)) = cells.variable(id).zip(facts.ranges.get(id)) {
                cells.rows[nth].distinguish(range);
            }
        }
        cells
    }

    /// The index of the cell of a variable or answer; `None` if it is not followed.
    pub(super) fn number(&self, value: Value) -> Option<usize> {
        self.numbers.get(&value).copied()
    }

    pub(super) fn variable(&self, id: VarId) -> Option<usize> {
        self.number(Value::Variable(id))
    }

    pub(super) fn answer(&self, id: StepId) -> Option<usize> {
        self.number(Value::Answer(id))
    }

    /// The contents of all cells when a run begins.
    pub(super) fn fresh(&self) -> Masks {
        vec![FRESH; self.rows.len()]
    }

    /// The contents that each cell may have at any time.
    pub(super) fn all(&self, chart: &Chart) -> Masks {
        let mut masks = self.fresh();
        actions(chart, &mut |action| {
            if let Action::Assign(id, expr) = action
                && let Some(nth) = self.variable(*id)
            {
                masks[nth] |= self.rows[nth].bit(constant(expr).as_ref());
            }
        });
        for id in into(chart) {
            if let Some(nth) = self.variable(id) {
                masks[nth] |= self.rows[nth].unknown;
            }
        }
        // Answers come from outside, so nothing is known of them.
        for (nth, row) in self.rows.iter().enumerate() {
            if matches!(row.value, Value::Answer(_)) {
                masks[nth] |= OTHER;
            }
        }
        masks
    }
}

/// The variables in which answers and tool results are stored.
fn into(chart: &Chart) -> Vec<VarId> {
    let steps = chart.steps.iter().filter_map(|s| s.into);
    let tools = chart.choices.iter().filter_map(|c| match c.kind {
        ChoiceKind::Call(_, into) => into,
        ChoiceKind::Option(_) => None,
    });
    steps.chain(tools).collect()
}

// The execution of operations on the possible contents of cells.

/// The contents of one cell that one place may see, over all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellContents {
    /// The contents at any reading.
    pub(super) all: u16,
    /// The contents when the condition of the place is evaluated.
    pub(super) asked: u16,
    /// The contents when the value is needed ([`How::Hard`]).
    pub(super) hard: u16,
    /// Whether the value is shown or needed, and not only tested or passed on.
    pub(super) shown: bool,
}

/// The contents that are seen, by place and cell index.
pub(super) type Records = BTreeMap<(Site, u32), CellContents>;

/// The contents that are seen, by index of the reading. `None` if no run gets there.
pub(super) type Sights = Vec<Option<CellContents>>;

/// Applies operations to the contents of cells.
pub(super) struct Applier<'r> {
    /// By cell: the possible contents, one bit each.
    pub(super) masks: &'r mut [u16],
    /// The record of readings; `None` while the fixpoint is not reached, when contents are incomplete.
    pub(super) sights: Option<&'r mut Sights>,
}

impl Applier<'_> {
    /// Applies an operation. Returns whether a run can continue after it.
    pub(super) fn code(&mut self, code: &Code) -> bool {
        match code {
            Code::Assume(asked, looks, test) => {
                for note in asked {
                    let mask = self.masks[note.cell];
                    self.sight(*note, &|seen| seen.asked |= mask);
                }
                self.record_looks(looks);
                return test.refine(self.masks);
            }
            Code::Read(looks) => self.record_looks(looks),
            Code::Do(acts) => self.whole(acts),
            // Joins the contents with the block and without it.
            Code::Maybe(acts) => {
                let before = self.masks.to_vec();
                self.whole(acts);
                merge(self.masks, &before);
            }
            Code::Set(cell, bits) => self.masks[*cell] = *bits,
            Code::Fresh(cells) => cells.iter().for_each(|cell| self.masks[*cell] = FRESH),
        }
        true
    }

    /// Applies a block. A failing action ends its block early, so the contents before it are possible afterwards, too.
    fn whole(&mut self, acts: &[ActionEffect]) {
        let mut failed = None;
        self.block(acts, &mut failed);
        if let Some(failed) = failed {
            merge(self.masks, &failed);
        }
    }

    /// Applies actions, and adds the contents before each action that may fail to `failed`.
    fn block(&mut self, acts: &[ActionEffect], failed: &mut Option<Masks>) {
        for act in acts {
            self.record_looks(&act.looks);
            if act.fails {
                match failed {
                    None => *failed = Some(self.masks.to_vec()),
                    Some(failed) => merge(failed, self.masks),
                }
            }
            match &act.does {
                Does::Nothing => {}
                Does::Set(cell, bits) => self.masks[*cell] = *bits,
                Does::Compute(cell, from, table) => {
                    let given = self.masks[*from];
                    let results = table.iter().filter(|(bit, _)| given & bit != 0);
                    self.masks[*cell] = results.fold(0, |all, (_, bits)| all | bits);
                }
                Does::If(parts) => {
                    let before = self.masks.to_vec();
                    let mut taken: Option<Masks> = None;
                    for (test, part) in parts {
                        self.masks.copy_from_slice(&before);
                        if test.refine(self.masks) {
                            self.block(part, failed);
                            match &mut taken {
                                None => taken = Some(self.masks.to_vec()),
                                Some(taken) => merge(taken, self.masks),
                            }
                        }
                    }
                    self.masks.copy_from_slice(&taken.unwrap_or(before));
                }
                Does::For(body) => {
                    // Until nothing is new: each iteration sees what those before have set. Sets only grow, so this ends.
                    loop {
                        let before = self.masks.to_vec();
                        self.block(body, failed);
                        merge(self.masks, &before);
                        if *self.masks == before {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn record_looks(&mut self, looks: &[Look]) {
        if self.sights.is_none() {
            return;
        }
        for look in looks {
            match look {
                Look::Cell(note, how) => {
                    let mask = self.masks[note.cell];
                    self.sight(*note, &|seen| {
                        seen.all |= mask;
                        seen.shown |= *how != How::Soft;
                        if *how == How::Hard {
                            seen.hard |= mask;
                        }
                    });
                }
                Look::Under(test, looks) => self.under(test, looks),
            }
        }
    }

    /// Records what is read while a condition has a value, without keeping that assumption.
    fn under(&mut self, test: &Test, looks: &[Look]) {
        let before = self.masks.to_vec();
        if test.refine(self.masks) {
            self.record_looks(looks);
        }
        self.masks.copy_from_slice(&before);
    }

    fn sight(&mut self, note: Note, add: &dyn Fn(&mut CellContents)) {
        if let Some(sights) = self.sights.as_deref_mut() {
            add(sights[note.number].get_or_insert_default());
        }
    }
}

// Operations translated to cells. Each operation is translated once and then executed whenever the analysis passes its edge.

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
    /// A cell gets an unknown value, one of these bits.
    Set(usize, u16),
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
    /// The cell then has one of these contents.
    Set(usize, u16),
    /// The cell then has a value that is computed from another cell, or from itself: each bit of that one, with the bits of the result.
    Compute(usize, usize, Vec<(u16, u16)>),
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
            Op::Set(value) => {
                let cell = self.cells.number(*value)?;
                Some(Code::Set(cell, self.cells.rows[cell].unknown))
            }
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
        let how = How::in_action(action);
        let mut looks = Vec::new();
        for expr in action.expressions() {
            let how = if is_plain(expr) { How::Soft } else { how };
            looks.extend(self.looks(site, expr, how));
        }
        let does = match action {
            Action::Assign(id, value) => {
                self.cells.variable(*id).map_or(Does::Nothing, |cell| self.assigned(cell, value))
            }
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

impl Book<'_, '_> {
    /// The effect of the assignment of an expression.
    fn assigned(&self, cell: usize, value: &Expr) -> Does {
        let row = &self.cells.rows[cell];
        let Some(Some(from)) = only_cell(self.cells, value) else {
            return Does::Set(cell, row.bit(constant(value).as_ref()));
        };
        let source = &self.cells.rows[from];
        let results = source.bits().map(|(bit, data)| {
            let result = evaluate(value, &One { of: source.value, is: data }, &Fuel::default());
            (bit, row.bit(result.ok().as_ref()))
        });
        let mut table: Vec<(u16, u16)> = results.collect();
        table.push((OTHER, row.unknown));
        if source.default.is_none() {
            table.push((FRESH, row.unknown));
        }
        Does::Compute(cell, from, table)
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

// The readings of an expression: which values, and how much it needs them.

/// A place in the chart that reads values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// The guard of a transition.
    Transition(TransitionId),
    /// The arguments and actions of a transition.
    Moves(TransitionId),
    /// The blocks of a state.
    State(StateId),
    /// The condition of a step.
    Guard(StepId),
    /// A part of a step's prompt, by its index.
    Prompt(StepId, usize),
    /// The condition of a component in a step's prompt.
    Injection(StepId, ComponentId),
    /// A part of a component in a step's prompt, by its index.
    Fragment(StepId, ComponentId, usize),
    /// The statements of a `code` step.
    Code(StepId),
    /// The arguments of a call or a run, or the text of a question to a person.
    Arguments(StepId),
    /// The `ends turn` of a step.
    EndsTurn(StepId),
    /// The guard of a permission that a transition needs.
    Permission(usize, TransitionId),
}

/// The manner in which a value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// The value is needed: it is shown, or computed with.
    Hard,
    /// The value is shown if it is set, and something else if it is not, as by `??`.
    Shown,
    /// The value is tested, passed on or stored, which works without it, too.
    Soft,
}

impl How {
    /// The manner in which an action reads its expressions.
    pub(super) const fn in_action(action: &Action) -> Self {
        match action {
            Action::Log(_) | Action::Assign(..) => Self::Soft,
            _ => Self::Hard,
        }
    }
}

/// A visitor of the readings of an expression, which also learns the conditions under which parts are evaluated.
pub(super) trait Reader {
    /// A variable or answer is read.
    fn read(&mut self, value: Value, how: How);
    /// The parts visited from here on are evaluated only if the condition has this value. Returns whether that is possible.
    fn assume(&mut self, condition: &Expr, holds: bool) -> bool;
    /// Sets a mark, to return to with [`Self::back`].
    fn mark(&mut self) -> usize;
    /// Drops the conditions assumed since the mark.
    fn back(&mut self, mark: usize);
}

/// Visits the readings of an expression in the order of evaluation. `how` is the manner in which its own value is read.
pub(super) fn look(chart: &Chart, expr: &Expr, how: How, reader: &mut dyn Reader) {
    let soften = |how| if how == How::Hard { How::Shown } else { how };
    match &expr.kind {
        ExprKind::Variable(id) => reader.read(Value::Variable(*id), how),
        ExprKind::Answer(id) => reader.read(Value::Answer(*id), how),
        ExprKind::Predicate(id) => {
            look(chart, &chart.predicates[id.index()].expr, How::Soft, reader);
        }
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            look(chart, a, How::Soft, reader);
            // The right side is evaluated only if the left one does not decide the result.
            look_if(chart, (a, *op == BinaryOp::And), b, How::Soft, reader);
        }
        ExprKind::If(test, then, other) => {
            look(chart, test, How::Soft, reader);
            for (part, holds) in [(then, true), (other, false)] {
                look_if(chart, (test, holds), part, how, reader);
            }
        }
        ExprKind::Unary(UnaryOp::Not, inner) => look(chart, inner, How::Soft, reader),
        ExprKind::Unary(UnaryOp::Negate, inner) | ExprKind::Field(inner, _) => {
            look(chart, inner, needed(how), reader);
        }
        ExprKind::Default(value, otherwise) => {
            look(chart, value, soften(how), reader);
            look(chart, otherwise, how, reader);
        }
        ExprKind::Compare(first, rest) => {
            let ordered = rest.iter().any(|(op, _)| is_order(*op));
            // `x == none` works without a value, `x < 3` does not.
            let how = if ordered { needed(how) } else { How::Soft };
            look(chart, first, how, reader);
            for (_, part) in rest {
                look(chart, part, how, reader);
            }
        }
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            look(chart, a, needed(how), reader);
            look(chart, b, needed(how), reader);
        }
        ExprKind::Slice(e, from, to) => {
            for part in std::iter::once(e).chain(from).chain(to) {
                look(chart, part, needed(how), reader);
            }
        }
        ExprKind::Builtin(name, parts) => {
            let how = if needs_arguments(*name) { needed(how) } else { How::Soft };
            for part in parts {
                look(chart, part, how, reader);
            }
        }
        _ => look_inside(chart, expr, how, reader),
    }
}

fn needed(how: How) -> How {
    if how == How::Shown { How::Shown } else { How::Hard }
}

/// Visits a part that is evaluated only if a condition has a certain value.
fn look_if(
    chart: &Chart,
    (condition, holds): (&Expr, bool),
    part: &Expr,
    how: How,
    reader: &mut dyn Reader,
) {
    let mark = reader.mark();
    if reader.assume(condition, holds) {
        look(chart, part, how, reader);
    }
    reader.back(mark);
}

const fn is_order(op: CompareOp) -> bool {
    matches!(
        op,
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual
    )
}

/// Whether the function computes with its arguments.
const fn needs_arguments(function: Builtin) -> bool {
    matches!(
        function,
        Builtin::Len
            | Builtin::Min
            | Builtin::Max
            | Builtin::Abs
            | Builtin::Round
            | Builtin::Sum
            | Builtin::Any
            | Builtin::All
            | Builtin::Sorted
            | Builtin::Lower
            | Builtin::Upper
            | Builtin::StartsWith
            | Builtin::Join
            | Builtin::Split
            | Builtin::Replace
            | Builtin::Float
            | Builtin::Int
            | Builtin::Set
            | Builtin::Get
    )
}

/// Visits the parts of calls, lists, maps, records and texts.
fn look_inside(chart: &Chart, expr: &Expr, how: How, reader: &mut dyn Reader) {
    match &expr.kind {
        ExprKind::Call(_, parts) | ExprKind::List(parts) => {
            for part in parts {
                look(chart, part, How::Soft, reader);
            }
        }
        ExprKind::Map(entries) => {
            for (key, value) in entries {
                look(chart, key, How::Soft, reader);
                look(chart, value, How::Soft, reader);
            }
        }
        ExprKind::Record(_, fields) => {
            for (_, part) in fields {
                look(chart, part, How::Soft, reader);
            }
        }
        ExprKind::Comprehension { item, source, filter, .. } => {
            look(chart, source, needed(how), reader);
            let mark = reader.mark();
            if let Some(part) = filter {
                look(chart, part, How::Soft, reader);
            }
            look(chart, item, How::Soft, reader);
            reader.back(mark);
        }
        ExprKind::Text(text) => {
            for part in &text.parts {
                if let TemplatePart::Hole { expr, .. } = part {
                    look(chart, expr, how, reader);
                }
            }
        }
        _ => {}
    }
}

// Conditions as tests of cells: which contents are possible if a condition has a value.
//
// For example, with the cell `mode` of the header of `flow`, `mode == "fast"` being true becomes `Within(mode, …)` with all bits but those
// of "idle": its initial value and the constant. The bit of an unknown value stays, because that may be "fast", too.

/// Whether an expression only passes on the value of a variable or an answer.
pub(super) fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Answer(_))
}

/// Adds the possible contents of `other`, cell by cell.
pub(super) fn merge(into: &mut [u16], other: &[u16]) {
    into.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

/// The cell that an expression names; `None` for other expressions and for cells that are not followed.
pub(super) fn cell_of(cells: &Cells, expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Variable(id) => cells.variable(id),
        ExprKind::Answer(id) => cells.answer(id),
        _ => None,
    }
}

/// An environment in which only one cell can be read, with one value.
struct One<'v> {
    of: Value,
    is: &'v Data,
}

impl Environment for One<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        (self.of == Value::Variable(id)).then_some(self.is)
    }

    fn answer(&self, id: StepId) -> Option<&Data> {
        (self.of == Value::Answer(id)).then_some(self.is)
    }
}

/// The only cell that an expression reads: `Some(None)` if it reads nothing, `None` if it reads several cells or anything else.
fn only_cell(cells: &Cells, expr: &Expr) -> Option<Option<usize>> {
    let mut only = None;
    let mut clear = true;
    expr.walk(&mut |e| match e.kind {
        ExprKind::Variable(_) | ExprKind::Answer(_) => {
            let cell = cell_of(cells, e);
            clear &= cell.is_some() && (only.is_none() || only == cell);
            only = cell;
        }
        ExprKind::Payload(_)
        | ExprKind::Predicate(_)
        | ExprKind::Observable(_)
        | ExprKind::Call(..)
        | ExprKind::Local(_)
        | ExprKind::Unknown(_) => clear = false,
        _ => {}
    });
    clear.then_some(only)
}

/// The consequence for cells of a condition having a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// No consequence: all contents are possible.
    Open,
    /// The condition cannot have the value.
    Never,
    /// The cell (by index) has one of the contents of the mask.
    Within(usize, u16),
    /// Both tests apply, one after the other.
    Both(Box<Self>, Box<Self>),
    /// At least one of the tests applies.
    Either(Box<Self>, Box<Self>),
}

impl Test {
    /// Translates the condition that `expr` has the value `value`. The test has the size of the condition with its predicates expanded.
    pub(super) fn from_condition(chart: &Chart, cells: &Cells, expr: &Expr, value: bool) -> Self {
        match &expr.kind {
            ExprKind::Predicate(id) => {
                Self::from_condition(chart, cells, &chart.predicates[id.index()].expr, value)
            }
            // A condition whose evaluation fails is false, and so is its negation.
            ExprKind::Unary(UnaryOp::Not, inner) if value || !may_fail(inner) => {
                Self::from_condition(chart, cells, inner, !value)
            }
            ExprKind::Unary(UnaryOp::Not, _) => Self::Open,
            // If the left side fails, `or` is false although the right side may be true.
            ExprKind::Binary(BinaryOp::Or, a, _) if !value && may_fail(a) => Self::Open,
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = Self::from_condition(chart, cells, a, value);
                let b = Self::from_condition(chart, cells, b, value);
                if (*op == BinaryOp::And) == value { Self::both(a, b) } else { Self::either(a, b) }
            }
            _ => match only_cell(cells, expr) {
                None => Self::Open,
                Some(None) => {
                    let held = holds(expr, &Constants, &Fuel::default()).unwrap_or(false);
                    if held == value { Self::Open } else { Self::Never }
                }
                Some(Some(cell)) => {
                    let row = &cells.rows[cell];
                    let lacks = |data: &Data| {
                        let one = One { of: row.value, is: data };
                        // Contents are removed only if the condition has the other value for them; an unknown value always stays.
                        holds(expr, &one, &Fuel::default()).unwrap_or(false) != value
                    };
                    let gone = row.bits().filter(|(_, data)| lacks(data));
                    Self::within(cell, gone.fold(u16::MAX, |kept, (bit, _)| kept & !bit))
                }
            },
        }
    }

    const fn within(cell: usize, kept: u16) -> Self {
        if kept == u16::MAX { Self::Open } else { Self::Within(cell, kept) }
    }

    fn both(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Open, test) | (test, Self::Open) => test,
            (Self::Within(a, one), Self::Within(b, two)) if a == b => Self::within(a, one & two),
            (a, b) => Self::Both(Box::new(a), Box::new(b)),
        }
    }

    fn either(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            (Self::Never, test) | (test, Self::Never) => test,
            (Self::Within(a, one), Self::Within(b, two)) if a == b => Self::within(a, one | two),
            (a, b) => Self::Either(Box::new(a), Box::new(b)),
        }
    }

    /// Removes the contents that are impossible. Returns `false` if a cell has none left; `masks` are then meaningless.
    pub(super) fn refine(&self, masks: &mut [u16]) -> bool {
        match self {
            Self::Open => true,
            Self::Never => false,
            Self::Within(cell, kept) => {
                masks[*cell] &= kept;
                masks[*cell] != 0
            }
            Self::Both(a, b) => a.refine(masks) && b.refine(masks),
            Self::Either(a, b) => {
                // The possible contents of each alternative, joined.
                let mut one = masks.to_vec();
                let first = a.refine(&mut one);
                let second = b.refine(masks);
                match (first, second) {
                    (true, true) => merge(masks, &one),
                    (true, false) => masks.copy_from_slice(&one),
                    (false, _) => {}
                }
                first || second
            }
        }
    }
}

/// One operation on an edge, in terms of the chart. `Book::code` translates it to cells; a `Path` executes it on
/// symbolic values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op<'c> {
    /// The condition has this value. With a place if it is evaluated there, and not only known to have the value.
    Assume(Option<Site>, &'c Expr, bool),
    /// The expression is evaluated in this place.
    Read(Site, &'c Expr, How),
    /// The block of actions runs.
    Do(Site, &'c [Action]),
    /// The block may run, or not.
    Maybe(Site, &'c [Action]),
    /// The variable or answer gets an unknown value.
    Set(Value),
    /// A turn begins: per-turn variables and answers are reset.
    Fresh,
    /// Time passes: inputs, clocks and host functions may have other values from here on.
    Stir,
    /// A step is started that the walk does not await.
    Started(StepId),
    /// Only a run in which this step has been started continues.
    Needs(StepId),
}

impl Op<'_> {
    /// The place that evaluates something.
    pub(super) const fn site(&self) -> Option<Site> {
        match self {
            Self::Assume(site, ..) => *site,
            Self::Read(site, ..) | Self::Do(site, _) | Self::Maybe(site, _) => Some(*site),
            Self::Set(_) | Self::Fresh | Self::Stir | Self::Started(_) | Self::Needs(_) => None,
        }
    }
}
