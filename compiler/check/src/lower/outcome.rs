//! Lowers the outcomes of steps: transitions, failures, and the `else` of a question.

use super::context::Cx;
use super::expr::{self, Env};
use super::transition::{self, Draft};
use super::{TransitionSpans, trigger};
use chartc_core::arena::{ClientId, StateId, StepId, TransitionId};
use chartc_core::model::{Failure, FailurePolicy, Otherwise, StepKind, Transition, Trigger, Type};
use chartc_text::rules::ILLEGAL_STRUCTURE;
use chartc_text::rules::illegal_structure;
use chartc_text::span::Span;
use chartc_text::syntax::{self, AskElse, FailWord, OutcomeKind};

/// Lowers an outcome line of a step's body.
pub(super) fn outcome(
    cx: &mut Cx<'_>,
    id: StepId,
    outcome: &syntax::Outcome,
    span: Span,
    is_ask: bool,
) {
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::at(state);
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
    let Some(tail) = transition::tail(cx, &mut env, &[], state, &outcome.tail) else {
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
    tail: transition::Tail,
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
    let line = transition::add(cx, Draft { transition, spans, choice: None, each: false });
    cx.chart.steps[id.index()].outcomes.push(line);
    line
}

/// Lowers a trailing `-> T`.
pub(super) fn trailing(cx: &mut Cx<'_>, id: StepId, written: &syntax::Tail) {
    let whole = cx.map.steps[id.index()].whole;
    let first = written.targets.first().map(|t| t.path.span);
    let last = written.targets.last().map(|t| t.path.span);
    let span = first.zip(last).map_or(whole, |(first, last)| first.to(last));
    if trigger::is_ask(&cx.chart.steps[id.index()].kind) {
        let finding = ILLEGAL_STRUCTURE
            .at(span, "an `ask` has no `-> target`: its options say where to go")
            .help("put the target on the `may` lines");
        cx.report(finding);
        return;
    }
    let state = cx.chart.steps[id.index()].state;
    let mut env = Env::at(state);
    env.answer = Some(id);
    let Some(tail) = transition::tail(cx, &mut env, &[], state, written) else {
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
    let mut env = Env::at(scope);
    let written = syntax::Tail { targets: vec![target.clone()], ..syntax::Tail::default() };
    let Some((targets, target_spans)) = transition::targets(cx, &mut env, &written.targets) else {
        cx.dropped = true;
        return None;
    };
    let kind = transition::kind(cx, state, &written, &targets);
    let span = target.path.span;
    let spans = TransitionSpans { whole: span, trigger: span, ..TransitionSpans::default() };
    let tail = transition::Tail {
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
pub(super) fn fail(cx: &mut Cx<'_>, id: StepId, retry: Option<u32>, then: Option<&FailWord>) {
    let state = cx.chart.steps[id.index()].state;
    let defaults = cx.chart.defaults;
    let client = cx.chart.steps[id.index()].client;
    let patience = client.and_then(|client| cx.chart.clients[client.index()].retry);
    let retries = retry.or(patience).unwrap_or(defaults.retries).max(fallbacks(cx, client));
    // The `else` says what happens without an answer, so the policy of an `ask` has only the number of retries.
    if trigger::is_ask(&cx.chart.steps[id.index()].kind) {
        cx.chart.steps[id.index()].failure = FailurePolicy { retries, then: Failure::Skip };
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
    cx.chart.steps[id.index()].failure = FailurePolicy { retries, then };
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
