//! Declarations that nothing uses.

use super::{Context, Lint};
use crate::analysis::usage::Usage;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;
use chartc_core::model::{FunctionKind, ToolSet, VariableKind};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0411",
    name: "unused-declaration",
    severity: Severity::Warning,
    page: include_str!("unused_declaration.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    let usage = Usage::of(chart);
    let Some(whole) = map.states.first().map(|s| s.whole) else { return };
    // What stands beside the chart may be there for another one.
    let own =
        |span: &Span| span.file == whole.file && whole.start <= span.start && span.end <= whole.end;
    let mut unused = |span: Span, word: &str, name: &str, does: &str| {
        if own(&span) {
            let found = RULE.at(span, format!("nothing {does} the {word} `{name}`"));
            diagnostics.push(found.help("remove it, or use it"));
        }
    };
    for (i, variable) in chart.variables.iter().enumerate() {
        if usage.seen[i] || usage.set[i] {
            continue;
        }
        let (word, does) = match variable.kind {
            // It may tell the host which instance this is.
            VariableKind::Param { .. } => continue,
            VariableKind::Input => ("input", "reads"),
            VariableKind::Var { .. } => ("variable", "reads or sets"),
        };
        unused(map.variables[i], word, &variable.name, does);
    }
    for (i, function) in chart.functions.iter().enumerate().filter(|(i, _)| !usage.called[*i]) {
        let word = match function.kind {
            FunctionKind::Pure { .. } => "function",
            FunctionKind::Effect => "effect",
        };
        unused(map.functions[i], word, &function.name, "calls");
    }
    for (i, client) in chart.clients.iter().enumerate().filter(|(i, _)| !usage.clients[*i]) {
        unused(map.clients[i], "client", &client.name, "uses");
    }
    for (i, tool) in chart.tools.iter().enumerate().filter(|(i, _)| !usage.tools[*i]) {
        unused(map.tools[i], "tool", &tool.name, "offers or calls");
    }
    let sets = chart.tool_sets.iter().enumerate().filter(|(i, _)| !usage.tool_sets[*i]);
    for (set, span) in sets.filter_map(|(i, set)| Some((set, map.tool_sets[i]?))) {
        // One that is made for others is used by them.
        let apart = |other: &ToolSet| {
            other.name == set.name || set.tools.iter().any(|tool| !other.tools.contains(tool))
        };
        if set.any || chart.tool_sets.iter().all(apart) {
            unused(span, "set of tools", &set.name, "offers");
        }
    }
    for (i, predicate) in chart.predicates.iter().enumerate().filter(|(i, _)| !usage.asked[*i]) {
        unused(map.predicates[i], "condition", &predicate.name, "asks for");
    }
}
