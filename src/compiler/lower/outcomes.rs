//! Lowers the outcomes of steps and the events that are sent to other charts.

use super::context::Cx;
use super::expr::{self, Env};
use super::nodes::{self, Draft};
use super::{Lowered, TransitionSpans, transitions};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, illegal_structure, unknown_name};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::Span;
use crate::syntax::{self, AskElse, CATCH_ALL, FailWord, OutcomeKind};
use chartc_core::arena::{ClientId, StateId, StepId, TransitionId};
use chartc_core::model::{
    Chart, Event, Failure, FailurePolicy, Otherwise, Receiver, Retry, StepKind, Transition,
    Trigger, Type, Within,
};
use std::collections::BTreeMap;

/// Lowers an outcome line of a step's body.
pub(super) fn outcome(
    cx: &mut Cx<'_>,
    id: StepId,
    outcome: &syntax::Outcome,
    span: Span,
    is_ask: bool,
) {
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::after(cx, id);
    let (trigger, words) = match &outcome.kind {
        OutcomeKind::Done => {
            if is_ask {
                let finding = ILLEGAL_STRUCTURE
                    .at(span, "an `ask` has no `done` line: its options say where to go")
                    .help("put the target on the `may` lines");
                cx.report(finding);
            }
            env.answer = Some(id);
            (Trigger::StepDone(id), "done".len())
        }
        OutcomeKind::Error => (Trigger::StepError(id), "error".len()),
        OutcomeKind::Doubt => (Trigger::StepDoubt(id), "doubt".len()),
        OutcomeKind::Timeout(bound) => {
            let lowered = expr::expect(cx, &mut env, bound, &Type::Duration);
            let words = bound.span.end.saturating_sub(span.start) as usize;
            (Trigger::StepTimeout(id, lowered), words)
        }
    };
    let Some(tail) = transitions::tail(cx, &mut env, &[], state, &outcome.tail) else {
        cx.dropped = true;
        return;
    };
    // Lowered all the same, to report the errors in it.
    if is_ask && outcome.kind == OutcomeKind::Done {
        return;
    }
    let trigger_span = Span { end: span.start + words as u32, ..span };
    let spans = TransitionSpans {
        whole: span,
        trigger: trigger_span,
        from: None,
        guard: tail.guard_span,
        targets: tail.target_spans.clone(),
        next: None,
    };
    push(cx, id, trigger, tail, spans);
}

fn push(
    cx: &mut Cx<'_>,
    id: StepId,
    trigger: Trigger,
    tail: transitions::Tail,
    spans: TransitionSpans,
) -> TransitionId {
    let transition = Transition {
        source: cx.chart.steps[id.index()].state,
        trigger,
        bound: Vec::new(),
        scope: None,
        guard: tail.guard,
        targets: tail.targets,
        kind: tail.kind,
        actions: tail.actions,
    };
    let line = nodes::add(cx, Draft { transition, spans, choice: None, each: false });
    cx.chart.steps[id.index()].outcomes.push(line);
    line
}

/// Lowers a trailing `-> T`.
pub(super) fn trailing(cx: &mut Cx<'_>, id: StepId, written: &syntax::Tail) {
    let whole = cx.map.steps[id.index()].whole;
    let first = written.targets.first().map(|t| t.path.span);
    let last = written.targets.last().map(|t| t.path.span);
    let span = first.zip(last).map_or(whole, |(first, last)| first.to(last));
    if transitions::is_ask(&cx.chart.steps[id.index()].kind) {
        let finding = ILLEGAL_STRUCTURE
            .at(span, "an `ask` has no `-> target`: its options say where to go")
            .help("put the target on the `may` lines");
        cx.report(finding);
        return;
    }
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::after(cx, id);
    env.answer = Some(id);
    let Some(tail) = transitions::tail(cx, &mut env, &[], state, written) else {
        cx.dropped = true;
        return;
    };
    let spans = TransitionSpans {
        whole: span,
        trigger: span,
        from: None,
        guard: tail.guard_span,
        targets: tail.target_spans.clone(),
        next: None,
    };
    push(cx, id, Trigger::StepDone(id), tail, spans);
}

