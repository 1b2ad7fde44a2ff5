//! The tables of a chart, built from the model: rows with spans instead of vectors, and columns that are computed in advance.
//! ```text
//! state a { on go | stop -> b  after 5s -> b }  state b {}         `a` is state 1 and has transitions 0 and 1; `b` is state 2
//! states[1]        transitions 0..2; precomputed: it reacts to EVENT and DEADLINE
//! transitions[0]   trigger Event([go, stop]), targets [2]; precomputed: domain 0, entry set [2]
//! transitions[1]   trigger After(slot 0), targets [2]; precomputed: domain 0, entry set [2]
//! ```

mod ahead;
mod hash;
mod summary;
#[cfg(test)]
mod tests;
mod typed;

pub use hash::structural_hash;

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};
use crate::expr::quick::Quick;
use crate::model::{
    AskOn, Chart, ChoiceKind, Client, ComputedLimit, Failure, FailurePolicy, Field, Limits,
    Otherwise, Scope, State, StateKind, Step, StepKind, Transition, TransitionKind, Trigger,
};
use crate::semantics::MICROSTEPS;
use crate::tables::{
    ChoiceRow, ClientRow, ComputedLimitRow, Dispatch, EachRow, EventRow, FailureRow, LimitsRow,
    PermissionRow, Reacts, RenameRow, Route, Span, StateRow, StateRowKind, StepRow, StepRowKind,
    Summary, Tables, ToolRow, TransitionRow, TriggerRow, TypeRow, WalkRow, millionths,
};
use alloc::string::String;
use alloc::vec::Vec;

/// The tables of a chart, which borrow their strings from it. The Rust emitter writes the same rows as `static`s.
#[derive(Debug, Clone)]
pub struct Plan<'c> {
    chart: &'c Chart,
    hash: u64,
    states: Vec<StateRow<'c>>,
    transitions: Vec<TransitionRow<'c>>,
    events: Vec<EventRow<'c>>,
    steps: Vec<StepRow<'c>>,
    choices: Vec<ChoiceRow<'c>>,
    tools: Vec<ToolRow<'c>>,
    clients: Vec<ClientRow<'c>>,
    permissions: Vec<PermissionRow>,
    walks: Vec<WalkRow>,
    computed_limits: Vec<ComputedLimitRow>,
    reads_amounts: bool,
    types: Vec<TypeRow<'c>>,
    renames: Vec<RenameRow<'c>>,
    pools: Pools<'c>,
    summary: Summary,
    quick: Quick,
}

#[derive(Debug, Clone, Default)]
struct Pools<'c> {
    states: Vec<StateId>,
    events: Vec<EventId>,
    steps: Vec<StepId>,
    choices: Vec<ChoiceId>,
    tools: Vec<ToolId>,
    names: Vec<&'c str>,
    dispatch: Vec<Dispatch>,
    histories: u32,
    deadlines: u32,
    fans: u32,
    send_ids: Vec<&'c str>,
    sends: u32,
}

impl<'c> Plan<'c> {
    /// Builds the tables in time linear in the size of the chart, up to a logarithmic factor.
    pub fn new(chart: &'c Chart) -> Self {
        let mut pools = Pools {
            send_ids: chart.send_ids.iter().map(String::as_str).collect(),
            sends: u32::try_from(chart.send_places()).unwrap_or(u32::MAX),
            ..Pools::default()
        };
        let mut choices: Vec<Vec<ChoiceId>> = alloc::vec![Vec::new(); chart.states.len()];
        for (i, choice) in chart.choices.iter().enumerate() {
            choices[chart.transition(choice.transition).source.index()].push(ChoiceId::at(i));
        }
        let mut plan = Self {
            chart,
            hash: structural_hash(chart),
            states: chart
                .states
                .iter()
                .zip(&choices)
                .map(|(state, choices)| state_row(state, choices, &mut pools))
                .collect(),
            transitions: chart
                .transitions
                .iter()
                .enumerate()
                .map(|(i, line)| TransitionRow {
                    alternatives: pools.alternatives(chart, TransitionId::at(i)),
                    ..transition_row(line, &mut pools)
                })
                .collect(),
            events: chart
                .events
                .iter()
                .map(|event| EventRow { name: &event.name, fields: pools.fields(&event.fields) })
                .collect(),
            steps: chart.steps.iter().map(|step| step_row(chart, step, &mut pools)).collect(),
            choices: chart
                .choices
                .iter()
                .map(|choice| ChoiceRow {
                    name: &choice.name,
                    transition: choice.transition,
                    fields: match &choice.kind {
                        ChoiceKind::Option(fields) => pools.fields(fields),
                        ChoiceKind::Call(..) => Span::EMPTY,
                    },
                    tools: match &choice.kind {
                        ChoiceKind::Option(_) => None,
                        ChoiceKind::Call(set, _) => {
                            Some(span(&mut pools.tools, chart.tools_of(*set)))
                        }
                    },
                })
                .collect(),
            clients: chart.clients.iter().map(client_row).collect(),
            tools: chart
                .tools
                .iter()
                .map(|tool| ToolRow {
                    name: &tool.name,
                    fields: pools.fields(&tool.params),
                    idempotent: tool.idempotent,
                })
                .collect(),
            permissions: chart
                .permissions
                .iter()
                .map(|p| PermissionRow { from: p.from, to: p.to, guard: p.guard.is_some() })
                .collect(),
            walks: Vec::new(),
            computed_limits: chart.computed_limits().map(computed_limit_row).collect(),
            reads_amounts: chart.reads_amounts,
            types: typed::types(chart, &mut pools),
            renames: typed::renames(chart),
            pools,
            summary: Summary::PLAIN,
            quick: Quick::of(chart),
        };
        ahead::fill(&mut plan);
        plan.summary = summary::summary(&plan.tables());
        plan
    }

