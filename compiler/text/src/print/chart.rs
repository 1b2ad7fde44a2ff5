//! Prints charts, and the items that only charts have.

use super::declare::{client, component, function, tool, tool_set};
use super::expr::{expr, float, params, type_expr};
use super::out::{Layout, Out};
use super::state;
use super::step::policy;
use super::text::{lower, path, plain, renamed, upper};
use crate::syntax::{
    Argument, Chart, ChartItem, Check, Meta, MetaValue, Variable, VariableKind, is_lower_snake,
    is_reserved,
};

/// Prints `chart N { … }`.
pub(super) fn chart(out: &mut Out, node: &Chart) {
    out.push(&format!("chart {} ", upper(&node.name.node)));
    out.body(&node.items, &node.end, Layout::Lines, item);
}

fn item(out: &mut Out, item: &ChartItem) {
    match item {
        ChartItem::Meta(entries) => meta(out, entries),
        ChartItem::Variable(node) => variable(out, node),
        ChartItem::Event(name, fields) => {
            out.push(&format!("event {}", path(name)));
            if !fields.is_empty() {
                out.push(&params(fields));
            }
        }
        ChartItem::Function(node) => function(out, node),
        ChartItem::Tool(node) => tool(out, node),
        ChartItem::ToolSet(node) => tool_set(out, node),
        ChartItem::Predicate(node) => {
            let test = expr(&node.expr, out.level);
            out.push(&format!("pred {} = {test}", lower(&node.name.node)));
        }
        ChartItem::Client(node) => client(out, node),
        ChartItem::Component(node) => component(out, node),
        ChartItem::Defaults(node) => {
            let policy = policy(node, out.level);
            out.push(&format!("defaults {{ {policy} }}"));
        }
        ChartItem::Trace(None) => out.push("trace all"),
        ChartItem::Trace(Some(count)) => out.push(&format!("trace {count}")),
        ChartItem::Check(node) => check(out, node),
        ChartItem::State(node) => state::item(out, node),
    }
}

fn variable(out: &mut Out, node: &Variable) {
    let (word, per_turn) = match node.kind {
        VariableKind::Param => ("param", false),
        VariableKind::Input => ("input", false),
        VariableKind::Var { per_turn } => ("var", per_turn),
    };
    let name = lower(&node.name.node) + &renamed(&node.renamed);
    out.push(&format!("{word} {name}: {}", type_expr(&node.ty)));
    if let Some((from, to)) = &node.range {
        out.push(&format!(" in {}..{}", expr(from, out.level), expr(to, out.level)));
    }
    if let Some(default) = &node.default {
        out.push(&format!(" = {}", expr(default, out.level)));
    }
    if per_turn {
        out.push(" per turn");
    }
}

fn check(out: &mut Out, node: &Check) {
    let arguments: Vec<String> = node
        .arguments
        .iter()
        .map(|argument| match argument {
            Argument::State(state) => path(state),
            Argument::Before(first, second) => format!("{} before {}", path(first), path(second)),
            Argument::Bound(bound) => {
                let unit = &bound.unit.node;
                let unit = if unit == "turn" { unit.clone() } else { lower(unit) };
                format!("{} {unit}", expr(&bound.expr, out.level))
            }
        })
        .collect();
    out.push(&format!("check {}({})", lower(&node.name.node), arguments.join(", ")));
}

fn meta(out: &mut Out, entries: &[Meta]) {
    let row: Vec<String> =
        entries.iter().map(|e| format!("{}: {}", key(&e.key.node), value(&e.value))).collect();
    let row = format!("meta {{ {} }}", row.join("  "));
    if entries.is_empty() {
        out.push("meta { }");
    } else if out.fits(&row) {
        out.push(&row);
    } else {
        out.push("meta {\n");
        out.level += 1;
        for entry in entries {
            out.push(&Out::indent(out.level));
            out.push(&format!("{}: ", key(&entry.key.node)));
            broken_value(out, &entry.value);
            out.push("\n");
        }
        out.level -= 1;
        out.push(&Out::indent(out.level));
        out.push("}");
    }
}

fn key(key: &str) -> String {
    if is_lower_snake(key) && !is_reserved(key) { key.to_owned() } else { plain(key) }
}

fn value(node: &MetaValue) -> String {
    match node {
        MetaValue::None => "none".to_owned(),
        MetaValue::Bool(value) => value.to_string(),
        MetaValue::Int(value) => value.to_string(),
        MetaValue::Float(value) if value.is_finite() => float(*value),
        MetaValue::Float(_) => "none".to_owned(),
        MetaValue::Text(text) => plain(text),
        MetaValue::List(items) => {
            format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", "))
        }
        MetaValue::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(k, v)| format!("{}: {}", key(k), value(v))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Prints a value on one line if it fits, else with one entry per line.
fn broken_value(out: &mut Out, node: &MetaValue) {
    let row = value(node);
    if out.fits(&row) {
        out.push(&row);
        return;
    }
    match node {
        MetaValue::List(items) => {
            out.push("[\n");
            out.level += 1;
            for item in items {
                out.push(&Out::indent(out.level));
                broken_value(out, item);
                out.push(",\n");
            }
            out.level -= 1;
            out.push(&format!("{}]", Out::indent(out.level)));
        }
        MetaValue::Map(entries) => {
            out.push("{\n");
            out.level += 1;
            for (name, item) in entries {
                out.push(&format!("{}{}: ", Out::indent(out.level), key(name)));
                broken_value(out, item);
                out.push(",\n");
            }
            out.level -= 1;
            out.push(&format!("{}}}", Out::indent(out.level)));
        }
        _ => out.push(&row),
    }
}
