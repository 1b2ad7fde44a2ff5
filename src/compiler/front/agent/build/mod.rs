//! Builds a chart from an [`Agent`].
//!
//! The problem: in an `agent.yaml`, names need no declaration, steps run in the order of a list, and the state machine stands beside
//! them. A chart declares every name, and its steps run in the order of the text. The idea: parse all code once (`prepare`), derive who
//! sets each name from the reads and writes in the order of the walk (`events`, `names`), and then write states, steps and declarations
//! so that the order of the list is kept (`order`, `chart`). For example:
//!
//! ```text
//! states: [look, rest]   initial_state: look
//! steps:  - {name: count, type: code, code: "n = n + 1", in_state: look}
//!         - {name: act, type: llm, prompt: "Seen {n}. Goal: {goal}"}
//!
//! 1. events     read n, write n, read n, read goal
//! 2. names      n: a variable that code sets; goal: an input that the host supplies
//! 3. order      `count` has one state and comes first: it is placed inside `look`; `act` stays at chart level, after it
//! 4. chart      input goal, var n, state look { code count { … } }, llm act { … }, state rest
//! ```

mod names;
pub(super) mod steps;

use super::code::{Converter, InputUse, Role, Scope};
use super::definition::{
    Agent, BUILTINS, CURRENT_STATE, Component, ComponentKind, Injection, Listed, Machine,
    OnFailure, Policy, Source, Source as Condition, Step, StepType, Workflow, builtin,
};
use super::expression::Ty;
use super::expression::{self, call, expr, literal, name, text};
use super::node::{Node, Value};
use super::text::{FormatPart, Text};
use crate::rules::{WRONG_TYPE, hidden_step, unknown_name, unused_fragment};
use crate::syntax::diagnostic::{Diagnostic, Severity, near};
use crate::syntax::source::{self, FileId, Ident, Span, Spanned};
use crate::syntax::{
    self, Allow, Chart, ChartItem, Client, ClientOption, Comment, Expr, ExprKind, FailWord, File,
    Initial, Insert, InsertPosition, Item, Limit, Meta, MetaValue, Noted, State, StateBody,
    StateItem, StateKind, Template, TypeExpr, TypeKind, Variable, VariableKind,
};
use names::{ComponentWork, InjectionWork, PermitWork, StepWork, Work, inputs};
use std::collections::{BTreeMap, BTreeSet};
use steps::{Builder, Built, Functions, apart, chart_step, noted, outside, path, policy_span};

/// The syntax of an agent: one file with one chart.
pub(super) fn file(
    id: FileId,
    source: &source::Source,
    agent: &Agent,
    findings: &mut Vec<Diagnostic>,
) -> File {
    let (implicit, mut components);
    let workflow = match &agent.workflow {
        Some(workflow) => {
            components = Vec::new();
            workflow
        }
        None => {
            (implicit, components) = (self::workflow(agent), sections(agent));
            &implicit
        }
    };
    components.extend(agent.components.iter().cloned());
    components.extend(action_schema(agent, workflow));
    let work = names::prepare(workflow, &components, findings);
    let chart = self::chart(source, agent, workflow, &work, findings);
    File { items: vec![noted(Item::Chart(chart), agent.span)], ..File::new(id) }
}

// Builds the chart: declarations, permissions, states, and steps in the order of the list.

