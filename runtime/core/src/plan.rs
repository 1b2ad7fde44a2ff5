//! The tables of a chart, built from the model: rows with spans instead of vectors, and columns that are computed in advance.
//!
//! **The problem.** The model suits analyses: it is a tree of vectors and expressions. A machine must find the transitions for an event,
//! and the states that they exit and enter, without a search. Generated code needs the same answers in `static`s.
//!
//! **The idea.** [`Plan::new`] copies the model into rows. Lists go into pools, and a row keeps a [`Span`] of a pool. Then `fill` computes
//! the columns that do not depend on a run: what a state reacts to (`reacts`), its transitions by event (`dispatch`), the exit and entry
//! sets of a transition (`route`), the steps of each region (`walks`), and the places for times of entry (`places`). A set that depends on
//! a history, runs default actions, or has more than `LONGEST` states is left to the machine: its route is [`Route::Computed`].
//!
//! **Example.**
//!
//! ```text
//! event go   event go.fast
//! state a { on go -> b  after 5s -> b }   state b {}      `a` is state 1 and has transitions 0 and 1; `b` is state 2
//!
//! states[1]        transitions 0..2; computed: it reacts to EVENT and DEADLINE, and is ALIVE
//! transitions[0]   trigger Event([go, go.fast]), targets [2]; computed: domain 0, entry set [2]
//! transitions[1]   trigger After(slot 0), targets [2]; computed: domain 0, entry set [2]
//! ```
//!
//! **The hash.** [`structural_hash`] identifies the version of a chart that saved a run. It covers every part that can change a run, and
//! leaves out the others: documentation, `meta`, `check` lines, earlier names, texts of alternatives, the length of the stored history.

#[cfg(test)]
mod tests;

