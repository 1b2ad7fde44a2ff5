//! What each name of an agent is: given by the host, set by code, or both.

use super::prepare::Work;
use crate::diagnostic::Diagnostic;
use crate::front::agent::builtin::{BUILTINS, CURRENT_STATE, builtin};
use crate::front::agent::code::{Converter, OBSERVABLES, Role, Scope, is_identity};
use crate::front::agent::format::Part;
use crate::front::agent::python::{Statement, StatementKind, uses};
use crate::lint::{legacy, unknown_name};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A read or a write, in the order of a turn's walk.
struct Event {
    name: String,
    span: Span,
    kind: EventKind,
}

#[derive(Clone, Copy, PartialEq)]
enum EventKind {
    /// `nested`: inside of a comprehension of a code step. `lenient`: through `.get(…)`.
    Read { nested: bool, lenient: bool, prompt: bool },
    /// `sure`: on every path. `identity`: keeps the value.
    Write { sure: bool, identity: bool },
}

/// Finds the roles and types of all names.
pub(super) fn scope(work: &Work<'_>, findings: &mut Vec<Diagnostic>) -> Scope {
    let events = events(work);
    let mut scope = Scope { roles: roles(work, &events, findings), ..Scope::default() };
    for event in events.iter().filter(|e| matches!(e.kind, EventKind::Write { .. })) {
        scope.places.entry(event.name.clone()).or_insert(event.span);
    }
    parted(&events, &scope, findings);
    infer(work, &mut scope);
    scope
}

fn events(work: &Work<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut moved = false;
    for one in &work.steps {
        let conditional = one.run_if.is_some() || one.step.states.is_some();
        if let Some(run_if) = &one.run_if {
            reads(run_if, false, &mut events);
        }
        fields(one.prompt.iter().flat_map(|w| &w.parts).chain(&one.arguments), &mut events);
        for injected in &one.injected {
            if let Some(condition) = &injected.condition {
                reads(condition, false, &mut events);
            }
            fields(&injected.arguments, &mut events);
            fields(&work.components[injected.component].fragment.parts, &mut events);
        }
        writes(&one.code, !conditional, &mut events);
        let moves = one.step.to.is_some() || one.step.map.is_some();
        if super::decide::guesses(one.step) {
            for name in super::decide::HEURISTIC {
                let kind = EventKind::Read { nested: false, lenient: true, prompt: false };
                events.push(Event { name: (*name).to_owned(), span: one.step.name.span, kind });
            }
        }
        if moves && !moved {
            moved = true;
            table(work, &mut events);
        }
    }
    if !moved {
        table(work, &mut events);
    }
    events
}

/// The conditions of the transition table: read whenever a step moves.
fn table(work: &Work<'_>, events: &mut Vec<Event>) {
    for permit in &work.permits {
        if let Some(condition) = &permit.condition {
            reads(condition, false, events);
        }
        fields(&permit.arguments, events);
    }
}

fn reads(expr: &crate::front::agent::python::Expr, code: bool, events: &mut Vec<Event>) {
    for read in uses(expr) {
        let kind =
            EventKind::Read { nested: read.nested && code, lenient: read.lenient, prompt: false };
        events.push(Event { name: read.name, span: read.span, kind });
    }
}

fn fields<'p>(parts: impl IntoIterator<Item = &'p Part>, events: &mut Vec<Event>) {
    for part in parts {
        if let Part::Field(field) = part {
            let kind = EventKind::Read { nested: false, lenient: false, prompt: true };
            events.push(Event { name: field.name.node.clone(), span: field.name.span, kind });
        }
    }
}

fn writes(code: &[Statement], sure: bool, events: &mut Vec<Event>) {
    for one in code {
        match &one.kind {
            StatementKind::Assign(name, value) => {
                reads(value, true, events);
                let identity = is_identity(&name.node, value);
                let kind = EventKind::Write { sure, identity };
                events.push(Event { name: name.node.clone(), span: name.span, kind });
            }
            StatementKind::Store { .. } => {}
            StatementKind::If(condition, then, other) => {
                reads(condition, true, events);
                writes(then, false, events);
                writes(other, false, events);
            }
            StatementKind::For(name, source, body) => {
                reads(source, true, events);
                let mut inner = Vec::new();
                writes(body, false, &mut inner);
                events.extend(inner.into_iter().filter(|e| e.name != name.node));
            }
        }
    }
}

fn roles(
    work: &Work<'_>,
    events: &[Event],
    findings: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Role> {
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
    let mut roles = BTreeMap::new();
    for (&name, events) in &by_name {
        let assigned =
            events.iter().any(|e| matches!(e.kind, EventKind::Write { identity: false, .. }));
        let from_start = events
            .first()
            .is_some_and(|e| e.kind == EventKind::Write { sure: true, identity: false });
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
                } else if OBSERVABLES.contains(&name) {
                    for event in events.iter().filter(|e| {
                        e.kind == EventKind::Read { nested: false, lenient: false, prompt: false }
                    }) {
                        findings.push(unknown_name::not_in_context(name, event.span));
                    }
                    Some(Role::Missing)
                } else {
                    None
                }
            }
        };
        roles.extend(role.map(|r| (name.to_owned(), r)));
    }
    roles
}

/// What the engine that most agents were written for did not do.
fn parted(events: &[Event], scope: &Scope, findings: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    for event in events {
        let name = event.name.as_str();
        let EventKind::Read { nested, .. } = event.kind else { continue };
        if nested && scope.roles.contains_key(name) && told.insert(name) {
            findings.push(legacy::unseen_inside(name, event.span));
        }
    }
}

/// Runs the code steps over types until nothing changes. The types only ever grow, so this ends; the bound is for the worst.
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
            if one.run_if.is_some() || one.step.states.is_some() {
                scope.walked.weaken(mark);
            }
        }
        if before.0 == scope.types && before.1 == scope.optional {
            break;
        }
    }
    scope.walked.clear();
}

/// The inputs that a chart has to declare, in the order of the table.
pub(super) fn inputs(scope: &Scope) -> Vec<&'static crate::front::agent::builtin::Builtin> {
    let used: BTreeSet<&str> = scope
        .roles
        .values()
        .filter_map(|role| match role {
            Role::Input(b) | Role::Variable { of: Some(b), .. } => Some(b.name),
            Role::Variable { of: None, .. } | Role::Step | Role::State | Role::Missing => None,
        })
        .collect();
    BUILTINS.iter().filter(|b| used.contains(b.name)).collect()
}
