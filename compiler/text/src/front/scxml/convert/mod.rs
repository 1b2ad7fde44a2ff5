//! Translates ECMAScript expressions. An operator with the same meaning stays an operator; any other becomes a `js_…` function.
//!
//! The problem: `+` joins texts or adds, every value is a condition, and a missing property is `undefined`. In a chart, operators are
//! typed. The idea: translate each expression together with the kinds of values that it may have ([`Kinds`]), and use a function that
//! decides at run time only where the kinds leave it open. For example, with `n` always an integer, `done` a boolean, and `x` unknown:
//!
//! ```text
//! n + 1 > 3 && !done        n + 1 > 3 and not done
//! x + 1                     js_add(x, 1)
//! x.size > 3                js_number(js_get(x, "size")) > 3
//! n ? 'some' : 'none'       if n != 0 then "some" else "none"
//! ```

mod call;
mod event;
mod operator;
mod place;

pub(super) use operator::shown;

use super::kinds::{Class, Kinds};
use super::scope::Scope;
use super::script::{Expr as Script, ScriptExprKind};
use crate::diagnostic::{Diagnostic, nearest};
use crate::rules::{faulty_expression, outside_subset};
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{CompareOp, Entry, Expr, ExprKind, Template, TemplatePart, UnaryOp};

/// A translated expression, with the kinds of its value and its type in the chart.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) expr: Expr,
    pub(super) kinds: Kinds,
    pub(super) class: Class,
}

/// The knowledge about the event at the place of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// Nothing is known: several events may lead to this block.
    Nothing,
    /// There is no event: the transition has no `event`.
    Eventless,
    /// The event has no data: an error or a built-in event.
    NoData,
    /// The transition binds the data of the event.
    Data,
    /// A variable stores the data with which a state was done.
    Done(usize),
    /// The transition binds the result of an invoked document.
    Answer,
}

/// The place of an expression, which determines the names that it can read.
#[derive(Debug, Clone)]
pub(super) struct ExprContext {
    pub(super) state: usize,
    pub(super) brings: Brings,
    /// Names bound by loops, the innermost last: the written name, the name in the chart, the kinds of the value.
    pub(super) locals: Vec<(String, String, Kinds)>,
    /// If set, only variables before this one have a value.
    pub(super) before: Option<usize>,
    /// The name of the event, if known.
    pub(super) named: Option<String>,
    /// Whether the event may originate inside the document, so that its name is not available. Only meaningful if the name is not known.
    pub(super) inside: bool,
}

impl ExprContext {
    pub(super) fn state(state: usize) -> Self {
        let (brings, locals) = (Brings::Nothing, Vec::new());
        Self { state, brings, locals, before: None, named: None, inside: false }
    }
}

/// A translator of expressions with the names of a scope.
pub(super) struct Converter<'c, 'd> {
    pub(super) scope: &'c Scope<'d>,
    pub(super) findings: &'c mut Vec<Diagnostic>,
}

impl Converter<'_, '_> {
    /// Translates an expression of any type.
    pub(super) fn value(&mut self, script: &Script, at: &ExprContext) -> Value {
        let span = script.span;
        match &script.kind {
            ScriptExprKind::None => value(ExprKind::None, span, Kinds::NONE, Class::None),
            ScriptExprKind::Bool(b) => value(ExprKind::Bool(*b), span, Kinds::BOOL, Class::Bool),
            ScriptExprKind::Int(i) => {
                // The sign is an operator of the language. (`saturating_abs`: the least integer has no counterpart.)
                signed(*i < 0, ExprKind::Int(i.saturating_abs()), span, Kinds::INT)
            }
            ScriptExprKind::Float(x) => {
                signed(*x < 0.0, ExprKind::Float(x.abs()), span, Kinds::FLOAT)
            }
            ScriptExprKind::Text(text) => text_value(text, span),
            ScriptExprKind::Name(name) => self.name(name, span, at),
            ScriptExprKind::Member(of, name) => self.member(of, name, span, at),
            ScriptExprKind::Index(of, index) => self.index(of, index, span, at),
            ScriptExprKind::Call(function, arguments) => self.call(function, arguments, span, at),
            ScriptExprKind::Not(of) => {
                let of = self.condition(of, at);
                let kind = ExprKind::Unary(UnaryOp::Not, Box::new(of));
                value(kind, span, Kinds::BOOL, Class::Bool)
            }
            ScriptExprKind::Negate(of) => {
                let of = self.number(of, at);
                let kind = ExprKind::Unary(UnaryOp::Negate, Box::new(of.expr));
                value(kind, span, of.kinds, of.class)
            }
            ScriptExprKind::Number(of) => self.number(of, at),
            ScriptExprKind::Typeof(_) => {
                self.refuse(span, "`typeof` is compared with a text, or not translated")
            }
            ScriptExprKind::Binary(op, left, right) => self.arithmetic(*op, left, right, span, at),
            ScriptExprKind::Compare(op, left, right) => self.compare(*op, left, right, span, at),
            ScriptExprKind::And(left, right) => self.either(left, right, true, span, at),
            ScriptExprKind::Or(left, right) => self.either(left, right, false, span, at),
            ScriptExprKind::Nullish(left, right) => {
                let (left, right) = (self.value(left, at), self.value(right, at));
                if !left.kinds.meets(Kinds::NONE) {
                    return left;
                }
                let kinds = left.kinds.less(Kinds::NONE).or(right.kinds);
                let (left, right) = (json(left), json(right));
                let kind = ExprKind::Default(Box::new(left), Box::new(right));
                value(kind, span, kinds, Class::Json)
            }
            ScriptExprKind::If(test, then, other) => {
                let test = self.condition(test, at);
                let (then, other) = (self.value(then, at), self.value(other, at));
                choose(test, then, other, span)
            }
            ScriptExprKind::Array(items) => {
                let items: Vec<Value> = items.iter().map(|item| self.value(item, at)).collect();
                let kinds = items.iter().fold(Kinds::NEVER, |all, item| all.or(item.kinds));
                let items = items.into_iter().map(|item| item.expr).collect();
                value(ExprKind::List(items), span, kinds.list(), Class::List)
            }
            ScriptExprKind::Object(entries) => {
                let entry = |(key, of): &(Ident, Script)| Entry {
                    key: text_value(&key.node, key.span).expr,
                    value: self.value(of, at).expr,
                };
                let entries = entries.iter().map(entry).collect();
                value(ExprKind::Map(entries), span, Kinds::MAP, Class::Map)
            }
            ScriptExprKind::Faulty(why) => fails(why, span),
        }
    }