use crate::arena::{
    ChoiceId, ClientId, EventId, FunctionId, LocalId, PredicateId, SendId, StateId, StepId, ToolId,
    ToolSetId, TransitionId, TypeId, VarId,
};
use crate::expr::quick::Quick;
use crate::expr::{Map, Value};
use crate::form::ActionForm;
use crate::machine::{Element, LimitKind};
use crate::model::{
    Action, BinaryOp, Builtin, Chart, Choice, ChoiceKind, Client, CompareOp, Component,
    ComputedLimit, Each, Event, Expr, ExprKind, Failure, FailureKinds, FailurePolicy, Field,
    Forward, Function, FunctionKind, Insert, Limits, Local, Lost, Method, Observable, Otherwise,
    Permission, Position, Predicate, Receiver, Renamed, Retry, Run, Scope, Since, Starts, State,
    StateKind, Status, Step, StepKind, StepTools, StreakOf, Target, Template, TemplatePart, Tool,
    ToolLine, ToolSet, Transition, TransitionKind, Trigger, Type, TypeDef, TypeKind, UnaryOp,
    Variable, VariableKind,
};
use crate::semantics::MICROSTEPS;
use crate::structure::{self, EntrySet, Shape, Tree};
use crate::tables::{
    ChoiceRow, ClientRow, ComputedLimitRow, Dispatch, EachRow, EventRow, FailureRow, LimitsRow,
    PermissionRow, Reacts, RenameRow, RenamedRow, Route, Rows, Span, StartsRow, StateRow,
    StateRowKind, StepRow, StepRowKind, Summary, Tables, Text, ToolLineRow, ToolRow, TransitionRow,
    TriggerRow, TypeRow, TypedRow, WalkRow, millionths,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Deref;

/// The tables of a chart, with the chart. A clone shares both.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Planned>);

#[derive(Debug)]
struct Planned {
    chart: Arc<Chart>,
    tables: Tables,
    quick: Quick,
}

impl Deref for Plan {
    type Target = Tables;

    #[inline(always)]
    fn deref(&self) -> &Tables {
        &self.0.tables
    }
}

impl Plan {
    /// Builds the tables in time linear in the size of the chart, up to a logarithmic factor.
    pub fn new(chart: &Arc<Chart>) -> Self {
        let tables = Draft::new(chart).finish(chart);
        Self(Arc::new(Planned { chart: Arc::clone(chart), tables, quick: Quick::of(chart) }))
    }

    /// The chart from which the tables were built.
    pub fn chart(&self) -> &Arc<Chart> {
        &self.0.chart
    }

    /// The compiled guards and expressions.
    pub(crate) fn quick(&self) -> &Quick {
        &self.0.quick
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        self
    }
}

/// The tables while they are built.
struct Draft {
    states: Vec<StateRow>,
    transitions: Vec<TransitionRow>,
    events: Vec<EventRow>,
    steps: Vec<StepRow>,
    choices: Vec<ChoiceRow>,
    tools: Vec<ToolRow>,
    walks: Vec<WalkRow>,
    tool_lines: Vec<ToolLineRow>,
    computed_limits: Vec<ComputedLimitRow>,
    types: Vec<TypeRow>,
    pools: Pools,
}

#[derive(Default)]
struct Pools {
    states: Vec<StateId>,
    events: Vec<EventId>,
    steps: Vec<StepId>,
    choices: Vec<ChoiceId>,
    tools: Vec<ToolId>,
    names: Vec<Text>,
    dispatch: Vec<Dispatch>,
    histories: u32,
    deadlines: u32,
    fans: u32,
    tool_lines: u32,
}

impl Draft {
    fn new(chart: &Chart) -> Self {
        let mut pools = Pools::default();
        let choices = choices_by_state(chart);
        let mut draft = Self {
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
                .map(|event| EventRow {
                    name: event.name.as_str().into(),
                    fields: pools.fields(&event.fields),
                })
                .collect(),
            steps: chart.steps.iter().map(|step| step_row(chart, step, &mut pools)).collect(),
            choices: chart
                .choices
                .iter()
                .map(|choice| choice_row(chart, choice, &mut pools))
                .collect(),
            tools: chart.tools.iter().map(|tool| tool_row(tool, &mut pools)).collect(),
            walks: Vec::new(),
            tool_lines: chart.tool_lines().map(|line| tool_line_row(line, &mut pools)).collect(),
            computed_limits: chart.computed_limits().map(computed_limit_row).collect(),
            types: self::types(chart, &mut pools),
            pools,
        };
        fill(&mut draft);
        draft
    }

    fn finish(self, chart: &Chart) -> Tables {
        let mut tables = Tables {
            name: chart.name.as_str().into(),
            hash: structural_hash(chart),
            states: self.states.into(),
            transitions: self.transitions.into(),
            events: self.events.into(),
            steps: self.steps.into(),
            choices: self.choices.into(),
            tools: self.tools.into(),
            clients: chart.clients.iter().map(client_row).collect::<Vec<_>>().into(),
            permissions: chart
                .permissions
                .iter()
                .map(|p| PermissionRow { from: p.from, to: p.to, guard: p.guard.is_some() })
                .collect::<Vec<_>>()
                .into(),
            walks: self.walks.into(),
            tool_lines: self.tool_lines.into(),
            computed_limits: self.computed_limits.into(),
            reads_amounts: chart.reads_amounts,
            types: self.types.into(),
            renames: self::renames(chart).into(),
            state_pool: self.pools.states.into(),
            event_pool: self.pools.events.into(),
            step_pool: self.pools.steps.into(),
            choice_pool: self.pools.choices.into(),
            tool_pool: self.pools.tools.into(),
            name_pool: self.pools.names.into(),
            send_ids: texts(&chart.send_ids).collect::<Vec<_>>().into(),
            sends: u32::try_from(chart.send_places()).unwrap_or(u32::MAX),
            dispatch_pool: self.pools.dispatch.into(),
            calls_per_turn: chart.calls_per_turn.unwrap_or(0),
            history_kept: chart.history_kept,
            turns_in_state: chart.turns_in_state,
            microsteps: MICROSTEPS,
            summary: Summary::PLAIN,
        };
        tables.summary = self::summary(&tables);
        tables
    }
}

fn texts(texts: &[String]) -> impl Iterator<Item = Text> {
    texts.iter().map(|text| text.as_str().into())
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

impl Pools {
    fn fields(&mut self, fields: &[Field]) -> Span {
        span(&mut self.names, fields.iter().map(|field| field.name.as_str().into()))
    }

    fn alternatives(&mut self, chart: &Chart, line: TransitionId) -> Span {
        let texts = chart.alternative_texts.get(&line).into_iter().flatten();
        span(&mut self.names, texts.map(|text| text.as_str().into()))
    }

    fn name(&mut self, name: &str) -> u32 {
        self.names.push(name.into());
        self.names.len() as u32 - 1
    }

    fn deadline(&mut self) -> u32 {
        self.deadlines += 1;
        self.deadlines - 1
    }
}

fn state_row(state: &State, choices: &[ChoiceId], pools: &mut Pools) -> StateRow {
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
        path: state.path.as_str().into(),
        kind,
        parent: state.parent.unwrap_or(StateId(0)),
        end: state.end,
        transitions: Span { start: first, len: state.transitions.len() as u32 },
        steps: span(&mut pools.steps, state.steps.iter().copied()),
        choices: span(&mut pools.choices, choices.iter().copied()),
        entry: state.entry.len() as u32,
        exit: state.exit.len() as u32,
        default_actions: !state.default_actions.is_empty(),
        defers: span(&mut pools.events, state.defers.iter().copied()),
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

/// The choices whose transitions each state declares.
fn choices_by_state(chart: &Chart) -> Vec<Vec<ChoiceId>> {
    let mut choices = alloc::vec![Vec::new(); chart.states.len()];
    for (i, choice) in chart.choices.iter().enumerate() {
        choices[chart.transition(choice.transition).source.index()].push(ChoiceId::at(i));
    }
    choices
}

fn choice_row(chart: &Chart, choice: &Choice, pools: &mut Pools) -> ChoiceRow {
    ChoiceRow {
        name: choice.name.as_str().into(),
        transition: choice.transition,
        fields: match &choice.kind {
            ChoiceKind::Option(fields) => pools.fields(fields),
            ChoiceKind::Call(..) => Span::EMPTY,
        },
        tools: match &choice.kind {
            ChoiceKind::Option(_) => None,
            ChoiceKind::Call(set, _) => Some(span(&mut pools.tools, chart.tools_of(*set))),
        },
    }
}

fn tool_row(tool: &Tool, pools: &mut Pools) -> ToolRow {
    ToolRow {
        name: tool.name.as_str().into(),
        fields: pools.fields(&tool.params),
        idempotent: tool.idempotent,
    }
}

fn client_row(client: &Client) -> ClientRow {
    ClientRow {
        name: client.name.as_str().into(),
        model: client.model.as_str().into(),
        temperature: client.temperature,
        max_tokens: client.max_tokens.map_or(0, |n| u64::try_from(n).unwrap_or(0)),
        timeout: client.timeout.unwrap_or(0),
        options: client.options.as_str().into(),
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

fn transition_row(line: &Transition, pools: &mut Pools) -> TransitionRow {
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

fn trigger_row(trigger: &Trigger, pools: &mut Pools) -> TriggerRow {
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
        Trigger::Error(pattern) => TriggerRow::Error(pools.name(pattern)),
        Trigger::LimitWarn(pattern) => TriggerRow::LimitWarn(pools.name(pattern)),
    }
}

fn step_row(chart: &Chart, step: &Step, pools: &mut Pools) -> StepRow {
    let kind = match &step.kind {
        StepKind::Llm => StepRowKind::Llm,
        StepKind::Code(_) => StepRowKind::Code,
        StepKind::Ask { always, otherwise } => StepRowKind::Ask {
            always: *always,
            otherwise: match otherwise {
                Otherwise::Stay => None,
                Otherwise::Take(line) => Some(*line),
            },
        },
        StepKind::Call(..) => StepRowKind::Call,
        StepKind::Human(_) => StepRowKind::Human,
        StepKind::Run(run) => StepRowKind::Run { forward: run.forward },
    };
    let starts = match &step.starts {
        Starts::InTurn => StartsRow::InTurn,
        Starts::OnEntry => StartsRow::OnEntry,
        Starts::OnEvent(events) => {
            StartsRow::OnEvent(span(&mut pools.events, events.iter().copied()))
        }
    };
    let FailurePolicy { retry, then } = step.failure;
    let lines = Span { start: pools.tool_lines, len: step.tool_lines.len() as u32 };
    pools.tool_lines += lines.len;
    StepRow {
        name: step.name.as_str().into(),
        state: step.state,
        kind,
        starts,
        guard: step.guard.is_some(),
        retries: retry.times,
        retries_on: retry.on,
        wait: retry.wait,
        failure: failure_row(then),
        ends_turn: step.ends_turn.is_some(),
        client: step
            .client
            .map_or(Text::Static(""), |id| chart.clients[id.index()].name.as_str().into()),
        tools: step
            .tools
            .map_or(Span::EMPTY, |tools| span(&mut pools.tools, chart.tools_of(tools.set))),
        tool_calls: step.tools.map_or(0, |tools| tools.calls),
        tool_lines: lines,
        approves: step.approves,
        retries_doubt: chart.retries_doubt(step),
        accepts_cut: step.accepts_cut,
        is_exact: step.is_exact,
        asking: !step.asking.is_empty(),
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

fn tool_line_row(line: &ToolLine, pools: &mut Pools) -> ToolLineRow {
    ToolLineRow {
        tools: span(&mut pools.tools, line.tools.iter().copied()),
        guard: line.guard.is_some(),
        calling: !line.calling.is_empty(),
        asks: line.asks,
    }
}

const fn failure_row(failure: Failure) -> FailureRow {
    match failure {
        Failure::Fail => FailureRow::Fail,
        Failure::Skip => FailureRow::Skip,
        Failure::Take(line) => FailureRow::Take(line),
    }
}

// Computes columns in advance: the kinds of occurrences that a state reacts to, its transitions by event, and the exit and entry sets of
// transitions.

/// The maximum number of transitions that are scanned for an event. A state with more gets an index by event.
const SCANNED: usize = 4;

/// The maximum size of an entry set that is stored. A larger one is computed when its transition is taken, so that the tables stay linear
/// in the size of the chart.
const LONGEST: usize = 32;

/// Fills the columns, in time linear in the size of the chart up to a logarithmic factor.
fn fill(draft: &mut Draft) {
    for index in 0..draft.states.len() {
        let own = reacts(draft, index);
        let parent = draft.states[index].parent.index();
        // Parents precede their children, so the parent's column is already filled.
        let above = if parent == index { Reacts::NOTHING } else { draft.states[parent].on_path };
        let tree = Rows { states: &draft.states, pool: &draft.pools.states };
        let is_history = |child: &StateId| matches!(tree.shape(*child), Shape::History(_));
        let histories = structure::children(&tree, StateId::at(index)).filter(is_history);
        let histories: Vec<StateId> = histories.collect();
        let histories = span(&mut draft.pools.states, histories);
        let lines = dispatch(&draft.states[index], &draft.transitions, &mut draft.pools);
        let row = &mut draft.states[index];
        row.histories = histories;
        row.here = own;
        row.on_path = own.with(above);
        row.index = lines;
    }
    for index in 0..draft.transitions.len() {
        draft.transitions[index].route =
            route(&draft.transitions[index], &draft.states, &mut draft.pools);
    }
    walks(draft);
    places(&mut draft.states);
}

/// Gives each state a place, so that states which can be active together have different places. Children of a parallel state get disjoint
/// ranges, because they are active together; other siblings share a range.
fn places(states: &mut [StateRow]) {
    let sizes = together(states);
    // The first free place for a child, for each state.
    let mut next = vec![0; states.len()];
    for index in 0..states.len() {
        let parent = states[index].parent.index();
        if parent != index {
            let is_parallel = matches!(states[parent].kind, StateRowKind::Parallel);
            states[index].place = next[parent];
            if is_parallel {
                next[parent] += sizes[index];
            }
        }
        next[index] = states[index].place + 1;
    }
}

/// The maximum number of states that are active together in the subtree of each state.
fn together(states: &[StateRow]) -> Vec<u32> {
    summed(states, |kind| u32::from(!matches!(kind, StateRowKind::History { .. })))
}

/// The maximum of the sum of `own` over states that are active together, in the subtree of each state. A parallel state adds the sums of
/// all its children; any other state adds only the greatest sum of a child.
fn summed(states: &[StateRow], own: impl Fn(StateRowKind) -> u32) -> Vec<u32> {
    let mut below = vec![0; states.len()];
    // Children follow their parents, so reverse order completes each subtree before its parent.
    for (index, row) in states.iter().enumerate().rev() {
        below[index] += own(row.kind);
        let (all, parent) = (below[index], row.parent.index());
        if parent == index {
            continue;
        }
        below[parent] = match states[parent].kind {
            StateRowKind::Parallel => below[parent] + all,
            _ => below[parent].max(all),
        };
    }
    below
}

/// Finds the regions, and the innermost region that contains each state.
fn walks(draft: &mut Draft) {
    draft.walks.push(WalkRow::PLAIN);
    // Nothing is walked without steps.
    if draft.steps.is_empty() {
        return;
    }
    // Each step belongs to the walk of its region and to those of all regions around it.
    for index in 1..draft.states.len() {
        let parent = draft.states[index].parent;
        let outer = draft.states[parent.index()].walk;
        let tree = Rows { states: &draft.states, pool: &draft.pools.states };
        let is_region = matches!(draft.states[parent.index()].kind, StateRowKind::Parallel)
            && !matches!(tree.shape(StateId::at(index)), Shape::History(_));
        draft.states[index].walk = if is_region { draft.walks.len() as u32 } else { outer };
        if is_region {
            draft.walks.push(WalkRow { state: StateId::at(index), outer, steps: Span::EMPTY });
        }
    }
    for (index, step) in (0..).zip(&draft.steps) {
        let mut at = draft.states[step.state.index()].walk;
        loop {
            let row = &mut draft.walks[at as usize];
            if row.steps.len == 0 {
                row.steps.start = index;
            }
            row.steps.len = index + 1 - row.steps.start;
            if at == 0 {
                break;
            }
            at = row.outer;
        }
    }
}

/// What a state itself reacts to. Its ancestors are added in `fill`.
fn reacts(draft: &Draft, index: usize) -> Reacts {
    let state = &draft.states[index];
    let mut all = Reacts::NOTHING;
    for line in state.transitions.of(&draft.transitions) {
        all = all.with(kind(&line.trigger));
        if line.trigger.is_alive() {
            all = all.with(Reacts::ALIVE);
        }
    }
    for step in state.steps.of(&draft.pools.steps) {
        all = all.with(Reacts::ALIVE);
        if matches!(draft.steps[step.index()].starts, StartsRow::OnEvent(_)) {
            all = all.with(Reacts::START);
        }
    }
    if state.defers.len > 0 {
        all = all.with(Reacts::DEFER);
    }
    let LimitsRow { time, time_warn, .. } = state.limits;
    let mut computed = draft.computed_limits.iter().filter(|row| row.state.index() == index);
    if time.or(time_warn).is_some() || computed.any(|row| row.kind == LimitKind::Time) {
        all.with(Reacts::TIME)
    } else {
        all
    }
}

/// The kinds of occurrences that can trigger a transition.
const fn kind(trigger: &TriggerRow) -> Reacts {
    match trigger {
        TriggerRow::Event(_) | TriggerRow::AnyEvent => Reacts::EVENT,
        TriggerRow::AnyOccurrence => Reacts::VISIBLE,
        TriggerRow::Turn => Reacts::TURN,
        TriggerRow::When => Reacts::WHEN,
        TriggerRow::StateDone(_) => Reacts::DONE,
        TriggerRow::After(_) | TriggerRow::AfterTurns(_) | TriggerRow::StepTimeout(..) => {
            Reacts::DEADLINE
        }
        TriggerRow::Choice(_) => Reacts::CHOICE,
        TriggerRow::StepDone(_)
        | TriggerRow::StepError(_)
        | TriggerRow::StepDoubt(_)
        | TriggerRow::StepElse(_) => Reacts::STEP,
        TriggerRow::Error(_) => Reacts::ERROR,
        TriggerRow::LimitWarn(_) => Reacts::WARN,
    }
}

/// The transitions of a state sorted by event, if the state has many.
fn dispatch(state: &StateRow, lines: &[TransitionRow], pools: &mut Pools) -> Span {
    if (state.transitions.len as usize) <= SCANNED {
        return Span::EMPTY;
    }
    let start = pools.dispatch.len();
    for (i, row) in state.transitions.of(lines).iter().enumerate() {
        let line = TransitionId(state.transitions.start + i as u32);
        match row.trigger {
            TriggerRow::Event(events) => {
                let events = events.of(&pools.events).iter();
                pools.dispatch.extend(events.map(|event| Dispatch { event: *event, line }));
            }
            TriggerRow::AnyEvent | TriggerRow::AnyOccurrence => {
                pools.dispatch.push(Dispatch { event: Dispatch::ANY, line });
            }
            _ => {}
        }
    }
    // No two entries are equal, so the sort need not be stable.
    pools.dispatch[start..].sort_unstable();
    let len = pools.dispatch.len() - start;
    if len == 0 { Span::EMPTY } else { Span { start: start as u32, len: len as u32 } }
}

/// The exit and entry sets of a transition, if they do not depend on histories.
fn route(line: &TransitionRow, states: &[StateRow], pools: &mut Pools) -> Route {
    let targets = line.targets.of(&pools.states);
    if targets.is_empty() {
        return Route::Stay;
    }
    let tree = Rows { states, pool: &pools.states };
    let is_history = |target: &StateId| matches!(tree.shape(*target), Shape::History(_));
    if targets.len() > LONGEST || targets.iter().any(is_history) {
        return Route::Computed;
    }
    let mut entry = Known { tree, states: Vec::new() };
    let domain = structure::domain(&tree, line.source, line.internal, |state| {
        targets.iter().all(|target| structure::lies_below(&tree, &entry, *target, state))
    });
    if !targets.iter().all(|target| structure::add_target(&tree, &mut entry, *target, domain))
        || !structure::complete(&tree, &mut entry)
    {
        return Route::Computed;
    }
    let entry = entry.states;
    // A span of the targets is shared if they are exactly the entry set.
    let entry = if entry == targets { line.targets } else { span(&mut pools.states, entry) };
    Route::Known { domain, entry }
}

/// The entry set of a transition in document order, if it is always the same: no history and no default with actions is involved.
struct Known<'t> {
    tree: Rows<'t>,
    states: Vec<StateId>,
}

impl EntrySet for Known<'_> {
    fn add(&mut self, state: StateId) -> bool {
        if let Err(place) = self.states.binary_search(&state) {
            if self.states.len() == LONGEST {
                return false;
            }
            self.states.insert(place, state);
        }
        true
    }

    fn next(&self, from: StateId, end: StateId) -> Option<StateId> {
        let place = self.states.partition_point(|state| *state < from);
        self.states.get(place).copied().filter(|state| *state < end)
    }

    fn enter_default(&mut self, state: StateId) -> bool {
        let row = &self.tree.states[state.index()];
        // Default actions run only when an entry set is computed.
        !row.default_actions && !matches!(row.kind, StateRowKind::History { .. })
    }
}

// The structural hash of a chart: FNV-1a, 64 bits, over a canonical form.
//
// The form contains every part of the chart in the order of its declaration here: integers as eight bytes little-endian, doubles by their
// bits, texts and lists preceded by their length, a variant by its number. Documentation, `meta`, `check` lines and the length of the
// stored history are left out: charts that differ only in these are equivalent. The form does not depend on the platform, the compiler or
// feature flags. Saved runs contain the hash, so after a change of the form they count as runs of another version of their chart.

/// A hash that is equal for equivalent charts. See the [module](self) for the parts that count.
pub fn structural_hash(chart: &Chart) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    chart.feed(&mut hash);
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, n: u64) {
        self.bytes(&n.to_le_bytes());
    }
}

/// A part of the canonical form, which is fed into the hash.
trait Feed {
    fn feed(&self, to: &mut Fnv);
}

macro_rules! numbers {
    ($($ty:ty: $number:expr;)*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                let number: fn(&$ty) -> u64 = $number;
                to.number(number(self));
            }
        }
    )*};
}

