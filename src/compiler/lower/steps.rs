//! Lowers steps: what they do, for each element of what, which chart they run, and their limits.
//!
//! The problem: the parts of a step depend on each other. Expressions elsewhere read its answer, perhaps before the step itself is lowered;
//! its body knows that its condition holds; with `each`, an answer is a list, and its body sees one element. The idea: two passes.
//! `signature` gives every step the type of its answer. Then `step` lowers one step: guard, `each`, kind, client and items, and last the
//! failure policy, whose parts may be written in several items. What has no place in a kind of step is a finding, and is left out.
//!
//! - `lower_run_step` resolves the chart of a `run` step and checks its arguments against the declared params. `others` lowers the charts
//!   of other files that are run or tested. `refuse_endless` reports `run` steps without `if` through which charts run each other forever.
//! - `limits` lowers `limits { }` of the chart and of states. A new quantity needs a row in `KINDS` and an arm in `set`.
//!
//! For example:
//!
//! ```text
//! llm rate each text in texts {
//!   prompt "How good is {text}?"
//!   returns Int
//!   else none
//! }
//! ```
//!
//! `signature` resolves `Int`. A lost element is `none`, so the answer has the type `List(Int?)`, while `text` is one element of `texts`,
//! and the model is asked for an `Int`.

use super::context::{self, Cx, EventDatum, NameKind, Record, Sight};
use super::declare::{self, count};
use super::expr::{self, Bound, Env, Options, element_of};
use super::{Lowered, actions, nodes, one, outcomes, tool_lines, transitions};
use crate::front::load::Loaded;
use crate::rules::{
    ILLEGAL_STRUCTURE, NOT_YET, TYPE_ERROR, duplicate_name, endless_run, unknown_name,
};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Span, Spanned};
use crate::syntax::{self, ChartItem, EventPattern, FailWord, Item, Limit, Noted, StepItem};
use chartc_core::arena::{LocalId, StateId, StepId};
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    ComputedLimit, Each, Expr, ExprKind, Limits, Local, Lost, Otherwise, Run, Starts, StepKind,
    StepTools, Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// Determines the type of a step's answer. It must be known before expressions that read the answer are lowered.
pub(super) fn signature(cx: &mut Cx<'_>, id: StepId) {
    if cx.chart.steps[id.index()].approves.is_some() {
        return;
    }
    let node = cx.step_nodes[id.index()];
    let written = node.step.items.iter().find_map(|noted| match &noted.node {
        StepItem::Returns(ty, range, _) => Some((ty, range)),
        _ => None,
    });
    let unless_written = match &node.step.kind {
        syntax::StepKind::Human(_) => Type::Text,
        syntax::StepKind::Call(path, _) => match cx.names.tools.get(&path.text()) {
            Some((tool, _)) => cx.chart.tools[tool.index()].result.clone(),
            None => Type::Json,
        },
        _ => Type::Json,
    };
    let returns = written.map_or(unless_written, |(ty, _)| declare::resolve(cx, ty));
    let range = written.and_then(|(_, range)| range.as_ref());
    cx.chart.steps[id.index()].range = declare::numbers(cx, range, &returns);
    cx.chart.steps[id.index()].returns =
        answer(&node.step.items, node.step.each.is_some(), returns);
}

/// Declares the names that a step gives to the data of its event: `on decides(post)`. A question about a tool call reads them as the step
/// does whose model makes the call.
pub(super) fn event_data(cx: &mut Cx<'_>, id: StepId) {
    if let Some(caller) = cx.chart.steps[id.index()].approves {
        let data = cx.names.asked.data.get(&caller).cloned();
        cx.names.asked.data.extend(data.map(|data| (id, data)));
        return;
    }
    let Some(EventPattern::Event(path, names)) = cx.step_nodes[id.index()].step.on.as_deref()
    else {
        return;
    };
    let Some(first) = names.first() else { return };
    transitions::refuse_twice(cx, names);
    let (_, bound) = transitions::payload(cx, path, names);
    expr::asked::refuse_regions(cx, &[id], first.span);
    for (nth, bound) in bound.into_iter().enumerate() {
        let Some(place) = bound.place else { continue };
        let value = expr::of(ExprKind::Payload(nth as u32), bound.ty);
        let variable = expr::asked::add(cx, &[id], (&bound.name, place.0), value);
        let datum = EventDatum { name: bound.name, place, variable };
        cx.names.asked.data.entry(id).or_default().push(datum);
    }
}