/// Builds the chart of an agent.
fn chart(
    source: &source::Source,
    agent: &Agent,
    workflow: &Workflow,
    work: &Work<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Chart {
    let scope = names::scope(agent, workflow, work, findings);
    let mut builder = Builder {
        scope,
        functions: Functions::default(),
        client: client_name(agent),
        default: &workflow.policy,
        step_names: work.steps.iter().map(|w| w.step.name.node.clone()).collect(),
        inserts: vec![Vec::new(); work.components.len()],
        findings,
    };
    let sources: Vec<&Step> = work.steps.iter().map(|w| w.step).collect();
    let shared = steps::overlapping(&sources);
    let built: Vec<Built> =
        work.steps.iter().enumerate().map(|(i, w)| builder.step(w, shared.contains(&i))).collect();
    let table: Vec<Noted<ChartItem>> =
        work.permits.iter().filter_map(|p| allow(&mut builder, p)).collect();
    let Builder { scope, functions, findings, inserts, .. } = builder;
    late_actions(workflow, findings);
    requirements(agent, work, &scope, findings);
    steps::findings(agent, work, &scope, findings);

    let head = agent.id.as_ref().map_or(agent.span, |id| id.span);
    let mut items = Vec::new();
    items.extend(meta(agent, head));
    grouped(&mut items, variables(agent, &scope, head));
    grouped(&mut items, functions.into_items());
    grouped(&mut items, self::client(agent, findings).into_iter().collect());
    let at = policy_span(&workflow.policy, head);
    let policy = self::policy(failure(&Policy::default(), &workflow.policy), at);
    grouped(&mut items, vec![noted(ChartItem::Defaults(policy), at)]);
    grouped(&mut items, limits(agent, workflow).into_iter().collect());
    if let Some(machine) = &workflow.machine {
        let initial = machine.initial.as_ref().or(machine.states.first());
        let line = initial.map(|s| {
            let initial = Initial { targets: vec![path(s)], actions: None, span: s.span };
            noted(ChartItem::State(StateItem::Initial(initial)), s.span)
        });
        grouped(&mut items, line.into_iter().collect());
    }
    grouped(&mut items, table);
    body(&mut items, workflow.machine.as_ref(), &sources, built, &shared);
    items.extend(components(work, inserts, &scope));
    let supplied = BUILTINS.iter().map(|b| b.name).collect();
    let name = Ident::new(chart_name(source, agent), head);
    Chart { name, renamed: Vec::new(), items, end: Vec::new(), supplied }
}

/// Reports actions of code steps that follow a model step of the same states, in agents that allow a turn more calls than they have model
/// steps. The model's own action ends the turn, so they run only after a `noop`. With fewer calls, the analysis of the chart finds them.
fn late_actions(workflow: &Workflow, findings: &mut Vec<Diagnostic>) {
    let is_model = |step: &&Step| step.kind == StepType::Llm && step.run_if.is_none();
    let models: Vec<&Step> = workflow.steps.iter().filter(is_model).collect();
    let has_calls = workflow.calls.as_ref().is_some_and(|calls| {
        calls.node == 0 || usize::try_from(calls.node).is_ok_and(|calls| calls > models.len())
    });
    if !has_calls {
        return;
    }
    let states = |step: &Step| -> Option<Vec<String>> {
        step.states.as_ref().map(|all| all.iter().map(|state| state.node.clone()).collect())
    };
    for (nth, step) in workflow.steps.iter().enumerate() {
        let Some(action) = step.action.as_ref().filter(|_| step.kind == StepType::Code) else {
            continue;
        };
        let everywhere = |model: &&Step| match (states(model), states(step)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(model), Some(own)) => own.iter().all(|state| model.contains(state)),
        };
        let earlier = workflow.steps[..nth].iter().filter(is_model).rfind(everywhere);
        if let Some(model) = earlier {
            findings.push(hidden_step::only_after_noop(
                &step.name.node,
                &model.name.node,
                action.span,
                model.name.span,
            ));
        }
    }
}

/// Appends a group after a blank line.
fn grouped(items: &mut Vec<Noted<ChartItem>>, mut group: Vec<Noted<ChartItem>>) {
    if let Some(first) = group.first_mut() {
        first.trivia.blank_before = !items.is_empty();
    }
    items.extend(group);
}

