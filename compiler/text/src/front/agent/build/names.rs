//! The role of each name of an agent: whether the host sets it, code, or both.

use super::events::{Event, EventKind, ReadKind, events};
use super::prepare::Work;
use crate::diagnostic::{Diagnostic, Severity, near};
use crate::front::agent::builtin::{BUILTINS, CURRENT_STATE, builtin};
use crate::front::agent::code::{AMOUNTS, Converter, InputUse, OBSERVABLES, Role, Scope, Ty};
use crate::front::agent::definition::{Agent, Workflow};
use crate::front::agent::python::Asked;
use crate::rules::{conflicting_fields, legacy, unknown_name};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the roles and types of all names.
pub(super) fn scope(
    agent: &Agent,
    workflow: &Workflow,
    work: &Work<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Scope {
    let events = events(work);
    let (roles, types, kept) = roles(agent, workflow, work, &events, findings);
    let mut scope = Scope { roles, types, kept, ..Scope::default() };
    let optional =
        scope.roles.iter().filter(|(_, role)| matches!(role, Role::Given(g) if g.optional));
    scope.optional = optional.map(|(name, _)| name.clone()).collect();
    for event in events.iter().filter(|e| matches!(e.kind, EventKind::Write { .. })) {
        scope.places.entry(event.name.clone()).or_insert(event.span);
    }
    for (name, given) in &scope.kept {
        scope.places.insert(name.clone(), given.span);
    }
    parted(&events, &scope, findings);
    context_used(work, &scope, findings);
    infer(work, &mut scope);
    scope
}

fn roles(
    agent: &Agent,
    workflow: &Workflow,
    work: &Work<'_>,
    events: &[Event],
    findings: &mut Vec<Diagnostic>,
) -> (BTreeMap<String, Role>, BTreeMap<String, Ty>, BTreeMap<String, InputUse>) {
    let mut by_name: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_name.entry(&event.name).or_default().push(event);
    }
    let steps: BTreeSet<&str> = work.steps.iter().map(|w| w.step.name.node.as_str()).collect();
    let taken = |name: &str| {
        steps.contains(name)
            || by_name.contains_key(name)
            || OBSERVABLES.contains(&name)
            || builtin(name).is_some()
    };
    let other_name = |name: &str| {
        let mut written = format!("{name}_");
        while taken(&written) {
            written.push('_');
        }
        written
    };
    let (mut roles, mut types) = (BTreeMap::new(), BTreeMap::new());
    let set = |events: &[&Event]| events.iter().any(|e| matches!(e.kind, EventKind::Write { .. }));
    let known = by_name.iter().filter(|(_, events)| set(events)).map(|(name, _)| *name);
    let known = known.chain(BUILTINS.iter().map(|row| row.name));
    let known = known.chain(agent.inputs.iter().map(|(name, _)| name.node.as_str()));
    let known: Vec<&str> = known.chain(steps.iter().copied()).collect();
    for (name, default) in &agent.inputs {
        let mut events = by_name.get(name.node.as_str()).into_iter().flatten();
        let sets = |e: &&&Event| matches!(e.kind, EventKind::Write { identity: false, .. });
        if let Some(event) = events.find(sets) {
            let finding = conflicting_fields::input_set(&name.node, event.span, name.span);
            findings.push(finding);
        }
        let clashes = OBSERVABLES.contains(&name.node.as_str());
        let written = if clashes { other_name(&name.node) } else { name.node.clone() };
        let (given, ty) = InputUse::of_file(written, default, name.span);
        roles.insert(name.node.clone(), Role::Given(given));
        types.insert(name.node.clone(), ty);
    }
    let mut kept = BTreeMap::new();
    for (name, first) in &workflow.keep {
        let word = name.node.as_str();
        if let Some((input, _)) = agent.inputs.iter().find(|(input, _)| input.node == word) {
            findings.push(conflicting_fields::input_kept(word, name.span, input.span));
            continue;
        }
        let mut events = by_name.get(word).into_iter().flatten();
        if !events.any(|e| matches!(e.kind, EventKind::Write { identity: false, .. })) {
            findings.push(conflicting_fields::kept_unset(word, name.span));
            // Without a reader no variable is needed; a built-in name or the name of a step gets its own role below.
            let is_read = by_name.contains_key(word);
            if !is_read || builtin(word).is_some() || steps.contains(word) {
                continue;
            }
        }
        let clashes = steps.contains(word) || OBSERVABLES.contains(&word);
        let written = if clashes { other_name(word) } else { word.to_owned() };
        let (given, ty) = InputUse::of_file(written.clone(), first, name.span);
        roles.insert(word.to_owned(), Role::Variable { written, of: None });
        types.insert(word.to_owned(), ty);
        kept.insert(word.to_owned(), given);
    }
    for (&name, events) in &by_name {
        if roles.contains_key(name) {
            continue;
        }
        let assigned =
            events.iter().any(|e| matches!(e.kind, EventKind::Write { identity: false, .. }));
        let from_start = events
            .first()
            .is_some_and(|e| e.kind == EventKind::Write { sure: true, identity: false });
        let elsewhere = assigned || steps.contains(name) || builtin(name).is_some();
        let clashes = OBSERVABLES.contains(&name);
        let written = || if clashes { other_name(name) } else { name.to_owned() };
        if !elsewhere && let Some((given, ty)) = given(name, events, written, &known, findings) {
            roles.insert(name.to_owned(), Role::Given(given));
            types.insert(name.to_owned(), ty);
            continue;
        }
        let role = match builtin(name) {
            Some(builtin) if !assigned => Some(Role::Input(builtin)),
            Some(builtin) if !from_start => {
                Some(Role::Variable { written: other_name(name), of: Some(builtin) })
            }
            Some(_) | None => {
                let written = events.iter().any(|e| matches!(e.kind, EventKind::Write { .. }));
                let clashes = steps.contains(name) || OBSERVABLES.contains(&name);
                if written {
                    let written = if clashes { other_name(name) } else { name.to_owned() };
                    Some(Role::Variable { written, of: None })
                } else if name == CURRENT_STATE {
                    Some(Role::State)
                } else if steps.contains(name) {
                    Some(Role::Step)
                } else if OBSERVABLES.contains(&name) || AMOUNTS.contains(&name) {
                    for event in events.iter().filter(|e| {
                        e.kind == EventKind::Read { nested: false, lenient: false, prompt: false }
                    }) {
                        findings.push(unknown_name::not_in_context(name, event.span));
                    }
                    Some(Role::Missing)
                } else if let Some((given, ty)) = decided(name, events, &known, findings) {
                    types.insert(name.to_owned(), ty);
                    Some(Role::Given(given))
                } else {
                    None
                }
            }
        };
        roles.extend(role.map(|r| (name.to_owned(), r)));
    }
    (roles, types, kept)
}

