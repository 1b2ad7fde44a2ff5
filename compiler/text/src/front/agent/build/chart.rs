//! Builds the chart: declarations, permissions, states, and steps in the order of the list.

use super::invoke::Functions;
use super::prepare::{PermitWork, Work};
use super::step::{Builder, Built, outside, policy_span};
use super::{decide, declare, inject, names, order, query};
use crate::diagnostic::Diagnostic;
use crate::front::agent::builtin::BUILTINS;
use crate::front::agent::code::Converter;
use crate::front::agent::definition::{
    Agent, Machine, Policy, Source as Condition, Step, StepType, Workflow,
};
use crate::front::agent::make::{apart, chart_step, noted, path};
use crate::rules::hidden_step;
use crate::source::Source;
use crate::span::Ident;
use crate::syntax::{
    Allow, Chart, ChartItem, Initial, Noted, State, StateBody, StateItem, StateKind,
};
use std::collections::BTreeMap;

/// Builds the chart of an agent.
pub(super) fn chart(
    source: &Source,
    agent: &Agent,
    workflow: &Workflow,
    work: &Work<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Chart {
    let scope = names::scope(agent, workflow, work, findings);
    let mut builder = Builder {
        scope,
        functions: Functions::default(),
        client: declare::client_name(agent),
        default: &workflow.policy,
        step_names: work.steps.iter().map(|w| w.step.name.node.clone()).collect(),
        inserts: vec![Vec::new(); work.components.len()],
        findings,
    };
    let sources: Vec<&Step> = work.steps.iter().map(|w| w.step).collect();
    let shared = decide::overlapping(&sources);
    let built: Vec<Built> =
        work.steps.iter().enumerate().map(|(i, w)| builder.step(w, shared.contains(&i))).collect();
    let table: Vec<Noted<ChartItem>> =
        work.permits.iter().filter_map(|p| allow(&mut builder, p)).collect();
    let Builder { scope, functions, findings, inserts, .. } = builder;
    late_actions(workflow, findings);
    inject::requirements(agent, work, &scope, findings);
    query::findings(agent, work, &scope, findings);

    let head = agent.id.as_ref().map_or(agent.span, |id| id.span);
    let mut items = Vec::new();
    items.extend(declare::meta(agent, head));
    grouped(&mut items, declare::variables(agent, &scope, head));
    grouped(&mut items, functions.into_items());
    grouped(&mut items, declare::client(agent, findings).into_iter().collect());
    let at = policy_span(&workflow.policy, head);
    let policy = declare::policy(declare::failure(&Policy::default(), &workflow.policy), at);
    grouped(&mut items, vec![noted(ChartItem::Defaults(policy), at)]);
    grouped(&mut items, declare::limits(agent, workflow).into_iter().collect());
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
    items.extend(inject::components(work, inserts, &scope));
    let supplied = BUILTINS.iter().map(|b| b.name).collect();
    Chart { name: Ident::new(chart_name(source, agent), head), items, end: Vec::new(), supplied }
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
            Some(crate::front::agent::make::call("bool", vec![found], span))
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
    let inside = order::inside(&homes, states.len());
    let mut bodies: Vec<Vec<Noted<StateItem>>> = vec![Vec::new(); states.len()];
    let mut lines: Vec<Vec<Noted<StateItem>>> = vec![Vec::new(); states.len()];
    // Chart-level items, each with the number of the state before which it is placed.
    let mut between: Vec<(usize, Noted<ChartItem>)> = Vec::new();
    let mut at = 0;
    for (i, one) in built.into_iter().enumerate() {
        let mut extra = one.lines;
        let mut at_home = homes[i].into_iter().collect::<Vec<_>>();
        if decide::is_question(sources[i]) && !shared.contains(&i) {
            let options = decide::options(sources[i]);
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
fn chart_name(source: &Source, agent: &Agent) -> String {
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