numbers! {
    bool: |b| u64::from(*b);
    u32: |n| u64::from(*n);
    u64: |n| *n;
    i64: |n| *n as u64;
    f64: |x| x.to_bits();
    StateId: |id| u64::from(id.0);
    TransitionId: |id| u64::from(id.0);
    EventId: |id| u64::from(id.0);
    StepId: |id| u64::from(id.0);
    VarId: |id| u64::from(id.0);
    FunctionId: |id| u64::from(id.0);
    ToolId: |id| u64::from(id.0);
    ToolSetId: |id| u64::from(id.0);
    PredicateId: |id| u64::from(id.0);
    ClientId: |id| u64::from(id.0);
    TypeId: |id| u64::from(id.0);
    ChoiceId: |id| u64::from(id.0);
    SendId: |id| u64::from(id.0);
    Element: |element| u64::from(element.index());
    LocalId: |id| u64::from(id.0);
}

impl Feed for String {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        to.bytes(self.as_bytes());
    }
}

impl<T: Feed> Feed for Vec<T> {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        for item in self {
            item.feed(to);
        }
    }
}

impl<T: Feed> Feed for Option<T> {
    fn feed(&self, to: &mut Fnv) {
        to.number(u64::from(self.is_some()));
        if let Some(item) = self {
            item.feed(to);
        }
    }
}

