//! Declarations that nothing uses.

use super::reading::is_yaml;
use super::{Context, Lint, misspelt_variable};
use crate::facts::usage::Usage;
use crate::lower::Lowered;
use crate::lower::test::Move;
use chartc_core::arena::VarId;
use chartc_core::model::{Function, FunctionKind, ToolSet, Type, Variable, VariableKind};
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::UNUSED_DECLARATION;
use chartc_text::span::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &UNUSED_DECLARATION, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    let usage = Usage::new(chart);
    let Some(whole) = map.states.first().map(|s| s.whole) else { return };
    // A declaration outside the chart may be for another chart.
    let own =
        |span: &Span| span.file == whole.file && whole.start <= span.start && span.end <= whole.end;
    let mut unused = |span: Span, word: &str, name: &str, does: &str| {
        if own(&span) {
            diagnostics.push(told(span, word, name, does));
        }
    };
    let slips = misspelt_variable::slips(chart, &usage);
    for (i, variable) in chart.variables.iter().enumerate() {
        // A per-turn variable is cleared before the host could read it. In agents, code computes many such intermediate values.
        let fleeting = matches!(variable.kind, VariableKind::Var { per_turn: true });
        let unread = fleeting && !is_yaml(context) && usage.set[i] && !usage.read[i];
        let idle = !usage.seen[i] && !usage.set[i] && !may_be_identity(variable);
        if !unread && !idle || slips.contains_key(&VarId::at(i)) {
            continue;
        }
        let (word, does) = match variable.kind {
            VariableKind::Param { .. } => ("param", "reads"),
            VariableKind::Input => ("input", "reads"),
            VariableKind::Var { .. } if unread => ("variable", "reads"),
            VariableKind::Var { .. } => ("variable", "reads or sets"),
        };
        unused(map.variables[i], word, &variable.name, does);
    }
    for (i, function) in chart.functions.iter().enumerate().filter(|(i, _)| !usage.called[*i]) {
        unused(map.functions[i], word(function), &function.name, "calls");
    }
    for (i, client) in chart.clients.iter().enumerate().filter(|(i, _)| !usage.clients[*i]) {
        unused(map.clients[i], "client", &client.name, "uses");
    }
    for (i, tool) in chart.tools.iter().enumerate().filter(|(i, _)| !usage.tools[*i]) {
        unused(map.tools[i], "tool", &tool.name, "offers or calls");
    }
    let sets = chart.tool_sets.iter().enumerate().filter(|(i, _)| !usage.tool_sets[*i]);
    for (set, span) in sets.filter_map(|(i, set)| Some((set, map.tool_sets[i]?))) {
        // A set whose tools all belong to another set is used by it.
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

fn told(span: Span, word: &str, name: &str, does: &str) -> Diagnostic {
    UNUSED_DECLARATION
        .at(span, format!("nothing {does} the {word} `{name}`"))
        .help("remove it, or use it")
}

const fn word(function: &Function) -> &'static str {
    match function.kind {
        FunctionKind::Pure { .. } => "function",
        FunctionKind::Effect => "effect",
    }
}

/// Whether a param may identify the instance to the host: it has no default, and its type is Text or Json.
pub(super) fn may_be_identity(variable: &Variable) -> bool {
    let param = matches!(variable.kind, VariableKind::Param { .. });
    param && matches!(variable.ty, Type::Text | Type::Json) && variable.default.is_none()
}

/// Reports functions, tools and clients of a file that no chart and no test of the file uses. Declarations of `imported` files may be for
/// others.
pub(crate) fn beside(
    charts: &[&Lowered],
    imported: &BTreeSet<FileId>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let faulty: BTreeSet<FileId> =
        diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.span.file).collect();
    // By span: the declaration, and whether anything uses it.
    let mut found: BTreeMap<Span, (&str, &str, &str, bool)> = BTreeMap::new();
    for one in charts {
        let file = one.map.file;
        let Some(whole) = one.map.states.first().map(|s| s.whole) else { continue };
        let lies = |span: &Span| {
            let inside = whole.start <= span.start && span.end <= whole.end;
            span.file == file && !inside && !imported.contains(&file) && !faulty.contains(&file)
        };
        let all = one.map.functions.iter().chain(&one.map.tools).chain(&one.map.clients);
        if !all.into_iter().any(lies) {
            continue;
        }
        let usage = Usage::new(&one.chart);
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for (step, _) in one.tests.iter().flat_map(|test| &test.moves) {
            match step {
                Move::Function { name, .. } | Move::Return(name, _) | Move::ToolFail(name, _) => {
                    named.insert(name);
                }
                _ => {}
            }
        }
        let functions = one.chart.functions.iter().zip(&one.map.functions).zip(&usage.called);
        let functions =
            functions.map(|((f, span), used)| (*span, word(f), &f.name[..], "calls", *used));
        let tools = one.chart.tools.iter().zip(&one.map.tools).zip(&usage.tools);
        let tools =
            tools.map(|((t, span), used)| (*span, "tool", &t.name[..], "offers or calls", *used));
        let clients = one.chart.clients.iter().zip(&one.map.clients).zip(&usage.clients);
        let clients =
            clients.map(|((c, span), used)| (*span, "client", &c.name[..], "uses", *used));
        let all = functions.chain(tools).chain(clients);
        for (span, word, name, does, used) in all.filter(|row| lies(&row.0)) {
            let row = found.entry(span).or_insert((word, name, does, false));
            // A chart that lost parts to errors may have used the declaration.
            row.3 |= used || named.contains(name) || !one.whole;
        }
    }
    let unused = found.into_iter().filter(|(_, (.., used))| !used);
    diagnostics.extend(unused.map(|(span, (word, name, does, _))| told(span, word, name, does)));
}
