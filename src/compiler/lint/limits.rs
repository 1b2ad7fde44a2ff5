//! Findings about limits, deadlines, retries and prices.
//!
//! The problem: a limit that is missing or never reached shows only when a run is expensive or hangs. The idea: each lint compares what is
//! written with what runs can do. In the order of this file:
//!
//! - `LIMIT_OUT_OF_REACH`: a limit that an enclosing one makes useless (`beyond`), that nothing counts towards, or that is less than what
//!   the cheapest run needs (`too_small`).
//! - `UNBOUNDED_CALLS`, `UNBOUNDED_WAIT`, `UNBOUNDED_FAN_OUT`: calls in a cycle without a bound, calls that no deadline ends, and calls for
//!   each element of a list of any length.
//! - `HASTY_TIMEOUT`: a time in which no model or person answers.
//! - `UNHANDLED_DOUBT`: a call of a tool that the next turn makes again, although it may have taken effect.
//! - `HUGE_RETRY`: more than `MOST_RETRIES` retries.
//! - `DEAD_DEADLINE`: a deadline before which something else always exits the state or ends the run.
//! - `UNPRICED_MODEL`: a limit of cost on calls that have no price.
//!
//! For example:
//!
//! ```text
//! limits { calls 5 }
//! state work {
//!   limits { calls 10 }
//!   llm draft { prompt "…" }
//! }
//! ```
//!
//! The run ends at 5 calls, so the limit of `work` is never reached. `draft` has no timeout, and `work` has neither a deadline nor a limit
//! of time, so the call may take for ever.

use super::data::is_yaml;
use super::lists::Lists;
use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::deadline::{Before, Dead, dead, range};
use crate::analysis::facts::endless::endless;
use crate::analysis::facts::reach::{ScopeCondition, is_final, is_history, is_leaf};
use crate::analysis::turn::cost::{least, least_through, least_turns, least_turns_through};
use crate::notation::{duration, expression};
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{ClientId, StateId, StepId, TransitionId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    Chart, Expr, ExprKind, Failure, Limits, StateKind, Step, StepKind, TransitionKind, Trigger,
    Type,
};
use chartc_core::tables::is_free;
use std::collections::BTreeMap;

pub(super) static LIMIT_OUT_OF_REACH: Lint =
    Lint { rule: &rules::LIMIT_OUT_OF_REACH, needs_whole: true, run: find_limit_out_of_reach };

/// The maximum number of states whose limits are compared with the paths through them.
const MOST_LIMITED_STATES: usize = 32;

fn find_limit_out_of_reach(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let (Some(_), Some(span)) = (state.limits.calls, map.states[i].calls) else { continue };
        if !calls_inside(chart, StateId::at(i)) {
            let name = words::state(chart, StateId::at(i));
            let message = format!("this limit is never reached: nothing in {name} calls a model");
            diagnostics.push(rules::LIMIT_OUT_OF_REACH.at(span, message).help("remove it"));
        }
    }
    for one in beyond(chart) {
        diagnostics.extend(never_reached(context, &one));
    }
    let limited = chart.state_ids().filter(|s| {
        let limits = &chart.state(*s).limits;
        limits.calls.is_some() || limits.turns.is_some()
    });
    diagnostics
        .extend(limited.take(MOST_LIMITED_STATES).filter_map(|state| too_small(context, state)));
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
        let mut found = rules::LIMIT_OUT_OF_REACH.at(span, message).help(format!(
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
    let found = rules::LIMIT_OUT_OF_REACH.at(span, message).help(help);
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

// Unbounded loops of model calls.

pub(super) static UNBOUNDED_CALLS: Lint =
    Lint { rule: &rules::UNBOUNDED_CALLS, needs_whole: true, run: find_unbounded_calls };

fn find_unbounded_calls(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // The format has no limits for agents: the host bounds their turns.
    if is_yaml(context) {
        return;
    }
    let Some(round) = endless(chart, facts) else { return };
    let step = words::step(chart, round.step);
    let moves = round.transitions.iter().copied().find(|transition| {
        let row = chart.transition(*transition);
        row.targets.iter().any(|t| t.state.0 != 0)
            && map.transition(*transition).whole.file == map.file
    });
    let message = match moves {
        Some(transition) => {
            let source =
                chart.transition(transition).targets.first().map_or(StateId::at(0), |t| t.state);
            let source = words::state(chart, source);
            format!(
                "{step} may call the model again and again: nothing bounds the rounds through {source}"
            )
        }
        None => {
            format!("{step} may call the model again and again: no line has to leave its state")
        }
    };
    let mut found = rules::UNBOUNDED_CALLS.at(map.step(round.step).name, message).help(
        "bound the run, `limits { turns 50 }` or `limits { calls 20 }`, or the state: `after 10 turns -> …`",
    );
    if let Some(transition) = moves {
        found = found.related(map.transition(transition).whole, "part of the cycle");
    }
    diagnostics.push(found);
}

// Model calls without any time limit.

pub(super) static UNBOUNDED_WAIT: Lint =
    Lint { rule: &rules::UNBOUNDED_WAIT, needs_whole: true, run: find_unbounded_wait };

fn find_unbounded_wait(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for wait in unbounded(chart, facts) {
        let (step, leaf) = (words::step(chart, wait.step), words::state(chart, wait.leaf));
        let message =
            format!("{step} may wait for its answer for ever: in {leaf} no deadline ends the call");
        diagnostics.push(
            rules::UNBOUNDED_WAIT.at(map.step(wait.step).name, message)
                .help("give the step or its client a `timeout`, the state an `after` line, or bound its `time` in `limits`"),
        );
    }
}

/// A step that may wait for its answer for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wait {
    step: StepId,
    /// A leaf in which no deadline ends the call.
    leaf: StateId,
}

/// Finds model steps without a timeout of their own or of their client for which some leaf has neither a deadline nor a time limit, in
/// document order. Linear, up to logarithms.
fn unbounded(chart: &Chart, facts: &Facts) -> Vec<Wait> {
    let calls = |step: &Step| matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
    if !chart.steps.iter().any(calls) {
        return Vec::new();
    }
    let idle = untimed(chart, facts);
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !calls(step) || is_timed(chart, step) {
            continue;
        }
        let leaf = first_of(chart, facts.scopes.step(id), &idle);
        found.extend(leaf.map(|leaf| Wait { step: id, leaf }));
    }
    found
}