/// Lowers a step that the skeleton has numbered, and adds its transitions.
pub(super) fn step(cx: &mut Cx<'_>, id: StepId) {
    let node = cx.step_nodes[id.index()];
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::at(state);
    if let Some(guard) = &node.step.guard {
        let data = cx.names.asked.data.get(&id).into_iter().flatten();
        env.hidden = data.map(|datum| datum.name.clone()).collect();
        let guard_expr = expr::condition(cx, &mut env, guard);
        env.hidden.clear();
        cx.map.steps[id.index()].guard = Some(guard.span);
        // The body runs only if the condition holds.
        env.learn(&guard_expr, true);
        cx.chart.steps[id.index()].guard = Some(guard_expr);
    }
    env.question = Some(id);
    let is_each = begin(cx, &mut env, node.step, id);
    let kind = kind(cx, &mut env, node.step, id);
    cx.chart.steps[id.index()].kind = kind;
    cx.chart.steps[id.index()].starts = starts(cx, node.step);
    cx.chart.steps[id.index()].is_exact =
        matches!(&node.step.kind, syntax::StepKind::Ask(ask) if ask.exact);
    client(cx, node.step, id);
    cx.chart.steps[id.index()].failure = cx.chart.defaults;
    nodes::items(cx, &node.step.items);
    let mut policy = Policy::default();
    for noted in &node.step.items {
        item(cx, &mut env, id, noted, &mut policy);
    }
    if is_each {
        check(cx, id, node.step);
    }
    if let Some(tail) = &node.step.then {
        outcomes::trailing(cx, id, tail);
    }
    outcomes::fail(cx, id, policy.retry, policy.then.as_ref());
    tool_lines::lower(cx, id);
    if let syntax::StepKind::Ask(ask) = &node.step.kind {
        outcomes::otherwise(cx, id, ask);
    }
}

fn kind(cx: &mut Cx<'_>, env: &mut Env, step: &syntax::Step, id: StepId) -> StepKind {
    match &step.kind {
        syntax::StepKind::Llm => StepKind::Llm,
        syntax::StepKind::Code(body) => StepKind::Code(actions::listed(cx, env, body)),
        syntax::StepKind::Ask(ask) => {
            StepKind::Ask { always: ask.always, otherwise: Otherwise::Stay }
        }
        syntax::StepKind::Call(path, arguments) => call(cx, env, path, arguments),
        syntax::StepKind::Human(question) => {
            let (text, spans) = expr::template(cx, env, question, Options::No);
            cx.map.steps[id.index()].prompt = Some(question.span);
            cx.map.steps[id.index()].prompt_parts = spans;
            StepKind::Human(text)
        }
        syntax::StepKind::Run(written) => lower_run_step(cx, env, id, written),
    }
}

fn call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &syntax::Path,
    arguments: &[syntax::Expr],
) -> StepKind {
    let name = path.text();
    cx.record_tool_use(&path.names);
    let Some((tool, _)) = cx.names.tools.get(&name).copied() else {
        for argument in arguments {
            expr::expr(cx, env, argument, None);
        }
        let known: Vec<String> = cx.names.tools.keys().cloned().collect();
        cx.unknown("tool", &name, path.span, known.iter().map(String::as_str));
        return StepKind::Llm;
    };
    let params = cx.chart.tools[tool.index()].params.clone();
    let what = format!("tool `{name}`");
    StepKind::Call(tool, expr::arguments(cx, env, &what, &params, arguments, path.span))
}

fn starts(cx: &mut Cx<'_>, step: &syntax::Step) -> Starts {
    let at_entry = matches!(&step.kind, syntax::StepKind::Run(run) if run.at_entry);
    let Some(pattern) = step.on.as_deref() else {
        return if at_entry { Starts::OnEntry } else { Starts::InTurn };
    };
    let is_ask = matches!(step.kind, syntax::StepKind::Ask(_));
    match pattern {
        EventPattern::Turn(_) if is_ask => Starts::InTurn,
        EventPattern::Turn(span) => {
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "a turn starts this step anyway")
                .help("leave `on turn` out, or write `on some_event`");
            cx.report(finding);
            Starts::InTurn
        }
        EventPattern::Event(path, _) => Starts::OnEvent(declare::events_of(cx, path)),
        EventPattern::Any(span)
        | EventPattern::Everything(span)
        | EventPattern::Done(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Error(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Doubt(syntax::Done { subject: syntax::Path { span, .. }, .. })
        | EventPattern::Machine(crate::syntax::source::Spanned { span, .. }) => {
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "a step waits for `turn` or for a declared event")
                .help("write `on turn` or `on some_event`");
            cx.report(finding);
            Starts::InTurn
        }
    }
}

fn client(cx: &mut Cx<'_>, step: &syntax::Step, id: StepId) {
    let Some(client) = &step.client else { return };
    let found = declare::client_named(cx, &client.node, client.span);
    cx.chart.steps[id.index()].client = found;
    let asks_a_model = matches!(&step.kind, syntax::StepKind::Llm | syntax::StepKind::Ask(_));
    if !asks_a_model {
        let finding = ILLEGAL_STRUCTURE
            .at(client.span, "`with` is allowed only on steps that call a model: `llm` and `ask`");
        cx.report(finding);
    }
}

