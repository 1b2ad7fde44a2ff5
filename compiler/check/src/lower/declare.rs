//! Declares host functions and clients.

use super::context::{Cx, declare};
use super::expr::{self, Env};
use super::items::Declared;
use super::uses::NameKind;
use super::{server_options, structure, types};
use chartc_core::arena::{ClientId, FunctionId};
use chartc_core::expr::Value;
use chartc_core::model::ActionForm;
use chartc_core::model::{Client, Function, FunctionKind, Method, Type};
use chartc_text::rules::duplicate_name;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::Span;
use chartc_text::syntax;
use std::collections::BTreeMap;

/// Declares all host functions.
pub(super) fn functions(cx: &mut Cx<'_>, items: &[Declared<'_, &syntax::Function>]) {
    for item in items {
        let name = &item.node.name;
        cx.record_declaration(name, NameKind::Function);
        if expr::is_language_function(&name.node) {
            cx.report(duplicate_name::of_the_language(&name.node, "a function", name.span));
            continue;
        }
        let id = FunctionId::at(cx.chart.functions.len());
        let free = declare(
            &mut cx.findings,
            &mut cx.names.functions,
            "function",
            &name.node,
            name.span,
            id,
        );
        let params = structure::fields(cx, &item.node.params, NameKind::Param);
        let kind = match &item.node.kind {
            syntax::FunctionKind::Pure(result, method, fallback) => {
                let result = types::resolve(cx, result);
                let fallback =
                    fallback.as_ref().and_then(|value| constant(cx, value, &result, "`else`"));
                let method = method.as_ref().map(|method| Method {
                    artifact: method.artifact.node.clone(),
                    name: method.name.node.clone(),
                });
                FunctionKind::Pure { result, fallback, method }
            }
            syntax::FunctionKind::Effect => FunctionKind::Effect,
        };
        if free {
            let (name, doc) = (name.node.clone(), item.doc.to_owned());
            cx.chart.functions.push(Function { name, doc, kind, params });
            cx.map.functions.push(item.node.name.span);
        }
    }
}

/// The value of an expression that must be a literal of type `want`.
pub(super) fn constant(
    cx: &mut Cx<'_>,
    written: &syntax::Expr,
    want: &Type,
    what: &str,
) -> Option<Value> {
    let before = cx.findings.len();
    let lowered = expr::expect(cx, &mut Env::constant(), written, want);
    let value = expr::value_of(&lowered);
    if value.is_none() && cx.findings.len() == before && !expr::is_faulty(&lowered) {
        cx.report(TYPE_ERROR.at(written.span, format!("the value of {what} must be a literal")));
    }
    value
}

/// The names of the options that a client can have.
pub const OPTIONS: [&str; 10] = [
    "model",
    "temperature",
    "max_tokens",
    "timeout",
    "options",
    "retry",
    "fallback",
    "input_price",
    "output_price",
    "actions",
];

/// Declares all clients.
pub(super) fn clients(cx: &mut Cx<'_>, items: &[Declared<'_, &syntax::Client>]) {
    let mut kept = Vec::new();
    for item in items {
        let name = &item.node.name;
        cx.record_declaration(name, NameKind::Client);
        let id = ClientId::at(cx.chart.clients.len());
        if declare(&mut cx.findings, &mut cx.names.clients, "client", &name.node, name.span, id) {
            kept.push((id, item.node));
            cx.map.clients.push(name.span);
            cx.map.client_timeouts.push(None);
            cx.chart.clients.push(Client {
                name: name.node.clone(),
                model: String::new(),
                temperature: None,
                max_tokens: None,
                timeout: None,
                options: String::new(),
                retry: None,
                input_price: None,
                output_price: None,
                actions: ActionForm::Any,
                fallback: None,
            });
        }
    }
    // A client may fall back to one that is declared further down.
    for (id, node) in &kept {
        client(cx, *id, node);
    }
    for (id, node) in &kept {
        refuse_cycle(cx, *id, node);
    }
}