/// One of the agent's own inputs, with its type if known: a name that code reads from the context and that nothing sets. `known` lists
/// the names of which it may be a misspelling.
fn given(
    name: &str,
    events: &[&Event],
    written: impl Fn() -> String,
    known: &[&str],
    findings: &mut Vec<Diagnostic>,
) -> Option<(InputUse, Ty)> {
    let asked: Vec<&Asked> = events.iter().filter_map(|e| e.asked.as_ref()).collect();
    let span = events.iter().find(|e| e.asked.is_some())?.span;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let (given, ty) = InputUse::of(written(), &asked, span);
    // The identity `x = context.get('x', d)` is dropped, so later reads must have the same value. An optional input might not.
    if given.optional && events.iter().any(|e| matches!(e.kind, EventKind::Write { .. })) {
        return None;
    }
    // Short names that differ in one character are usually meant: `x1` and `x2`.
    let slip = |k: &&&str| name.len() > 3 && strsim::osa_distance(name, k) == 1;
    let near = known.iter().find(slip).copied();
    match (&given.default, near) {
        // Probably misspelt, and without a default: reported where the name is read.
        (None, Some(_)) => return None,
        (None, None) => findings.push(unknown_name::to_be_given(name, span)),
        (Some(_), Some(near)) => findings.push(unknown_name::default_only(name, near, span)),
        (Some(_), None) => {}
    }
    Some((given, ty))
}

