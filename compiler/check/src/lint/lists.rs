//! Determines which lists are always empty, and which have a bounded size.

use crate::facts::uses::written;
use chartc_core::arena::VarId;
use chartc_core::model::{Action, BinaryOp, Chart, ChoiceKind, Expr, ExprKind, VariableKind};

/// The values of variables that only actions assign.
pub(super) struct Lists<'c> {
    /// All values that a variable may have, as they are written; `None` if something else sets it.
    values: Vec<Option<Vec<&'c Expr>>>,
}

impl<'c> Lists<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        let first = |variable: &'c chartc_core::model::Variable| match variable.kind {
            VariableKind::Var { .. } => variable.default.as_ref().map(|value| vec![value]),
            VariableKind::Param { .. } | VariableKind::Input => None,
        };
        let mut values: Vec<Option<Vec<&Expr>>> = chart.variables.iter().map(first).collect();
        for actions in written(chart) {
            Action::walk(actions, &mut |action| {
                if let Action::Assign(id, value) = action
                    && let Some(known) = &mut values[id.index()]
                {
                    known.push(value);
                }
            });
        }
        // The values of answers and of tool results are not known.
        for id in chart.steps.iter().filter_map(|step| step.into) {
            values[id.index()] = None;
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(_, Some(id)) = choice.kind {
                values[id.index()] = None;
            }
        }
        Self { values }
    }

    /// Whether a list never has an element.
    pub(super) fn is_empty(&self, list: &Expr) -> bool {
        // A variable that is made only of empty lists and itself stays empty.
        self.all(list, &mut Vec::new(), true, &|list| match &list.kind {
            ExprKind::List(items) => items.is_empty(),
            ExprKind::Slice(_, _, Some(end)) => end.kind == ExprKind::Int(0),
            _ => false,
        })
    }

    /// Whether the chart bounds the number of elements of a list.
    pub(super) fn is_bounded(&self, list: &Expr) -> bool {
        // A variable that is made of itself may grow. A negative end of a slice is no bound, because it counts from the end.
        self.all(list, &mut Vec::new(), false, &|list| match &list.kind {
            ExprKind::List(_) => true,
            ExprKind::Slice(_, _, Some(end)) => {
                matches!(end.kind, ExprKind::Int(end) if end >= 0)
            }
            _ => false,
        })
    }

    /// Whether `is_such` holds for a list, or for every list of which it is made. `open` contains the variables that are being examined,
    /// and `again` is the result for a variable that is made of itself.
    fn all(
        &self,
        list: &Expr,
        open: &mut Vec<VarId>,
        again: bool,
        is_such: &dyn Fn(&Expr) -> bool,
    ) -> bool {
        let mut each = |list: &Expr| self.all(list, open, again, is_such);
        is_such(list)
            || match &list.kind {
                ExprKind::Slice(inner, ..) | ExprKind::Comprehension { source: inner, .. } => {
                    each(inner)
                }
                ExprKind::Binary(BinaryOp::Add, a, b) | ExprKind::If(_, a, b) => each(a) && each(b),
                ExprKind::Variable(id) if open.contains(id) => again,
                ExprKind::Variable(id) => {
                    let Some(values) = &self.values[id.index()] else { return false };
                    open.push(*id);
                    let all = values.iter().all(|value| self.all(value, open, again, is_such));
                    open.pop();
                    all
                }
                _ => false,
            }
    }
}