impl<T: Feed> Feed for Box<T> {
    fn feed(&self, to: &mut Fnv) {
        self.as_ref().feed(to);
    }
}

impl<A: Feed, B: Feed> Feed for (A, B) {
    fn feed(&self, to: &mut Fnv) {
        self.0.feed(to);
        self.1.feed(to);
    }
}

impl Feed for Map {
    fn feed(&self, to: &mut Fnv) {
        to.number(self.len() as u64);
        for (key, value) in self.iter() {
            to.number(key.len() as u64);
            to.bytes(key.as_bytes());
            value.feed(to);
        }
    }
}

/// The fields that count, then those that do not. A new field does not compile until it is added to one of the two lists.
macro_rules! records {
    ($($ty:ident { $($part:ident)* } $(without $($other:ident)*)?;)*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                let Self { $($part,)* $($($other: _,)*)? } = self;
                $($part.feed(to);)*
            }
        }
    )*};
}

records! {
    Chart {
        name types variables events functions tools tool_sets predicates clients components states transitions choices
        steps permissions calls_per_turn defaults
    } without doc meta history_kept turns_in_state checks send_ids reads_amounts renames alternative_texts;
    TypeDef { name kind } without doc;
    Variable { name kind ty default } without doc;
    Event { name fields } without doc;
    Function { name kind params } without doc;
    ToolSet { name any tools minus };
    Predicate { name expr };
    Component { name inserts text };
    Insert { step guard place };
    Permission { from to guard };
    ComputedLimit { kind is_soft value };
    Transition { source trigger scope guard targets kind actions } without bound;
    Scope { wildcard any_of none_of };
    Target { state arguments };
    Choice { name text transition kind };
    Each { local list returns at_a_time most enough lost };
    StepTools { set calls };
    ToolLine { tools guard calling asks } without most;
    Template { parts };
    Expr { kind ty };
    Local { id } without name;
}