fn allow(builder: &mut Builder<'_>, work: &PermitWork<'_>) -> Option<Noted<ChartItem>> {
    let permit = work.permit;
    let guard = match (&permit.condition, &work.condition) {
        (Some(Condition::Invoke(invoke)), _) => {
            let found = builder.functions.invoke(invoke, &builder.scope);
            let span = found.span;
            Some(expression::call("bool", vec![found], span))
        }
        (Some(Condition::Text(_)), Some(condition)) => {
            Some(Converter::new(&mut builder.scope, builder.findings).condition(condition))
        }
        // The condition could not be parsed, which is reported. Without it, the row would permit too much.
        (Some(Condition::Text(_)), None) => return None,
        (None, _) => None,
    };
    let allow = Allow { from: permit.from.as_ref().map(path), to: path(&permit.to), guard };
    Some(noted(ChartItem::State(StateItem::Allow(allow)), permit.span))
}

/// Adds the states and the steps; the steps keep the order of the list.
fn body(
    items: &mut Vec<Noted<ChartItem>>,
    machine: Option<&Machine>,
    sources: &[&Step],
    built: Vec<Built>,
    shared: &std::collections::BTreeSet<usize>,
) {
    let states: &[Ident] = machine.map_or(&[], |m| &m.states);
    let mut numbers = BTreeMap::new();
    for (i, state) in states.iter().enumerate() {
        numbers.entry(state.node.as_str()).or_insert(i);
    }
    let homes: Vec<Option<usize>> = sources
        .iter()
        .map(|s| match s.states.as_deref() {
            Some([only]) => numbers.get(only.node.as_str()).copied(),
            Some(_) | None => None,
        })
        .collect();
    // Steps run in the order of the text, so a step may go into its state only if that keeps the order of the list.
    let inside = steps::inside(&homes, states.len());
    let mut bodies: Vec<Vec<Noted<StateItem>>> = vec![Vec::new(); states.len()];
    let mut lines: Vec<Vec<Noted<StateItem>>> = vec![Vec::new(); states.len()];
    // Chart-level items, each with the number of the state before which it is placed.
    let mut between: Vec<(usize, Noted<ChartItem>)> = Vec::new();
    let mut at = 0;
    for (i, one) in built.into_iter().enumerate() {
        let mut extra = one.lines;
        let mut at_home = homes[i].into_iter().collect::<Vec<_>>();
        if names::is_question(sources[i]) && !shared.contains(&i) {
            let options = steps::options(sources[i]);
            if let Some(named) = &sources[i].states {
                at_home =
                    named.iter().filter_map(|s| numbers.get(s.node.as_str()).copied()).collect();
                at_home.sort_unstable();
                at_home.dedup();
            }
            extra.extend(options);
        }
        for step in one.before.into_iter().chain([one.step]) {
            match homes[i].filter(|_| inside[i]) {
                Some(state) => {
                    at = state + 1;
                    bodies[state].push(apart(StateItem::Step(step), one.span));
                }
                None => between.push((at, chart_step(outside(step, sources[i]), one.span))),
            }
        }
        if at_home.is_empty() {
            between
                .extend(extra.into_iter().map(|l| (at, noted(ChartItem::State(l.node), l.span))));
        } else {
            for state in at_home {
                lines[state].extend(extra.iter().cloned());
            }
        }
    }
    let mut between = between.into_iter().peekable();
    let parts = bodies.into_iter().zip(lines).enumerate();
    for (i, (mut steps, lines)) in parts {
        // Steps at chart level that run before those in this state.
        while let Some((_, item)) = between.next_if(|(before, _)| *before <= i) {
            items.push(item);
        }
        if let Some(first) = steps.first_mut() {
            first.trivia.blank_before = false;
        }
        let full = !steps.is_empty() || !lines.is_empty();
        steps.extend(lines);
        let name = states[i].clone();
        let span = name.span;
        let body = full.then(|| StateBody { items: steps, end: Vec::new(), span });
        let state = State { kind: StateKind::State, name, renamed: Vec::new(), body };
        let mut item = noted(ChartItem::State(StateItem::State(state)), span);
        item.trivia.blank_before = full || i == 0;
        items.push(item);
    }
    items.extend(between.map(|(_, item)| item));
}