fn client(cx: &mut Cx<'_>, id: ClientId, node: &syntax::Client) {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for noted in &node.options {
        let option = &noted.node;
        let (name, span) = (option.name.node.as_str(), option.name.span);
        if let Some(first) = seen.get(name) {
            cx.findings.push(duplicate_name::twice("option", name, span, *first));
            continue;
        }
        seen.insert(name, span);
        match name {
            "model" => {
                if let Some(Value::Text(model)) =
                    constant(cx, &option.value, &Type::Text, "`model`")
                {
                    if !model.contains(':') {
                        let finding = TYPE_ERROR
                            .at(option.value.span, "a model is written `\"provider:model\"`");
                        cx.report(finding);
                    }
                    cx.chart.clients[id.index()].model = model;
                }
            }
            "temperature" => {
                if let Some(Value::Float(x)) =
                    constant(cx, &option.value, &Type::Float, "`temperature`")
                {
                    cx.chart.clients[id.index()].temperature = Some(x);
                }
            }
            "max_tokens" => {
                let bound = count(cx, &option.value, "`max_tokens`");
                cx.chart.clients[id.index()].max_tokens = bound;
            }
            "timeout" => {
                if let Some(Value::Duration(ms)) =
                    constant(cx, &option.value, &Type::Duration, "`timeout`")
                {
                    cx.chart.clients[id.index()].timeout = Some(ms);
                    cx.map.client_timeouts[id.index()] = Some(option.value.span);
                }
            }
            "options" => {
                let options = server_options::read(cx, &option.value);
                cx.chart.clients[id.index()].options = options;
            }
            "retry" => {
                let bound = count(cx, &option.value, "`retry`");
                cx.chart.clients[id.index()].retry = bound.and_then(|n| u32::try_from(n).ok());
            }
            "input_price" | "output_price" => {
                let price = money(cx, &option.value, &format!("`{name}`"));
                let client = &mut cx.chart.clients[id.index()];
                match name {
                    "input_price" => client.input_price = price,
                    _ => client.output_price = price,
                }
            }
            "actions" => {
                let form = action_form(cx, &option.value);
                cx.chart.clients[id.index()].actions = form;
            }
            "fallback" => {
                let fallback = fallback(cx, &option.value);
                cx.chart.clients[id.index()].fallback = fallback;
            }
            _ => cx.unknown("client option", name, span, OPTIONS),
        }
    }
}

/// The form in which a client writes actions.
fn action_form(cx: &mut Cx<'_>, written: &syntax::Expr) -> ActionForm {
    let syntax::ExprKind::Name(word) = &written.kind else {
        cx.report(TYPE_ERROR.at(written.span, "`actions` is `simple` or `ooda`"));
        return ActionForm::Any;
    };
    ActionForm::of(word).unwrap_or_else(|| {
        cx.unknown("form of actions", word, written.span, ActionForm::WORDS);
        ActionForm::Any
    })
}

/// Lowers a literal amount of money; reports a negative one.
pub(super) fn money(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<f64> {
    match constant(cx, written, &Type::Float, what)? {
        Value::Float(x) if x >= 0.0 => Some(x),
        _ => {
            cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
            None
        }
    }
}

/// Lowers a literal whole number; reports a negative one.
pub(super) fn count(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<i64> {
    let Some(Value::Int(n)) = constant(cx, written, &Type::Int, what) else { return None };
    if n < 0 {
        cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
        return None;
    }
    Some(n)
}

fn fallback(cx: &mut Cx<'_>, value: &syntax::Expr) -> Option<ClientId> {
    let syntax::ExprKind::Name(name) = &value.kind else {
        cx.report(TYPE_ERROR.at(value.span, "`fallback` takes the name of a client"));
        return None;
    };
    client_named(cx, name, value.span)
}

/// The client of this name; reports it if there is none.
pub(super) fn client_named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<ClientId> {
    let found = cx.names.clients.get(name).copied();
    if let Some((_, place)) = found {
        cx.record_use(span, place, NameKind::Client);
    } else {
        let known: Vec<String> = cx.names.clients.keys().cloned().collect();
        cx.unknown("client", name, span, known.iter().map(String::as_str));
    }
    found.map(|(id, _)| id)
}

/// Reports a client that falls back to itself, directly or not: it would be tried forever.
fn refuse_cycle(cx: &mut Cx<'_>, id: ClientId, node: &syntax::Client) {
    let mut next = cx.chart.clients[id.index()].fallback;
    for _ in 0..cx.chart.clients.len() {
        match next {
            Some(other) if other == id => {
                let message = format!("client `{}` falls back to itself", node.name.node);
                cx.report(ILLEGAL_STRUCTURE.at(node.name.span, message));
                cx.chart.clients[id.index()].fallback = None;
                return;
            }
            Some(other) => next = cx.chart.clients[other.index()].fallback,
            None => return,
        }
    }
}