/// Whether a timeout of the step or of its client ends its call.
fn is_timed(chart: &Chart, step: &Step) -> bool {
    let client = step.client.is_some_and(|c| chart.clients[c.index()].timeout.is_some());
    let timeout = |t: &Trigger| matches!(t, Trigger::StepTimeout(..));
    client || step.outcomes.iter().any(|l| timeout(&chart.transition(*l).trigger))
}

/// The reachable leaves for which neither they nor their ancestors have a deadline or a time limit, in document order.
fn untimed(chart: &Chart, facts: &Facts) -> Vec<StateId> {
    let mut timed: Vec<bool> = chart.states.iter().map(|s| s.limits.has(LimitKind::Time)).collect();
    for (transition, place) in chart.transitions.iter().zip(&facts.scopes.transitions) {
        if matches!(transition.trigger, Trigger::After(_)) {
            place.within.iter().for_each(|s| timed[s.index()] = true);
        }
    }
    let mut idle = Vec::new();
    for state in chart.state_ids() {
        let row = chart.state(state);
        timed[state.index()] |= row.parent.is_some_and(|p| timed[p.index()]);
        let rests = is_leaf(chart, state) && !is_final(chart, state) && !is_history(chart, state);
        if rests && !timed[state.index()] && facts.reach.can_enter(state) {
            idle.push(state);
        }
    }
    idle
}

/// The first of the leaves that the scope covers. `leaves` is in document order.
fn first_of(chart: &Chart, place: &ScopeCondition, leaves: &[StateId]) -> Option<StateId> {
    place.within.iter().find_map(|top| {
        // Leaves of a state are contiguous in document order, so a binary search finds the first.
        let from = leaves.partition_point(|l| l < top);
        let below = leaves[from..].iter().take_while(|l| chart.contains(*top, **l));
        below.copied().find(|l| !place.excludes_leaf(chart, *l))
    })
}

// Model calls for each element of a list that nothing bounds.

pub(super) static UNBOUNDED_FAN_OUT: Lint =
    Lint { rule: &rules::UNBOUNDED_FAN_OUT, needs_whole: true, run: find_unbounded_fan_out };

fn find_unbounded_fan_out(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut lists = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let Some(each) = &step.each else { continue };
        let spans = map.step(id);
        if spans.up_to.is_some() || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        let (does, cure) = match &step.kind {
            StepKind::Llm if !is_limited(chart, step.state) => (
                "call the model".to_owned(),
                "bound the list, `up to 20`, or the run, `limits { calls 100 }`",
            ),
            StepKind::Run(run) if asks_without_limit(context, id) => {
                (format!("run `{}`, which calls a model,", run.chart), "bound the list: `up to 20`")
            }
            _ => continue,
        };
        let lists = lists.get_or_insert_with(|| Lists::new(chart));
        if lists.is_bounded(&each.list) {
            continue;
        }
        let times = u64::from(each.most) * (u64::from(step.failure.retry.times) + 1);
        let step = words::step(chart, id);
        let message = format!("{step} may {does} {times} times: nothing bounds its list");
        diagnostics.push(
            rules::UNBOUNDED_FAN_OUT.at(spans.list.unwrap_or(spans.name), message).help(cure),
        );
    }
}

