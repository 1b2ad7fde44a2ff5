//! Findings about names that clash, and declarations that nothing uses.

use super::data::{is_yaml, may_be_identity};
use super::{Context, Lint, never_set};
use crate::analysis::facts::conditions::implies;
use crate::analysis::facts::usage::Usage;
use crate::lower::Lowered;
use crate::lower::test::Move;
use crate::rules::duplicate_name::twice;
use crate::rules::name_clash::idents;
use crate::rules::{self, DUPLICATE_AGENT};
use crate::spelling::{camel, snake};
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::{FileId, Sources, Span};
use chartc_core::arena::{ChoiceId, StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    ChoiceKind, Field, Function, FunctionKind, StateKind, ToolSet, TypeKind, VariableKind,
};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) static NAME_CLASH: Lint =
    Lint { rule: &rules::NAME_CLASH, needs_whole: false, run: find_name_clash };

/// Compares the names that share a namespace in generated code. The emitter's escapes for illegal identifiers are not considered.
fn find_name_clash(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let at = |spans: &[Span], i: usize| spans.get(i).copied().unwrap_or(map.name);
    let mut clashes = Clashes { found: diagnostics };
    let states = chart.states.iter().enumerate().skip(1);
    let states = states.filter(|(_, s)| !matches!(s.kind, StateKind::History { .. }));
    clashes.among("state", CAMEL, states.map(|(i, s)| (s.path.as_str(), map.states[i].name)));
    let events = chart.events.iter().enumerate();
    clashes.among("event", CAMEL, events.map(|(i, e)| (e.name.as_str(), at(&map.events, i))));
    let types = chart.types.iter().enumerate();
    clashes.among("type", CAMEL, types.map(|(i, t)| (t.name.as_str(), at(&map.types, i))));
    let variables = chart.variables.iter().enumerate();
    let variables = variables.map(|(i, v)| (v.name.as_str(), at(&map.variables, i)));
    clashes.among("variable", SNAKE, variables);
    let functions = chart.functions.iter().enumerate();
    let functions = functions.map(|(i, f)| (f.name.as_str(), at(&map.functions, i)));
    clashes.among("function", SNAKE, functions);
    for (i, event) in chart.events.iter().enumerate() {
        clashes.fields(&event.fields, at(&map.events, i));
    }
    for (i, ty) in chart.types.iter().enumerate() {
        let span = at(&map.types, i);
        match &ty.kind {
            TypeKind::Record(fields) => clashes.fields(fields, span),
            TypeKind::Enum(names) => {
                clashes.among("name", CAMEL, names.iter().map(|n| (n.as_str(), span)));
            }
        }
    }
    for (i, function) in chart.functions.iter().enumerate() {
        clashes.fields(&function.params, at(&map.functions, i));
    }
    for (i, choice) in chart.choices.iter().enumerate() {
        if let ChoiceKind::Option(fields) = &choice.kind {
            clashes.fields(fields, at(&map.choices, i));
        }
    }
}

const CAMEL: fn(&str) -> String = |name| camel(name, char::is_alphabetic);
const SNAKE: fn(&str) -> String = |name| snake(name, char::is_alphabetic);

struct Clashes<'d> {
    found: &'d mut Vec<Diagnostic>,
}

impl Clashes<'_> {
    fn among<'n>(
        &mut self,
        what: &str,
        spell: fn(&str) -> String,
        names: impl Iterator<Item = (&'n str, Span)>,
    ) {
        let mut taken: HashMap<String, (&str, Span)> = HashMap::new();
        for (name, span) in names {
            let ident = spell(name);
            match taken.get(&ident) {
                // Another rule reports the same name twice.
                Some((other, _)) if *other == name => {}
                Some(other) => self.found.push(idents(what, (name, span), *other, &ident)),
                None => {
                    taken.insert(ident, (name, span));
                }
            }
        }
    }

    fn fields(&mut self, fields: &[Field], span: Span) {
        if fields.len() > 1 {
            self.among("field", SNAKE, fields.iter().map(|f| (f.name.as_str(), span)));
        }
    }
}

// Names that are declared twice but must be unique.

pub(super) static DUPLICATE_NAME: Lint =
    Lint { rule: &rules::DUPLICATE_NAME, needs_whole: false, run: find_duplicate_name };

