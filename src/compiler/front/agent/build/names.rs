//! The role of each name of an agent, from the reads and writes of all its code in the order of the walk.
//!
//! The problem: an `agent.yaml` uses names without declaring them. A chart must declare each one, as an input, a variable, or the answer of
//! a step. The idea: `prepare` parses all code, conditions and prompts once. `events` lists their reads and writes in the order in which a
//! turn meets them. `roles` then decides for each name by its events alone:
//!
//! | the name | role |
//! |---|---|
//! | is declared under `inputs`, or code reads it from the context and nothing sets it | `Role::Given`, an input |
//! | is supplied by every host (`BUILTINS`), and nothing sets it | `Role::Input` |
//! | is supplied by every host, and code sets it, but not surely before it is read | `Role::Variable` that begins with the host's value |
//! | is set by code otherwise | `Role::Variable` |
//! | is that of a step | `Role::Step`, its answer |
//! | is only read by conditions, and resembles no other name | `Role::Given`, with a warning |
//! | is none of these | no role; its uses are reported |
//!
//! Types follow from the code: `infer` runs it over types until none grows. A name that the language uses itself gets an underscore. For
//! example:
//!
//! ```text
//! - {name: count, type: code, code: "n = n + 1"}
//! - {name: act, type: llm, prompt: "{n} of {goal}"}
//! ```
//!
//! The events are: read `n`, write `n`, read `n`, read `goal`. So `n` is a variable, and `goal` an input that every host supplies.

use crate::front::agent::code::{
    AMOUNTS, Converter, InputUse, OBSERVABLES, Role, Scope, is_identity,
};
use crate::front::agent::definition::{
    Agent, BUILTINS, CURRENT_STATE, Component, Injection, Permit, Source, Step, StepType, Workflow,
    builtin,
};
use crate::front::agent::expression::Ty;
use crate::front::agent::node::{Node, Value};
use crate::front::agent::python::{
    self, Asked, Context, ContextUse, Expr, PyExprKind, Statement, StatementKind, uses,
};
use crate::front::agent::text::{FormatPart, Text, parts};
use crate::rules::{conflicting_fields, legacy, unknown_name};
use crate::syntax::UnaryOp;
use crate::syntax::diagnostic::{Diagnostic, Severity, is_one_off, near};
use crate::syntax::source::Span;
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
/// the names that may be meant instead.
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
    let slip = |k: &&&str| name.len() > 3 && is_one_off(name, k);
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
pub(super) fn inputs(scope: &Scope) -> Vec<&'static super::super::definition::Builtin> {
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

// The reads and writes of names in a turn's walk, in order. `roles` derives the role of each name from them.

/// A read or a write, in the order of a turn's walk.
pub(super) struct Event {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kind: EventKind,
    /// For a read through `context`: the form of the access.
    pub(super) asked: Option<Asked>,
    /// For a read in a condition: how the condition uses the value.
    pub(super) condition: Option<ReadKind>,
}

/// The use of a value in a condition.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ReadKind {
    /// Only its truth value, as in `not x`.
    Truth,
    /// The value itself, as in `x > 3`.
    Value,
}

impl Event {
    fn new(name: &str, span: Span, kind: EventKind) -> Self {
        Self { name: name.to_owned(), span, kind, asked: None, condition: None }
    }
}

/// A read or a write, with the circumstances that decide about the role of the name.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum EventKind {
    /// `nested`: inside of a comprehension of a code step. `lenient`: through `.get(…)`.
    Read { nested: bool, lenient: bool, prompt: bool },
    /// `sure`: on every path. `identity`: keeps the value.
    Write { sure: bool, identity: bool },
}

