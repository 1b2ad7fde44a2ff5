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

use super::scope::{Class, Kinds, Scope};
use super::script::{Expr as Script, ScriptExprKind};
use crate::rules::{faulty_expression, outside_subset};
use crate::syntax::diagnostic::{Diagnostic, near, nearest};
use crate::syntax::source::{Ident, Span, Spanned};
use crate::syntax::{
    BinaryOp, CompareOp, Entry, Expr, ExprKind, Hole, Template, TemplatePart, UnaryOp,
};

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
            return join(left, right, and, span);
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

// Translates calls.

impl Converter<'_, '_> {
    fn call(
        &mut self,
        function: &Script,
        arguments: &[Script],
        span: Span,
        at: &ExprContext,
    ) -> Value {
        if let ScriptExprKind::Name(name) = &function.kind {
            return match (name.as_str(), arguments) {
                ("In", [one]) => self.in_state(one, span, at),
                ("Number" | "parseFloat", [one]) => number(self.value(one, at)),
                ("String", [one]) => {
                    let one = self.value(one, at);
                    value(call("js_text", vec![one.expr], span), span, Kinds::TEXT, Class::Text)
                }
                ("Boolean", [one]) => {
                    let one = self.condition(one, at);
                    value(one.kind, span, Kinds::BOOL, Class::Bool)
                }
                _ => self.refuse(span, &format!("the function `{name}` is not translated")),
            };
        }
        if let ScriptExprKind::Member(of, method) = &function.kind
            && let ScriptExprKind::Name(owner) = &of.kind
            && self.scope.variable(owner).is_none()
        {
            match (owner.as_str(), method.node.as_str(), arguments) {
                ("JSON", "stringify", [one]) => {
                    let one = self.value(one, at);
                    let kind = call("js_json", vec![one.expr], span);
                    return value(kind, span, Kinds::TEXT, Class::Text);
                }
                ("Math", name, _) => return self.math(name, arguments, span, at),
                ("Array", "isArray", [one]) => {
                    let one = self.value(one, at);
                    let list = text_value("list", span).expr;
                    let kind = call("is_a", vec![one.expr, list], span);
                    return value(kind, span, Kinds::BOOL, Class::Bool);
                }
                _ => {}
            }
        }
        self.refuse(span, "this function is not translated")
    }

    fn math(&mut self, name: &str, arguments: &[Script], span: Span, at: &ExprContext) -> Value {
        let all: Vec<Value> = arguments.iter().map(|a| self.number(a, at)).collect();
        let typed = all.iter().all(|a| a.class != Class::Json);
        let joint = all.iter().fold(Kinds::NEVER, |k, a| k.or(a.kinds));
        let classed = |kinds: Kinds| if typed { kinds.class() } else { Class::Json };
        let binary = |op: BinaryOp, a: Expr, b: Expr| Expr {
            kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
            span,
        };
        let whole = |e: Expr| value(call("int", vec![e], span), span, Kinds::INT, Class::Int);
        let literal = |kind: ExprKind| Expr { kind, span };
        let exprs = || all.iter().map(|a| a.expr.clone());
        match (name, all.as_slice()) {
            ("pow", [_, _]) => {
                self.arithmetic(BinaryOp::Power, &arguments[0], &arguments[1], span, at)
            }
            ("sqrt", [x]) => {
                let kind =
                    binary(BinaryOp::Power, x.expr.clone(), literal(ExprKind::Float(0.5))).kind;
                value(kind, span, Kinds::FLOAT, classed(Kinds::FLOAT))
            }
            ("abs", [_]) => {
                value(call("abs", exprs().collect(), span), span, joint, classed(joint))
            }
            ("min" | "max", [_, _, ..]) => {
                let kind = call(name, exprs().collect(), span);
                value(
                    kind,
                    span,
                    joint,
                    classed(if joint == Kinds::NUMBER { Kinds::FLOAT } else { joint }),
                )
            }
            ("floor" | "ceil" | "round" | "trunc", [x]) if x.class == Class::Int => x.clone(),
            ("trunc", [x]) => whole(x.expr.clone()),
            ("floor", [x]) => {
                whole(binary(BinaryOp::FloorDivide, x.expr.clone(), literal(ExprKind::Int(1))))
            }
            // ECMAScript rounds halves up: `floor(x + 0.5)`.
            ("round", [x]) => {
                let more = binary(BinaryOp::Add, x.expr.clone(), literal(ExprKind::Float(0.5)));
                whole(binary(BinaryOp::FloorDivide, more, literal(ExprKind::Int(1))))
            }
            ("ceil", [x]) => {
                let minus =
                    |e: Expr| Expr { kind: ExprKind::Unary(UnaryOp::Negate, Box::new(e)), span };
                let floor =
                    binary(BinaryOp::FloorDivide, minus(x.expr.clone()), literal(ExprKind::Int(1)));
                whole(minus(floor))
            }
            _ => self.refuse(span, &format!("`Math.{name}` is not translated")),
        }
    }