/// Whether a limit on calls, tokens or cost applies in a state.
fn is_limited(chart: &Chart, state: StateId) -> bool {
    let kinds = [LimitKind::Calls, LimitKind::Tokens, LimitKind::Cost];
    let mut states = chart.ancestors(state).map(|state| &chart.state(state).limits);
    states.any(|limits| kinds.into_iter().any(|kind| limits.has(kind)))
}

/// Whether the chart that a step runs calls models without a limit of its own.
fn asks_without_limit(context: &Context<'_>, step: StepId) -> bool {
    let family = context.family;
    let Some(own) = family.place(context.map) else { return false };
    let children = &family.member(own).children;
    let Some((_, child)) = children.iter().find(|(run, _)| *run == step) else { return false };
    let child = family.member(*child).chart;
    child.steps.iter().any(|step| {
        matches!(step.kind, StepKind::Llm | StepKind::Ask { .. }) && !is_limited(child, step.state)
    })
}

// Timeouts and deadlines that are too short for a model or a person to answer.

pub(super) static HASTY_TIMEOUT: Lint =
    Lint { rule: &rules::HASTY_TIMEOUT, needs_whole: false, run: find_hasty_timeout };

fn find_hasty_timeout(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Hasty { spot, whom, most } in hasty(chart, facts) {
        let (span, then) = match spot {
            TimeoutPlace::Client(id) => (
                map.client_timeouts[id.index()].unwrap_or(map.clients[id.index()]),
                format!("every call of `{}` fails", chart.clients[id.index()].name),
            ),
            TimeoutPlace::Step(transition, step) => {
                let step = words::step(chart, step);
                (map.transition(transition).trigger, format!("{step} always times out"))
            }
            TimeoutPlace::Deadline(transition, step) => {
                let state = words::state(chart, chart.transition(transition).source);
                let step = words::step(chart, step);
                (
                    map.transition(transition).trigger,
                    format!("{state} is left before {step} is done"),
                )
            }
        };
        let who = match whom {
            Whom::Model => "no model answers",
            Whom::Person => "nobody answers",
        };
        let message = format!("{who} within {}: {then}", duration(most));
        let help = match (whom, most) {
            // Most often the unit is wrong.
            (_, 5..1_000) => format!("allow more time; `{most}s` if seconds are meant"),
            (Whom::Model, _) => "allow more time: a model needs seconds".to_owned(),
            (Whom::Person, _) => "allow more time: a person needs to read the question".to_owned(),
        };
        diagnostics.push(rules::HASTY_TIMEOUT.at(span, message).help(help));
    }
}

/// The least time in which a model answers, in milliseconds.
const MODEL: u64 = 1_000;
/// The least time in which a person reads and answers a question, in milliseconds.
const PERSON: u64 = 5_000;

/// The one who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whom {
    Model,
    Person,
}

/// A time that is too short for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hasty {
    spot: TimeoutPlace,
    /// The one who has too little time to answer.
    whom: Whom,
    /// The greatest possible value of the time, in milliseconds.
    most: u64,
}

/// The place where a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeoutPlace {
    /// The `timeout` of a client.
    Client(ClientId),
    /// The `timeout` of a step.
    Step(TransitionId, StepId),
    /// A deadline that leaves the state of a step.
    Deadline(TransitionId, StepId),
}

/// Finds every time that is too short: those of clients first, then those of transitions in document order. Times of tools are ignored,
/// because a tool may answer at once.
fn hasty(chart: &Chart, facts: &Facts) -> Vec<Hasty> {
    let mut found = Vec::new();
    for (i, client) in chart.clients.iter().enumerate() {
        if let Some(most) = client.timeout.filter(|ms| *ms < MODEL) {
            found.push(Hasty {
                spot: TimeoutPlace::Client(ClientId::at(i)),
                whom: Whom::Model,
                most,
            });
        }
    }
    let mut by_state = None;
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (bound, asked) = match &transition.trigger {
            Trigger::StepTimeout(step, bound) => {
                let row = &chart.steps[step.index()];
                (bound, whom(row).map(|(whom, least)| (TimeoutPlace::Step(id, *step), whom, least)))
            }
            Trigger::After(bound) if transition.kind == TransitionKind::External => {
                let asked = by_state.get_or_insert_with(|| slowest(chart, facts))
                    [transition.source.index()];
                (
                    bound,
                    asked
                        .map(|(step, whom, least)| (TimeoutPlace::Deadline(id, step), whom, least)),
                )
            }
            _ => continue,
        };
        if let Some((spot, whom, least)) = asked
            && let Some((_, most)) = range(chart, bound)
            && most < least
        {
            found.push(Hasty { spot, whom, most });
        }
    }
    found
}