/// Reports options of one state that have the same name and are offered together: an answer with the name is ambiguous.
fn find_duplicate_name(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut known: BTreeMap<(StateId, &str), ChoiceId> = BTreeMap::new();
    for (i, choice) in chart.choices.iter().enumerate() {
        let transition = chart.transition(choice.transition);
        if transition.scope.is_some() {
            continue;
        }
        let first = *known.entry((transition.source, &choice.name)).or_insert(ChoiceId::at(i));
        let earlier = chart.transition(chart.choices[first.index()].transition);
        if first != ChoiceId::at(i)
            && implies(chart, transition.guard.as_ref(), earlier.guard.as_ref())
        {
            let (place, other) = (map.choices[i], map.choices[first.index()]);
            diagnostics.push(
                twice("option", &choice.name, place, other)
                    .help("give one of them another name, or conditions that exclude each other"),
            );
        }
    }
}

// Agents with the same `id` in one folder `agents`. Such a folder holds the agents of one world.

/// Reports every agent that has the `id` of an earlier one in its folder.
pub(crate) fn report_duplicate_agent(
    all: &[impl Borrow<Lowered>],
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut known: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for one in all.iter().map(Borrow::borrow) {
        let file = &sources.get(one.map.file).name;
        let id = one.chart.meta.iter().find(|(key, _)| key == "id");
        let (Some(folder), Some((_, Value::Text(id)))) = (folder(file), id) else { continue };
        match known.get(&(folder, id.as_str())) {
            Some(first) => diagnostics.push(
                DUPLICATE_AGENT
                    .at(one.map.name, format!("another agent is called `{id}`, too"))
                    .related(*first, "the other one")
                    .help(
                        "give one of them another `id`: agents of one world are told apart by it",
                    ),
            ),
            None => {
                known.insert((folder, id), one.map.name);
            }
        }
    }
}

/// The path of the folder `agents` that contains the agent of a file, which is `agents/NAME/agent.yaml` or `agents/NAME.agent.yaml`.
fn folder(file: &str) -> Option<&str> {
    let stem = [".yaml", ".yml"].iter().find_map(|end| file.strip_suffix(end))?;
    let (folder, name) = stem.rsplit_once('/')?;
    let is_named = |path: &str| path.rsplit('/').next() == Some("agents");
    if name != "agent" {
        return Some(folder).filter(|path| name.ends_with(".agent") && is_named(path));
    }
    let outer = folder.rsplit_once('/').map(|(outer, _)| outer);
    Some(folder).into_iter().chain(outer).find(|path| is_named(path))
}

// Declarations that nothing uses.

pub(super) static UNUSED_DECLARATION: Lint =
    Lint { rule: &rules::UNUSED_DECLARATION, needs_whole: true, run: find_unused_declaration };

fn find_unused_declaration(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
            diagnostics.push(report_unused(span, word, name, does));
        }
    };
    let slips = never_set::slips(chart, &usage);
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
            VariableKind::Asked => ("variable", "reads"),
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

fn report_unused(span: Span, word: &str, name: &str, does: &str) -> Diagnostic {
    rules::UNUSED_DECLARATION
        .at(span, format!("nothing {does} the {word} `{name}`"))
        .help("remove it, or use it")
}

const fn word(function: &Function) -> &'static str {
    match function.kind {
        FunctionKind::Pure { .. } => "function",
        FunctionKind::Effect => "effect",
    }
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
    diagnostics
        .extend(unused.map(|(span, (word, name, does, _))| report_unused(span, word, name, does)));
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn only_a_folder_named_agents_is_a_world() {
        for (file, wanted) in [
            ("agents/a/agent.yaml", Some("agents")),
            ("x/agents/a/agent.yml", Some("x/agents")),
            ("x/agents/a.agent.yaml", Some("x/agents")),
            ("agents/agent.yaml", Some("agents")),
            ("agents/a/b/agent.yaml", None),
            ("agents/notes.yaml", None),
            ("more_agents/a/agent.yaml", None),
            ("a/agent.yaml", None),
            ("agent.yaml", None),
            ("agents/a.chart", None),
        ] {
            assert_eq!(folder(file), wanted, "{file}");
        }
    }
}