/// All reads and writes of an agent, in the order of the walk.
pub(super) fn events(work: &Work<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut moved = false;
    for one in &work.steps {
        let conditional = one.is_conditional();
        if let Some(run_if) = &one.run_if {
            conditions(run_if, &mut events);
        }
        fields(one.prompt.iter().flat_map(|w| &w.parts).chain(&one.arguments), &mut events);
        for injected in &one.injected {
            if let Some(condition) = &injected.condition {
                conditions(condition, &mut events);
            }
            fields(&injected.arguments, &mut events);
            fields(&work.components[injected.component].fragment.parts, &mut events);
        }
        writes(&one.code, !conditional, &mut events);
        let moves = one.step.to.is_some() || one.step.map.is_some();
        if guesses(one.step) {
            for name in HEURISTIC {
                let kind = EventKind::Read { nested: false, lenient: true, prompt: false };
                events.push(Event::new(name, one.step.name.span, kind));
            }
        }
        // The conditions of the table are evaluated at each move. The first one decides whether a name is read before it is set.
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

/// Adds the reads of the transition table, whose conditions are evaluated whenever a step moves.
fn table(work: &Work<'_>, events: &mut Vec<Event>) {
    for permit in &work.permits {
        if let Some(condition) = &permit.condition {
            conditions(condition, events);
        }
        fields(&permit.arguments, events);
    }
}

/// Adds the reads of a condition.
fn conditions(expr: &Expr, events: &mut Vec<Event>) {
    let before = events.len();
    reads(expr, false, events);
    let truths = truths(expr);
    for event in &mut events[before..] {
        let decides = truths.contains(&event.span);
        event.condition = Some(if decides { ReadKind::Truth } else { ReadKind::Value });
    }
}

/// The places of names whose truth value is all that a condition reads.
fn truths(expr: &Expr) -> BTreeSet<Span> {
    match &expr.kind {
        PyExprKind::Name(_) => BTreeSet::from([expr.span]),
        PyExprKind::Unary(UnaryOp::Not, inner) => truths(inner),
        PyExprKind::And(parts) | PyExprKind::Or(parts) => parts.iter().flat_map(truths).collect(),
        _ => BTreeSet::new(),
    }
}

fn reads(expr: &Expr, code: bool, events: &mut Vec<Event>) {
    for read in uses(expr) {
        let lenient = read.asked.as_ref().is_some_and(|asked| *asked != Asked::Key);
        let kind = EventKind::Read { nested: read.nested && code, lenient, prompt: false };
        events.push(Event { asked: read.asked, ..Event::new(&read.name, read.span, kind) });
    }
}

fn fields<'p>(parts: impl IntoIterator<Item = &'p FormatPart>, events: &mut Vec<Event>) {
    for part in parts {
        if let FormatPart::Field(field) = part {
            let kind = EventKind::Read { nested: false, lenient: false, prompt: true };
            events.push(Event::new(&field.name.node, field.name.span, kind));
        }
    }
}

fn writes(code: &[Statement], sure: bool, events: &mut Vec<Event>) {
    for one in code {
        match &one.kind {
            StatementKind::Assign(name, value) | StatementKind::Again(name, value) => {
                reads(value, true, events);
                let identity = is_identity(&name.node, value);
                let kind = EventKind::Write { sure, identity };
                events.push(Event::new(&name.node, name.span, kind));
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

// Parses every condition, code step and prompt of an agent once.

/// The parsed parts of a workflow.
pub(super) struct Work<'a> {
    /// In list order.
    pub(super) steps: Vec<StepWork<'a>>,
    /// In list order.
    pub(super) permits: Vec<PermitWork<'a>>,
    /// In the order in which they are inserted into prompts.
    pub(super) components: Vec<ComponentWork<'a>>,
    /// The uses of `context` in code steps, in order.
    pub(super) context: Vec<ContextUse>,
}

/// A parsed step.
pub(super) struct StepWork<'a> {
    pub(super) step: &'a Step,
    pub(super) run_if: Option<Expr>,
    pub(super) code: Vec<Statement>,
    pub(super) prompt: Option<Words>,
    /// The placeholders in the arguments of its invocations, in order.
    pub(super) arguments: Vec<FormatPart>,
    /// The components inserted into its prompt.
    pub(super) injected: Vec<InjectionWork<'a>>,
}

impl StepWork<'_> {
    /// Whether some turns skip it.
    pub(super) fn is_conditional(&self) -> bool {
        self.step.run_if.is_some() || self.step.states.is_some()
    }
}

/// A parsed component.
pub(super) struct ComponentWork<'a> {
    pub(super) component: &'a Component,
    pub(super) fragment: Words,
}

/// A component inserted into the prompt of a step, parsed.
pub(super) struct InjectionWork<'a> {
    /// Its index in [`Work::components`].
    pub(super) component: usize,
    pub(super) injection: &'a Injection,
    pub(super) condition: Option<Expr>,
    pub(super) arguments: Vec<FormatPart>,
}

/// A parsed row of the transition table.
pub(super) struct PermitWork<'a> {
    pub(super) permit: &'a Permit,
    pub(super) condition: Option<Expr>,
    pub(super) arguments: Vec<FormatPart>,
}