/// The one who answers a step, and the least time for an answer, in milliseconds; `None` if neither a model nor a person answers it.
fn whom(step: &Step) -> Option<(Whom, u64)> {
    match step.kind {
        StepKind::Llm | StepKind::Ask { .. } => Some((Whom::Model, MODEL)),
        StepKind::Human(_) => Some((Whom::Person, PERSON)),
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => None,
    }
}

/// The slowest step that is canceled when a state is exited, by state.
fn slowest(chart: &Chart, facts: &Facts) -> Vec<Option<(StepId, Whom, u64)>> {
    let mut found: Vec<Option<(StepId, Whom, u64)>> = vec![None; chart.states.len()];
    for (i, step) in chart.steps.iter().enumerate() {
        let Some((whom, least)) = whom(step) else { continue };
        if facts.scopes.steps[i].within.is_empty() {
            continue;
        }
        for state in chart.ancestors(step.state) {
            let known = &mut found[state.index()];
            // The ancestors know a step that is at least as slow.
            if known.is_some_and(|(.., slower)| slower >= least) {
                break;
            }
            *known = Some((StepId::at(i), whom, least));
        }
    }
    found
}

// Calls of tools that the next turn makes again, although they may have taken effect.

pub(super) static UNHANDLED_DOUBT: Lint =
    Lint { rule: &rules::UNHANDLED_DOUBT, needs_whole: true, run: find_unhandled_doubt };

fn find_unhandled_doubt(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if is_yaml(context) {
        return;
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let StepKind::Call(tool, _) = &step.kind else { continue };
        // Only another event starts it again.
        if step.is_on_event() {
            continue;
        }
        let outcomes = || chart.transitions.iter().map(|row| (&row.trigger, row));
        let is_handled = matches!(step.failure.then, Failure::Take(_))
            || outcomes().any(|(trigger, _)| {
                matches!(trigger, Trigger::StepDoubt(of) | Trigger::StepError(of) if *of == id)
            });
        // A timeout that leaves the state says what follows.
        let stays = outcomes().any(|(trigger, row)| {
            matches!(trigger, Trigger::StepTimeout(of, _) if *of == id)
                && row.kind == TransitionKind::Targetless
        });
        let is_made = !facts.scopes.step(id).within.is_empty();
        if is_handled
            || !is_made
            || !chart.may_doubt(id)
            || !(stays || step.failure.retry.times > 0)
        {
            continue;
        }
        let (step, tool) = (words::step(chart, id), &chart.tools[tool.index()].name);
        let message = format!(
            "{step} calls `{tool}` again in the next turn if no answer comes, although it may have taken effect"
        );
        let help = format!(
            "say what follows: `doubt -> …`; or declare `{tool}` as `idempotent` if it may run twice"
        );
        diagnostics.push(rules::UNHANDLED_DOUBT.at(map.step(id).name, message).help(help));
    }
}

// Steps with an excessive number of retries.

pub(super) static HUGE_RETRY: Lint =
    Lint { rule: &rules::HUGE_RETRY, needs_whole: false, run: find_huge_retry };

/// The maximum number of retries that is plausible.
const MOST_RETRIES: u32 = 20;

fn find_huge_retry(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // One finding for all steps with the same number: it often comes from one declaration.
    let mut by_number: BTreeMap<u32, Vec<StepId>> = BTreeMap::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let calls = match &step.kind {
            StepKind::Llm | StepKind::Ask { .. } | StepKind::Call(..) => true,
            StepKind::Code(_) | StepKind::Human(_) | StepKind::Run(..) => false,
        };
        if calls
            && step.failure.retry.times > MOST_RETRIES
            && !facts.scopes.steps[i].within.is_empty()
        {
            by_number.entry(step.failure.retry.times).or_default().push(StepId::at(i));
        }
    }
    for (retries, steps) in by_number {
        let Some((first, rest)) = steps.split_first() else { continue };
        let name = words::step(chart, *first);
        let others = match rest.len() {
            0 => String::new(),
            1 => ", and so does one more step".to_owned(),
            n => format!(", and so do {n} more steps"),
        };
        let message = format!("{name} tries again up to {retries} times before it fails{others}");
        diagnostics.push(rules::HUGE_RETRY.at(map.step(*first).name, message).help(
            "what failed a few times goes on failing, and each attempt is paid for: `retry 3 then fail`, and `limits { calls … }` for the run",
        ));
    }
}