/// A state that defers nothing has the form from before the field `defers` existed, so that old hashes stay valid.
impl Feed for State {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, path, kind, parent, end, entry, exit, default_actions, .. } = self;
        let Self { transitions, steps, advice, limits, defers, doc: _, .. } = self;
        name.feed(to);
        path.feed(to);
        kind.feed(to);
        parent.feed(to);
        end.feed(to);
        entry.feed(to);
        exit.feed(to);
        default_actions.feed(to);
        transitions.feed(to);
        steps.feed(to);
        advice.feed(to);
        limits.feed(to);
        if !defers.is_empty() {
            defers.feed(to);
        }
    }
}

/// A field without a range has the form from before fields had ranges.
impl Feed for Field {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, ty, range } = self;
        name.feed(to);
        ty.feed(to);
        if let Some(range) = range {
            range.feed(to);
        }
    }
}

/// A tool that is not idempotent has the form from before the field `idempotent` existed, so that old hashes stay valid.
impl Feed for Tool {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, params, result, idempotent, doc: _ } = self;
        name.feed(to);
        params.feed(to);
        result.feed(to);
        if *idempotent {
            to.number(1);
        }
    }
}

/// The kind of a step and the moment at which it starts. What could not wait for an event before has the form from before it could.
fn feed_kind(kind: &StepKind, starts: &Starts, to: &mut Fnv) {
    let usual = match kind {
        StepKind::Llm => {
            to.number(0);
            *starts == Starts::InTurn
        }
        StepKind::Code(actions) => {
            to.number(1);
            actions.feed(to);
            *starts == Starts::InTurn
        }
        StepKind::Ask { always, otherwise } => {
            to.number(2);
            starts.feed(to);
            always.feed(to);
            otherwise.feed(to);
            true
        }
        StepKind::Call(tool, arguments) => {
            to.number(3);
            tool.feed(to);
            arguments.feed(to);
            *starts == Starts::InTurn
        }
        StepKind::Human(question) => {
            to.number(4);
            question.feed(to);
            *starts == Starts::InTurn
        }
        StepKind::Run(Run { chart, arguments, forward }) => {
            to.number(5);
            chart.feed(to);
            arguments.feed(to);
            (*starts == Starts::OnEntry).feed(to);
            forward.feed(to);
            !matches!(starts, Starts::OnEvent(_))
        }
    };
    if !usual {
        starts.feed(to);
    }
}

