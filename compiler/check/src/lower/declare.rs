//! Host functions, tools, sets of tools, clients.

use super::context::{Cx, declare};
use super::expr::{self, Env};
use super::items::Declared;
use super::{structure, types};
use chartc_core::arena::{ClientId, FunctionId, ToolId, ToolSetId};
use chartc_core::expr::Value;
use chartc_core::model::ActionForm;
use chartc_core::model::{Client, Function, FunctionKind, Method, Tool, ToolSet, Type};
use chartc_text::rules::duplicate_name;
use chartc_text::rules::illegal_structure;
use chartc_text::rules::type_error;
use chartc_text::span::Span;
use chartc_text::syntax::{self, ToolPattern};
use std::collections::{BTreeMap, BTreeSet};

/// Declares all host functions.
pub(super) fn functions(cx: &mut Cx<'_>, items: &[Declared<'_, &syntax::Function>]) {
    for item in items {
        let name = &item.node.name;
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
        let params = structure::fields(cx, &item.node.params);
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
        cx.report(
            type_error::RULE.at(written.span, format!("the value of {what} must be a literal")),
        );
    }
    value
}

/// Declares all tools, then all sets. A set may only name sets that are declared before it.
pub(super) fn tools(
    cx: &mut Cx<'_>,
    items: &[Declared<'_, &syntax::Tool>],
    sets: &[Declared<'_, &syntax::ToolSet>],
) {
    for item in items {
        let name = item.node.name.text();
        let id = ToolId::at(cx.chart.tools.len());
        let span = item.node.name.span;
        let free = declare(&mut cx.findings, &mut cx.names.tools, "tool", &name, span, id);
        let params = structure::fields(cx, &item.node.params);
        let result = types::resolve(cx, &item.node.result);
        if free {
            cx.map.tools.push(span);
            let (doc, idempotent) = (item.doc.to_owned(), item.node.idempotent);
            cx.chart.tools.push(Tool { name, doc, params, result, idempotent });
        }
    }
    for item in sets {
        tool_set(cx, item.node);
    }
}

fn tool_set(cx: &mut Cx<'_>, node: &syntax::ToolSet) {
    let (name, span) = (&node.name.node, node.name.span);
    if let Some((_, tool)) = cx.names.tools.get(name) {
        cx.findings.push(duplicate_name::taken(name, "a tool", span, *tool));
    }
    let mut any = false;
    let mut tools = BTreeSet::new();
    let mut minus = Vec::new();
    for pattern in &node.plus {
        match pattern {
            ToolPattern::Any(_) => any = true,
            ToolPattern::Name(path) => {
                let text = path.text();
                if let Some((tool, _)) = cx.names.tools.get(&text) {
                    tools.insert(*tool);
                } else if let Some((set, _)) = cx.names.tool_sets.get(&text) {
                    let set = &cx.chart.tool_sets[set.index()];
                    any |= set.any;
                    tools.extend(&set.tools);
                    minus.extend(set.minus.iter().cloned());
                } else {
                    unknown_tool(cx, &text, path.span);
                }
            }
            ToolPattern::Prefix(path) => {
                let prefix = format!("{}.", path.text());
                let matching: Vec<ToolId> = below(&cx.names.tools, &prefix).collect();
                if matching.is_empty() {
                    unknown_tool(cx, &format!("{prefix}*"), path.span);
                }
                tools.extend(matching);
            }
        }
    }
    for pattern in &node.minus {
        match pattern {
            ToolPattern::Any(span) => {
                cx.report(illegal_structure::RULE.at(*span, "`- any` leaves no tool in the set"));
            }
            ToolPattern::Name(path) => take_away(cx, &path.text(), &mut tools, &mut minus),
            ToolPattern::Prefix(path) => {
                let prefix = format!("{}.", path.text());
                for tool in below(&cx.names.tools, &prefix) {
                    tools.remove(&tool);
                }
                minus.push(format!("{prefix}*"));
            }
        }
    }
    let id = ToolSetId::at(cx.chart.tool_sets.len());
    if declare(&mut cx.findings, &mut cx.names.tool_sets, "tool set", name, span, id) {
        let tools = tools.into_iter().collect();
        cx.chart.tool_sets.push(ToolSet { name: name.clone(), any, tools, minus });
        cx.map.tool_sets.push(Some(span));
    }
}

/// The set with this name. A tool is a set of its own, and `any` is the set of all tools.
pub(super) fn tools_named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<ToolSetId> {
    if let Some((id, _)) = cx.names.tool_sets.get(name) {
        return Some(*id);
    }
    let tool = cx.names.tools.get(name).map(|(id, _)| *id);
    let any = name == "any";
    if tool.is_none() && !any {
        let known: Vec<String> =
            cx.names.tool_sets.keys().chain(cx.names.tools.keys()).cloned().collect();
        cx.unknown("tool or tool set", name, span, known.iter().map(String::as_str));
        return None;
    }
    if let Some(made) = cx.chart.tool_sets.iter().position(|set| set.name == name) {
        return Some(ToolSetId::at(made));
    }
    let id = ToolSetId::at(cx.chart.tool_sets.len());
    let (tools, minus) = (tool.into_iter().collect(), Vec::new());
    cx.chart.tool_sets.push(ToolSet { name: name.to_owned(), any, tools, minus });
    cx.map.tool_sets.push(None);
    Some(id)
}

/// The tools whose names start with `prefix`, by name.
fn below<'t>(
    tools: &'t super::context::Table<ToolId>,
    prefix: &'t str,
) -> impl Iterator<Item = ToolId> + 't {
    tools
        .range(prefix.to_owned()..)
        .take_while(move |(name, _)| name.starts_with(prefix))
        .map(|(_, (id, _))| *id)
}

