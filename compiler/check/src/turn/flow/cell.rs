//! The cells that the analysis follows: variables that something reads, and answers that something reads.
//!
//! The possible contents of a cell are a mask of 16 bits: bit 0 is the initial value, bit 1 any unknown value, and each further bit one of
//! the constants that the chart assigns to the cell.

use crate::facts::usage::{actions, expressions};
use crate::facts::uses::own_walk;
use crate::turn::dataflow::Value;
use chartc_core::arena::{StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate};
use chartc_core::model::{Action, Chart, ChoiceKind, Expr, ExprKind, Type, VariableKind};
use std::collections::{BTreeMap, BTreeSet};

/// The bit of the initial value.
pub(super) const FRESH: u16 = 1;
/// The bit of an unknown value.
pub(super) const OTHER: u16 = 2;
/// The maximum number of constants that are distinguished in one cell: the remaining bits of a mask. Further ones count as unknown.
const MOST: usize = 14;
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

    /// The bit of a value that is assigned. `OTHER` if it is no constant, or none that is distinguished.
    pub(super) fn bit(&self, value: Option<&Data>) -> u16 {
        let nth = value.and_then(|v| self.constants.iter().position(|c| c == v));
        nth.map_or(OTHER, |nth| 4 << nth)
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
    let mut closed = true;
    own_walk(expr, &mut |e| {
        closed &= !matches!(
            e.kind,
            ExprKind::Variable(_)
                | ExprKind::Payload(_)
                | ExprKind::Answer(_)
                | ExprKind::Predicate(_)
                | ExprKind::Observable(_)
                | ExprKind::Call(..)
                | ExprKind::Local(_)
                | ExprKind::Unknown(_)
        );
    });
    if closed { evaluate(expr, &Constants, &Fuel::default()).ok() } else { None }
}

impl Cells {
    pub(super) fn new(chart: &Chart) -> Self {
        let mut read: BTreeSet<Value> = BTreeSet::new();
        expressions(chart, &mut |_, expr| {
            own_walk(expr, &mut |e| {
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
            cells.rows.push(CellInfo { value, default, constants: Vec::new(), per_turn, is_set });
        }
        actions(chart, &mut |action| {
            let Action::Assign(id, expr) = action else { return };
            let Some(nth) = cells.numbers.get(&Value::Variable(*id)) else { return };
            let row = &mut cells.rows[*nth];
            row.is_set = true;
            if let Some(value) = constant(expr)
                && row.constants.len() < MOST
                && !row.constants.contains(&value)
            {
                row.constants.push(value);
            }
        });
        for id in into(chart) {
            if let Some(nth) = cells.numbers.get(&Value::Variable(id)) {
                cells.rows[*nth].is_set = true;
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
                masks[nth] |= OTHER;
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