    /// Translates `In('s')`.
    fn in_state(&mut self, id: &Script, span: Span, at: &ExprContext) -> Value {
        let ScriptExprKind::Text(name) = &id.kind else {
            return self.refuse(id.span, "`In` takes a text that says which state");
        };
        if at.before.is_some() {
            return fails("no state is active yet", span);
        }
        let Some(state) = self.scope.state(name) else {
            let finding =
                faulty_expression::at(id.span, format!("no state `{name}`: this is always false"));
            self.findings.push({
                let near = near(name, self.scope.state_ids());
                finding.meant(name, near)
            });
            return value(ExprKind::Bool(false), span, Kinds::BOOL, Class::Bool);
        };
        let names = self.scope.path(at.state, state, id.span);
        let path = names.into_iter().fold(None, |base: Option<Expr>, name: Ident| {
            Some(match base {
                None => Expr { kind: ExprKind::Name(name.node), span: name.span },
                Some(base) => Expr { span: name.span, kind: ExprKind::Field(Box::new(base), name) },
            })
        });
        value(call("in", path.into_iter().collect(), span), span, Kinds::BOOL, Class::Bool)
    }
}

// Translates reads of `_event`.

/// The help where the data of the event are no longer available.
const KEEP: &str =
    "keep the data in a `<data>`, with `<assign>` in the transition that takes the event";

impl Converter<'_, '_> {
    /// Translates `_event` as a whole: a map of its name and data.
    fn event(&mut self, span: Span, at: &ExprContext) -> Value {
        let entry = |key: &str, of: Expr| Entry { key: text_value(key, span).expr, value: of };
        let name = self.event_name(span, at);
        if name.kinds == Kinds::NEVER {
            return name;
        }
        let entries = vec![entry("name", name.expr), entry("data", self.event_data(span, at).expr)];
        value(ExprKind::Map(entries), span, Kinds::MAP, Class::Map)
    }

    fn event_name(&mut self, span: Span, at: &ExprContext) -> Value {
        if let Some(name) = &at.named {
            return text_value(name, span);
        }
        let keep =
            "keep the name in a `<data>`, with `<assign>` in the transition that takes the event";
        match at.brings {
            Brings::Nothing => self.refuse_event(
                span,
                "which event has led here is not known: several may, those that the document raises among them, or none",
                keep,
            ),
            Brings::Eventless => self.refuse_event(
                span,
                "a transition without `event` takes no event: it is asked at every stable point, whatever came last",
                keep,
            ),
            _ if at.inside => self.refuse_event(
                span,
                "what the event is called is known of those from outside, and this may be another one",
                "write a transition for each event, with its name",
            ),
            _ => {
                value(ExprKind::Name("event".to_owned()), span, Kinds::TEXT, Class::Text)
            }
        }
    }