/// The failure policy of a step. Its parts may be written in several lines.
#[derive(Default)]
struct Policy {
    retry: Option<chartc_core::model::Retry>,
    then: Option<FailWord>,
}

fn item(cx: &mut Cx<'_>, env: &mut Env, id: StepId, noted: &Noted<StepItem>, policy: &mut Policy) {
    let is_ask = transitions::is_ask(&cx.chart.steps[id.index()].kind);
    match &noted.node {
        StepItem::Prompt(text) => prompt(cx, env, id, text, is_ask),
        StepItem::Tools(set, calls) => tools(cx, id, set, calls.as_ref(), noted.span),
        // When the set of the step is known.
        StepItem::Tool(_) => {}
        StepItem::Policy(written) => {
            if policy.retry.is_some() && written.retry.is_some()
                || policy.then.is_some() && written.then.is_some()
            {
                let message = "a second failure policy in one step";
                cx.report(ILLEGAL_STRUCTURE.at(written.span, message));
            }
            if is_ask && written.then.is_some() {
                let finding = ILLEGAL_STRUCTURE
                    .at(written.span, "`then` has no meaning in an `ask`")
                    .help("its `else` says what happens without a usable answer");
                cx.report(finding);
            }
            policy.retry = written.retry.as_ref().map(|n| declare::retry(cx, n)).or(policy.retry);
            policy.then = written.then.clone().or(policy.then.take());
        }
        StepItem::Returns(_, _, into) => {
            if is_ask {
                let finding = ILLEGAL_STRUCTURE
                    .at(noted.span, "the answer of an `ask` is an option, it returns nothing else")
                    .help("give the option an argument: `may x(value: T)`");
                cx.report(finding);
            }
            let returns = cx.chart.steps[id.index()].returns.clone();
            let into = into.as_ref().and_then(|name| transitions::variable(cx, name, &returns));
            cx.chart.steps[id.index()].into = into;
        }
        StepItem::Outcome(written) => outcomes::outcome(cx, id, written, noted.span, is_ask),
        StepItem::DoubtRetry => nodes::retry(cx, id, noted.span),
        StepItem::CutOk => nodes::ok(cx, id, noted.span),
        StepItem::EndsTurn(test) => {
            let mut env = Env::at(env.state);
            // The condition is evaluated when the step is done, so its answer exists.
            env.answer = Some(id);
            let always = Expr { kind: ExprKind::Bool(true), ty: Type::Bool };
            let test = test.as_ref().map_or(always, |test| expr::condition(cx, &mut env, test));
            let step = &cx.chart.steps[id.index()];
            if step.is_on_event() && !is_ask {
                let finding = ILLEGAL_STRUCTURE
                    .at(
                        noted.span,
                        "an event starts this step, so there is no turn that it could end",
                    )
                    .help("leave the line out");
                cx.report(finding);
                return;
            }
            cx.chart.steps[id.index()].ends_turn = Some(test);
        }
        StepItem::AtATime(_) | StepItem::UpTo(_) | StepItem::Enough(_) | StepItem::Lost(_) => {
            lower_each_item(cx, id, &noted.node, noted.span);
        }
        StepItem::Bad(_) => cx.dropped = true,
    }
}

/// Lowers `tools SET calls N`.
fn tools(
    cx: &mut Cx<'_>,
    id: StepId,
    set: &syntax::ToolSum,
    calls: Option<&Spanned<u32>>,
    span: Span,
) {
    let Some(found) = super::tools::set_of(cx, set) else { return };
    let finding = match &cx.chart.steps[id.index()].kind {
        StepKind::Llm => None,
        StepKind::Ask { .. } => {
            let finding = ILLEGAL_STRUCTURE
                .at(span, "`tools` belongs in an `llm` step: an `ask` offers its `may` lines");
            Some(finding.help(format!("write `may call {}` in the state", set.text())))
        }
        _ => {
            let message = "`tools` is allowed only in `llm` steps: this step has no model that could call them";
            Some(ILLEGAL_STRUCTURE.at(span, message))
        }
    };
    if let Some(finding) = finding {
        cx.report(finding);
        return;
    }
    if let Some(zero) = calls.filter(|calls| calls.node == 0) {
        let finding = ILLEGAL_STRUCTURE
            .at(zero.span, "with 0 calls the tools cannot be used")
            .help("leave the line out");
        cx.report(finding);
        return;
    }
    if cx.chart.tools_of(found).is_empty() {
        let finding = ILLEGAL_STRUCTURE
            .at(set.span, format!("there is no tool in `{}`", set.text()))
            .help("declare one, `tool a.b(x: Text) -> Json`, or leave the line out");
        cx.report(finding);
        return;
    }
    cx.map.steps[id.index()].tool_calls = calls.map(|calls| calls.span);
    let calls = calls.map_or(StepTools::CALLS, |calls| calls.node);
    cx.chart.steps[id.index()].tools = Some(StepTools { set: found, calls });
}