    /// The chart from which the tables were built.
    pub fn chart(&self) -> &'c Chart {
        self.chart
    }

    /// The compiled guards and expressions.
    pub(crate) fn quick(&self) -> &Quick {
        &self.quick
    }

    /// The tables, borrowed from this plan.
    pub fn tables(&self) -> Tables<'_> {
        Tables {
            name: &self.chart.name,
            hash: self.hash,
            states: &self.states,
            transitions: &self.transitions,
            events: &self.events,
            steps: &self.steps,
            choices: &self.choices,
            tools: &self.tools,
            clients: &self.clients,
            permissions: &self.permissions,
            walks: &self.walks,
            computed_limits: &self.computed_limits,
            reads_amounts: self.reads_amounts,
            types: &self.types,
            renames: &self.renames,
            state_pool: &self.pools.states,
            event_pool: &self.pools.events,
            step_pool: &self.pools.steps,
            choice_pool: &self.pools.choices,
            tool_pool: &self.pools.tools,
            name_pool: &self.pools.names,
            send_ids: &self.pools.send_ids,
            sends: self.pools.sends,
            dispatch_pool: &self.pools.dispatch,
            calls_per_turn: self.chart.calls_per_turn.unwrap_or(0),
            history_kept: self.chart.history_kept,
            microsteps: MICROSTEPS,
            summary: self.summary,
        }
    }
}

/// Appends items to a pool, and returns their range.
fn span<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Span {
    let start = pool.len();
    pool.extend(items);
    if pool.len() == start {
        return Span::EMPTY;
    }
    Span { start: start as u32, len: (pool.len() - start) as u32 }
}

impl<'c> Pools<'c> {
    fn fields(&mut self, fields: &'c [Field]) -> Span {
        span(&mut self.names, fields.iter().map(|field| field.name.as_str()))
    }

    fn alternatives(&mut self, chart: &'c Chart, line: TransitionId) -> Span {
        let texts = chart.alternative_texts.get(&line).into_iter().flatten();
        span(&mut self.names, texts.map(String::as_str))
    }

    fn deadline(&mut self) -> u32 {
        self.deadlines += 1;
        self.deadlines - 1
    }
}

fn state_row<'c>(state: &'c State, choices: &[ChoiceId], pools: &mut Pools<'c>) -> StateRow<'c> {
    let kind = match &state.kind {
        StateKind::Atomic => StateRowKind::Atomic,
        StateKind::Compound { initial } => {
            StateRowKind::Compound(span(&mut pools.states, initial.iter().copied()))
        }
        StateKind::Parallel => StateRowKind::Parallel,
        StateKind::Final { status, .. } => StateRowKind::Final(*status),
        StateKind::History { deep, default } => {
            pools.histories += 1;
            let default = span(&mut pools.states, default.iter().copied());
            StateRowKind::History { deep: *deep, default, slot: pools.histories - 1 }
        }
    };
    // Transitions are grouped by source, so the first and their number suffice.
    let first = state.transitions.first().map_or(0, |id| id.0);
    StateRow {
        path: &state.path,
        kind,
        parent: state.parent.unwrap_or(StateId(0)),
        end: state.end,
        transitions: Span { start: first, len: state.transitions.len() as u32 },
        steps: span(&mut pools.steps, state.steps.iter().copied()),
        choices: span(&mut pools.choices, choices.iter().copied()),
        entry: state.entry.len() as u32,
        exit: state.exit.len() as u32,
        default_actions: !state.default_actions.is_empty(),
        advice: state.advice.is_some(),
        limits: limits_row(&state.limits),
        histories: Span::EMPTY,
        here: Reacts::NOTHING,
        on_path: Reacts::NOTHING,
        index: Span::EMPTY,
        walk: 0,
        place: 0,
    }
}

fn client_row(client: &Client) -> ClientRow<'_> {
    ClientRow {
        name: &client.name,
        model: &client.model,
        temperature: client.temperature,
        max_tokens: client.max_tokens.map_or(0, |n| u64::try_from(n).unwrap_or(0)),
        timeout: client.timeout.unwrap_or(0),
        options: &client.options,
        input_price: client.input_price.map(millionths),
        output_price: client.output_price.map(millionths),
        actions: client.actions,
        fallback: client.fallback,
    }
}