// Deadlines that never fire.

pub(super) static DEAD_DEADLINE: Lint =
    Lint { rule: &rules::DEAD_DEADLINE, needs_whole: true, run: find_dead_deadline };

fn find_dead_deadline(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    let found = dead(chart, facts).into_iter().map(|one| (one.transition, one));
    let lines = context.whole_lines(found, |id| facts.reach.can_take(id));
    diagnostics.extend(lines.values().map(|all| told(context, &all[0].1)));
}

/// The finding for a deadline that never fires.
fn told(context: &Context<'_>, one: &Dead) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = words::transition(chart, one.transition);
    let at = |why: String| {
        rules::DEAD_DEADLINE
            .at(map.transition(one.transition).trigger, format!("{name} never comes: {why}"))
    };
    match one.before {
        Before::When(transition) => {
            let state = words::state(chart, chart.transition(transition).source);
            at(format!("{state} is left at once"))
                .help("give the `when` line a condition, or remove the deadline")
                .related(map.transition(transition).whole, "taken as soon as the state is entered")
        }
        Before::Deadline(transition) => {
            at(format!("{} is always due first", words::transition(chart, transition)))
                .help("swap the two times, give the other line a condition, or remove this one")
                .related(map.transition(transition).whole, "leaves the state before")
        }
        Before::Turns(turns) => at(format!("`limits` end the run after {turns} turns"))
            .help("raise the limit, handle it (`on limit.turns`), or remove the deadline"),
        Before::Time(state, time) => {
            let time = Expr { kind: ExprKind::Duration(time), ty: Type::Duration };
            let why = format!(
                "`limits` of {} end the run after {}",
                words::state(chart, state),
                expression(chart, &time)
            );
            at(why)
                .help("raise the limit, handle it (`on limit.time`), or remove the deadline")
                .related(map.state(state).name, "its `time` is over before")
        }
    }
}

// Cost limits on model calls without prices.

pub(super) static UNPRICED_MODEL: Lint =
    Lint { rule: &rules::UNPRICED_MODEL, needs_whole: false, run: find_unpriced_model };

fn find_unpriced_model(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let span = map.states[i].cost.filter(|_| state.limits.has(LimitKind::Cost));
        let Some(span) = span else { continue };
        let inside = |step: &Step| (i..state.end.index()).contains(&step.state.index());
        let unpriced: Vec<StepId> = chart
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| inside(step) && calls(step) && !is_priced(chart, step))
            .map(|(i, _)| StepId::at(i))
            .collect();
        let Some((first, rest)) = unpriced.split_first() else { continue };
        let others = match rest.len() {
            0 => String::new(),
            1 => " and of one more step".to_owned(),
            n => format!(" and of {n} more steps"),
        };
        let step = words::step(chart, *first);
        let message = format!("what the calls of {step}{others} cost is not known beforehand");
        let client = chart.steps[first.index()].client;
        let cure = match client.filter(|_| !is_yaml(context)).map(|id| &chart.clients[id.index()].name) {
            Some(client) => format!(
                "say in `client {client}` what a million tokens cost: `input_price 0.15 output_price 0.60`"
            ),
            None if is_yaml(context) && client.is_some() => {
                "add what a million tokens cost: `input_price: 0.15`, `output_price: 0.60`".to_owned()
            }
            None if is_yaml(context) => {
                "add `llm_model`, and what a million tokens cost: `input_price: 0.15`, `output_price: 0.60`"
                    .to_owned()
            }
            None => "put the step to a client, `with c`, and say there what a million tokens cost: `input_price 0.15 output_price 0.60`".to_owned(),
        };
        let place = map.step(*first).name;
        diagnostics.push(
            rules::UNPRICED_MODEL
                .at(span, message)
                .help(cure)
                .related(place, "a call without a price"),
        );
    }
}

/// Whether the step calls a model.
fn calls(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. })
}

/// Whether the step's client and all its fallbacks have prices.
fn is_priced(chart: &Chart, step: &Step) -> bool {
    let mut next = step.client;
    if next.is_none() {
        return false;
    }
    // Lowering has refused cycles of fallbacks, so the loop ends.
    while let Some(id) = next {
        let client = &chart.clients[id.index()];
        let is_priced = client.input_price.is_some() || client.output_price.is_some();
        if !is_priced && !is_free(&client.model) {
            return false;
        }
        next = client.fallback;
    }
    true
}