fn take_away(cx: &Cx<'_>, name: &str, tools: &mut BTreeSet<ToolId>, minus: &mut Vec<String>) {
    if let Some((set, _)) = cx.names.tool_sets.get(name) {
        for tool in &cx.chart.tool_sets[set.index()].tools {
            tools.remove(tool);
            minus.push(cx.chart.tools[tool.index()].name.clone());
        }
        return;
    }
    if let Some((tool, _)) = cx.names.tools.get(name) {
        tools.remove(tool);
    }
    minus.push(name.to_owned());
}

fn unknown_tool(cx: &mut Cx<'_>, name: &str, span: Span) {
    let known: Vec<String> =
        cx.names.tools.keys().chain(cx.names.tool_sets.keys()).cloned().collect();
    cx.unknown("tool", name, span, known.iter().map(String::as_str));
}

const OPTIONS: [&str; 9] = [
    "model",
    "temperature",
    "max_tokens",
    "timeout",
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
                retry: None,
                input_price: None,
                output_price: None,
                actions: ActionForm::Any,
                fallback: None,
            });
        }
    }
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
                        let finding = type_error::RULE
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
    if !seen.contains_key("model") {
        let finding = illegal_structure::RULE
            .at(node.name.span, format!("client `{}` names no model", node.name.node))
            .help("add `model \"provider:model\"`");
        cx.report(finding);
    }
}

/// The form in which a client writes actions.
fn action_form(cx: &mut Cx<'_>, written: &syntax::Expr) -> ActionForm {
    let syntax::ExprKind::Name(word) = &written.kind else {
        cx.report(type_error::RULE.at(written.span, "`actions` is `simple` or `ooda`"));
        return ActionForm::Any;
    };
    ActionForm::of(word).unwrap_or_else(|| {
        cx.unknown("form of actions", word, written.span, ActionForm::WORDS);
        ActionForm::Any
    })
}

/// An amount of money that is not negative.
pub(super) fn money(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<f64> {
    match constant(cx, written, &Type::Float, what)? {
        Value::Float(x) if x >= 0.0 => Some(x),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => {
            cx.report(type_error::RULE.at(written.span, format!("{what} cannot be negative")));
            None
        }
    }
}

/// A whole number that is not negative.
pub(super) fn count(cx: &mut Cx<'_>, written: &syntax::Expr, what: &str) -> Option<i64> {
    let Some(Value::Int(n)) = constant(cx, written, &Type::Int, what) else { return None };
    if n < 0 {
        cx.report(type_error::RULE.at(written.span, format!("{what} cannot be negative")));
        return None;
    }
    Some(n)
}

fn fallback(cx: &mut Cx<'_>, value: &syntax::Expr) -> Option<ClientId> {
    let syntax::ExprKind::Name(name) = &value.kind else {
        cx.report(type_error::RULE.at(value.span, "`fallback` takes the name of a client"));
        return None;
    };
    client_named(cx, name, value.span)
}

/// The client of this name; reports it if there is none.
pub(super) fn client_named(cx: &mut Cx<'_>, name: &str, span: Span) -> Option<ClientId> {
    let found = cx.names.clients.get(name).map(|(id, _)| *id);
    if found.is_none() {
        let known: Vec<String> = cx.names.clients.keys().cloned().collect();
        cx.unknown("client", name, span, known.iter().map(String::as_str));
    }
    found
}

/// Reports a client that falls back to itself, directly or not: it would be tried forever.
fn refuse_cycle(cx: &mut Cx<'_>, id: ClientId, node: &syntax::Client) {
    let mut next = cx.chart.clients[id.index()].fallback;
    for _ in 0..cx.chart.clients.len() {
        match next {
            Some(other) if other == id => {
                let message = format!("client `{}` falls back to itself", node.name.node);
                cx.report(illegal_structure::RULE.at(node.name.span, message));
                cx.chart.clients[id.index()].fallback = None;
                return;
            }
            Some(other) => next = cx.chart.clients[other.index()].fallback,
            None => return,
        }
    }
}