/// Adds the transition that is taken if a step has no usable outcome.
fn instead(
    cx: &mut Cx<'_>,
    id: StepId,
    target: &syntax::Target,
    scope: StateId,
) -> Option<TransitionId> {
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::after(cx, id);
    env.state = scope;
    let written = syntax::Tail { targets: vec![target.clone()], ..syntax::Tail::default() };
    let Some((targets, target_spans)) = transitions::targets(cx, &mut env, &written.targets) else {
        cx.dropped = true;
        return None;
    };
    let kind = transitions::kind(cx, state, &written, &targets);
    let span = target.path.span;
    let spans = TransitionSpans { whole: span, trigger: span, ..TransitionSpans::default() };
    let tail = transitions::Tail {
        guard: None,
        targets,
        kind,
        actions: Vec::new(),
        guard_span: None,
        target_spans,
    };
    let spans = TransitionSpans { targets: tail.target_spans.clone(), ..spans };
    Some(push(cx, id, Trigger::StepElse(id), tail, spans))
}

/// The number of clients to fall back to, each of which gets an attempt. Cycles have been removed.
fn fallbacks(cx: &Cx<'_>, client: Option<ClientId>) -> u32 {
    let next = |id: &ClientId| cx.chart.clients[id.index()].fallback;
    std::iter::successors(client, next).skip(1).count() as u32
}

/// Determines the failure policy: that of the step itself, then the client's number of retries, then the chart's defaults.
pub(super) fn fail(cx: &mut Cx<'_>, id: StepId, retry: Option<Retry>, then: Option<&FailWord>) {
    let state = cx.chart.steps[id.index()].state;
    let defaults = cx.chart.defaults;
    let client = cx.chart.steps[id.index()].client;
    let patience = client.and_then(|client| cx.chart.clients[client.index()].retry);
    let mut retry = retry.or(patience).unwrap_or(defaults.retry);
    retry.times = retry.times.max(fallbacks(cx, client));
    // The `else` says what happens without an answer, so the policy of an `ask` has only the number of retries.
    if transitions::is_ask(&cx.chart.steps[id.index()].kind) {
        cx.chart.steps[id.index()].failure = FailurePolicy { retry, then: Failure::Skip };
        return;
    }
    let then = match (then, cx.default_target) {
        (Some(FailWord::Fail), _) => Some(Failure::Fail),
        (Some(FailWord::Skip), _) => Some(Failure::Skip),
        (Some(FailWord::Take(target)), _) => instead(cx, id, target, state).map(Failure::Take),
        (None, Some(target)) => instead(cx, id, target, StateId(0)).map(Failure::Take),
        (None, None) => Some(defaults.then),
    };
    let then = then.unwrap_or(Failure::Fail);
    cx.chart.steps[id.index()].failure = FailurePolicy { retry, then };
}

/// Lowers the `else` of an `ask`.
pub(super) fn otherwise(cx: &mut Cx<'_>, id: StepId, ask: &syntax::Ask) {
    let otherwise = match &ask.otherwise {
        Some(AskElse::Stay) => Otherwise::Stay,
        Some(AskElse::Take(target)) => {
            let state = cx.chart.steps[id.index()].state;
            instead(cx, id, target, state).map_or(Otherwise::Stay, Otherwise::Take)
        }
        // The `else` may be in the part of the step that cannot be read.
        None if cx.step_nodes[id.index()].is_cut => Otherwise::Stay,
        None => {
            let step = &cx.chart.steps[id.index()];
            let name = cx.map.steps[id.index()].name;
            let finding = illegal_structure::no_else(&step.name, name);
            cx.report(finding);
            Otherwise::Stay
        }
    };
    if let StepKind::Ask { otherwise: place, .. } = &mut cx.chart.steps[id.index()].kind {
        *place = otherwise;
    }
}

