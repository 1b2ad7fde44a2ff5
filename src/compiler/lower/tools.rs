//! Resolves sets of tools, as they are declared and as lines name them.

use super::context::{Cx, NameKind, declare};
use crate::rules::{ILLEGAL_STRUCTURE, duplicate_name};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, ToolPattern};
use chartc_core::arena::{ToolId, ToolSetId};
use chartc_core::model::ToolSet;
use std::collections::BTreeSet;

pub(super) fn tool_set(cx: &mut Cx<'_>, node: &syntax::ToolSet) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::ToolSet);
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
                    cx.record_tool_use(&path.names);
                } else if let Some((set, place)) = cx.names.tool_sets.get(&text).copied() {
                    cx.record_use(path.span, place, NameKind::ToolSet);
                    let set = &cx.chart.tool_sets[set.index()];
                    any |= set.any;
                    tools.extend(&set.tools);
                    minus.extend(set.minus.iter().cloned());
                } else {
                    unknown_tool(cx, &text, path.span);
                }
            }
            ToolPattern::Prefix(path) => {
                cx.record_tool_use(&path.names);
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
        leave_out(cx, pattern, &mut tools, &mut minus);
    }
    let id = ToolSetId::at(cx.chart.tool_sets.len());
    if declare(&mut cx.findings, &mut cx.names.tool_sets, "tool set", name, span, id) {
        let tools = tools.into_iter().collect();
        cx.chart.tool_sets.push(ToolSet { name: name.clone(), any, tools, minus });
        cx.map.tool_sets.push(Some(span));
    }
}

/// Takes what a pattern behind `-` names out of the set.
fn leave_out(
    cx: &mut Cx<'_>,
    pattern: &ToolPattern,
    tools: &mut BTreeSet<ToolId>,
    minus: &mut Vec<String>,
) {
    match pattern {
        ToolPattern::Any(span) => {
            cx.report(ILLEGAL_STRUCTURE.at(*span, "`- any` leaves no tool in the set"));
        }
        ToolPattern::Name(path) => take_away(cx, path, tools, minus),
        ToolPattern::Prefix(path) => {
            cx.record_tool_use(&path.names);
            let prefix = format!("{}.", path.text());
            for tool in below(&cx.names.tools, &prefix) {
                tools.remove(&tool);
            }
            minus.push(format!("{prefix}*"));
        }
    }
}

/// The set with this name. A tool is a set of its own, and `any` is the set of all tools.
pub(super) fn named_tool_set(cx: &mut Cx<'_>, names: &[Ident]) -> Option<ToolSetId> {
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return None };
    let span = first.span.to(last.span);
    let words: Vec<&str> = names.iter().map(|name| name.node.as_str()).collect();
    let name = words.join(".");
    let name = name.as_str();
    if let Some((id, place)) = cx.names.tool_sets.get(name).copied() {
        cx.record_use(span, place, NameKind::ToolSet);
        return Some(id);
    }
    cx.record_tool_use(names);
    let tool = cx.names.tools.get(name).map(|(id, _)| *id);
    let any = name == "any";
    if tool.is_none() && !any {
        let known: Vec<String> =
            cx.names.tool_sets.keys().chain(cx.names.tools.keys()).cloned().collect();
        cx.unknown("tool or tool set", name, span, known.iter().map(String::as_str));
        return None;
    }
    // Another line may have made the set for this tool or for `any` before.
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

fn take_away(
    cx: &mut Cx<'_>,
    path: &syntax::Path,
    tools: &mut BTreeSet<ToolId>,
    minus: &mut Vec<String>,
) {
    let name = path.text();
    if let Some((set, place)) = cx.names.tool_sets.get(&name).copied() {
        cx.record_use(path.span, place, NameKind::ToolSet);
        for tool in &cx.chart.tool_sets[set.index()].tools {
            tools.remove(tool);
            minus.push(cx.chart.tools[tool.index()].name.clone());
        }
        return;
    }
    cx.record_tool_use(&path.names);
    if let Some((tool, _)) = cx.names.tools.get(&name) {
        tools.remove(tool);
    }
    // Also if it is not declared: the host may have such a tool, which `any` would include.
    minus.push(name);
}

fn unknown_tool(cx: &mut Cx<'_>, name: &str, span: Span) {
    let known: Vec<String> =
        cx.names.tools.keys().chain(cx.names.tool_sets.keys()).cloned().collect();
    cx.unknown("tool", name, span, known.iter().map(String::as_str));
}