    /// Translates an expression as a condition of type Bool: whether its value is truthy.
    pub(super) fn condition(&mut self, script: &Script, at: &ExprContext) -> Expr {
        let span = script.span;
        if let ScriptExprKind::And(left, right) | ScriptExprKind::Or(left, right) = &script.kind {
            let and = matches!(script.kind, ScriptExprKind::And(..));
            let (left, right) = (self.condition(left, at), self.condition(right, at));
            return operator::join(left, right, and, span);
        }
        truth(self.value(script, at))
    }

    /// Reports an expression that is not translated. The result fails at run time.
    fn refuse(&mut self, span: Span, why: &str) -> Value {
        self.findings.push(outside_subset::at(span, why));
        fails(why, span)
    }

    /// Reports an expression that always fails.
    fn faulty(&mut self, span: Span, why: &str, near: Option<&str>) -> Value {
        let finding = faulty_expression::at(span, why);
        self.findings.push(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding,
        });
        fails(why, span)
    }

    fn name(&mut self, name: &str, span: Span, at: &ExprContext) -> Value {
        if let Some((_, local, kinds)) = at.locals.iter().rev().find(|(known, ..)| known == name) {
            return value(ExprKind::Name(local.clone()), span, *kinds, Class::Json);
        }
        match name {
            "_name" | "_sessionid" => return text_value(&self.scope.document.name, span),
            "_event" => return self.event(span, at),
            "_ioprocessors" | "_x" => {
                return self.refuse(span, &format!("`{name}` is not translated"));
            }
            "NaN" | "Infinity" => return self.refuse(span, "there is no such number"),
            _ => {}
        }
        let found = self.scope.variable(name);
        let early = |nth: &usize| at.before.is_some_and(|before| *nth >= before);
        match found {
            Some(nth) if early(&nth) => {
                self.faulty(span, &format!("`{name}` has no value yet"), None)
            }
            Some(nth) => self.variable(nth, span),
            None => {
                let near = nearest(name, self.scope.variable_names()).map(str::to_owned);
                self.faulty(span, &format!("`{name}` is not declared"), near.as_deref())
            }
        }
    }

    /// Reads a variable of the chart.
    pub(super) fn variable(&self, nth: usize, span: Span) -> Value {
        let variable = &self.scope.variables[nth];
        let kinds = variable.kinds;
        value(ExprKind::Name(variable.name.clone()), span, kinds, kinds.class())
    }

    fn member(&mut self, of: &Script, name: &Ident, span: Span, at: &ExprContext) -> Value {
        if of.kind == ScriptExprKind::Name("_event".to_owned()) {
            return self.of_event(&name.node, span, at);
        }
        if of.kind == ScriptExprKind::Name("Math".to_owned())
            && self.scope.variable("Math").is_none()
        {
            return match name.node.as_str() {
                "PI" => {
                    value(ExprKind::Float(std::f64::consts::PI), span, Kinds::FLOAT, Class::Float)
                }
                "E" => {
                    value(ExprKind::Float(std::f64::consts::E), span, Kinds::FLOAT, Class::Float)
                }
                other => self.refuse(span, &format!("`Math.{other}` is not translated")),
            };
        }
        let of = self.value(of, at);
        if name.node == "length" {
            if matches!(of.class, Class::Text | Class::List) {
                return value(call("len", vec![of.expr], span), span, Kinds::INT, Class::Int);
            }
            let key = text_value("length", name.span).expr;
            let kind = call("js_get", vec![of.expr, key], span);
            return value(kind, span, Kinds::ANY, Class::Json);
        }
        let key = text_value(&name.node, name.span).expr;
        value(call("js_get", vec![of.expr, key], span), span, Kinds::ANY, Class::Json)
    }

    fn index(&mut self, of: &Script, index: &Script, span: Span, at: &ExprContext) -> Value {
        if let (ScriptExprKind::Name(event), ScriptExprKind::Text(name)) = (&of.kind, &index.kind)
            && event == "_event"
        {
            return self.of_event(name, span, at);
        }
        let of = self.value(of, at);
        let index = self.value(index, at);
        let listed = of.kinds.may_be_list() && of.kinds.item() != Kinds::NEVER;
        let only_list = listed && of.kinds.less(Kinds::NONE) == of.kinds.item().list();
        let kinds = if only_list { of.kinds.item().or(Kinds::NONE) } else { Kinds::ANY };
        value(call("js_get", vec![of.expr, index.expr], span), span, kinds, Class::Json)
    }

    /// Translates an expression as a number, converted if necessary.
    fn number(&mut self, script: &Script, at: &ExprContext) -> Value {
        number(self.value(script, at))
    }
}