/// A text with placeholders, parsed.
pub(super) struct Words {
    pub(super) parts: Vec<FormatPart>,
    pub(super) span: Span,
    pub(super) block: bool,
}

/// Parses the code and prompts of all steps, permissions and components; reports errors.
pub(super) fn prepare<'a>(
    workflow: &'a Workflow,
    components: &'a [Component],
    findings: &mut Vec<Diagnostic>,
) -> Work<'a> {
    let mut context_used = Vec::new();
    let mut steps = Vec::new();
    for step in &workflow.steps {
        let run_if = match &step.run_if {
            Some(Source::Text(text)) => condition(text, findings),
            Some(Source::Invoke(_)) | None => None,
        };
        let is_code = step.kind == StepType::Code;
        // Other steps ignore the key `code`.
        let read = step.code.as_ref().filter(|_| is_code).map(|text| python::code(text, findings));
        let mut context = Context::new(findings);
        let code = context.statements(read.unwrap_or_default());
        context_used.append(&mut context.used);
        let (mut prompt, mut arguments) = (None, Vec::new());
        match &step.prompt {
            Some(Source::Text(text)) if !is_code => prompt = Some(words(text)),
            Some(Source::Invoke(invoke)) if !is_code => texts(&invoke.arguments, &mut arguments),
            Some(_) | None => {}
        }
        if let Some(Source::Invoke(invoke)) = &step.run_if {
            texts(&invoke.arguments, &mut arguments);
        }
        if let Some(invoke) = &step.decision {
            texts(&invoke.arguments, &mut arguments);
        }
        steps.push(StepWork { step, run_if, code, prompt, arguments, injected: Vec::new() });
    }
    let mut permits = Vec::new();
    for permit in workflow.machine.iter().flat_map(|m| &m.transitions) {
        let (mut read, mut arguments) = (None, Vec::new());
        match &permit.condition {
            Some(Source::Text(text)) => read = condition(text, findings),
            Some(Source::Invoke(invoke)) => texts(&invoke.arguments, &mut arguments),
            None => {}
        }
        permits.push(PermitWork { permit, condition: read, arguments });
    }
    let components = super::inject(components, &mut steps, findings);
    Work { steps, permits, components, context: context_used }
}

pub(super) fn condition(text: &Text, findings: &mut Vec<Diagnostic>) -> Option<Expr> {
    let expr = python::condition(text, findings)?;
    Some(Context::new(findings).expr(expr))
}

pub(super) fn words(text: &Text) -> Words {
    Words { parts: parts(text), span: text.whole(), block: text.value.contains('\n') }
}

/// Collects the placeholders of all texts in the arguments of an invocation.
pub(super) fn texts(nodes: &[Node], out: &mut Vec<FormatPart>) {
    for node in nodes {
        match &node.value {
            Value::Text(text) => out.extend(parts(text)),
            Value::List(items) => texts(items, out),
            Value::Map(entries) => {
                for (_, value) in entries {
                    texts(std::slice::from_ref(value), out);
                }
            }
            _ => {}
        }
    }
}

/// The names that the heuristic reads. It decides if there is no model, or if the call of the model fails.
const HEURISTIC: &[&str] = &["action_history", "successful_actions", "failed_actions"];

/// Whether the heuristic may choose a target if the call of the question fails.
pub(super) fn guesses(step: &Step) -> bool {
    let known = |answer: &str| matches!(answer, "pivot" | "ship" | "continue");
    is_question(step) && step.map.iter().flatten().any(|(answer, _)| known(&answer.node))
}

/// Whether a step asks the model for an answer of its map, even if only when a function does not decide.
pub(super) fn is_question(step: &Step) -> bool {
    step.kind == StepType::Transition && step.map.is_some() && decider(step) != Decider::Function
}

/// The decider of a transition step: the model, a host function, or first the one and then the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decider {
    /// The model.
    Model,
    /// A host function with a fallback value.
    Function,
    /// A host function; if it fails, the model.
    FunctionThenModel,
}

/// The decider of a step.
pub(super) fn decider(step: &Step) -> Decider {
    match &step.decision {
        None => Decider::Model,
        Some(invoke) if invoke.fallback.is_some() => Decider::Function,
        Some(_) => Decider::FunctionThenModel,
    }
}
