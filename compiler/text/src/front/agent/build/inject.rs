//! Components: fragments of the prompts of steps.

use super::prepare::{self, ComponentWork, InjectionWork, StepWork, Work};
use super::step::Builder;
use super::template;
use crate::diagnostic::{Diagnostic, near};
use crate::front::agent::builtin::{CURRENT_STATE, builtin};
use crate::front::agent::code::{Converter, Role, Scope};
use crate::front::agent::definition::{Agent, Component, Source, StepType};
use crate::front::agent::format::FormatPart;
use crate::front::agent::make::{apart, call};
use crate::rules::{unknown_name, unused_fragment};
use crate::span::{Ident, Span};
use crate::syntax::{self, ChartItem, Comment, Insert, Noted};
use std::collections::{BTreeMap, BTreeSet};

/// Parses components and assigns them to the steps whose prompts they extend. Reports and omits components that extend no prompt.
pub(super) fn inject<'a>(
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
                    condition = prepare::condition(text, findings);
                    if condition.is_none() {
                        // Reported. Without its condition, the fragment would be inserted too often.
                        continue;
                    }
                }
                Some(Source::Invoke(invoke)) => prepare::texts(&invoke.arguments, &mut arguments),
                None => {}
            }
            used = true;
            let component = read.len();
            work.injected.push(InjectionWork { component, injection, condition, arguments });
        }
        report_lost(component, &lost, used, &numbers, findings);
        if used {
            read.push(ComponentWork { component, fragment: prepare::words(fragment) });
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
    pub(super) fn inject(&mut self, work: &StepWork<'_>) {
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
pub(super) fn components(
    work: &Work<'_>,
    inserts: Vec<Vec<Insert>>,
    scope: &Scope,
) -> Vec<Noted<ChartItem>> {
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
        let text = template::template(&text.parts, text.span, text.block, scope);
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
pub(super) fn requirements(
    agent: &Agent,
    work: &Work<'_>,
    scope: &Scope,
    findings: &mut Vec<Diagnostic>,
) {
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