fn prompt(cx: &mut Cx<'_>, env: &mut Env, id: StepId, text: &syntax::Template, is_ask: bool) {
    let options = if is_ask { Options::Yes } else { Options::No };
    let (lowered, spans) = expr::template(cx, env, text, options);
    let step = &mut cx.chart.steps[id.index()];
    if step.prompt.is_some() {
        let mut finding = ILLEGAL_STRUCTURE.at(text.span, "a second prompt in one step");
        if let Some(first) = cx.map.steps[id.index()].prompt {
            finding = finding.related(first, "the first one");
        }
        cx.report(finding);
        return;
    }
    step.prompt = Some(lowered);
    cx.map.steps[id.index()].prompt = Some(text.span);
    cx.map.steps[id.index()].prompt_parts = spans;
}

/// The step with this name, for a component; reports nothing.
pub(super) fn named(cx: &mut Cx<'_>, name: &Ident) -> Option<StepId> {
    let (id, place) = cx.names.steps.get(&name.node).copied()?;
    cx.record_use(name.span, place, NameKind::Step);
    Some(id)
}

/// The finding for a step that is not declared.
pub(super) fn no_such(cx: &mut Cx<'_>, name: &Ident) -> crate::syntax::diagnostic::Diagnostic {
    let known = cx.take_guess().then(|| cx.names.steps.keys().map(String::as_str));
    unknown_name::unknown("step", &name.node, name.span, known)
}

// Lowers `run` steps: the chart to run and its params. Refuses charts that would run each other forever.

/// A param of a chart, as seen by the chart that runs it.
struct Param<'s> {
    name: &'s str,
    place: Span,
    ty: Type,
    range: Option<(Value, Value)>,
    has_default: bool,
}

/// Lowers a `run` step.
pub(super) fn lower_run_step(
    cx: &mut Cx<'_>,
    env: &mut Env,
    id: StepId,
    written: &syntax::Run,
) -> StepKind {
    let name = &written.chart;
    // Charts of this file come after imported ones, and hide those with the same name.
    let Some(child) = cx.charts.named(&name.node).last().copied() else {
        let known: Vec<&str> = cx.charts.names().collect();
        cx.unknown("chart", &name.node, name.span, known);
        for argument in &written.arguments {
            expr::expr(cx, env, &argument.value, None);
        }
        let chart = name.node.clone();
        let forward = written.forward;
        let run = Run { chart, arguments: Vec::new(), forward };
        return StepKind::Run(run);
    };
    cx.record_use(name.span, child.name.span, NameKind::Chart);
    let file = cx.map.file;
    let charts = cx.charts.clone();
    let mut imported = charts.named(&name.node).iter().map(|c| c.name.span);
    if let (Some(first), Some(second)) = (imported.next(), imported.next())
        && child.name.span.file != file
    {
        cx.report(duplicate_name::imported_twice(&name.node, name.span, first, second));
    }
    cx.map.steps[id.index()].child = Some(child.name.span);
    let params = params(cx, child);
    let arguments = given(cx, env, &params, written);
    StepKind::Run(Run { chart: name.node.clone(), arguments, forward: written.forward })
}

/// The params of a chart. Errors in them are reported where they are declared, not here.
fn params<'s>(cx: &mut Cx<'_>, child: &'s syntax::Chart) -> Vec<Param<'s>> {
    let (before, used) = (cx.findings.len(), cx.uses.len());
    let declared = child.items.iter().filter_map(|noted| match &noted.node {
        ChartItem::Variable(variable) if variable.kind == syntax::VariableKind::Param => {
            Some(variable)
        }
        _ => None,
    });
    let params = declared
        .map(|variable| {
            let ty = declare::resolve(cx, &variable.ty);
            let bound = |cx: &mut Cx<'_>, bound| declare::constant(cx, bound, &ty, "a range");
            let range = variable.range.as_ref();
            let range = range.and_then(|(low, high)| Some((bound(cx, low)?, bound(cx, high)?)));
            let has_default = variable.default.is_some();
            let Ident { node: name, span: place } = &variable.name;
            Param { name, place: *place, ty, range, has_default }
        })
        .collect();
    cx.findings.truncate(before);
    cx.uses.truncate(used);
    params
}