/// Creates a translated expression.
pub(super) fn value(kind: ExprKind, span: Span, kinds: Kinds, class: Class) -> Value {
    Value { expr: Expr { kind, span }, kinds, class }
}

/// A number. The language writes negative ones with a prefix operator.
fn signed(negative: bool, kind: ExprKind, span: Span, kinds: Kinds) -> Value {
    if !negative {
        return value(kind, span, kinds, kinds.class());
    }
    let number = Box::new(Expr { kind, span });
    value(ExprKind::Unary(UnaryOp::Negate, number), span, kinds, kinds.class())
}

/// A call: `f(arguments)`.
pub(super) fn call(function: &str, arguments: Vec<Expr>, span: Span) -> ExprKind {
    ExprKind::Call(Spanned::new(function.to_owned(), span), arguments)
}

/// A text without placeholders, as a value.
pub(super) fn text_value(text: &str, span: Span) -> Value {
    value(ExprKind::Text(literal(text, span)), span, Kinds::TEXT, Class::Text)
}

/// A text without placeholders, as a template.
pub(super) fn literal(text: &str, span: Span) -> Template {
    let part = || TemplatePart::Text(text.to_owned(), span);
    Template { parts: if text.is_empty() { Vec::new() } else { vec![part()] }, span, block: false }
}

/// An expression that always fails, with a reason.
pub(super) fn fails(why: &str, span: Span) -> Value {
    let reason = text_value(why, span).expr;
    value(call("fail", vec![reason], span), span, Kinds::NEVER, Class::Json)
}

/// Turns a value into an expression of type Json, which can stand beside values of other types.
fn json(of: Value) -> Expr {
    match of.class {
        Class::Json => of.expr,
        _ => {
            let span = of.expr.span;
            Expr { kind: call("js_value", vec![of.expr], span), span }
        }
    }
}

/// Builds `if test then a else b`, with both values converted to one type.
fn choose(test: Expr, then: Value, other: Value, span: Span) -> Value {
    let kinds = then.kinds.or(other.kinds);
    let number = |class: Class| matches!(class, Class::Int | Class::Float);
    let (class, then, other) = if then.class == other.class && then.class != Class::None {
        (then.class, then.expr, other.expr)
    } else if number(then.class) && number(other.class) {
        (Class::Float, then.expr, other.expr)
    } else {
        (Class::Json, json(then), json(other))
    };
    let kind = ExprKind::If(Box::new(test), Box::new(then), Box::new(other));
    value(kind, span, kinds, class)
}

/// Turns a value into a number: by `js_number`, if it may be anything else.
fn number(of: Value) -> Value {
    if of.kinds.within(Kinds::NUMBER.or(Kinds::NONE)) && of.class != Class::None {
        return Value { kinds: of.kinds.less(Kinds::NONE), ..of };
    }
    let span = of.expr.span;
    value(call("js_number", vec![of.expr], span), span, Kinds::NUMBER, Class::Json)
}

/// The truth value in ECMAScript of a value.
fn truth(of: Value) -> Expr {
    let span = of.expr.span;
    let compared = |with: ExprKind| {
        let with = Expr { kind: with, span };
        ExprKind::Compare(Box::new(of.expr.clone()), vec![(CompareOp::NotEqual, with)])
    };
    let kind = match of.class {
        Class::Bool => return of.expr,
        Class::None => ExprKind::Bool(false),
        Class::Int => compared(ExprKind::Int(0)),
        Class::Float => compared(ExprKind::Float(0.0)),
        Class::Text => compared(ExprKind::Text(literal("", span))),
        Class::List | Class::Map => ExprKind::Bool(true),
        Class::Json if of.kinds == Kinds::NEVER => return of.expr,
        Class::Json => call("js_truth", vec![of.expr], span),
    };
    Expr { kind, span }
}