/// An input of the host: a name that only conditions read, that nothing sets and that resembles no other name. A condition on an input
/// without a value is false.
fn decided(
    name: &str,
    events: &[&Event],
    known: &[&str],
    findings: &mut Vec<Diagnostic>,
) -> Option<(InputUse, Ty)> {
    let readings: Option<Vec<ReadKind>> = events.iter().map(|event| event.condition).collect();
    let (readings, span) = (readings?, events.first()?.span);
    if AMOUNTS.contains(&name) || near(name, known.iter().copied()).is_some() {
        return None;
    }
    let decides = readings.iter().all(|reading| *reading == ReadKind::Truth);
    findings.push(unknown_name::condition_of_the_host(name, decides, span));
    Some(InputUse::of_condition(name.to_owned(), decides, span))
}

/// Reports names that comprehensions of code steps cannot see in the engine for which most agents were written.
fn parted(events: &[Event], scope: &Scope, findings: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    for event in events {
        let name = event.name.as_str();
        if scope.given(name).is_some() {
            continue;
        }
        let EventKind::Read { nested, .. } = event.kind else { continue };
        if nested && scope.roles.contains_key(name) && told.insert(name) {
            findings.push(legacy::unseen_inside(name, event.span));
        }
    }
}

/// Reports `context` in code steps, which the engine for which most agents were written lacks. If only the agent's own inputs are
/// read through it, which cannot be written in another way, the finding is a note.
fn context_used(work: &Work<'_>, scope: &Scope, findings: &mut Vec<Diagnostic>) {
    let known = work
        .context
        .iter()
        .find(|u| u.read.as_ref().is_some_and(|name| scope.given(name).is_none()));
    let Some(first) = known.or(work.context.first()) else { return };
    let finding = legacy::no_context(first.span);
    let severity = if known.is_some() { finding.severity } else { Severity::Note };
    findings.push(Diagnostic { severity, ..finding });
}

/// Infers types: runs the code steps over types up to a fixpoint. Types only grow, so it terminates; the bound limits the worst
/// case.
fn infer(work: &Work<'_>, scope: &mut Scope) {
    for (name, role) in &scope.roles {
        if let Role::Variable { of: Some(builtin), .. } = role {
            scope.types.insert(name.clone(), builtin.ty());
        }
    }
    for _ in 0..12 {
        let before = (scope.types.clone(), scope.optional.clone());
        scope.walked.clear();
        for one in &work.steps {
            let mark = scope.walked.mark();
            Converter::new(scope, &mut Vec::new()).statements(&one.code);
            if one.is_conditional() {
                scope.walked.weaken(mark);
            }
        }
        if before.0 == scope.types && before.1 == scope.optional {
            break;
        }
    }
    scope.walked.clear();
}

/// The inputs that a chart has to declare, in the order of [`BUILTINS`].
pub(super) fn inputs(scope: &Scope) -> Vec<&'static crate::front::agent::builtin::Builtin> {
    let used: BTreeSet<&str> = scope
        .roles
        .values()
        .filter_map(|role| match role {
            Role::Input(b) | Role::Variable { of: Some(b), .. } => Some(b.name),
            Role::Variable { of: None, .. }
            | Role::Given(_)
            | Role::Step
            | Role::State
            | Role::Missing => None,
        })
        .collect();
    BUILTINS.iter().filter(|b| used.contains(b.name)).collect()
}
