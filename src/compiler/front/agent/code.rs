//! Converts Python's syntax tree to expressions and statements of the language, and infers types.
//!
//! The problem: Python's variables have no declared types and may be unset, `and` returns an operand, and a list is a condition. In a
//! chart, each variable has a type and a value. The idea: convert expressions together with their types ([`scope::Ty`], joined over all
//! assignments), follow which variables are set on the way ([`scope::Walked`]), and write as code what Python does silently. For example,
//! with `n` an Int, `items` a list, and `mood` set only in some branch before:
//!
//! ```text
//! if items and n > 2:                     if bool(items) and n > 2 {
//!     mood = context.get('mood', 'ok')      mood = mood ?? "ok"      (`mood` may be unset: the chart decides)
//!     n = n / 2                             n = n / 2                (Int / Int is a Float: so is the variable `n`)
//!                                         }
//! ```

mod scope;

pub(super) use scope::{AMOUNTS, InputUse, OBSERVABLES, Role, Scope, Status};

use super::expression::Ty;

use super::expression::{self, binary, choose, expr};
use super::python::{Expr as Python, PyExprKind, Statement as PythonStatement, StatementKind};
use crate::rules::{REFUSED_CODE, read_before_set, refused_code};
use crate::syntax::diagnostic::{Diagnostic, near};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{Action, BinaryOp, CompareOp, Entry, Expr, ExprKind, Noted, Trivia, UnaryOp};

// Converts expressions.

/// The maximum number of nodes of one snippet: `a or b` becomes an expression with `a` twice, so nesting doubles the size.
const MAX_NODES: usize = 20_000;

/// Converts Python to the language; resolves names in a scope.
pub(super) struct Converter<'s> {
    scope: &'s mut Scope,
    locals: Vec<(String, Ty)>,
    findings: &'s mut Vec<Diagnostic>,
    nodes: usize,
}

impl<'s> Converter<'s> {
    /// A converter for one snippet.
    pub(super) fn new(scope: &'s mut Scope, findings: &'s mut Vec<Diagnostic>) -> Self {
        Self { scope, locals: Vec::new(), findings, nodes: 0 }
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>) -> (Expr, Ty) {
        self.findings.push(REFUSED_CODE.at(span, message));
        (expr(ExprKind::Bad, span), Ty::Unknown)
    }

    /// An expression of type Bool with Python's truth value.
    pub(super) fn condition(&mut self, python: &Python) -> Expr {
        let span = python.span;
        match &python.kind {
            PyExprKind::And(parts) => self.logic(parts, BinaryOp::And, span),
            PyExprKind::Or(parts) => self.logic(parts, BinaryOp::Or, span),
            PyExprKind::Unary(UnaryOp::Not, operand) => {
                let operand = self.condition(operand);
                expression::not(operand, span)
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
            expression::binary(op, left, right, span)
        })
    }

