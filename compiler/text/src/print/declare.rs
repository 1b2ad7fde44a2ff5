//! Prints top level items, and the declarations that charts share with them.

use super::chart;
use super::expr::{expr, param, params, type_expr};
use super::out::{Layout, Out};
use super::test;
use super::text::{lower, path, plain, template, uninterpolated, upper};
use crate::syntax::{
    Client, ClientOption, Component, Entry, Enum, Expr, ExprKind, Function, FunctionKind, Insert,
    InsertPosition, Item, Record, TemplatePart, Tool, ToolPattern, ToolSet,
};

/// Prints a top level item.
pub(super) fn item(out: &mut Out, item: &Item) {
    match item {
        Item::Import(import) => out.push(&format!("import {}", plain(&import.path.node))),
        Item::Record(node) => record(out, node),
        Item::Enum(node) => enumeration(out, node),
        Item::Function(node) => function(out, node),
        Item::Tool(node) => tool(out, node),
        Item::ToolSet(node) => tool_set(out, node),
        Item::Client(node) => client(out, node),
        Item::Component(node) => component(out, node),
        Item::Chart(node) => chart::chart(out, node),
        Item::Scenario(node) => test::scenario(out, node),
        Item::Bad(_) => {}
    }
}

fn record(out: &mut Out, node: &Record) {
    out.push(&format!("type {} ", upper(&node.name.node)));
    out.body(&node.fields, &[], Layout::Row, |out, field| out.push(&param(field)));
}

fn enumeration(out: &mut Out, node: &Enum) {
    out.push(&format!("enum {} ", upper(&node.name.node)));
    out.body(&node.names, &[], Layout::Row, |out, name| out.push(&lower(&name.node)));
}

/// Prints a `fn` or a `do`.
pub(super) fn function(out: &mut Out, node: &Function) {
    let (name, all) = (lower(&node.name.node), params(&node.params));
    match &node.kind {
        FunctionKind::Effect => out.push(&format!("do {name}{all}")),
        FunctionKind::Pure(result, method, otherwise) => {
            out.push(&format!("fn {name}{all} -> {}", type_expr(result)));
            if let Some(method) = method {
                let (artifact, name) = (plain(&method.artifact.node), plain(&method.name.node));
                out.push(&format!(" from {artifact} {name}"));
            }
            if let Some(otherwise) = otherwise {
                out.push(&format!(" else {}", expr(otherwise, out.level)));
            }
        }
    }
}

/// Prints a `tool`.
pub(super) fn tool(out: &mut Out, node: &Tool) {
    let (all, result) = (params(&node.params), type_expr(&node.result));
    let idempotent = if node.idempotent { " idempotent" } else { "" };
    out.push(&format!("tool {}{all} -> {result}{idempotent}", path(&node.name)));
}

/// Prints a `tools`.
pub(super) fn tool_set(out: &mut Out, node: &ToolSet) {
    out.push(&format!("tools {} = ", lower(&node.name.node)));
    let plus: Vec<String> = node.plus.iter().map(pattern).collect();
    out.push(&plus.join(" | "));
    for minus in &node.minus {
        out.push(&format!(" - {}", pattern(minus)));
    }
}

fn pattern(pattern: &ToolPattern) -> String {
    match pattern {
        ToolPattern::Any(_) => "any".to_owned(),
        ToolPattern::Name(name) if name.names.len() == 1 && name.text() == "any" => {
            // Without back-quotes it would mean all tools.
            "`any`".to_owned()
        }
        ToolPattern::Name(name) => path(name),
        ToolPattern::Prefix(name) => format!("{}.*", path(name)),
    }
}

/// Prints a `client`.
pub(super) fn client(out: &mut Out, node: &Client) {
    out.push(&format!("client {} ", lower(&node.name.node)));
    out.body(&node.options, &[], Layout::Row, client_option);
}

fn client_option(out: &mut Out, node: &ClientOption) {
    let value = client_value(&node.value, out.level);
    out.push(&format!("{} {value}", lower(&node.name.node)));
}

fn client_value(value: &Expr, level: usize) -> String {
    if let ExprKind::Text(text) = &value.kind {
        return uninterpolated(text);
    }
    let ExprKind::Map(entries) = &value.kind else { return expr(value, level) };
    let options = entries.iter().filter_map(|Entry { key, value }| {
        let ExprKind::Text(name) = &key.kind else { return None };
        let [TemplatePart::Text(name, _)] = name.parts.as_slice() else { return None };
        Some(format!("{} {} ", lower(name), client_value(value, level)))
    });
    format!("{{ {}}}", options.collect::<Vec<_>>().join(" "))
}

/// Prints a `component`.
pub(super) fn component(out: &mut Out, node: &Component) {
    let inserts: Vec<String> = node.inserts.iter().map(|i| insert(i, out.level)).collect();
    let text = template(&node.text, out.level);
    out.push(&format!("component {} into {} {text}", lower(&node.name.node), inserts.join(", ")));
}

fn insert(node: &Insert, level: usize) -> String {
    let guard = node.guard.as_ref().map_or(String::new(), |g| format!(" if {}", expr(g, level)));
    let place = match node.place {
        InsertPosition::Start => " at start",
        InsertPosition::End => "",
        InsertPosition::Replace => " at replace",
    };
    format!("{}{guard}{place}", lower(&node.step.node))
}
