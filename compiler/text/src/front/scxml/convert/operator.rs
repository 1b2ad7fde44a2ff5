//! Translates operators.

use super::{Converter, ExprContext, Value, call, choose, json, literal, number, truth, value};
use crate::front::scxml::kinds::{Class, Kinds};
use crate::front::scxml::script::{Expr as Script, ScriptExprKind};
use crate::span::Span;
use crate::span::Spanned;
use crate::syntax::{BinaryOp, CompareOp, Expr, ExprKind, Hole, Template, TemplatePart};

impl Converter<'_, '_> {
    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Script,
        right: &Script,
        span: Span,
        at: &ExprContext,
    ) -> Value {
        let (left, right) = (self.value(left, at), self.value(right, at));
        if op == BinaryOp::Add {
            let plain = Kinds::NUMBER.or(Kinds::NONE);
            let none = left.class == Class::None || right.class == Class::None;
            let texts = left.kinds == Kinds::TEXT || right.kinds == Kinds::TEXT;
            if texts {
                return joined(left, right, span);
            }
            if !(left.kinds.within(plain) && right.kinds.within(plain)) || none {
                let kinds = if left.kinds.or(right.kinds).meets(Kinds::ANY.less(Kinds::NUMBER)) {
                    Kinds::NUMBER.or(Kinds::TEXT)
                } else {
                    Kinds::NUMBER
                };
                let kind = call("js_add", vec![left.expr, right.expr], span);
                return value(kind, span, kinds, Class::Json);
            }
        }
        let (left, right) = (number(left), number(right));
        let ints = left.kinds.within(Kinds::INT) && right.kinds.within(Kinds::INT);
        let typed = left.class != Class::Json && right.class != Class::Json;
        let counted = matches!(right.expr.kind, ExprKind::Int(n) if n >= 0);
        let whole = ints && (op != BinaryOp::Power || counted);
        let kinds = if op == BinaryOp::Divide {
            Kinds::FLOAT
        } else if whole {
            Kinds::INT
        } else if typed {
            Kinds::FLOAT
        } else {
            Kinds::NUMBER
        };
        let class = if typed { kinds.class() } else { Class::Json };
        let kind = if op == BinaryOp::Modulo {
            call("js_remainder", vec![left.expr, right.expr], span)
        } else {
            ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr))
        };
        value(kind, span, kinds, class)
    }

    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        left: &Script,
        right: &Script,
        span: Span,
        at: &ExprContext,
    ) -> Value {
        for (one, other) in [(left, right), (right, left)] {
            if let (ScriptExprKind::Typeof(of), ScriptExprKind::Text(name)) =
                (&one.kind, &other.kind)
            {
                return self.kind_is(op, of, name, span, at);
            }
        }
        let (left, right) = (self.value(left, at), self.value(right, at));
        let bool = |kind: ExprKind| value(kind, span, Kinds::BOOL, Class::Bool);
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        if equality {
            if left.kinds == Kinds::NEVER || right.kinds == Kinds::NEVER {
                let kind = call("js_same", vec![left.expr, right.expr], span);
                return negated(op, bool(kind), span);
            }
            if !left.kinds.may_equal(right.kinds) {
                return bool(ExprKind::Bool(op == CompareOp::NotEqual));
            }
            if left.class == Class::None && right.class == Class::None {
                return bool(ExprKind::Bool(op == CompareOp::Equal));
            }
            // In a chart `true == 1` holds, in ECMAScript `true === 1` does not.
            let mixed = |a: Kinds, b: Kinds| a.meets(Kinds::BOOL) && b.meets(Kinds::NUMBER);
            let one = |e: &Value| matches!(e.expr.kind, ExprKind::Int(n) if n != 0 && n != 1);
            let apart = mixed(left.kinds, right.kinds) || mixed(right.kinds, left.kinds);
            if apart && !one(&left) && !one(&right) {
                let kind = call("js_same", vec![left.expr, right.expr], span);
                return negated(op, bool(kind), span);
            }
            return bool(ExprKind::Compare(Box::new(left.expr), vec![(op, right.expr)]));
        }
        let texts = |e: &Value| e.kinds.within(Kinds::TEXT) && e.class != Class::None;
        let (left, right) = if texts(&left) && texts(&right) || !(known(&left) || known(&right)) {
            (left, right)
        } else {
            (number(left), number(right))
        };
        bool(ExprKind::Compare(Box::new(left.expr), vec![(op, right.expr)]))
    }

    /// Translates `typeof x === "number"`.
    fn kind_is(
        &mut self,
        op: CompareOp,
        of: &Script,
        name: &str,
        span: Span,
        at: &ExprContext,
    ) -> Value {
        if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return self.refuse(span, "`typeof` is compared with `===` or not translated");
        }
        let of = if let ScriptExprKind::Name(unknown) = &of.kind
            && self.scope.variable(unknown).is_none()
            && !unknown.starts_with('_')
            && !at.locals.iter().any(|(local, ..)| local == unknown)
        {
            // `typeof` of an undeclared name does not fail: it is `undefined`.
            value(ExprKind::None, span, Kinds::NONE, Class::None)
        } else {
            self.value(of, at)
        };
        let names: &[&str] = match name {
            "undefined" => {
                let none = Expr { kind: ExprKind::None, span };
                let kind = ExprKind::Compare(Box::new(json(of)), vec![(CompareOp::Equal, none)]);
                return negated(op, value(kind, span, Kinds::BOOL, Class::Bool), span);
            }
            "number" => &["int", "float"],
            "string" => &["str"],
            "boolean" => &["bool"],
            "object" => &["list", "dict"],
            _ => return self.refuse(span, "`typeof` gives no such text"),
        };
        let names = names.iter().map(|n| super::text_value(n, span).expr).collect();
        let names = Expr { kind: ExprKind::List(names), span };
        let kind = call("is_a", vec![of.expr, names], span);
        negated(op, value(kind, span, Kinds::BOOL, Class::Bool), span)
    }

    /// Translates `a && b` and `a || b` as values: the result is the operand that decides.
    pub(super) fn either(
        &mut self,
        left: &Script,
        right: &Script,
        and: bool,
        span: Span,
        at: &ExprContext,
    ) -> Value {
        let (a, b) = (self.value(left, at), self.value(right, at));
        if a.class == Class::Bool && b.class == Class::Bool {
            let kind = join(a.expr, b.expr, and, span).kind;
            return value(kind, span, Kinds::BOOL, Class::Bool);
        }
        let test = truth(a.clone());
        if and { choose(test, b, a, span) } else { choose(test, a, b, span) }
    }
}

