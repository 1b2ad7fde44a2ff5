//! InvokeSpecs become host functions.

use super::template::template;
use crate::front::agent::code::Scope;
use crate::front::agent::definition::Invoke;
use crate::front::agent::format::parts;
use crate::front::agent::make::{apart, call, expr};
use crate::front::agent::node::{Node, Value};
use crate::span::{Ident, Span};
use crate::syntax::{
    ChartItem, Entry, Expr, ExprKind, Function, FunctionKind, Noted, Param, TypeExpr, TypeKind,
};

/// The host functions that an agent needs, each declared once.
#[derive(Default)]
pub(super) struct Functions {
    all: Vec<Noted<ChartItem>>,
    known: Vec<(String, usize, Option<Value>, String)>,
}

fn json(span: Span) -> TypeExpr {
    named("Json", span)
}

fn named(name: &str, span: Span) -> TypeExpr {
    TypeExpr { kind: TypeKind::Name(name.to_owned()), span }
}

impl Functions {
    /// The declarations, in the order of first use.
    pub(super) fn into_items(self) -> Vec<Noted<ChartItem>> {
        self.all
    }

    /// A call; its function is declared unless it is already.
    pub(super) fn invoke(&mut self, invoke: &Invoke, scope: &Scope) -> Expr {
        let method = invoke.method.as_ref().map_or("call", |m| m.node.as_str());
        let wanted = word(&format!("{}_{method}", invoke.artifact.node));
        let span = invoke.artifact.span;
        let count = invoke.arguments.len();
        let fallback = invoke.fallback.as_ref().map(|f| f.value.clone());
        let same = |(n, c, f, _): &&(String, usize, Option<Value>, String)| {
            *n == wanted && *c == count && same_value(f.as_ref(), fallback.as_ref())
        };
        let name = if let Some((.., name)) = self.known.iter().find(same) {
            name.clone()
        } else {
            let mut name = wanted.clone();
            let mut number = 2;
            while self.known.iter().any(|(.., n)| *n == name) {
                name = format!("{wanted}_{number}");
                number += 1;
            }
            let params = (1..=count)
                .map(|i| Param { name: Ident::new(format!("arg_{i}"), span), ty: json(span) })
                .collect();
            let value = invoke.fallback.as_ref().map(|f| value(f, None));
            self.declare(&name, params, FunctionKind::Pure(json(span), value), span);
            self.known.push((wanted, count, fallback, name.clone()));
            name
        };
        let arguments = invoke.arguments.iter().map(|a| value(a, Some(scope))).collect();
        call(&name, arguments, invoke.span)
    }

    /// A function of the host that the heuristic needs.
    pub(super) fn predicate(&mut self, name: &str, param: &str, span: Span) {
        if self.known.iter().any(|(n, ..)| n == name) {
            return;
        }
        self.known.push((name.to_owned(), 1, None, name.to_owned()));
        let params =
            vec![Param { name: Ident::new(param.to_owned(), span), ty: named("Text", span) }];
        let no = expr(ExprKind::Bool(false), span);
        self.declare(name, params, FunctionKind::Pure(named("Bool", span), Some(no)), span);
    }

    /// An effect of the host: `action` of a code step.
    pub(super) fn effect(&mut self, name: &Ident) -> Ident {
        let written = Ident::new(word(&name.node), name.span);
        if !self.known.iter().any(|(n, ..)| *n == written.node) {
            self.known.push((written.node.clone(), 0, None, written.node.clone()));
            self.declare(&written.node, Vec::new(), FunctionKind::Effect, name.span);
        }
        written
    }

    fn declare(&mut self, name: &str, params: Vec<Param>, kind: FunctionKind, span: Span) {
        let name = Ident::new(name.to_owned(), span);
        self.all.push(apart(ChartItem::Function(Function { name, params, kind }), span));
    }
}

/// As a name of the language.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let word: String = text.chars().map(plain).collect();
    if word.starts_with(|c: char| c.is_ascii_lowercase()) { word } else { format!("f{word}") }
}

fn same_value(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(Value::Text(a)), Some(Value::Text(b))) => a.value == b.value,
        (a, b) => a == b,
    }
}

/// A YAML value as an expression. Texts are formatted with the context, if there is one.
fn value(node: &Node, scope: Option<&Scope>) -> Expr {
    let span = node.span;
    let kind = match &node.value {
        Value::Null => ExprKind::None,
        Value::Bool(b) => ExprKind::Bool(*b),
        Value::Int(i) => ExprKind::Int(*i),
        Value::Float(x) => ExprKind::Float(*x),
        Value::Text(text) => match scope {
            Some(scope) => ExprKind::Text(template(&parts(text), span, false, scope)),
            None => return crate::front::agent::make::text(text.value.clone(), span),
        },
        Value::List(items) => ExprKind::List(items.iter().map(|i| value(i, scope)).collect()),
        Value::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(k, v)| Entry { key: value(k, None), value: value(v, scope) })
                .collect(),
        ),
    };
    expr(kind, span)
}