fn limits_row(limits: &Limits) -> LimitsRow {
    let count = |n: Option<i64>| n.map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX));
    let tokens = |n: Option<i64>| n.map(|n| u64::try_from(n).unwrap_or(0));
    LimitsRow {
        calls: count(limits.calls),
        calls_warn: count(limits.calls_warn),
        turns: count(limits.turns),
        turns_warn: count(limits.turns_warn),
        time: limits.time,
        time_warn: limits.time_warn,
        tokens: tokens(limits.tokens),
        tokens_warn: tokens(limits.tokens_warn),
        cost: limits.cost.map(millionths),
        cost_warn: limits.cost_warn.map(millionths),
    }
}

fn computed_limit_row((state, limit): (StateId, &ComputedLimit)) -> ComputedLimitRow {
    ComputedLimitRow { state, kind: limit.kind, is_soft: limit.is_soft }
}

fn transition_row<'c>(line: &'c Transition, pools: &mut Pools<'c>) -> TransitionRow<'c> {
    let (any_of, none_of) = match &line.scope {
        None => (Span::EMPTY, Span::EMPTY),
        Some(Scope { any_of, none_of, .. }) => (
            span(&mut pools.states, any_of.iter().copied()),
            span(&mut pools.states, none_of.iter().copied()),
        ),
    };
    TransitionRow {
        source: line.source,
        trigger: trigger_row(&line.trigger, pools),
        any_of,
        none_of,
        guard: line.guard.is_some(),
        targets: span(&mut pools.states, line.targets.iter().map(|target| target.state)),
        internal: line.kind == TransitionKind::Internal,
        actions: !line.actions.is_empty(),
        arguments: line.targets.iter().any(|target| !target.arguments.is_empty()),
        alternatives: Span::EMPTY,
        route: Route::Stay,
    }
}

fn trigger_row<'c>(trigger: &'c Trigger, pools: &mut Pools<'c>) -> TriggerRow<'c> {
    match trigger {
        Trigger::Event(events) => {
            TriggerRow::Event(span(&mut pools.events, events.iter().copied()))
        }
        Trigger::AnyEvent => TriggerRow::AnyEvent,
        Trigger::AnyOccurrence => TriggerRow::AnyOccurrence,
        Trigger::Turn => TriggerRow::Turn,
        Trigger::When => TriggerRow::When,
        Trigger::StateDone(state) => TriggerRow::StateDone(*state),
        Trigger::After(_) => TriggerRow::After(pools.deadline()),
        Trigger::AfterTurns(_) => TriggerRow::AfterTurns(pools.deadline()),
        Trigger::Choice(choice) => TriggerRow::Choice(*choice),
        Trigger::StepDone(step) => TriggerRow::StepDone(*step),
        Trigger::StepError(step) => TriggerRow::StepError(*step),
        Trigger::StepTimeout(step, _) => TriggerRow::StepTimeout(*step, pools.deadline()),
        Trigger::StepDoubt(step) => TriggerRow::StepDoubt(*step),
        Trigger::StepElse(step) => TriggerRow::StepElse(*step),
        Trigger::Error(pattern) => TriggerRow::Error(pattern),
        Trigger::LimitWarn(pattern) => TriggerRow::LimitWarn(pattern),
    }
}

fn step_row<'c>(chart: &'c Chart, step: &'c Step, pools: &mut Pools<'c>) -> StepRow<'c> {
    let kind = match &step.kind {
        StepKind::Llm => StepRowKind::Llm,
        StepKind::Code(_) => StepRowKind::Code,
        StepKind::Ask { on, always, otherwise } => StepRowKind::Ask {
            on: match on {
                AskOn::Turn => None,
                AskOn::Event(events) => Some(span(&mut pools.events, events.iter().copied())),
            },
            always: *always,
            otherwise: match otherwise {
                Otherwise::Stay => None,
                Otherwise::Take(line) => Some(*line),
            },
        },
        StepKind::Call(..) => StepRowKind::Call,
        StepKind::Human(_) => StepRowKind::Human,
        StepKind::Run(run) => StepRowKind::Run { on_entry: run.on_entry, forward: run.forward },
    };
    let FailurePolicy { retries, then } = step.failure;
    StepRow {
        name: &step.name,
        state: step.state,
        kind,
        guard: step.guard.is_some(),
        retries,
        failure: failure_row(then),
        ends_turn: step.ends_turn.is_some(),
        client: step.client.map_or("", |id| &chart.clients[id.index()].name),
        tools: step
            .tools
            .map_or(Span::EMPTY, |tools| span(&mut pools.tools, chart.tools_of(tools.set))),
        tool_calls: step.tools.map_or(0, |tools| tools.calls),
        retries_doubt: step.retries_doubt,
        accepts_cut: step.accepts_cut,
        each: step.each.as_ref().map(|each| {
            pools.fans += 1;
            EachRow {
                slot: pools.fans - 1,
                at_a_time: each.at_a_time,
                most: each.most,
                enough: each.enough,
                lost: each.lost,
            }
        }),
    }
}

const fn failure_row(failure: Failure) -> FailureRow {
    match failure {
        Failure::Fail => FailureRow::Fail,
        Failure::Skip => FailureRow::Skip,
        Failure::Take(line) => FailureRow::Take(line),
    }
}