fn given(
    cx: &mut Cx<'_>,
    env: &mut Env,
    params: &[Param<'_>],
    written: &syntax::Run,
) -> Vec<(String, Expr)> {
    let chart = &written.chart.node;
    let mut places: BTreeMap<&str, Span> = BTreeMap::new();
    let mut lowered = Vec::new();
    for (index, argument) in written.arguments.iter().enumerate() {
        let meant = match &argument.name {
            Some(name) => {
                let found = params.iter().find(|param| param.name == name.node);
                if let Some(param) = found {
                    cx.record_use(name.span, param.place, NameKind::Variable);
                }
                if found.is_none() {
                    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
                    cx.unknown(&format!("param of `{chart}`"), &name.node, name.span, known);
                }
                found
            }
            None => {
                let found = params.get(index);
                if found.is_none() {
                    let many = if params.len() == 1 { "param" } else { "params" };
                    let message = format!("`{chart}` has {} {many}, no more", params.len());
                    cx.report(TYPE_ERROR.at(argument.value.span, message));
                }
                found
            }
        };
        let Some(param) = meant else {
            expr::expr(cx, env, &argument.value, None);
            continue;
        };
        let value = expr::expect(cx, env, &argument.value, &param.ty);
        let place = argument.name.as_ref().map_or(argument.value.span, |name| name.span);
        if let Some(first) = places.insert(param.name, place) {
            cx.report(duplicate_name::twice("param", param.name, place, first));
            continue;
        }
        in_range(cx, param, &value, argument.value.span);
        lowered.push((param.name.to_owned(), value));
    }
    // In the order of the params, whatever the order of the arguments.
    lowered.sort_by_key(|(name, _)| params.iter().position(|param| param.name == *name));
    let missing = params.iter().filter(|p| !p.has_default && !places.contains_key(p.name));
    let missing: Vec<String> = missing.map(|param| format!("`{}`", param.name)).collect();
    if !missing.is_empty() {
        let many = if missing.len() == 1 { "param" } else { "params" };
        let message = format!("`{chart}` is not given its {many} {}", missing.join(", "));
        cx.report(TYPE_ERROR.at(written.chart.span, message));
    }
    lowered
}

fn in_range(cx: &mut Cx<'_>, param: &Param<'_>, value: &Expr, span: Span) {
    if let Some(range) = &param.range {
        expr::refuse_outside(cx, range, param.name, value, span);
    }
}

/// An imported file: the declarations that are visible in it, and its charts by the places of their names.
struct Others<'s> {
    sight: Sight<'s>,
    named: BTreeMap<Span, Vec<(&'s Noted<Item>, &'s syntax::Chart)>>,
}

impl<'s> Others<'s> {
    fn new(loaded: &'s Loaded, file: FileId) -> Self {
        let mut named: BTreeMap<Span, Vec<_>> = BTreeMap::new();
        for noted in loaded.files.get(file.0 as usize).into_iter().flat_map(|file| &file.items) {
            if let Item::Chart(chart) = &noted.node {
                named.entry(chart.name.span).or_default().push((noted, chart));
            }
        }
        Self { sight: Sight::new(loaded, file), named }
    }
}

/// The charts of other files that the lowered ones run or that tests are for, and those that these run in turn.
pub(super) fn others<'s>(
    loaded: &'s Loaded,
    lowered: &[Lowered],
    scenarios: &context::Scenarios<'s>,
    record: &mut Record<'s>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Lowered> {
    let mut known: BTreeSet<Span> = lowered.iter().map(|one| one.map.name).collect();
    let mut wanted: Vec<Span> = lowered.iter().flat_map(children).collect();
    wanted.extend(scenarios.keys().copied());
    let mut found = Vec::new();
    let mut files: BTreeMap<FileId, Others<'_>> = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if !known.insert(name) {
            continue;
        }
        let Others { sight, named } =
            files.entry(name.file).or_insert_with(|| Others::new(loaded, name.file));
        for (noted, chart) in named.get(&name).into_iter().flatten() {
            let seen = sight.declarations(Some(chart));
            let cx = Cx::new(&chart.name, &noted.doc, record.is_kept);
            let child = one(cx, chart, noted.span, &seen, scenarios, record, findings);
            wanted.extend(children(&child));
            found.push(child);
        }
    }
    found.sort_by_key(|one| one.map.name);
    found
}

fn children(one: &Lowered) -> impl Iterator<Item = Span> + '_ {
    one.map.steps.iter().filter_map(|step| step.child)
}