/// The name of the chart: `agent_20` becomes `Agent20`.
fn chart_name(source: &source::Source, agent: &Agent) -> String {
    let file = source.name.rsplit('/').next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let written = agent.id.as_ref().map_or(stem, |id| id.node.as_str());
    let mut name = String::new();
    let mut upper = true;
    for c in written.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        } else {
            upper = true;
        }
    }
    if name.starts_with(|c: char| c.is_ascii_uppercase()) { name } else { format!("Agent{name}") }
}

// Metadata, inputs, variables, the client, the policy.

/// The number of retries of a failed step if the file does not set one.
const RETRIES: u32 = 3;
/// The name of the chart's client.
const CLIENT: &str = "model";

/// The `meta { … }` declaration; `None` without entries.
fn meta(agent: &Agent, span: Span) -> Option<Noted<ChartItem>> {
    let entry = |(key, node): &(Ident, Node)| Meta { key: key.clone(), value: meta_value(node) };
    let mut entries: Vec<Meta> = agent.meta.iter().map(entry).collect();
    // A model without a provider cannot be a client. It is kept as data.
    if model(agent).is_none() {
        let model = |named: &Spanned<String>| Meta {
            key: Ident::new("llm_model".to_owned(), span),
            value: MetaValue::Text(named.node.clone()),
        };
        entries.extend(agent.model.iter().map(model));
    }
    (!entries.is_empty()).then(|| noted(ChartItem::Meta(entries), span))
}

fn meta_value(node: &Node) -> MetaValue {
    match &node.value {
        Value::Null => MetaValue::None,
        Value::Bool(b) => MetaValue::Bool(*b),
        Value::Int(i) => MetaValue::Int(*i),
        Value::Float(x) => MetaValue::Float(*x),
        Value::Text(text) => MetaValue::Text(text.value.clone()),
        Value::List(items) => MetaValue::List(items.iter().map(meta_value).collect()),
        Value::Map(entries) => {
            MetaValue::Map(entries.iter().map(|(k, v)| (k.key(), meta_value(v))).collect())
        }
    }
}