    /// An expression and the type of its value.
    pub(super) fn value(&mut self, python: &Python) -> (Expr, Ty) {
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
            PyExprKind::Text(text) => (expression::text(text.clone(), span), Ty::Text),
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
                (expression::call("unique", vec![list], span), ty.list())
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
            return (expression::name(name.clone(), span), ty.clone());
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

    fn items(&mut self, items: &[Python]) -> (Vec<Expr>, Ty) {
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
    fn comprehension(
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
                expression::binary(op, left, right, span)
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
            return (expression::call("int", vec![value], span), Ty::Int);
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
        (expression::binary(op, a, b, span), ty)
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
fn element_type(ty: &Ty) -> Ty {
    if matches!(ty, Ty::Map(_)) { Ty::Text } else { item_type(ty) }
}

/// The type of an element, or of the result of an index.
fn item_type(ty: &Ty) -> Ty {
    match ty {
        Ty::List(item) | Ty::Map(item) => (**item).clone(),
        Ty::Text => Ty::Text,
        _ => Ty::Json,
    }
}

/// Python's truth value of an expression. An undeclared name is returned unchanged, because it is reported as such.
fn truth(value: Expr, ty: &Ty) -> Expr {
    if matches!(ty, Ty::Bool | Ty::Unknown) {
        return value;
    }
    let span = value.span;
    expression::call("bool", vec![value], span)
}

// Converts calls of functions and methods.

/// The functions, each with its minimum and maximum number of arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("len", 1, 1),
    ("str", 0, 1),
    ("max", 1, 64),
    ("min", 1, 64),
    ("set", 0, 1),
    ("bool", 0, 1),
    ("int", 0, 1),
    ("float", 0, 1),
    ("isinstance", 2, 2),
    ("sum", 1, 1),
    ("any", 1, 1),
    ("all", 1, 1),
    ("round", 1, 2),
    ("sorted", 1, 1),
    ("abs", 1, 1),
];

/// The methods: Python's name, the language's function, and the minimum and maximum number of arguments.
const METHODS: &[(&str, &str, usize, usize)] = &[
    ("get", "get", 1, 2),
    ("lower", "lower", 0, 0),
    ("upper", "upper", 0, 0),
    ("startswith", "starts_with", 1, 1),
];

/// The types that `isinstance` may name.
const TYPES: &[&str] = &["int", "float", "str", "bool", "list", "dict", "set", "tuple"];

impl Converter<'_> {
    fn call(&mut self, function: &Python, arguments: &[Python], span: Span) -> (Expr, Ty) {
        if let PyExprKind::Name(name) = &function.kind {
            self.function(name, function.span, arguments, span)
        } else if let PyExprKind::Attribute(base, method) = &function.kind {
            self.method(base, method, arguments, span)
        } else if function.kind == PyExprKind::Bad {
            (expression::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown)
        } else {
            self.refuse(function.span, "only functions and methods by name can be called")
        }
    }

    fn counted(&mut self, name: &str, given: usize, least: usize, most: usize, at: Span) -> bool {
        if (least..=most).contains(&given) {
            return true;
        }
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        self.refuse(at, format!("`{name}` takes {wanted} argument{plural} here, not {given}"));
        false
    }

    fn unknown(
        &mut self,
        at: Span,
        name: &str,
        known: impl Iterator<Item = &'static str>,
    ) -> (Expr, Ty) {
        let finding = refused_code::not_available(name, at).meant(name, near(name, known));
        self.findings.push(finding);
        (expression::expr(crate::syntax::ExprKind::Bad, at), Ty::Unknown)
    }

    fn function(&mut self, name: &str, at: Span, arguments: &[Python], span: Span) -> (Expr, Ty) {
        let Some(&(name, least, most)) = FUNCTIONS.iter().find(|(n, ..)| *n == name) else {
            return self.unknown(at, name, FUNCTIONS.iter().map(|(n, ..)| *n));
        };
        if !self.counted(name, arguments.len(), least, most, span) {
            return (expression::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown);
        }
        if arguments.is_empty() {
            let zero = match name {
                "str" => Ty::Text,
                "bool" => Ty::Bool,
                "int" => Ty::Int,
                "float" => Ty::Float,
                _ => Ty::List(Box::new(Ty::Unknown)),
            };
            return (zero.zero(span), zero);
        }
        match name {
            "bool" => {
                let value = self.condition(&arguments[0]);
                return (value, Ty::Bool);
            }
            "isinstance" => return self.convert_isinstance(&arguments[0], &arguments[1], span),
            "any" | "all" | "sum" => {
                let (list, ty) = self.elements(name, &arguments[0]);
                let result = match (name, item_type(&ty)) {
                    ("sum", Ty::Int) => Ty::Int,
                    ("sum", Ty::Float) => Ty::Float,
                    ("sum", _) => Ty::Json,
                    _ => Ty::Bool,
                };
                return (expression::call(name, vec![list], span), result);
            }
            _ => {}
        }
        let (values, types): (Vec<Expr>, Vec<Ty>) = arguments.iter().map(|a| self.value(a)).unzip();
        let first = types.first().cloned().unwrap_or(Ty::Unknown);
        let ty = match name {
            "len" => Ty::Int,
            "str" => Ty::Text,
            "int" => Ty::Int,
            "float" => Ty::Float,
            "round" if values.len() == 1 => Ty::Int,
            "round" if first == Ty::Int => Ty::Int,
            "round" => Ty::Float,
            "abs" if first.is_number() => first,
            "abs" => Ty::Json,
            "min" | "max" if types.len() == 1 => item_type(&first),
            "min" | "max" => types.into_iter().fold(Ty::Unknown, Ty::join),
            // `set`, `sorted`: a list of the same elements.
            _ => element_type(&first).list(),
        };
        let name = match name {
            "set" => "unique",
            "sorted" => "sort",
            same => same,
        };
        (expression::call(name, values, span), ty)
    }

    /// The argument of `any`, `all` or `sum`. The items of a comprehension are converted to the type that the language requires.
    fn elements(&mut self, name: &str, argument: &Python) -> (Expr, Ty) {
        let PyExprKind::Comprehension { item, name: bound, source, filter } = &argument.kind else {
            return self.value(argument);
        };
        let sum = name == "sum";
        let item = |c: &mut Self| {
            let (value, ty) = c.value(item);
            if !sum {
                (truth(value, &ty), Ty::Bool)
            } else if ty == Ty::Bool {
                let span = value.span;
                (expression::call("int", vec![value], span), Ty::Int)
            } else {
                (value, ty)
            }
        };
        self.comprehension(item, bound, source, filter.as_deref(), argument.span)
    }

    fn convert_isinstance(&mut self, value: &Python, types: &Python, span: Span) -> (Expr, Ty) {
        let (value, _) = self.value(value);
        let one = std::slice::from_ref(types);
        let types = if let PyExprKind::List(items) = &types.kind { items } else { one };
        let mut test: Option<Expr> = None;
        for ty in types {
            let PyExprKind::Name(name) = &ty.kind else {
                return self.refuse(ty.span, "`isinstance` takes the name of a type");
            };
            if !TYPES.contains(&name.as_str()) {
                return self.unknown(ty.span, name, TYPES.iter().copied());
            }
            // Tuples and sets become lists in the language.
            let name = if matches!(name.as_str(), "tuple" | "set") { "list" } else { name };
            let is = expression::call(
                "is_a",
                vec![value.clone(), expression::text(name, ty.span)],
                span,
            );
            test = Some(match test {
                Some(left) => binary(BinaryOp::Or, left, is, span),
                None => is,
            });
        }
        match test {
            Some(test) => (test, Ty::Bool),
            None => self.refuse(span, "`isinstance` takes at least one type"),
        }
    }

    fn method(
        &mut self,
        base: &Python,
        method: &Ident,
        arguments: &[Python],
        span: Span,
    ) -> (Expr, Ty) {
        let found = METHODS.iter().find(|(n, ..)| *n == method.node);
        let Some(&(name, function, least, most)) = found else {
            return self.unknown(method.span, &method.node, METHODS.iter().map(|(n, ..)| *n));
        };
        if !self.counted(name, arguments.len(), least, most, span) {
            return (expression::expr(crate::syntax::ExprKind::Bad, span), Ty::Unknown);
        }
        let (base, base_ty) = self.value(base);
        let mut values = vec![base];
        let mut default = Ty::Json;
        for argument in arguments {
            let (value, ty) = self.value(argument);
            values.push(value);
            default = ty;
        }
        let ty = match (function, base_ty) {
            ("get", Ty::Map(item)) if arguments.len() == 2 => item.join(default),
            ("get", _) => Ty::Json,
            ("starts_with", _) => Ty::Bool,
            _ => Ty::Text,
        };
        (expression::call(function, values, span), ty)
    }
}

// Converts statements, and tracks which variables they set.

impl Converter<'_> {
    /// Converts a block; updates the types and the set variables of the scope.
    pub(super) fn statements(&mut self, all: &[PythonStatement]) -> Vec<Noted<Action>> {
        let mut out = Vec::new();
        for one in all {
            if let Some(node) = self.statement(one) {
                let trivia = Trivia { blank_before: one.apart, ..Trivia::default() };
                out.push(Noted { trivia, doc: String::new(), node, span: one.span });
            }
        }
        out
    }

    fn statement(&mut self, one: &PythonStatement) -> Option<Action> {
        match &one.kind {
            StatementKind::Assign(name, value) => self.assign(name, value),
            // A default for a variable that is set already changes nothing.
            StatementKind::Again(name, value) => {
                let is_kept = self.scope.kept.contains_key(&name.node);
                if is_kept || self.scope.walked.get(&name.node).is_some() {
                    return None;
                }
                self.assign(name, value)
            }
            // The pass over `context` has rewritten or refused it.
            StatementKind::Store { .. } => None,
            StatementKind::If(condition, then, other) => {
                let condition = self.condition(condition);
                let mark = self.scope.walked.mark();
                let then = self.statements(then);
                let after_then = self.scope.walked.back(mark);
                let other = self.statements(other);
                self.scope.walked.join(mark, &after_then);
                Some(Action::If(condition, then, other))
            }
            StatementKind::For(name, source, body) => {
                let (source_expr, ty) = self.value(source);
                let element = element_type(&ty);
                if self.scope.roles.contains_key(&name.node) {
                    let message = format!(
                        "`{}` is a variable already: name the element otherwise",
                        name.node
                    );
                    self.findings.push(REFUSED_CODE.at(name.span, message));
                    return None;
                }
                self.locals.push((name.node.clone(), element));
                let mark = self.scope.walked.mark();
                // Variables that the body sets may already be set when it runs again.
                for set in assigned(body) {
                    if self.scope.walked.get(&set).is_none() {
                        self.scope.walked.set(&set, Status::Maybe);
                    }
                }
                let body = self.statements(body);
                self.scope.walked.weaken(mark);
                self.locals.pop();
                Some(Action::For(name.clone(), source_expr, body))
            }
        }
    }

    fn assign(&mut self, name: &Ident, value: &Python) -> Option<Action> {
        let is_kept = self.scope.kept.contains_key(&name.node);
        let written = match self.scope.roles.get(&name.node) {
            Some(Role::Variable { of, .. })
                if (of.is_some() || is_kept) && is_identity(&name.node, value) =>
            {
                return None;
            }
            Some(Role::Variable { written, .. }) => written.clone(),
            // The only assignments to what the host supplies are identities.
            Some(Role::Input(_) | Role::Given(_) | Role::Step | Role::State | Role::Missing)
            | None => return None,
        };
        let (value, ty) = self.value(value);
        // The type is the join of all assignments, as the chart has one declaration for them.
        let known = self.scope.types.remove(&name.node).unwrap_or(Ty::Unknown);
        self.scope.types.insert(name.node.clone(), known.join(ty));
        self.scope.walked.set(&name.node, Status::Set);
        Some(Action::Assign(Ident::new(written, name.span), value))
    }
}

/// Whether an assignment keeps the value: `x = x`, `x = locals().get('x', d)`.
pub(super) fn is_identity(name: &str, value: &Python) -> bool {
    matches!(&value.kind, PyExprKind::Name(read) if read == name)
        || matches!(&value.kind, PyExprKind::Context(read, _) if read.node == name)
}

/// The names that statements assign, in order.
pub(super) fn assigned(all: &[PythonStatement]) -> Vec<String> {
    let mut out = Vec::new();
    for one in all {
        match &one.kind {
            StatementKind::Assign(name, _) => out.push(name.node.clone()),
            StatementKind::Store { .. } | StatementKind::Again(..) => {}
            StatementKind::If(_, then, other) => {
                out.extend(assigned(then));
                out.extend(assigned(other));
            }
            StatementKind::For(_, _, body) => out.extend(assigned(body)),
        }
    }
    out
}