/// Reports `run` steps without `if` through which charts run each other in a cycle.
pub(super) fn refuse_endless<'l>(
    lowered: impl Iterator<Item = &'l Lowered>,
    findings: &mut Vec<Diagnostic>,
) {
    // An edge for each step leads from its chart to the chart that it runs.
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for one in lowered {
        for (step, spans) in one.chart.steps.iter().zip(&one.map.steps) {
            if let (Some(child), None) = (spans.child, &step.guard) {
                let (from, to) = (one.map.name, child);
                edges.push(Edge { from, to, place: spans.name, step: &step.name });
            }
        }
    }
    // No cycle contains a chart that no other one runs, so its edges are removed, and so on; then likewise from the other end. What remains
    // lies on a cycle or leads from one cycle to another.
    let edges = peel(edges, |edge| (edge.from, edge.to));
    let edges = peel(edges, |edge| (edge.to, edge.from));
    for Edge { from, to, place, step } in edges {
        findings.push(endless_run::found(step, from == to, place));
    }
}

/// A step without `if` by which a chart runs another.
struct Edge<'l> {
    from: Span,
    to: Span,
    place: Span,
    step: &'l str,
}

/// Removes edges to whose source no edge leads, until there are none left.
fn peel<'l>(edges: Vec<Edge<'l>>, ends: fn(&Edge<'l>) -> (Span, Span)) -> Vec<Edge<'l>> {
    let mut incoming: BTreeMap<Span, usize> = BTreeMap::new();
    let mut outgoing: BTreeMap<Span, Vec<Span>> = BTreeMap::new();
    for edge in &edges {
        let (from, to) = ends(edge);
        incoming.entry(from).or_default();
        *incoming.entry(to).or_default() += 1;
        outgoing.entry(from).or_default().push(to);
    }
    let mut free: Vec<Span> =
        incoming.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
    let mut peeled = BTreeSet::new();
    while let Some(node) = free.pop() {
        peeled.insert(node);
        for to in outgoing.get(&node).into_iter().flatten() {
            if let Some(count) = incoming.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    free.push(*to);
                }
            }
        }
    }
    edges.into_iter().filter(|edge| !peeled.contains(&ends(edge).0)).collect()
}

// `each x in xs` of a step: its work is done for each element of a list.

/// The type of a step's answer: with an `each`, a list of what each element returns.
pub(super) fn answer(items: &[Noted<StepItem>], is_each: bool, returns: Type) -> Type {
    if !is_each {
        return returns;
    }
    let has_none = items.iter().any(|item| matches!(item.node, StepItem::Lost(Lost::None)));
    let is_optional = matches!(returns, Type::Optional(_) | Type::Json);
    let element =
        if has_none && !is_optional { Type::Optional(Box::new(returns)) } else { returns };
    Type::List(Box::new(element))
}

/// Lowers `each x in xs`, and adds the name of an element to the scope of what follows. Returns whether the step has one.
pub(super) fn begin(cx: &mut Cx<'_>, env: &mut Env, step: &syntax::Step, id: StepId) -> bool {
    let Some(written) = &step.each else { return false };
    let syntax::Each { name, list } = written.as_ref();
    let lowered = expr::expr(cx, env, list, None);
    cx.map.steps[id.index()].list = Some(list.span);
    let is_list = matches!(lowered.ty, Type::List(_) | Type::Json);
    let element = if is_list {
        element_of(cx, &lowered, list.span)
    } else {
        let message = format!("`each` goes through a list, this is {}", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(list.span, message));
        Type::Json
    };
    cx.record_binding(name, &element);
    env.locals.push(Bound::local(name, element));
    let whole = &cx.chart.steps[id.index()].returns;
    let one = if let Type::List(one) = whole { one.as_ref().clone() } else { whole.clone() };
    let has_none = step.items.iter().any(|item| matches!(item.node, StepItem::Lost(Lost::None)));
    // A `none` in the list stands for a lost element, so the answer for one element is not optional itself.
    let returns = if let (Type::Optional(inner), true) = (&one, has_none) {
        inner.as_ref().clone()
    } else {
        one
    };
    cx.chart.steps[id.index()].each = Some(Each {
        local: Local { id: LocalId(0), name: name.node.clone() },
        list: lowered,
        returns,
        at_a_time: Each::AT_A_TIME,
        most: Each::MOST,
        enough: None,
        lost: Lost::Fail,
    });
    true
}