/// The inputs, then the variables that code sets.
fn variables(agent: &Agent, scope: &Scope, first_use: Span) -> Vec<Noted<ChartItem>> {
    let mut items = Vec::new();
    for builtin in inputs(scope) {
        let span = first_use;
        let default = match (builtin.name, &agent.id) {
            ("agent_id", Some(id)) => text(id.node.clone(), id.span),
            ("balance", _) if let Some((scrip, span)) = starting_scrip(agent) => {
                expr(ExprKind::Int(scrip), span)
            }
            ("system_prompt", _) if agent.system_prompt.is_some() => system_prompt(agent, span),
            _ => builtin.ty().zero(span),
        };
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Input,
            name: Ident::new(builtin.name.to_owned(), span),
            ty: builtin.ty().written(span),
            range: None,
            default: Some(default),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    let mut own: Vec<(&String, &InputUse)> =
        scope.roles.keys().filter_map(|name| Some((name, scope.given(name)?))).collect();
    // In the order of first use, so that the chart reads like the agent.
    own.sort_by_key(|(_, given)| given.span);
    for (name, given) in own {
        let span = given.span;
        let mut ty = scope.ty(name).written(span);
        if given.optional && ty.kind != TypeKind::Name("Json".to_owned()) {
            ty = TypeExpr { kind: TypeKind::Optional(Box::new(ty)), span };
        }
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Input,
            name: Ident::new(given.written.clone(), span),
            ty,
            range: None,
            default: given.declared(),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    let place = |source: &str| scope.places.get(source).copied().unwrap_or(first_use);
    let mut roles: Vec<_> = scope.roles.iter().collect();
    roles.sort_by_key(|(source, _)| place(source));
    for (source, role) in roles {
        let Role::Variable { written, of } = role else { continue };
        let span = place(source);
        let ty = scope.ty(source);
        let optional = scope.optional.contains(source)
            && ty.written(span).kind != TypeKind::Name("Json".to_owned());
        let kept = scope.kept.get(source);
        let (written_ty, default) = match of {
            None if kept.is_some() => {
                let first = kept.and_then(InputUse::declared);
                (ty.written(span), first.unwrap_or_else(|| ty.zero(span)))
            }
            Some(builtin) => (ty.written(span), name(builtin.name, span)),
            None if scope.optional.contains(source) => {
                (ty.written(span), expr(ExprKind::None, span))
            }
            None => {
                // If the context has the name, too, the zero of that type is closer to the original than `none`.
                let known = builtin(source).map(|b| b.ty()).filter(|_| ty == Ty::Json);
                (ty.written(span), known.unwrap_or(ty.clone()).zero(span))
            }
        };
        let ty = if optional {
            TypeExpr { kind: TypeKind::Optional(Box::new(written_ty)), span }
        } else {
            written_ty
        };
        let variable = Variable {
            renamed: Vec::new(),
            kind: VariableKind::Var { per_turn: kept.is_none() },
            name: Ident::new(written.clone(), span),
            ty,
            range: None,
            default: Some(default),
        };
        items.push(noted(ChartItem::Variable(variable), span));
    }
    debug_assert!(!scope.types.contains_key(CURRENT_STATE), "the state is never assigned");
    items
}

/// The scrip with which the agent starts: its balance, unless a world sets another one.
fn starting_scrip(agent: &Agent) -> Option<(i64, Span)> {
    let meta = |name: &str| agent.meta.iter().find(|(key, _)| key.node == name);
    let (_, node) = meta("starting_scrip").or_else(|| meta("starting_credits"))?;
    match node.value {
        Value::Int(scrip) => Some((scrip, node.span)),
        // As a world takes it.
        Value::Float(scrip) => Some((scrip as i64, node.span)),
        _ => None,
    }
}

/// The text of `system_prompt.md`, or the empty text without that file.
fn system_prompt(agent: &Agent, otherwise: Span) -> Expr {
    let (value, span) = match &agent.system_prompt {
        Some(prompt) => (prompt.node.as_str(), prompt.span),
        None => ("", otherwise),
    };
    let block = value.contains('\n');
    expr(ExprKind::Text(Template { block, ..literal(value, span) }), span)
}

/// The model as clients name it: `provider:model`, from `provider/model`.
fn model(agent: &Agent) -> Option<(String, Span)> {
    let written = agent.model.as_ref()?;
    let (provider, model) = written.node.split_once('/')?;
    let whole = !provider.is_empty() && !model.is_empty();
    whole.then(|| (format!("{provider}:{model}"), written.span))
}

/// The name of the client, for the `with` of steps; `None` if the file says nothing about how models are called.
fn client_name(agent: &Agent) -> Option<Ident> {
    let said = [
        model(agent).map(|(_, span)| span),
        agent.temperature.as_ref().map(|t| t.span),
        agent.max_tokens.as_ref().map(|t| t.span),
        agent.prices.first().map(|(key, _)| key.span),
        agent.form.as_ref().map(|form| form.span),
    ];
    let span = said.into_iter().flatten().next()?;
    Some(Ident::new(CLIENT.to_owned(), span))
}

/// The declaration `client model { … }`. Without `llm_model`, the host chooses the model.
fn client(agent: &Agent, findings: &mut Vec<Diagnostic>) -> Option<Noted<ChartItem>> {
    let model = model(agent);
    if let (None, Some(written)) = (&model, &agent.model) {
        let message =
            format!("`{}` names no provider: `llm_model` is `provider/model`", written.node);
        let mut finding = WRONG_TYPE.at(written.span, message);
        finding.severity = Severity::Warning;
        findings.push(finding.help("without it the host's default model is called"));
    }
    let name = client_name(agent)?;
    let option = |word: &str, value: Expr, span: Span| {
        noted(ClientOption { name: Ident::new(word.to_owned(), span), value, retry: None }, span)
    };
    let mut options: Vec<Noted<ClientOption>> =
        model.into_iter().map(|(model, span)| option("model", text(model, span), span)).collect();
    let mut add = |word: &str, kind: ExprKind, span: Span| {
        options.push(option(word, expr(kind, span), span));
    };
    if let Some(temperature) = &agent.temperature {
        add("temperature", ExprKind::Float(temperature.node), temperature.span);
    }
    if let Some(most) = &agent.max_tokens {
        add("max_tokens", ExprKind::Int(most.node), most.span);
    }
    for (key, price) in &agent.prices {
        add(&key.node, ExprKind::Float(*price), key.span);
    }
    if let Some(form) = &agent.form {
        add("actions", ExprKind::Name(form.node.clone()), form.span);
    }
    let span = name.span;
    Some(apart(ChartItem::Client(Client { name, options }), span))
}

/// The declaration `limits { … }`: the agent's budget, and its calls per turn.
fn limits(agent: &Agent, workflow: &Workflow) -> Option<Noted<ChartItem>> {
    let limit = |what: Ident, bound: ExprKind, per_turn: bool| {
        let span = what.span;
        let bound = expr(bound, span);
        noted(Limit { what, bound, warn: None, per_turn }, span)
    };
    let spent = agent.budget.iter().map(|(what, most)| limit(what.clone(), most.clone(), false));
    let calls = workflow.calls.iter().map(|calls| {
        let what = Ident::new("calls".to_owned(), calls.span);
        limit(what, ExprKind::Int(i64::from(calls.node)), true)
    });
    let all: Vec<Noted<Limit>> = spent.chain(calls).collect();
    let span = all.first()?.span;
    Some(apart(ChartItem::State(StateItem::Limits(all)), span))
}

/// The effect of a failure: the number of retries, and what happens after the last one.
fn failure(policy: &Policy, default: &Policy) -> (u32, OnFailure) {
    let on = policy.on_failure.as_ref().or(default.on_failure.as_ref());
    let on = on.map_or(OnFailure::Retry, |s| s.node);
    let retries = policy.max_retries.as_ref().or(default.max_retries.as_ref());
    match on {
        OnFailure::Retry => (retries.map_or(RETRIES, |r| r.node), on),
        OnFailure::Skip | OnFailure::Fail => (0, on),
    }
}

/// The failure policy as syntax: `retry N then fail`, or `then skip`.
fn policy((retries, on): (u32, OnFailure), span: Span) -> syntax::Policy {
    let then = if on == OnFailure::Skip { FailWord::Skip } else { FailWord::Fail };
    let retry = Some(syntax::Retry::times(Spanned::new(retries, span)));
    syntax::Policy { retry, then: Some(then), span }
}

// An agent without `workflow`: one step that says what the agent knows and asks for an action.

/// The name of the only step.
const STEP: &str = "propose_action";

const PROMPT: &str =
    "You are {agent_id}, with {balance} scrip. Event {event_number}. Propose your next action.";

/// The sections of the prompt in their order: a name, the condition under which the section is inserted, and its text.
const SECTIONS: &[(&str, &str, &str)] = &[
    (SYSTEM_PROMPT, "system_prompt != ''", "{system_prompt}"),
    ("goal", "goal != ''", "Goal: {goal}"),
    ("balances", "len(balances) > 0", "Balances: {balances}"),
    ("quotas", "len(quotas) > 0", "Quotas: {quotas}"),
    ("artifacts", "len(artifacts) > 0", "Artifacts: {artifacts}"),
    ("my_artifacts", "len(my_artifacts) > 0", "Your artifacts: {my_artifacts}"),
    ("mint_submissions", "len(mint_submissions) > 0", "Mint submissions: {mint_submissions}"),
    ("recent_events", "len(recent_events) > 0", "Recent events: {recent_events}"),
    (MEMORIES, "len(memories) > 0", "Memories: {memories}"),
    ("last_action_result", "last_action_result != ''", "Last action: {last_action_result}"),
    ("recent_failures", "len(recent_failures) > 0", "Recent failures: {recent_failures}"),
];

/// The section that begins the prompt.
const SYSTEM_PROMPT: &str = "system_prompt";
/// The section that only agents with `rag` have.
const MEMORIES: &str = "memories";

/// The workflow: one step, which asks for an action in each turn.
fn workflow(agent: &Agent) -> Workflow {
    let span = place(agent);
    let step = Step {
        name: Ident::new(STEP.to_owned(), span),
        kind: StepType::Llm,
        states: None,
        run_if: None,
        prompt: Some(Source::Text(Text::at(span, PROMPT))),
        code: None,
        action: None,
        to: None,
        map: None,
        decision: None,
        policy: Policy::default(),
        span,
    };
    let policy = Policy::default();
    Workflow { machine: None, steps: vec![step], policy, calls: None, keep: Vec::new() }
}

/// The sections of the step's prompt, each as a component with its condition.
fn sections(agent: &Agent) -> Vec<Component> {
    let span = place(agent);
    let sections = SECTIONS.iter().filter(|(name, ..)| *name != MEMORIES || agent.rag.is_some());
    let section = |(name, condition, words): &(&str, &str, &str)| {
        let place = Injection {
            step: Ident::new(STEP.to_owned(), span),
            place: if *name == SYSTEM_PROMPT { InsertPosition::Start } else { InsertPosition::End },
            condition: Some(Source::Text(Text::at(span, condition))),
        };
        component(&format!("tell_{name}"), vec![place], Text::at(span, words), span)
    };
    sections.map(section).collect()
}

/// The agent's `action_schema` as a component, which ends the prompt of each `llm` step and is inserted verbatim.
fn action_schema(agent: &Agent, workflow: &Workflow) -> Option<Component> {
    let schema = agent.action_schema.as_ref()?;
    let steps = workflow.steps.iter().filter(|step| step.kind == StepType::Llm);
    let place = |step: &Step| Injection {
        step: step.name.clone(),
        place: InsertPosition::End,
        condition: None,
    };
    // The text has no placeholders, so its braces are escaped.
    let (words, span) = (schema.value.replace('{', "{{").replace('}', "}}"), schema.whole());
    Some(component("action_schema", steps.map(place).collect(), Text::at(span, &words), span))
}

fn component(name: &str, places: Vec<Injection>, fragment: Text, span: Span) -> Component {
    Component {
        listed: Listed { kind: ComponentKind::Phase, name: Ident::new(name.to_owned(), span) },
        description: None,
        places,
        fragment: Some(fragment),
        requires: Vec::new(),
        comments: Vec::new(),
    }
}

fn place(agent: &Agent) -> Span {
    agent.id.as_ref().map_or(agent.span, |id| id.span)
}

// Components: fragments of the prompts of steps.

/// Parses components and assigns them to the steps whose prompts they extend. Reports and omits components that extend no prompt.
fn inject<'a>(
    components: &'a [Component],
    steps: &mut [StepWork<'a>],
    findings: &mut Vec<Diagnostic>,
) -> Vec<ComponentWork<'a>> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (i, work) in steps.iter().enumerate() {
        numbers.entry(work.step.name.node.clone()).or_insert(i);
    }
    let mut read = Vec::new();
    for component in components {
        let Some(fragment) = &component.fragment else { continue };
        let mut used = false;
        let mut lost = Vec::new();
        for injection in &component.places {
            let step = &injection.step;
            let Some(&number) = numbers.get(&step.node) else {
                lost.push(step);
                continue;
            };
            let work = &mut steps[number];
            if work.step.kind == StepType::Code {
                findings.push(unused_fragment::into_code(step));
                continue;
            }
            let (mut condition, mut arguments) = (None, Vec::new());
            match &injection.condition {
                Some(Source::Text(text)) => {
                    condition = names::condition(text, findings);
                    if condition.is_none() {
                        // Reported. Without its condition, the fragment would be inserted too often.
                        continue;
                    }
                }
                Some(Source::Invoke(invoke)) => names::texts(&invoke.arguments, &mut arguments),
                None => {}
            }
            used = true;
            let component = read.len();
            work.injected.push(InjectionWork { component, injection, condition, arguments });
        }
        report_lost(component, &lost, used, &numbers, findings);
        if used {
            read.push(ComponentWork { component, fragment: names::words(fragment) });
        }
    }
    read
}

