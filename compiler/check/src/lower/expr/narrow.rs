//! Finds the values that are not `none` where a condition has a certain outcome.

use chartc_core::arena::{LocalId, StepId, VarId};
use chartc_core::model::{BinaryOp, CompareOp, Expr, ExprKind, Type, UnaryOp};
use std::collections::BTreeSet;

/// Something that can be tested and then read again: a variable, or a field of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lower) struct Place {
    /// The value at which the place begins.
    pub(in crate::lower) root: PlaceRoot,
    /// The names of the fields from there, outermost first.
    pub(in crate::lower) fields: Vec<String>,
}

/// The value at which a [`Place`] begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lower) enum PlaceRoot {
    Variable(VarId),
    Local(LocalId),
    Payload(u32),
    Answer(StepId),
}

/// The place that an expression reads; `None` if it is anything but a name or a field of one.
pub(in crate::lower) fn place_of(expr: &Expr) -> Option<Place> {
    let mut fields = Vec::new();
    let mut expr = expr;
    while let ExprKind::Field(base, field) = &expr.kind {
        fields.push(field.clone());
        expr = base;
    }
    fields.reverse();
    let root = if let ExprKind::Variable(id) = expr.kind {
        PlaceRoot::Variable(id)
    } else if let ExprKind::Local(id) = expr.kind {
        PlaceRoot::Local(id)
    } else if let ExprKind::Payload(nth) = expr.kind {
        PlaceRoot::Payload(nth)
    } else if let ExprKind::Answer(id) = expr.kind {
        PlaceRoot::Answer(id)
    } else {
        return None;
    };
    Some(Place { root, fields })
}

/// Adds the places that are not `none` if the value of `test` is `outcome`.
pub(in crate::lower) fn known_present(test: &Expr, outcome: bool, facts: &mut BTreeSet<Place>) {
    if let ExprKind::Unary(UnaryOp::Not, inner) = &test.kind {
        known_present(inner, !outcome, facts);
    } else if let ExprKind::Binary(op, left, right) = &test.kind {
        // If an `and` is true, both operands are; if an `or` is false, both operands are.
        let both = if outcome { BinaryOp::And } else { BinaryOp::Or };
        if *op == both {
            known_present(left, outcome, facts);
            known_present(right, outcome, facts);
        }
    } else if let ExprKind::Compare(first, rest) = &test.kind {
        // A chain that is false does not tell which of its comparisons failed.
        if !outcome && rest.len() != 1 {
            return;
        }
        let mut left: &Expr = first;
        for (op, right) in rest {
            compared(left, *op, right, outcome, facts);
            compared(right, *op, left, outcome, facts);
            left = right;
        }
    }
}

fn compared(
    tested: &Expr,
    op: CompareOp,
    other: &Expr,
    outcome: bool,
    facts: &mut BTreeSet<Place>,
) {
    let equal = (op == CompareOp::Equal) == outcome;
    if op != CompareOp::Equal && op != CompareOp::NotEqual {
        return;
    }
    let other_is_none = other.kind == ExprKind::None;
    let other_is_there = !matches!(other.ty, Type::Optional(_) | Type::Json);
    if (!equal && other_is_none || equal && other_is_there)
        && let Some(place) = place_of(tested)
    {
        // If a field is there, so are the records that contain it.
        for shown in 0..=place.fields.len() {
            let fields = place.fields[..shown].to_vec();
            facts.insert(Place { root: place.root, fields });
        }
    }
}