/// Lowers an item of a step that belongs to its `each`.
pub(super) fn lower_each_item(cx: &mut Cx<'_>, id: StepId, item: &StepItem, span: Span) {
    let Some(each) = &mut cx.chart.steps[id.index()].each else {
        let finding = ILLEGAL_STRUCTURE
            .at(span, "this belongs in a step with `each`")
            .help("write `each x in xs` after the name of the step, or leave the line out");
        cx.report(finding);
        return;
    };
    let positive =
        |count: &Spanned<u32>| if count.node == 0 { Err(count.span) } else { Ok(count.node) };
    let zero = match item {
        StepItem::AtATime(count) => positive(count).map(|n| each.at_a_time = n),
        StepItem::UpTo(count) => {
            cx.map.steps[id.index()].up_to = Some(count.span);
            positive(count).map(|n| each.most = n)
        }
        StepItem::Enough(count) => positive(count).map(|n| each.enough = Some(n)),
        StepItem::Lost(lost) => {
            each.lost = *lost;
            Ok(())
        }
        _ => Ok(()),
    };
    if let Err(span) = zero {
        let finding = ILLEGAL_STRUCTURE.at(span, "with 0 no element would be done");
        cx.report(finding.help("write a number from 1, or leave the line out"));
    }
}

/// Reports what a step with `each` cannot have.
pub(super) fn check(cx: &mut Cx<'_>, id: StepId, node: &syntax::Step) {
    let Some(written) = &node.each else { return };
    let step = &cx.chart.steps[id.index()];
    let Some(each) = &step.each else { return };
    // A list that is unknown has been reported already, so a missing `returns` is not reported as well.
    let is_plain = matches!(each.list.kind, ExprKind::Unknown(_));
    if step.tools.is_some() {
        let finding = NOT_YET
            .at(written.name.span, "the model of a step with `each` cannot call tools yet")
            .help("call the tool in a `call` step with `each`, and give its answers to this one");
        cx.report(finding);
        return;
    }
    let has_type = node.items.iter().any(|item| matches!(item.node, StepItem::Returns(..)));
    if matches!(step.kind, StepKind::Llm) && !has_type && !is_plain {
        let finding = ILLEGAL_STRUCTURE
            .at(
                node.name.span,
                "an `llm` step with `each` needs a `returns` line, the type for one element",
            )
            .help("add a line such as `returns Text`");
        cx.report(finding);
        return;
    }
    if step.starts == Starts::OnEntry {
        let finding = ILLEGAL_STRUCTURE
            .at(written.name.span, "a step with `each` does not start `at entry`")
            .help("let it start in a turn: leave `at entry` out");
        cx.report(finding);
        return;
    }
    if let Some(enough) = each.enough.filter(|enough| *enough > each.most) {
        let message =
            format!("`enough {enough}` is more than the {} elements it may have", each.most);
        cx.report(ILLEGAL_STRUCTURE.at(node.name.span, message));
    }
}

// Lowers `limits { }` of the chart and of states.

static KINDS: [(&str, LimitKind, Type); 5] = [
    ("calls", LimitKind::Calls, Type::Int),
    ("tokens", LimitKind::Tokens, Type::Int),
    ("cost", LimitKind::Cost, Type::Float),
    ("time", LimitKind::Time, Type::Duration),
    ("turns", LimitKind::Turns, Type::Int),
];

/// The names of the quantities that can be limited.
pub fn limit_names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, ..)| *name)
}

/// Lowers all `limits` blocks of a state.
pub(super) fn limits(cx: &mut Cx<'_>, state: StateId, blocks: &[&[Noted<Limit>]]) {
    let mut seen: BTreeMap<(&str, bool), Span> = BTreeMap::new();
    for noted in blocks.iter().copied().flatten() {
        let limit = &noted.node;
        let name = limit.what.node.as_str();
        if let Some(first) = seen.get(&(name, limit.per_turn)) {
            cx.findings.push(duplicate_name::twice("limit", name, limit.what.span, *first));
            continue;
        }
        seen.insert((name, limit.per_turn), limit.what.span);
        if limit.per_turn {
            per_turn(cx, state, limit, noted.span);
        } else {
            whole_run(cx, state, limit);
        }
    }
}

fn per_turn(cx: &mut Cx<'_>, state: StateId, limit: &Limit, span: Span) {
    if limit.what.node != "calls" || state.0 != 0 {
        let finding = ILLEGAL_STRUCTURE
            .at(span, "only `calls` of the chart itself are limited per turn")
            .help("write `calls N per turn` in the chart's own `limits`");
        cx.report(finding);
        return;
    }
    if let Some(warn) = &limit.warn {
        let message = "a limit per turn has no soft bound: it only ends the walk";
        cx.report(ILLEGAL_STRUCTURE.at(warn.span, message));
    }
    cx.map.states[state.index()].per_turn = Some(limit.bound.span);
    if let Some(bound) = count(cx, &limit.bound, "`calls`") {
        // `calls 0 per turn` means that there is no bound.
        cx.chart.calls_per_turn =
            if bound == 0 { None } else { Some(u32::try_from(bound).unwrap_or(u32::MAX)) };
    }
}

