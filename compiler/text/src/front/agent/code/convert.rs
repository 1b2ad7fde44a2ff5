//! Converts expressions.

use super::{Role, Scope, Ty};
use crate::diagnostic::Diagnostic;
use crate::front::agent::make::{self, choose, expr};
use crate::front::agent::python::{Expr as Python, PyExprKind};
use crate::rules::REFUSED_CODE;
use crate::rules::read_before_set;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp, Entry, Expr, ExprKind, UnaryOp};

/// The maximum number of nodes of one snippet: `a or b` becomes an expression with `a` twice, so nesting doubles the size.
const MAX_NODES: usize = 20_000;

/// Converts Python to the language; resolves names in a scope.
pub(in crate::front::agent) struct Converter<'s> {
    pub(super) scope: &'s mut Scope,
    pub(super) locals: Vec<(String, Ty)>,
    pub(super) findings: &'s mut Vec<Diagnostic>,
    nodes: usize,
}

impl<'s> Converter<'s> {
    /// A converter for one snippet.
    pub(in crate::front::agent) fn new(
        scope: &'s mut Scope,
        findings: &'s mut Vec<Diagnostic>,
    ) -> Self {
        Self { scope, locals: Vec::new(), findings, nodes: 0 }
    }

    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>) -> (Expr, Ty) {
        self.findings.push(REFUSED_CODE.at(span, message));
        (expr(ExprKind::Bad, span), Ty::Unknown)
    }

    /// An expression of type Bool with Python's truth value.
    pub(in crate::front::agent) fn condition(&mut self, python: &Python) -> Expr {
        let span = python.span;
        match &python.kind {
            PyExprKind::And(parts) => self.logic(parts, BinaryOp::And, span),
            PyExprKind::Or(parts) => self.logic(parts, BinaryOp::Or, span),
            PyExprKind::Unary(UnaryOp::Not, operand) => {
                let operand = self.condition(operand);
                make::not(operand, span)
            }
            // The branches are converted as conditions, because their values may differ in type.
            PyExprKind::If(condition, then, other) => {
                let condition = self.condition(condition);
                let then = self.condition(then);
                let other = self.condition(other);
                choose(condition, then, other, span)
            }
            _ => {
                let before = self.findings.len();
                let (value, ty) = self.value(python);
                if ty == Ty::Unknown && self.findings.len() > before {
                    // The expression was refused, which is reported. `bool(…)` of it would only add a finding.
                    return expr(ExprKind::Bool(false), span);
                }
                truth(value, &ty)
            }
        }
    }

    /// `a and b and c` over truth values, from the left.
    fn logic(&mut self, parts: &[Python], op: BinaryOp, span: Span) -> Expr {
        let mut parts = parts.iter();
        let first = parts.next().map(|p| self.condition(p));
        let Some(first) = first else { return expr(ExprKind::Bool(true), span) };
        parts.fold(first, |left, part| {
            let right = self.condition(part);
            let span = left.span.to(right.span);
            make::binary(op, left, right, span)
        })
    }

    /// An expression and the type of its value.
    pub(in crate::front::agent) fn value(&mut self, python: &Python) -> (Expr, Ty) {
        self.nodes += 1;
        let span = python.span;
        if self.nodes >= MAX_NODES {
            if self.nodes == MAX_NODES {
                return self.refuse(span, "this code is too large");
            }
            return (expr(ExprKind::Bad, span), Ty::Unknown);
        }
        let whole = |kind: ExprKind, ty: Ty| (expr(kind, span), ty);
        match &python.kind {
            PyExprKind::None => whole(ExprKind::None, Ty::None),
            PyExprKind::Bool(b) => whole(ExprKind::Bool(*b), Ty::Bool),
            PyExprKind::Int(i) => whole(ExprKind::Int(*i), Ty::Int),
            PyExprKind::Float(x) => whole(ExprKind::Float(*x), Ty::Float),
            PyExprKind::Text(text) => (make::text(text.clone(), span), Ty::Text),
            PyExprKind::Name(name) => self.name(name, span),
            PyExprKind::Context(name, default) => self.context(name, default.as_deref(), span),
            PyExprKind::Key(name) => self.scope.read(&name.node, span),
            PyExprKind::Has(name) => match self.scope.has(&name.node) {
                Some(has) => {
                    if !has {
                        self.not_kept(name);
                    }
                    whole(ExprKind::Bool(has), Ty::Bool)
                }
                None => {
                    if let Some(given) = self.convert_presence(&name.node, name.span) {
                        return (given, Ty::Bool);
                    }
                    let message =
                        format!("whether `{}` is set here depends on the path taken", name.node);
                    self.refuse(name.span, message)
                }
            },
            PyExprKind::Attribute(base, name) => {
                let (base, _) = self.value(base);
                whole(ExprKind::Field(Box::new(base), name.clone()), Ty::Json)
            }
            PyExprKind::Index(base, index) => {
                let (base, ty) = self.value(base);
                let (index, _) = self.value(index);
                let item = item_type(&ty);
                whole(ExprKind::Index(Box::new(base), Box::new(index)), item)
            }
            PyExprKind::Slice(base, from, to) => {
                let (base, ty) = self.value(base);
                let mut end =
                    |e: &Option<Box<Python>>| e.as_ref().map(|e| Box::new(self.value(e).0));
                let (from, to) = (end(from), end(to));
                whole(ExprKind::Slice(Box::new(base), from, to), ty)
            }
            PyExprKind::Call(function, arguments) => self.call(function, arguments, span),
            PyExprKind::Unary(UnaryOp::Not, _) => (self.condition(python), Ty::Bool),
            PyExprKind::Unary(UnaryOp::Negate, operand) => {
                let (operand, ty) = self.number(operand);
                whole(ExprKind::Unary(UnaryOp::Negate, Box::new(operand)), ty)
            }
            PyExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            PyExprKind::And(parts) => self.chain(parts, true, span),
            PyExprKind::Or(parts) => self.chain(parts, false, span),
            PyExprKind::Compare(left, rest) => self.compare(left, rest, span),
            PyExprKind::If(condition, then, other) => {
                let condition = self.condition(condition);
                let (then, a) = self.value(then);
                let (other, b) = self.value(other);
                (choose(condition, then, other, span), a.join(b))
            }
            PyExprKind::List(items) => {
                let (items, ty) = self.items(items);
                whole(ExprKind::List(items), ty.list())
            }
            PyExprKind::Set(items) => {
                let (items, ty) = self.items(items);
                let list = expr(ExprKind::List(items), span);
                (make::call("set", vec![list], span), ty.list())
            }
            PyExprKind::Dict(entries) => self.dict(entries, span),
            PyExprKind::Comprehension { item, name, source, filter } => {
                let item = |c: &mut Self| c.value(item);
                self.comprehension(item, name, source, filter.as_deref(), span)
            }
            PyExprKind::Bad => whole(ExprKind::Bad, Ty::Unknown),
        }
    }

    fn name(&mut self, name: &str, span: Span) -> (Expr, Ty) {
        if let Some((name, ty)) = self.locals.iter().rev().find(|(n, _)| n == name) {
            return (make::name(name.clone(), span), ty.clone());
        }
        self.scope.read(name, span)
    }

    /// Reports a variable that is read where the turn cannot have set it yet: its value of the last turn is not kept.
    fn not_kept(&mut self, name: &Ident) {
        if matches!(self.scope.roles.get(&name.node), Some(Role::Variable { of: None, .. })) {
            self.findings.push(read_before_set::not_kept(&name.node, name.span));
        }
    }

    /// Converts `context.get('x', d)`.
    fn context(&mut self, name: &Ident, default: Option<&Python>, span: Span) -> (Expr, Ty) {
        match self.scope.has(&name.node) {
            Some(true) => self.scope.read(&name.node, name.span),
            Some(false) => match default {
                Some(default) => {
                    self.not_kept(name);
                    self.value(default)
                }
                None => (expr(ExprKind::None, span), Ty::None),
            },
            None => {
                let (read, ty) = self.scope.maybe(&name.node, name.span);
                let Some(default) = default else { return (read, Ty::Json) };
                let (default, other) = self.value(default);
                let kind = ExprKind::Default(Box::new(read), Box::new(default));
                (expr(kind, span), ty.join(other))
            }
        }
    }

    pub(super) fn items(&mut self, items: &[Python]) -> (Vec<Expr>, Ty) {
        // Elements of different types make a list of `Json`.
        let mut ty = Ty::Unknown;
        let mut out = Vec::new();
        for item in items {
            let (item, item_ty) = self.value(item);
            ty = ty.join(item_ty);
            out.push(item);
        }
        (out, ty)
    }

    fn dict(&mut self, entries: &[(Python, Python)], span: Span) -> (Expr, Ty) {
        let mut ty = Ty::Unknown;
        let mut out = Vec::new();
        for (key, value) in entries {
            let (key_expr, key_ty) = self.value(key);
            if !matches!(key_ty, Ty::Text | Ty::Json | Ty::Unknown) {
                self.refuse(key.span, "keys must be texts");
            }
            let (value, value_ty) = self.value(value);
            ty = ty.join(value_ty);
            out.push(Entry { key: key_expr, value });
        }
        (expr(ExprKind::Map(out), span), ty.map())
    }

    /// Converts a comprehension; `item` converts its item.
    pub(super) fn comprehension(
        &mut self,
        item: impl FnOnce(&mut Self) -> (Expr, Ty),
        name: &Ident,
        source: &Python,
        filter: Option<&Python>,
        span: Span,
    ) -> (Expr, Ty) {
        let (source, source_ty) = self.value(source);
        let element = element_type(&source_ty);
        self.locals.push((name.node.clone(), element));
        let filter = filter.map(|f| Box::new(self.condition(f)));
        let (item, ty) = item(self);
        self.locals.pop();
        let kind = ExprKind::Comprehension {
            item: Box::new(item),
            name: name.clone(),
            source: Box::new(source),
            filter,
        };
        (expr(kind, span), ty.list())
    }

    /// Converts `and` and `or` as values: the result in Python is the operand that decides.
    fn chain(&mut self, parts: &[Python], and: bool, span: Span) -> (Expr, Ty) {
        let all: Vec<(Expr, Ty)> = parts.iter().map(|p| self.value(p)).collect();
        if all.iter().all(|(_, ty)| *ty == Ty::Bool) {
            let op = if and { BinaryOp::And } else { BinaryOp::Or };
            let mut parts = all.into_iter().map(|(e, _)| e);
            let Some(first) = parts.next() else {
                return (expr(ExprKind::Bad, span), Ty::Unknown);
            };
            let joined = parts.fold(first, |left, right| {
                let span = left.span.to(right.span);
                make::binary(op, left, right, span)
            });
            return (joined, Ty::Bool);
        }
        let tests: Vec<Expr> =
            parts[..parts.len().saturating_sub(1)].iter().map(|p| self.condition(p)).collect();
        let mut parts = all.into_iter().rev();
        let Some(mut result) = parts.next() else {
            return (expr(ExprKind::Bad, span), Ty::Unknown);
        };
        let mut tests = tests.into_iter().rev();
        for (value, ty) in parts {
            let span = value.span.to(result.0.span);
            let Some(test) = tests.next() else { break };
            let (yes, no) = if and { (result.0, value) } else { (value, result.0) };
            result = (choose(test, yes, no, span), ty.join(result.1));
        }
        result
    }

    /// An operand of arithmetic; a Bool becomes a number.
    fn number(&mut self, python: &Python) -> (Expr, Ty) {
        let (value, ty) = self.value(python);
        if ty == Ty::Bool {
            let span = value.span;
            return (make::call("int", vec![value], span), Ty::Int);
        }
        (value, ty)
    }

    fn binary(&mut self, op: BinaryOp, left: &Python, right: &Python, span: Span) -> (Expr, Ty) {
        let (a, at) = self.number(left);
        let (b, bt) = self.number(right);
        // `x + 0.5` says that an input `x` is a number.
        self.hint(left, &bt);
        self.hint(right, &at);
        if op == BinaryOp::Modulo && at == Ty::Text {
            return self.refuse(span, "formatting with `%` is not available here");
        }
        let both_int = at == Ty::Int && bt == Ty::Int;
        let numbers = at.is_number() && bt.is_number();
        let texts = at == Ty::Text && bt == Ty::Text;
        let lists = matches!((&at, &bt), (Ty::List(_), Ty::List(_)));
        // `2 ** -1` is a Float in Python; only a literal exponent is known not to be negative.
        let whole = matches!(right.kind, PyExprKind::Int(i) if i >= 0);
        let ty = if numbers {
            let exact = match op {
                BinaryOp::Divide => false,
                BinaryOp::Power => whole,
                _ => true,
            };
            if both_int && exact { Ty::Int } else { Ty::Float }
        } else if op == BinaryOp::Add && (texts || lists) {
            at.join(bt)
        } else {
            Ty::Json
        };
        (make::binary(op, a, b, span), ty)
    }

    fn compare(&mut self, left: &Python, rest: &[(CompareOp, Python)], span: Span) -> (Expr, Ty) {
        let (first, mut before) = (left, self.value(left));
        let mut side = first;
        let first = before.0.clone();
        let mut all = Vec::new();
        for (op, right) in rest {
            let (value, ty) = self.value(right);
            self.hint(side, &ty);
            self.hint(right, &before.1);
            all.push((*op, value.clone()));
            (side, before) = (right, (value, ty));
        }
        let (left, rest) = (first, all);
        (expr(ExprKind::Compare(Box::new(left), rest), span), Ty::Bool)
    }
}

/// The type of the elements in an iteration; for a mapping, of its keys.
pub(super) fn element_type(ty: &Ty) -> Ty {
    if matches!(ty, Ty::Map(_)) { Ty::Text } else { item_type(ty) }
}

/// The type of an element, or of the result of an index.
pub(super) fn item_type(ty: &Ty) -> Ty {
    match ty {
        Ty::List(item) | Ty::Map(item) => (**item).clone(),
        Ty::Text => Ty::Text,
        _ => Ty::Json,
    }
}

/// Python's truth value of an expression. An undeclared name is returned unchanged, because it is reported as such.
pub(super) fn truth(value: Expr, ty: &Ty) -> Expr {
    if matches!(ty, Ty::Bool | Ty::Unknown) {
        return value;
    }
    let span = value.span;
    make::call("bool", vec![value], span)
}
