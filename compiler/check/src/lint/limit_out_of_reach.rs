//! Limits that are too small, or that are never reached.

use crate::lint::{Context, Lint, words};
use crate::notation::duration;
use crate::turn::cheapest::{least, least_through, least_turns, least_turns_through};
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{Chart, Limits, StateKind, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::LIMIT_OUT_OF_REACH;

pub(super) static LINT: Lint = Lint { rule: &LIMIT_OUT_OF_REACH, needs_whole: true, run };

/// The maximum number of states whose limits are compared with the paths through them.
const MOST: usize = 32;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let (Some(_), Some(span)) = (state.limits.calls, map.states[i].calls) else { continue };
        if !calls_inside(chart, StateId::at(i)) {
            let name = words::state(chart, StateId::at(i));
            let message = format!("this limit is never reached: nothing in {name} calls a model");
            diagnostics.push(LIMIT_OUT_OF_REACH.at(span, message).help("remove it"));
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

/// The finding for a limit of calls or turns that is less than what the cheapest path through the state, or the cheapest run,
/// needs.
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
        let mut found = LIMIT_OUT_OF_REACH.at(span, message).help(format!(
            "allow at least {least}, {help}: `chartc check --cost` tells what makes them"
        ));
        for transition in way.iter().take(4) {
            found =
                found.related(map.transition(*transition).whole, "on the cheapest way to the end");
        }
        // One finding for each state is enough.
        return Some(found);
    }
    None
}

/// The finding for a limit that is never reached because of another.
fn never_reached(context: &Context<'_>, one: &Beyond) -> Option<Diagnostic> {
    let Context { chart, map, .. } = context;
    let spans = |state: StateId| {
        let spans = map.state(state);
        match one.kind {
            LimitUnit::Calls => spans.calls,
            LimitUnit::Turns => spans.turns,
            LimitUnit::Tokens => spans.tokens,
            LimitUnit::Cost => spans.cost,
            LimitUnit::Time => spans.time,
        }
    };
    let limits = &chart.state(one.outer).limits;
    let number = |n: Option<i64>, what: &str| {
        let n = n.unwrap_or_default();
        format!("{n} {}", if n == 1 { what.trim_end_matches('s') } else { what })
    };
    let bound = match one.kind {
        LimitUnit::Calls => number(limits.calls, "calls"),
        LimitUnit::Turns => number(limits.turns, "turns"),
        LimitUnit::Tokens => number(limits.tokens, "tokens"),
        LimitUnit::Cost => format!("a cost of {}", limits.cost.unwrap_or_default()),
        LimitUnit::Time => duration(limits.time.unwrap_or_default()),
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
    let found = LIMIT_OUT_OF_REACH.at(span, message).help(help);
    Some(match spans(one.outer) {
        Some(outer) => found.related(outer, "reached first"),
        None => found,
    })
}

/// Whether a step calls a model while the state is active.
fn calls_inside(chart: &Chart, state: StateId) -> bool {
    chart.steps.iter().any(|step| {
        // The calls of a child chart are not known here.
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. } | StepKind::Run(_));
        calls && (chart.contains(state, step.state) || chart.contains(step.state, state))
    })
}

/// A quantity that limits bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitUnit {
    Calls,
    Turns,
    Tokens,
    Cost,
    Time,
}

impl LimitUnit {
    const ALL: [Self; 5] = [Self::Calls, Self::Turns, Self::Tokens, Self::Cost, Self::Time];

    /// The limit on this quantity, as a number, an amount of money, or milliseconds; `None` if there is none.
    #[allow(clippy::cast_precision_loss, reason = "limits beyond 2^52 are never compared closely")]
    fn of(self, limits: &Limits) -> Option<f64> {
        match self {
            Self::Calls => limits.calls.map(|n| n as f64),
            Self::Turns => limits.turns.map(|n| n as f64),
            Self::Tokens => limits.tokens.map(|n| n as f64),
            Self::Cost => limits.cost,
            Self::Time => limits.time.map(|n| n as f64),
        }
    }
}

/// A limit that is never reached because an enclosing one is tighter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Beyond {
    limit: Limit,
    kind: LimitUnit,
    /// The state whose limit is reached first.
    outer: StateId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// A limit of a state.
    State(StateId),
    /// The limit on the calls of each turn.
    Turn(u32),
    /// The limit on the tool calls of a step.
    Tools(StepId, u32),
}

/// Finds the limits that are never reached: first those of states, then those of turns and steps.
fn beyond(chart: &Chart) -> Vec<Beyond> {
    let root = StateId::at(0);
    let mut found = Vec::new();
    // The chart itself is skipped: no other limit encloses its own.
    for state in chart.state_ids().skip(1) {
        let limits = &chart.state(state).limits;
        if *limits == Limits::default() {
            continue;
        }
        for kind in LimitUnit::ALL {
            let Some(own) = kind.of(limits) else { continue };
            let outer = tightest(chart, chart.state(state).parent, kind);
            if let Some((outer, _)) = outer.filter(|(_, bound)| *bound < own) {
                found.push(Beyond { limit: Limit::State(state), kind, outer });
            }
        }
    }
    let calls = chart.state(root).limits.calls;
    if let (Some(each), Some(all)) = (chart.calls_per_turn, calls)
        && i64::from(each) > all
    {
        found.push(Beyond { limit: Limit::Turn(each), kind: LimitUnit::Calls, outer: root });
    }
    for (i, step) in chart.steps.iter().enumerate() {
        // After the last tool call, the model is called once more, for its answer.
        if let Some(tools) = step.tools
            && let Some((outer, bound)) = tightest(chart, Some(step.state), LimitUnit::Calls)
            && f64::from(tools.calls) >= bound
        {
            let limit = Limit::Tools(StepId::at(i), tools.calls);
            found.push(Beyond { limit, kind: LimitUnit::Calls, outer });
        }
    }
    found
}

/// The least limit of a state and its ancestors; of equal ones, the innermost.
fn tightest(chart: &Chart, state: Option<StateId>, kind: LimitUnit) -> Option<(StateId, f64)> {
    let around = state.into_iter().flat_map(|s| chart.ancestors(s));
    let bounds = around.filter_map(|s| Some((s, kind.of(&chart.state(s).limits)?)));
    bounds.min_by(|a, b| a.1.total_cmp(&b.1))
}
