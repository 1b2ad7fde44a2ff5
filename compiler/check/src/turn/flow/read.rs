//! The readings of an expression: which values, and how much it needs them.

use crate::turn::dataflow::Value;
use chartc_core::arena::{ComponentId, StateId, StepId, TransitionId};
use chartc_core::model::{
    BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, TemplatePart, UnaryOp,
};

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
    let need = |how| if how == How::Shown { How::Shown } else { How::Hard };
    match &expr.kind {
        ExprKind::Variable(id) => reader.read(Value::Variable(*id), how),
        ExprKind::Answer(id) => reader.read(Value::Answer(*id), how),
        ExprKind::Predicate(id) => {
            look(chart, &chart.predicates[id.index()].expr, How::Soft, reader);
        }
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            look(chart, a, How::Soft, reader);
            // The right side is evaluated only if the left one does not decide the result.
            let mark = reader.mark();
            if reader.assume(a, *op == BinaryOp::And) {
                look(chart, b, How::Soft, reader);
            }
            reader.back(mark);
        }
        ExprKind::If(test, then, other) => {
            look(chart, test, How::Soft, reader);
            for (part, holds) in [(then, true), (other, false)] {
                let mark = reader.mark();
                if reader.assume(test, holds) {
                    look(chart, part, how, reader);
                }
                reader.back(mark);
            }
        }
        ExprKind::Unary(UnaryOp::Not, inner) => look(chart, inner, How::Soft, reader),
        ExprKind::Unary(UnaryOp::Negate, inner) | ExprKind::Field(inner, _) => {
            look(chart, inner, need(how), reader);
        }
        ExprKind::Default(value, otherwise) => {
            look(chart, value, soften(how), reader);
            look(chart, otherwise, how, reader);
        }
        ExprKind::Compare(first, rest) => {
            let ordered = rest.iter().any(|(op, _)| {
                matches!(
                    op,
                    CompareOp::Less
                        | CompareOp::LessEqual
                        | CompareOp::Greater
                        | CompareOp::GreaterEqual
                )
            });
            // `x == none` works without a value, `x < 3` does not.
            let how = if ordered { need(how) } else { How::Soft };
            look(chart, first, how, reader);
            for (_, part) in rest {
                look(chart, part, how, reader);
            }
        }
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
            look(chart, a, need(how), reader);
            look(chart, b, need(how), reader);
        }
        ExprKind::Slice(e, from, to) => {
            for part in std::iter::once(e).chain(from).chain(to) {
                look(chart, part, need(how), reader);
            }
        }
        ExprKind::Builtin(name, parts) => {
            let how = match name {
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
                | Builtin::Float
                | Builtin::Int
                | Builtin::Set
                | Builtin::Get => need(how),
                _ => How::Soft,
            };
            for part in parts {
                look(chart, part, how, reader);
            }
        }
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
            look(chart, source, need(how), reader);
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
