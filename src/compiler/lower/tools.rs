//! Resolves sets of tools, as they are declared and as lines name them.

use super::context::{Cx, NameKind, declare};
use crate::rules::{ILLEGAL_STRUCTURE, duplicate_name};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, ToolPattern, ToolSum};
use chartc_core::arena::{ToolId, ToolSetId};
use chartc_core::model::ToolSet;
use std::collections::BTreeSet;

pub(super) fn tool_set(cx: &mut Cx<'_>, node: &syntax::ToolSet) {
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::ToolSet);
    if let Some((_, tool)) = cx.names.tools.get(name) {
        cx.findings.push(duplicate_name::taken(name, "a tool", span, *tool));
    }
    let (set, _) = resolve(cx, name, &node.tools);
    let id = ToolSetId::at(cx.chart.tool_sets.len());
    if declare(&mut cx.findings, &mut cx.names.tool_sets, "tool set", name, span, id) {
        cx.chart.tool_sets.push(set);
        cx.map.tool_sets.push(Some(span));
    }
}

/// Resolves a sum of tools as a set of this name, and whether all of its names are known; reports the others.
fn resolve(cx: &mut Cx<'_>, name: &str, sum: &ToolSum) -> (ToolSet, bool) {
    let (mut any, mut is_known) = (false, true);
    let mut tools = BTreeSet::new();
    let mut minus = Vec::new();
    for pattern in &sum.plus {
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
                    is_known = false;
                }
            }
            ToolPattern::Prefix(path) => {
                cx.record_tool_use(&path.names);
                let prefix = format!("{}.", path.text());
                let matching: Vec<ToolId> = below(&cx.names.tools, &prefix).collect();
                if matching.is_empty() {
                    unknown_tool(cx, &format!("{prefix}*"), path.span);
                    is_known = false;
                }
                tools.extend(matching);
            }
        }
    }
    for pattern in &sum.minus {
        leave_out(cx, pattern, &mut tools, &mut minus);
    }
    let tools = tools.into_iter().collect();
    (ToolSet { name: name.to_owned(), any, tools, minus }, is_known)
}

/// The set that a line names or describes.
pub(super) fn set_of(cx: &mut Cx<'_>, sum: &ToolSum) -> Option<ToolSetId> {
    if let Some(path) = sum.single() {
        return named_tool_set(cx, &path.names);
    }
    let name = sum.text();
    let (set, is_known) = resolve(cx, &name, sum);
    is_known.then(|| add(cx, set))
}

/// The declared tools that a sum stands for. Reports nothing.
pub(super) fn members(cx: &Cx<'_>, sum: &ToolSum) -> BTreeSet<ToolId> {
    let all = || (0..cx.chart.tools.len()).map(ToolId::at);
    let of = |pattern: &ToolPattern| -> Vec<ToolId> {
        match pattern {
            ToolPattern::Any(_) => all().collect(),
            ToolPattern::Prefix(path) => {
                below(&cx.names.tools, &format!("{}.", path.text())).collect()
            }
            ToolPattern::Name(path) => {
                let name = path.text();
                let set = cx.names.tool_sets.get(&name);
                let tool = cx.names.tools.get(&name).map(|(tool, _)| *tool);
                match set {
                    Some((set, _)) => cx.chart.tools_of(*set),
                    None => tool.into_iter().collect(),
                }
            }
        }
    };
    let plus: BTreeSet<ToolId> = sum.plus.iter().flat_map(of).collect();
    let minus: BTreeSet<ToolId> = sum.minus.iter().flat_map(of).collect();
    &plus - &minus
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
    let (tools, minus) = (tool.into_iter().collect(), Vec::new());
    Some(add(cx, ToolSet { name: name.to_owned(), any, tools, minus }))
}

/// Adds a set that has no declaration, unless another line has added it before.
fn add(cx: &mut Cx<'_>, set: ToolSet) -> ToolSetId {
    if let Some(made) = cx.chart.tool_sets.iter().position(|other| other.name == set.name) {
        return ToolSetId::at(made);
    }
    cx.chart.tool_sets.push(set);
    cx.map.tool_sets.push(None);
    ToolSetId::at(cx.chart.tool_sets.len() - 1)
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