/// Reports steps that a component names and the agent lacks. If a step has a similar name, the name is probably misspelt. A component
/// that several agents share may name steps of other agents, unless this agent has none of the named steps.
fn report_lost(
    component: &Component,
    lost: &[&Ident],
    used: bool,
    numbers: &BTreeMap<String, usize>,
    findings: &mut Vec<Diagnostic>,
) {
    let listed = &component.listed.name;
    for step in lost {
        let near = near(&step.node, numbers.keys().map(String::as_str));
        findings.push(unused_fragment::into_nowhere(step, near, listed.span));
    }
    if let Some(first) = component.places.first().filter(|_| !used && !lost.is_empty()) {
        findings.push(unused_fragment::of_others(listed, first.step.span));
    }
}

impl Builder<'_> {
    /// Inserts components into the prompt of a step, given what the walk has set before it.
    fn inject(&mut self, work: &StepWork<'_>) {
        for injected in &work.injected {
            let guard = match (&injected.injection.condition, &injected.condition) {
                (Some(Source::Invoke(invoke)), _) => {
                    let found = self.functions.invoke(invoke, &self.scope);
                    let span = found.span;
                    Some(call("bool", vec![found], span))
                }
                (_, Some(condition)) => {
                    Some(Converter::new(&mut self.scope, self.findings).condition(condition))
                }
                (_, None) => None,
            };
            let span = injected.injection.step.span;
            let step = Ident::new(work.step.name.node.clone(), span);
            let place = injected.injection.place;
            self.inserts[injected.component].push(Insert { step, guard, place });
        }
    }
}