    fn event_data(&mut self, span: Span, at: &ExprContext) -> Value {
        match at.brings {
            Brings::Data => {
                let kind = ExprKind::Name(self.scope.data.clone());
                value(kind, span, Kinds::ANY, Class::Json)
            }
            Brings::Done(nth) => self.variable(nth, span),
            Brings::Answer => {
                let kind = ExprKind::Name(self.scope.data.clone());
                let arguments = vec![Expr { kind, span }, text_value("data", span).expr];
                value(call("js_get", arguments, span), span, Kinds::ANY, Class::Json)
            }
            Brings::NoData => value(ExprKind::None, span, Kinds::NONE, Class::None),
            Brings::Nothing => self.refuse_event(
                span,
                "which event has led here is not known, and its data are not kept: several may, and some have none",
                KEEP,
            ),
            Brings::Eventless => self.refuse_event(
                span,
                "a transition without `event` takes no event: it is asked at every stable point, whatever came last",
                KEEP,
            ),
        }
    }

    fn refuse_event(&mut self, span: Span, why: &str, help: &str) -> Value {
        self.findings.push(outside_subset::at(span, why).help(help));
        fails(why, span)
    }

    /// Translates a property of `_event`.
    fn of_event(&mut self, name: &str, span: Span, at: &ExprContext) -> Value {
        match name {
            "name" => self.event_name(span, at),
            "data" => self.event_data(span, at),
            other => self.refuse(span, &format!("`_event.{other}` is not translated")),
        }
    }
}

// Translates operators.

impl Converter<'_, '_> {
    fn arithmetic(
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

    fn compare(
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
        let names = names.iter().map(|n| text_value(n, span).expr).collect();
        let names = Expr { kind: ExprKind::List(names), span };
        let kind = call("is_a", vec![of.expr, names], span);
        negated(op, value(kind, span, Kinds::BOOL, Class::Bool), span)
    }

    /// Translates `a && b` and `a || b` as values: the result is the operand that decides.
    fn either(
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
fn join(left: Expr, right: Expr, and: bool, span: Span) -> Expr {
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
pub(super) fn hole(of: Value) -> Hole {
    let span = of.expr.span;
    let expr = if matches!(of.class, Class::Int | Class::Text) {
        of.expr
    } else {
        Expr { kind: call("js_text", vec![of.expr], span), span }
    };
    Hole { expr, spec: Spanned::new(String::new(), Span { start: span.end, ..span }), span }
}

/// A value as the whole of a text.
pub(super) fn shown(of: Value) -> Template {
    let span = of.expr.span;
    if let ExprKind::Text(text) = of.expr.kind {
        return text;
    }
    if of.class == Class::None {
        return literal("undefined", span);
    }
    Template { parts: vec![TemplatePart::Hole(Box::new(hole(of)))], span, block: false }
}

// Translates the targets of assignments.

impl Converter<'_, '_> {
    /// Resolves `place = value` to the assigned variable and its new value: `x.a[i] = v` is `x = js_set(x, "a", js_set(…, i, v))`.
    ///
    /// # Errors
    /// The reason, if there is no such variable, which is also reported, or if the place is not a variable.
    pub(super) fn assignment(
        &mut self,
        place: &Script,
        new: Value,
        at: &ExprContext,
    ) -> Result<(usize, Value), String> {
        if let ScriptExprKind::Name(name) = &place.kind {
            return match self.scope.variable(name) {
                Some(nth) if !name.starts_with('_') => Ok((nth, new)),
                _ => {
                    let why = if name.starts_with('_') {
                        format!("`{name}` cannot be assigned to")
                    } else {
                        format!("`{name}` is not declared")
                    };
                    let known = self.scope.variable_names();
                    let near = crate::syntax::diagnostic::nearest(name, known).map(str::to_owned);
                    self.faulty(place.span, &why, near.as_deref());
                    Err(why)
                }
            };
        }
        let (of, key) = if let ScriptExprKind::Member(of, name) = &place.kind {
            (of, text_value(&name.node, name.span))
        } else if let ScriptExprKind::Index(of, index) = &place.kind {
            (of, self.value(index, at))
        } else {
            return Err("this cannot be assigned to".to_owned());
        };
        let old: Expr = self.value(of, at).expr;
        let kind = call("js_set", vec![old, key.expr, new.expr], place.span);
        self.assignment(of, value(kind, place.span, Kinds::ANY, Class::Json), at)
    }
}