/// A step without `each`, `doubt retry`, `cut ok`, `exact`, `asking`, a range of its answer and `tool` lines has the form from before these existed.
impl Feed for Step {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, state, kind, starts, guard, client, prompt, failure, .. } = self;
        let Self { returns, into, ends_turn, outcomes, tools, each, retries_doubt, .. } = self;
        let Self { accepts_cut, is_exact, asking, range, tool_lines, approves, doc: _, .. } = self;
        name.feed(to);
        state.feed(to);
        feed_kind(kind, starts, to);
        guard.feed(to);
        client.feed(to);
        prompt.feed(to);
        failure.feed(to);
        returns.feed(to);
        into.feed(to);
        ends_turn.feed(to);
        outcomes.feed(to);
        tools.feed(to);
        if let Some(each) = each {
            each.feed(to);
        }
        if *retries_doubt {
            to.number(1);
        }
        if *accepts_cut {
            to.number(2);
        }
        if *is_exact {
            to.number(3);
        }
        if !asking.is_empty() {
            asking.feed(to);
        }
        if let Some(range) = range {
            to.number(4);
            range.feed(to);
        }
        if !tool_lines.is_empty() {
            to.number(5);
            tool_lines.feed(to);
        }
        if let Some(step) = approves {
            to.number(6);
            step.feed(to);
        }
    }
}

/// A policy that retries after any failure, with the waits of the host, has the form from before others existed.
impl Feed for FailurePolicy {
    fn feed(&self, to: &mut Fnv) {
        let Self { retry, then } = self;
        retry.feed(to);
        then.feed(to);
    }
}

impl Feed for Retry {
    fn feed(&self, to: &mut Fnv) {
        let Self { times, on, wait } = self;
        times.feed(to);
        if *on != FailureKinds::ALL {
            to.number(u64::from(on.0));
        }
        if let Some([first, most]) = wait {
            to.number(*first);
            to.number(*most);
        }
    }
}

/// A client without `options` has the form from before they existed.
impl Feed for Client {
    fn feed(&self, to: &mut Fnv) {
        let Self { name, model, temperature, max_tokens, timeout, retry, .. } = self;
        let Self { input_price, output_price, fallback, actions, options, .. } = self;
        name.feed(to);
        model.feed(to);
        temperature.feed(to);
        max_tokens.feed(to);
        timeout.feed(to);
        retry.feed(to);
        input_price.feed(to);
        output_price.feed(to);
        fallback.feed(to);
        actions.feed(to);
        if !options.is_empty() {
            options.feed(to);
        }
    }
}

/// Limits that are all constant have the form from before computed limits existed.
impl Feed for Limits {
    fn feed(&self, to: &mut Fnv) {
        let Self { calls, calls_warn, tokens, tokens_warn, cost, cost_warn, .. } = self;
        let Self { time, time_warn, turns, turns_warn, computed, .. } = self;
        for bound in [calls, calls_warn, tokens, tokens_warn] {
            bound.feed(to);
        }
        for bound in [cost, cost_warn] {
            bound.feed(to);
        }
        for bound in [time, time_warn] {
            bound.feed(to);
        }
        for bound in [turns, turns_warn] {
            bound.feed(to);
        }
        if !computed.is_empty() {
            computed.feed(to);
        }
    }
}