/// `component` declarations.
fn components(work: &Work<'_>, inserts: Vec<Vec<Insert>>, scope: &Scope) -> Vec<Noted<ChartItem>> {
    let mut names = BTreeSet::new();
    let mut items = Vec::new();
    for (work, inserts) in work.components.iter().zip(inserts) {
        let listed = &work.component.listed;
        let mut name = listed.name.clone();
        // Each kind has its own folder, so two components may have the same name.
        while !names.insert(name.node.clone()) {
            name.node = format!("{}_{}", name.node, listed.kind.word());
        }
        let text = &work.fragment;
        let text = steps::template(&text.parts, text.span, text.block, scope);
        let component = syntax::Component { name, inserts, text };
        let mut item = apart(ChartItem::Component(component), listed.name.span);
        item.doc = work.component.description.clone().unwrap_or_default();
        let comment = |text: &String| Comment { blank_before: false, text: text.clone() };
        item.trivia.before = work.component.comments.iter().map(comment).collect();
        items.push(item);
    }
    items
}

/// Reports names that components require and the context lacks, and a system prompt that no prompt contains.
fn requirements(agent: &Agent, work: &Work<'_>, scope: &Scope, findings: &mut Vec<Diagnostic>) {
    let has = |name: &str| {
        let role = scope.roles.get(name);
        builtin(name).is_some()
            || name == CURRENT_STATE
            || role.is_some_and(|role| !matches!(role, Role::Missing))
            || work.steps.iter().any(|w| w.step.name.node == name)
    };
    for one in &work.components {
        // An unknown placeholder is reported at its own place.
        let shown = |name: &str| {
            let mut parts = one.fragment.parts.iter();
            parts.any(|part| matches!(part, FormatPart::Field(field) if field.name.node == name))
        };
        for name in one.component.requires.iter().filter(|n| !has(&n.node) && !shown(&n.node)) {
            let known = scope.roles.keys().map(String::as_str);
            let listed = one.component.listed.name.span;
            findings.push(unknown_name::required(&name.node, name.span, known, listed));
        }
    }
    if let Some(prompt) = &agent.system_prompt
        && !scope.roles.contains_key("system_prompt")
    {
        let at = Span { end: prompt.span.start, ..prompt.span };
        findings.push(unused_fragment::system_prompt(at));
    }
}
