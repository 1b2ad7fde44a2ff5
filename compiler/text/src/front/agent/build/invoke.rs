//! Host functions for the InvokeSpecs and actions of an agent.

use super::decide::REPEATS;
use super::template::template;
use crate::front::agent::code::Scope;
use crate::front::agent::definition::Invoke;
use crate::front::agent::format::parts;
use crate::front::agent::make::{apart, call, expr};
use crate::front::agent::node::{Node, Value};
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{
    ChartItem, Entry, Expr, ExprKind, Function, FunctionKind, Method, Noted, Param, TypeExpr,
    TypeKind,
};

/// The host functions that an agent needs, each declared once.
#[derive(Default)]
pub(super) struct Functions {
    all: Vec<Noted<ChartItem>>,
    known: Vec<(Origin, String)>,
}

/// The origin of a host function. Different origins get different functions, even if their names become equal in the language.
#[derive(PartialEq)]
enum Origin {
    /// A method of an artifact, with a number of arguments and a fallback.
    Method(String, String, usize, Option<Constant>),
    /// A test of the agent's record of actions.
    Record(&'static str),
    /// `action` of a code step.
    Action(String),
}

/// A fallback. Texts are compared without their positions.
#[derive(Clone)]
struct Constant(Value);

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Value::Text(a), Value::Text(b)) => a.value == b.value,
            (a, b) => a == b,
        }
    }
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

    /// A call of a host function, which is declared on first use.
    pub(super) fn invoke(&mut self, invoke: &Invoke, scope: &Scope) -> Expr {
        let artifact = invoke.artifact.node.as_str();
        let method = invoke.method.as_ref().map_or("call", |m| m.node.as_str());
        let span = invoke.artifact.span;
        let count = invoke.arguments.len();
        let fallback = invoke.fallback.as_ref().map(|f| Constant(f.value.clone()));
        let origin = Origin::Method(artifact.to_owned(), method.to_owned(), count, fallback);
        let name = match self.known(&origin) {
            Some(name) => name,
            None => {
                let name = self.name(origin, &format!("{artifact}_{method}"));
                let params = (1..=count)
                    .map(|i| Param { name: Ident::new(format!("arg_{i}"), span), ty: json(span) })
                    .collect();
                let value = invoke.fallback.as_ref().map(|f| value(f, None));
                let text = |text: &str| Spanned::new(text.to_owned(), span);
                let from = Method { artifact: text(artifact), name: text(method) };
                let kind = FunctionKind::Pure(json(span), Some(from), value);
                self.declare(&name, params, kind, span);
                name
            }
        };
        let arguments = invoke.arguments.iter().map(|a| value(a, Some(scope))).collect();
        call(&name, arguments, invoke.span)
    }

    /// The name of a test of the agent's record, which the heuristic calls; declared on first use.
    pub(super) fn predicate(&mut self, name: &'static str, param: &str, span: Span) -> String {
        if let Some(name) = self.known(&Origin::Record(name)) {
            return name;
        }
        let name = self.name(Origin::Record(name), name);
        let params =
            vec![Param { name: Ident::new(param.to_owned(), span), ty: named("Text", span) }];
        let no = expr(ExprKind::Bool(false), span);
        let kind = FunctionKind::Pure(named("Bool", span), None, Some(no));
        self.declare(&name, params, kind, span);
        name
    }

    /// The host function for the `action` of a code step.
    pub(super) fn effect(&mut self, name: &Ident) -> Ident {
        let origin = Origin::Action(name.node.clone());
        let written = match self.known(&origin) {
            Some(written) => written,
            None => {
                let written = self.name(origin, &name.node);
                self.declare(&written, Vec::new(), FunctionKind::Effect, name.span);
                written
            }
        };
        Ident::new(written, name.span)
    }

    fn known(&self, origin: &Origin) -> Option<String> {
        self.known.iter().find(|(known, _)| known == origin).map(|(_, name)| name.clone())
    }

    /// A unique name, as close to the wanted one as possible.
    fn name(&mut self, origin: Origin, wanted: &str) -> String {
        let wanted = word(wanted);
        let mut name = wanted.clone();
        let mut number = 2;
        // The host recognizes the tests of the record by their names, so no other function may have such a name.
        let is_kept = |name: &str| name == REPEATS && origin != Origin::Record(REPEATS);
        while is_kept(&name) || self.known.iter().any(|(_, known)| *known == name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.known.push((origin, name.clone()));
        name
    }

    fn declare(&mut self, name: &str, params: Vec<Param>, kind: FunctionKind, span: Span) {
        let name = Ident::new(name.to_owned(), span);
        self.all.push(apart(ChartItem::Function(Function { name, params, kind }), span));
    }
}

/// Turns a text into a name of the language: `Kv-Store_get` becomes `kv_store_get`.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let word: String = text.chars().map(plain).collect();
    if word.starts_with(|c: char| c.is_ascii_lowercase()) { word } else { format!("f{word}") }
}

/// A YAML value as an expression. With a scope, texts may contain placeholders.
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