/// A function with a method has a number of its own, so that the form of functions without one did not change.
impl Feed for FunctionKind {
    fn feed(&self, to: &mut Fnv) {
        match self {
            Self::Pure { result, fallback, method } => {
                to.number(if method.is_some() { 2 } else { 0 });
                result.feed(to);
                fallback.feed(to);
                if let Some(Method { artifact, name }) = method {
                    artifact.feed(to);
                    name.feed(to);
                }
            }
            Self::Effect => to.number(1),
        }
    }
}

/// Variants with their numbers, which never change. A field behind `|` counts only if it is present.
macro_rules! variants {
    ($($ty:ident { $($number:literal $variant:ident $(($($a:ident)*))? $({$($b:ident)* $(| $rare:ident)?})?;)* })*) => {$(
        impl Feed for $ty {
            fn feed(&self, to: &mut Fnv) {
                match self {$(
                    Self::$variant $(($($a),*))? $({$($b,)* $($rare)?})? => {
                        to.number($number);
                        $($($a.feed(to);)*)?
                        $($($b.feed(to);)* $(if let Some(rare) = $rare { rare.feed(to); })?)?
                    }
                )*}
            }
        }
    )*};
}

variants! {
    Value { 0 None; 1 Bool(b); 2 Int(i); 3 Float(x); 4 Text(t); 5 Duration(d); 6 List(l); 7 Map(m); }
    Type { 0 Bool; 1 Int; 2 Float; 3 Text; 4 Duration; 5 Json; 6 List(t); 7 Map(t); 8 Optional(t); 9 Named(t); }
    TypeKind { 0 Record(fields); 1 Enum(names); }
    VariableKind { 0 Param{range}; 1 Input; 2 Var{per_turn}; 3 Asked; }
    Position { 0 Start; 1 End; 2 Replace; }
    StateKind { 0 Atomic; 1 Compound{initial}; 2 Parallel; 3 Final{params status}; 4 History{deep default}; }
    Status { 0 Ok; 1 Partial; 2 Stuck; 3 Limit; 4 Canceled; 5 Error; }
    TransitionKind { 0 Targetless; 1 Internal; 2 External; }
    Trigger {
        0 Event(e); 1 AnyEvent; 2 Turn; 3 When; 4 StateDone(s); 5 After(e); 6 AfterTurns(e); 7 Choice(c); 8 StepDone(s);
        9 StepError(s); 10 StepTimeout(s e); 11 StepDoubt(s); 12 StepElse(s); 13 Error(p); 14 LimitWarn(p); 15 AnyOccurrence;
    }
    ChoiceKind { 0 Option(fields); 1 Call(set into); }
    Starts { 0 InTurn; 1 OnEvent(e); 2 OnEntry; }
    Otherwise { 0 Stay; 1 Take(t); }
    Receiver { 0 Own; 1 Parent; 2 Child(s); 3 Element(s e); }
    Forward { 0 Rest; 1 All; 2 Nothing; }
    ActionForm { 0 Any; 1 Simple; 2 Ooda; }
    Failure { 0 Fail; 1 Skip; 2 Take(t); }
    Lost { 0 Fail; 1 Skip; 2 None; }
    TemplatePart { 0 Text(t); 1 Hole{expr spec}; 2 Options; 3 Bad(t); }
    ExprKind {
        0 None; 1 Bool(b); 2 Int(i); 3 Float(x); 4 Text(t); 5 Duration(d); 6 Enum(t n); 7 Variable(v); 8 Local(l); 9 Payload(n);
        10 Answer(s); 11 Predicate(p); 12 Observable(o); 13 Field(e n); 14 Index(e i); 15 Slice(e a b); 16 Unary(o e);
        17 Binary(o a b); 18 Compare(a rest); 19 If(c a b); 20 Default(a b); 21 Builtin(b a); 22 Call(f a); 23 List(l);
        24 Map(m); 25 Record(t f); 26 Comprehension{item local source filter}; 27 Unknown(n);
    }
    Observable {
        0 State; 1 Turns; 2 TurnsHere; 3 TurnsIn(s); 4 FailsHere; 5 Elapsed; 6 ElapsedHere; 7 In(s); 8 Health; 9 Advice;
        10 LastResult; 11 Event; 12 Streak(s); 13 Calls(s); 14 Tokens(s); 15 Cost(s); 16 Repeated(s n);
        17 LastFailed;
    }
    Since { 0 Start; 1 Entry; }
    LimitKind { 0 Calls; 1 Turns; 2 Time; 3 Tokens; 4 Cost; }
    StreakOf { 0 Tool; 1 Argument(s n); }
    UnaryOp { 0 Not; 1 Negate; }
    BinaryOp { 0 And; 1 Or; 2 Add; 3 Subtract; 4 Multiply; 5 Divide; 6 FloorDivide; 7 Modulo; 8 Power; }
    CompareOp { 0 Equal; 1 NotEqual; 2 Less; 3 LessEqual; 4 Greater; 5 GreaterEqual; 6 In; 7 NotIn; }
    Builtin {
        0 Len; 1 Min; 2 Max; 3 Abs; 4 Round; 5 Sum; 6 Any; 7 All; 8 Sorted; 9 Lower; 10 Upper; 11 Concat; 12 StartsWith; 13 Str;
        14 Float; 15 Int; 16 Bool; 17 Set; 18 Get; 19 IsA; 20 Fail; 21 JsValue; 22 JsAdd; 23 JsNumber; 24 JsText; 25 JsTruth;
        26 JsSame; 27 JsRemainder; 28 JsGet; 29 JsSet; 30 JsJson; 31 JsList; 32 JsDuration; 33 Join; 34 Split; 35 Replace; 36 Flatten;
        37 Within; 38 Said;
    }
    Action {
        0 Assign(v e); 1 Do(f a); 2 Raise(e a); 3 Send{event arguments after id to | element}; 4 Cancel(id); 5 Log(t); 8 Result(s a); 6 If(c a b);
        7 For(l e b);
    }
}

