//! The cells that the analysis follows: variables that something reads, and answers that later steps read.

use crate::facts::usage::{actions, expressions};
use crate::facts::uses::own_walk;
use crate::turn::dataflow::Value;
use chartc_core::arena::{StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate};
use chartc_core::model::{Action, Chart, ChoiceKind, Expr, ExprKind, Type, VariableKind};
use std::collections::{BTreeMap, BTreeSet};

/// The initial value.
pub(super) const FRESH: u16 = 1;
/// An unknown value.
pub(super) const OTHER: u16 = 2;
/// Most constants that are distinguished in one cell.
const MOST: usize = 14;
/// Most cells that are followed.
const CELLS: usize = 256;

/// What each cell may hold, by number.
pub(super) type Masks = Vec<u16>;

/// One cell.
#[derive(Debug, Clone)]
pub(super) struct CellInfo {
    pub(super) value: Value,
    /// Its initial value, if that is a constant.
    pub(super) default: Option<Data>,
    /// The constants that it is set to: the third bit of a mask, and so on.
    pub(super) constants: Vec<Data>,
    /// Whether it is reset in each turn.
    pub(super) per_turn: bool,
    /// Whether anything sets it.
    pub(super) is_set: bool,
}

impl CellInfo {
    /// The values of a mask; `None` if they are not known.
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

    /// The bits that represent a single value, each with this value.
    pub(super) fn bits(&self) -> impl Iterator<Item = (u16, &Data)> {
        let constants = self.constants.iter().enumerate().map(|(nth, data)| (4 << nth, data));
        self.default.iter().map(|data| (FRESH, data)).chain(constants)
    }

    /// The bit of a value.
    pub(super) fn bit(&self, value: Option<&Data>) -> u16 {
        let nth = value.and_then(|v| self.constants.iter().position(|c| c == v));
        nth.map_or(OTHER, |nth| 4 << nth)
    }

    /// Bits of constants that are `none`.
    pub(super) fn none_bits(&self) -> u16 {
        let bits = self.constants.iter().enumerate().filter(|(_, c)| **c == Data::None);
        bits.fold(0, |all, (nth, _)| all | 4 << nth)
    }

    /// Bits of constants that equal the initial value.
    pub(super) fn default_bits(&self) -> u16 {
        let same = |data: &&Data| self.default.as_ref() == Some(*data);
        let bits = self.constants.iter().enumerate().filter(|(_, c)| same(c));
        bits.fold(0, |all, (nth, _)| all | 4 << nth)
    }

    /// Whether it is initially `none`.
    pub(super) fn is_missing(&self, chart: &Chart) -> bool {
        let may = match self.value {
            Value::Answer(_) => true,
            Value::Variable(id) => {
                matches!(chart.variables[id.index()].ty, Type::Json | Type::Optional(_))
            }
        };
        may && self.default == Some(Data::None)
    }

    /// Whether its initial value is a placeholder: `0`, `false` or empty.
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

    /// Whether it is initially empty or `none`.
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

/// All cells.
#[derive(Debug, Clone, Default)]
pub struct Cells {
    pub(super) rows: Vec<CellInfo>,
    numbers: BTreeMap<Value, usize>,
}

struct Constants;

impl Environment for Constants {}

/// The value of an expression that reads nothing.
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

    /// The number of a cell.
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

    /// All possible contents of all cells at any time.
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
        for (nth, row) in self.rows.iter().enumerate() {
            if matches!(row.value, Value::Answer(_)) {
                masks[nth] |= OTHER;
            }
        }
        masks
    }
}

/// Variables that answers and tool results are stored in.
fn into(chart: &Chart) -> Vec<VarId> {
    let steps = chart.steps.iter().filter_map(|s| s.into);
    let tools = chart.choices.iter().filter_map(|c| match c.kind {
        ChoiceKind::Call(_, into) => into,
        ChoiceKind::Option(_) => None,
    });
    steps.chain(tools).collect()
}