// Events that are sent to other charts: their receivers, and whether these declare them.

/// Reports events that the receiving chart does not declare, as far as the receivers are known.
pub(super) fn refuse_unheard(
    lowered: &[Lowered],
    others: &[Lowered],
    findings: &mut Vec<Diagnostic>,
) {
    let all: Vec<&Lowered> = lowered.iter().chain(others).collect();
    let by_name: BTreeMap<Span, &Lowered> = all.iter().map(|one| (one.map.name, *one)).collect();
    let mut parents: BTreeMap<Span, Vec<&Lowered>> = BTreeMap::new();
    for one in &all {
        let mut children: Vec<Span> = one.map.steps.iter().filter_map(|step| step.child).collect();
        children.sort_unstable();
        children.dedup();
        for child in children {
            parents.entry(child).or_default().push(one);
        }
    }
    for sender in &all {
        for post in &sender.map.posts {
            let event = &sender.chart.events[post.event.index()];
            let receivers: Vec<&Lowered> = match post.to {
                Receiver::Own => Vec::new(),
                Receiver::Parent => parents.get(&sender.map.name).cloned().unwrap_or_default(),
                Receiver::Child(step) | Receiver::Element(step, _) => {
                    let child = sender.map.steps[step.index()].child;
                    child.and_then(|child| by_name.get(&child).copied()).into_iter().collect()
                }
            };
            for receiver in receivers {
                findings.extend(unheard(event, &sender.chart, receiver, post.span));
            }
        }
    }
}

/// The finding for an event that the receiving chart does not declare, or declares with other data.
fn unheard(event: &Event, from: &Chart, to: &Lowered, span: Span) -> Option<Diagnostic> {
    let events = &to.chart.events;
    // A chart that declares the catch-all accepts any event.
    if events.iter().any(|known| known.name == CATCH_ALL) {
        return None;
    }
    let Some(nth) = events.iter().position(|known| known.name == event.name) else {
        let known = to.whole.then(|| events.iter().map(|known| known.name.as_str()));
        let mut finding = unknown_name::unknown("event", &event.name, span, known);
        finding.message = format!("`{}` has no event `{}`", to.chart.name, event.name);
        return Some(finding.related(to.map.name, "this chart gets it"));
    };
    let own = &events[nth];
    let fits = event.fields.len() == own.fields.len()
        && event.fields.iter().zip(&own.fields).all(|(sent, wanted)| {
            sent.name == wanted.name
                && fits(from, &sent.ty, &to.chart, &wanted.ty)
                && covers(wanted.range.as_ref(), sent.range.as_ref())
        });
    (!fits).then(|| {
        let message = format!("`{}` has other data in `{}`", event.name, to.chart.name);
        TYPE_ERROR
            .at(span, message)
            .help("both declare the event with the same names, types and ranges")
            .related(to.map.events[nth], "declared here")
    })
}

/// Whether every value of the range `sent` is in `wanted`.
fn covers(wanted: Option<&Within>, sent: Option<&Within>) -> bool {
    let Some((low, high)) = wanted else { return true };
    sent.is_some_and(|(least, most)| !expr::above(low, least) && !expr::above(most, high))
}

/// Whether a value of a type of one chart may be a value of a type of the other.
fn fits(from: &Chart, sent: &Type, to: &Chart, wanted: &Type) -> bool {
    match (sent, wanted) {
        (Type::Json, _) | (_, Type::Json) | (Type::Int, Type::Float) => true,
        (Type::List(a), Type::List(b))
        | (Type::Map(a), Type::Map(b))
        | (Type::Optional(a), Type::Optional(b)) => fits(from, a, to, b),
        (Type::Named(a), Type::Named(b)) => from.types[a.index()].name == to.types[b.index()].name,
        (a, Type::Optional(b)) => fits(from, a, to, b),
        (a, b) => a == b,
    }
}
