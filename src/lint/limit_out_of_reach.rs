//! Limits of model calls and turns that are too small, or of no use.

use super::{Context, Lint, words};
use crate::analysis::cheapest::{least, least_through, least_turns, least_turns_through};
use crate::analysis::limits::{Beyond, Kind, Limit, beyond};
use crate::diagnostic::Diagnostic;
use crate::notation::duration;
use crate::rules::limit_out_of_reach::RULE;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, StateKind, StepKind};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// States whose limits are held against the ways through them; a chart with more is built by a program.
const MOST: usize = 32;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let (Some(_), Some(span)) = (state.limits.calls, map.states[i].calls) else { continue };
        if !calls_inside(chart, StateId::at(i)) {
            let name = words::state(chart, StateId::at(i));
            let message = format!("this limit is never reached: nothing in {name} calls a model");
            diagnostics.push(RULE.at(span, message).help("remove it"));
        }
    }
    for one in beyond(chart) {
        diagnostics.extend(never_reached(context, &one));
    }
    let limited = chart.state_ids().filter(|s| {
        let limits = &chart.state(*s).limits;
        limits.calls.is_some() || limits.turns.is_some()
    });
    diagnostics.extend(limited.take(MOST).filter_map(|state| too_small(context, state)));
}

/// A limit of calls or turns that is smaller than what the run, or the way through the state, takes at least.
fn too_small(context: &Context<'_>, state: StateId) -> Option<Diagnostic> {
    let Context { chart, facts, map, .. } = context;
    let (limits, spans) = (&chart.state(state).limits, map.state(state));
    let is_run = state == StateId::at(0);
    if !is_run && !matches!(chart.state(state).kind, StateKind::Compound { .. }) {
        return None;
    }
    for (bound, span, in_turns) in
        [(limits.calls, spans.calls, false), (limits.turns, spans.turns, true)]
    {
        let (Some(bound), Some(span)) = (bound, span) else { continue };
        let cheapest = match (is_run, in_turns) {
            (true, false) => least(chart, facts),
            (true, true) => least_turns(chart, facts),
            (false, false) => least_through(chart, facts, state),
            (false, true) => least_turns_through(chart, facts, state),
        };
        let Some((least, way)) = cheapest else { continue };
        if !u64::try_from(bound).is_ok_and(|bound| bound < least) {
            continue;
        }
        let takes = if in_turns {
            format!("takes {least} turns")
        } else {
            format!("makes {least} model calls")
        };
        let message = if is_run {
            format!("no run ends well: the cheapest {takes}")
        } else {
            format!("no run gets through {}: the shortest way {takes}", words::state(chart, state))
        };
        let help = if in_turns { "as each makes its calls" } else { "and more for retries" };
        let mut found = RULE.at(span, message).help(format!(
            "allow at least {least}, {help}: `chartc check --cost` tells what makes them"
        ));
        for line in way.iter().take(4) {
            found = found.related(map.line(*line).whole, "on the cheapest way to the end");
        }
        // One of the two is enough.
        return Some(found);
    }
    None
}

/// A limit that another comes before.
fn never_reached(context: &Context<'_>, one: &Beyond) -> Option<Diagnostic> {
    let Context { chart, map, .. } = context;
    let spans = |state: StateId| {
        let spans = map.state(state);
        match one.kind {
            Kind::Calls => spans.calls,
            Kind::Turns => spans.turns,
            Kind::Tokens => spans.tokens,
            Kind::Cost => spans.cost,
            Kind::Time => spans.time,
        }
    };
    let limits = &chart.state(one.outer).limits;
    let number = |n: Option<i64>, what: &str| {
        let n = n.unwrap_or_default();
        format!("{n} {}", if n == 1 { what.trim_end_matches('s') } else { what })
    };
    let bound = match one.kind {
        Kind::Calls => number(limits.calls, "calls"),
        Kind::Turns => number(limits.turns, "turns"),
        Kind::Tokens => number(limits.tokens, "tokens"),
        Kind::Cost => format!("a cost of {}", limits.cost.unwrap_or_default()),
        Kind::Time => duration(limits.time.unwrap_or_default()),
    };
    let outer = words::state(chart, one.outer);
    let (span, message, help) = match one.limit {
        Limit::State(state) => (
            spans(state)?,
            format!("this limit is never reached: that of {outer} comes first, after {bound}"),
            "lower it, raise the other, or remove one of them",
        ),
        Limit::Turn(each) => (
            map.state(one.outer).per_turn?,
            format!("{each} calls per turn are never made: {outer} ends after {bound}"),
            "lower it, or raise the limit of the run",
        ),
        Limit::Tools(step, calls) => (
            map.step(step).tool_calls?,
            format!(
                "{calls} calls of tools are never made: with the answer they take {} model calls, and {outer} allows {bound}",
                u64::from(calls) + 1
            ),
            "lower it, or raise the limit of model calls",
        ),
    };
    let found = RULE.at(span, message).help(help);
    Some(match spans(one.outer) {
        Some(outer) => found.related(outer, "reached first"),
        None => found,
    })
}

/// Whether a step calls a model while the state is active.
fn calls_inside(chart: &Chart, state: StateId) -> bool {
    chart.steps.iter().any(|step| {
        // What a chart that is run calls is not known here.
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. } | StepKind::Run(_));
        calls && (chart.contains(state, step.state) || chart.contains(step.state, state))
    })
}