/// Whether a value is certainly a number or nothing.
fn known(e: &Value) -> bool {
    e.kinds.within(Kinds::NUMBER.or(Kinds::NONE))
}

/// Builds `a and b` or `a or b`.
pub(super) fn join(left: Expr, right: Expr, and: bool, span: Span) -> Expr {
    let op = if and { BinaryOp::And } else { BinaryOp::Or };
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

fn negated(op: CompareOp, of: Value, span: Span) -> Value {
    if op == CompareOp::Equal {
        return of;
    }
    let kind = ExprKind::Unary(crate::syntax::UnaryOp::Not, Box::new(of.expr));
    value(kind, span, Kinds::BOOL, Class::Bool)
}

/// Translates the concatenation of a text with another value into one text with placeholders.
fn joined(left: Value, right: Value, span: Span) -> Value {
    let mut parts = Vec::new();
    for side in [left, right] {
        if let ExprKind::Text(text) = side.expr.kind {
            parts.extend(text.parts);
        } else {
            parts.push(TemplatePart::Hole(Box::new(hole(side))));
        }
    }
    let text = Template { parts: merged(parts), span, block: false };
    value(ExprKind::Text(text), span, Kinds::TEXT, Class::Text)
}

/// Merges adjacent texts, so that the result reads like one text.
fn merged(parts: Vec<TemplatePart>) -> Vec<TemplatePart> {
    let mut found: Vec<TemplatePart> = Vec::new();
    for part in parts {
        match (found.last_mut(), part) {
            (Some(TemplatePart::Text(text, place)), TemplatePart::Text(more, end)) => {
                text.push_str(&more);
                *place = place.to(end);
            }
            (_, part) => found.push(part),
        }
    }
    found
}

/// A placeholder that shows a value as ECMAScript does in a text.
pub(in crate::front::scxml) fn hole(of: Value) -> Hole {
    let span = of.expr.span;
    let expr = if matches!(of.class, Class::Int | Class::Text) {
        of.expr
    } else {
        Expr { kind: call("js_text", vec![of.expr], span), span }
    };
    Hole { expr, spec: Spanned::new(String::new(), Span { start: span.end, ..span }), span }
}

/// A value as the whole of a text.
pub(in crate::front::scxml) fn shown(of: Value) -> Template {
    let span = of.expr.span;
    if let ExprKind::Text(text) = of.expr.kind {
        return text;
    }
    if of.class == Class::None {
        return literal("undefined", span);
    }
    Template { parts: vec![TemplatePart::Hole(Box::new(hole(of)))], span, block: false }
}