// Computes the summary of a chart's rows.

/// Computes the summary of these tables.
fn summary(tables: &Tables) -> Summary {
    let states = tables.states.iter();
    let kinds = || tables.steps.iter().map(|row| row.kind);
    Summary {
        leaves: leaves(&tables.states),
        together: self::together(&tables.states).first().copied().unwrap_or(0).max(1),
        reacts: states.clone().fold(Reacts::NOTHING, |all, row| all.with(row.here)),
        limits: !tables.computed_limits.is_empty()
            || states.clone().any(|row| row.limits != LimitsRow::PLAIN),
        default_actions: states.clone().any(|row| row.default_actions),
        asks: kinds().any(|kind| matches!(kind, StepRowKind::Ask { .. })),
        entry_runs: tables.steps.iter().any(|row| row.starts == StartsRow::OnEntry),
        histories: tables.histories() > 0,
        computed: tables.transitions.iter().any(|row| row.route == Route::Computed),
    }
}

/// The maximum number of leaves that are active together. A compound state without children, which only a faulty chart has, adds no leaf.
fn leaves(states: &[StateRow]) -> u32 {
    let is_leaf = |kind| u32::from(matches!(kind, StateRowKind::Atomic | StateRowKind::Final(_)));
    summed(states, is_leaf).first().copied().unwrap_or(0).max(1)
}

// Builds the rows of types and of earlier names.

/// A row for each part of the chart that holds values between two inputs.
fn types(chart: &Chart, pools: &mut Pools) -> Vec<TypeRow> {
    let variables = chart.variables.iter().map(|row| {
        let is_needed = matches!(row.kind, VariableKind::Param { .. }) && row.default.is_none();
        let of = if is_needed { TypedRow::Param } else { TypedRow::Variable };
        (of(row.name.as_str().into()), &row.ty)
    });
    let answers = chart.steps.iter().enumerate().filter_map(|(i, row)| {
        let answers = match row.kind {
            StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(_) => true,
            StepKind::Code(_) | StepKind::Ask { .. } => false,
        };
        answers.then(|| (TypedRow::Answer(StepId::at(i)), &row.returns))
    });
    let sends = chart.send_places() > 0;
    // Only events that were sent or deferred can wait between two inputs.
    let events = chart.events.iter().enumerate().filter(|_| sends);
    let events = events.flat_map(|(i, row)| {
        row.fields.iter().map(move |field| {
            (TypedRow::Event(EventId::at(i), field.name.as_str().into()), &field.ty)
        })
    });
    let records = chart.types.iter().flat_map(|def| {
        let fields = match &def.kind {
            TypeKind::Record(fields) => fields.as_slice(),
            TypeKind::Enum(_) => &[],
        };
        fields.iter().map(|field| {
            (TypedRow::Record(def.name.as_str().into(), field.name.as_str().into()), &field.ty)
        })
    });
    let all = variables.chain(answers).chain(events).chain(records);
    let rows = all.map(|(of, ty)| {
        let mut parts = Vec::new();
        put(chart, ty, &mut parts);
        TypeRow { of, ty: span(&mut pools.names, parts) }
    });
    rows.collect()
}

/// Adds the type as it is written, in parts.
fn put(chart: &Chart, ty: &Type, parts: &mut Vec<Text>) {
    match ty {
        Type::Bool => parts.push(Text::Static("Bool")),
        Type::Int => parts.push(Text::Static("Int")),
        Type::Float => parts.push(Text::Static("Float")),
        Type::Text => parts.push(Text::Static("Text")),
        Type::Duration => parts.push(Text::Static("Duration")),
        Type::Json => parts.push(Text::Static("Json")),
        Type::List(inner) => {
            parts.push(Text::Static("List("));
            put(chart, inner, parts);
            parts.push(Text::Static(")"));
        }
        Type::Map(inner) => {
            parts.push(Text::Static("Map(Text, "));
            put(chart, inner, parts);
            parts.push(Text::Static(")"));
        }
        Type::Optional(inner) => {
            put(chart, inner, parts);
            parts.push(Text::Static("?"));
        }
        Type::Named(id) => {
            let name = chart.types.get(id.index()).map(|def| def.name.as_str().into());
            parts.push(name.unwrap_or(Text::Static("?")));
        }
    }
}

/// A row for each earlier name.
fn renames(chart: &Chart) -> Vec<RenameRow> {
    let rows = chart.renames.iter().map(|row| RenameRow {
        what: match row.what {
            Renamed::State(id) => RenamedRow::State(id),
            Renamed::Step(id) => RenamedRow::Step(id),
            Renamed::Chart => RenamedRow::Chart,
            Renamed::Variable(id) => {
                RenamedRow::Variable(chart.variables[id.index()].name.as_str().into())
            }
        },
        old: row.old.as_str().into(),
    });
    rows.collect()
}