fn whole_run(cx: &mut Cx<'_>, state: StateId, limit: &Limit) {
    let name = limit.what.node.as_str();
    let Some((kind, ty)) = KINDS.iter().find(|(known, ..)| *known == name).map(|(_, k, t)| (*k, t))
    else {
        return cx.unknown("limit", name, limit.what.span, limit_names());
    };
    let bound = bound(cx, &limit.bound, ty, &format!("`{name}`"));
    let warn = limit.warn.as_ref().and_then(|warn| self::bound(cx, warn, ty, "`warn`"));
    let late = match (&bound, &warn) {
        (Some(LimitValue::Fixed(bound)), Some(LimitValue::Fixed(warn))) => {
            number(warn) > number(bound)
        }
        _ => false,
    };
    let is_none = |bound: &Option<LimitValue>| matches!(bound, Some(LimitValue::Fixed(n)) if number(n) == 0.0);
    refuse_late(cx, limit, late);
    let needed = matches!(kind, LimitKind::Turns | LimitKind::Time);
    refuse_nothing(cx, limit, needed && is_none(&bound), is_none(&warn));
    cx.map.states[state.index()].limit(kind, limit.bound.span);
    let limits = &mut cx.chart.states[state.index()].limits;
    for (bound, is_soft) in [(bound, false), (warn, true)] {
        match bound {
            Some(LimitValue::Fixed(value)) => set(limits, kind, is_soft, &value),
            Some(LimitValue::Over(value)) => {
                limits.computed.push(ComputedLimit { kind, is_soft, value });
            }
            None => {}
        }
    }
}

/// A bound: a value, or an expression over params.
enum LimitValue {
    Fixed(Value),
    Over(Expr),
}

/// Lowers a bound: a literal that is not negative, or an expression over params.
fn bound(cx: &mut Cx<'_>, written: &syntax::Expr, want: &Type, what: &str) -> Option<LimitValue> {
    let before = cx.findings.len();
    let lowered = expr::expect(cx, &mut Env::params(), written, want);
    if let Some(value) = expr::value_of(&lowered) {
        if number(&value) >= 0.0 {
            return Some(LimitValue::Fixed(value));
        }
        cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
        return None;
    }
    (cx.findings.len() == before && !expr::is_faulty(&lowered)).then_some(LimitValue::Over(lowered))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(n) => *n as f64,
        Value::Float(x) => *x,
        Value::Duration(ms) => *ms as f64,
        _ => f64::NAN,
    }
}

fn set(limits: &mut Limits, kind: LimitKind, is_soft: bool, value: &Value) {
    let count = |value: &Value| if let Value::Int(n) = value { Some(*n) } else { None };
    let money = |value: &Value| if let Value::Float(x) = value { Some(*x) } else { None };
    let time = |value: &Value| if let Value::Duration(ms) = value { Some(*ms) } else { None };
    match (kind, is_soft) {
        (LimitKind::Calls, false) => limits.calls = count(value),
        (LimitKind::Calls, true) => limits.calls_warn = count(value),
        (LimitKind::Turns, false) => limits.turns = count(value),
        (LimitKind::Turns, true) => limits.turns_warn = count(value),
        (LimitKind::Tokens, false) => limits.tokens = count(value),
        (LimitKind::Tokens, true) => limits.tokens_warn = count(value),
        (LimitKind::Cost, false) => limits.cost = money(value),
        (LimitKind::Cost, true) => limits.cost_warn = money(value),
        (LimitKind::Time, false) => limits.time = time(value),
        (LimitKind::Time, true) => limits.time_warn = time(value),
    }
}

/// Reports limits of 0 turns or no time, with which a state cannot be active, and soft bounds of 0, which are reached before
/// anything is spent. Calls, tokens and cost may be limited to 0: then no call is made.
fn refuse_nothing(cx: &mut Cx<'_>, limit: &Limit, bound: bool, warn: bool) {
    let what = &limit.what.node;
    if bound {
        let finding = ILLEGAL_STRUCTURE
            .at(limit.bound.span, format!("a limit of 0 {what} allows nothing"))
            .help("leave the limit out, or give at least 1");
        cx.report(finding);
    }
    if let (true, Some(warn)) = (warn, &limit.warn) {
        let finding = ILLEGAL_STRUCTURE
            .at(warn.span, format!("a soft bound of 0 {what} is reached before anything happens"))
            .help("leave `warn` out, or give it more than 0");
        cx.report(finding);
    }
}

fn refuse_late(cx: &mut Cx<'_>, limit: &Limit, late: bool) {
    if let (true, Some(warn)) = (late, &limit.warn) {
        let finding = TYPE_ERROR
            .at(warn.span, "the soft bound lies above the hard one, which is reached first")
            .related(limit.bound.span, "the hard bound");
        cx.report(finding);
    }
}
