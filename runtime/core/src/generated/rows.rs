//! The rows of a chart's tables, as generated code writes them: what differs from a plain row is added by a call.
//!
//! ```
//! use chartc_core::generated::rows::*;
//!
//! // `state a { on go -> b }`, the first child of the root: its transition is the first of the table.
//! const A: StateRow = state("a", 0, 2).lines(0, 1).reacts(0x201, 0x201).place(1);
//! assert_eq!((A.parent, A.transitions.len), (StateId(0), 1));
//! ```

#![allow(clippy::forget_non_drop, reason = "with an allocator, a text may own memory")]

pub use crate::arena::*;
pub use crate::machine::{LimitKind, Status};
pub use crate::tables::List::Static as list;
pub use crate::tables::Text::Static as text;
pub use crate::tables::TriggerRow as On;
pub use crate::tables::*;

/// A part of a table or pool.
pub const fn span(start: u32, len: u32) -> Span {
    Span { start, len }
}

/// An atomic state; `end` is the first state behind its subtree.
pub const fn state(path: &'static str, parent: u32, end: u32) -> StateRow {
    let mut row = StateRow::PLAIN;
    row.parent = StateId(parent);
    row.end = StateId(end);
    core::mem::forget(core::mem::replace(&mut row.path, Text::Static(path)));
    row
}

macro_rules! columns {
    ($row:ident: $($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) => $($column:ident = $value:expr),+;)*) => {
        impl $row {
            $(
                $(#[$doc])*
                #[must_use]
                pub const fn $name(mut self $(, $argument: $type)*) -> Self {
                    $(self.$column = $value;)+
                    self
                }
            )*
        }
    };
}

columns! { StateRow:
    /// A state with one active child; these are the initial ones.
    compound(start: u32, len: u32) => kind = StateRowKind::Compound(span(start, len));
    /// A state whose children are all active.
    parallel() => kind = StateRowKind::Parallel;
    /// A final state.
    ends(status: Status) => kind = StateRowKind::Final(status);
    /// A shallow history.
    history(start: u32, len: u32, slot: u32) =>
        kind = StateRowKind::History { deep: false, default: span(start, len), slot };
    /// A deep history.
    deep_history(start: u32, len: u32, slot: u32) =>
        kind = StateRowKind::History { deep: true, default: span(start, len), slot };
    /// Its transitions.
    lines(start: u32, len: u32) => transitions = span(start, len);
    /// Its steps.
    steps(start: u32, len: u32) => steps = span(start, len);
    /// Its options.
    choices(start: u32, len: u32) => choices = span(start, len);
    /// Its numbers of `enter` and `exit` blocks.
    blocks(entry: u32, exit: u32) => entry = entry, exit = exit;
    /// Its `initial` or default has actions.
    default_actions() => default_actions = true;
    /// The events that it defers.
    defers(start: u32, len: u32) => defers = span(start, len);
    /// It declares advice.
    advises() => advice = true;
    /// Its limits.
    limits(limits: LimitsRow) => limits = limits;
    /// Its histories.
    histories(start: u32, len: u32) => histories = span(start, len);
    /// What the state itself reacts to, and what it or an ancestor reacts to.
    reacts(here: u16, on_path: u16) => here = Reacts(here), on_path = Reacts(on_path);
    /// Its transitions by event.
    index(start: u32, len: u32) => index = span(start, len);
    /// The walk of its region.
    walk(walk: u32) => walk = walk;
    /// The place of its time of entry.
    place(place: u32) => place = place;
}

/// A transition without guard, targets and actions.
pub const fn line(source: u32, trigger: TriggerRow) -> TransitionRow {
    TransitionRow { source: StateId(source), trigger, ..TransitionRow::PLAIN }
}

columns! { TransitionRow:
    /// The states of which one must be active.
    any_of(start: u32, len: u32) => any_of = span(start, len);
    /// The states of which none may be active.
    none_of(start: u32, len: u32) => none_of = span(start, len);
    /// It has a guard.
    guarded() => guard = true;
    /// Its guard has alternatives.
    alternatives(start: u32, len: u32) => alternatives = span(start, len);
    /// It has actions.
    acts() => actions = true;
    /// Its final target is given arguments.
    gives() => arguments = true;
    /// It does not exit its source.
    internal() => internal = true;
    /// Its targets.
    to(start: u32, len: u32) => targets = span(start, len);
    /// It exits what is active below `domain`, and enters these states.
    enters(domain: u32, start: u32, len: u32) =>
        route = Route::Known { domain: StateId(domain), entry: span(start, len) };
    /// What it enters is computed when it is taken.
    computed() => route = Route::Computed;
}

impl TransitionRow {
    /// It exits what is active below `domain`, and enters its targets.
    #[must_use]
    pub const fn within(self, domain: u32) -> Self {
        self.enters(domain, self.targets.start, self.targets.len)
    }
}

/// A step.
pub const fn step(name: &'static str, state: u32, kind: StepRowKind) -> StepRow {
    let mut row = StepRow::PLAIN;
    row.state = StateId(state);
    row.kind = kind;
    core::mem::forget(core::mem::replace(&mut row.name, Text::Static(name)));
    row
}

impl StepRow {
    /// The client that it uses.
    #[must_use]
    pub const fn client(mut self, name: &'static str) -> Self {
        core::mem::forget(core::mem::replace(&mut self.client, Text::Static(name)));
        self
    }
}

columns! { StepRow:
    /// It starts when its state was entered.
    on_entry() => starts = StartsRow::OnEntry;
    /// These events start it.
    on_event(start: u32, len: u32) => starts = StartsRow::OnEvent(span(start, len));
    /// It has an `if`.
    guarded() => guard = true;
    /// The number of attempts after the first.
    retries(retries: u32) => retries = retries;
    /// The kinds of failures after which another attempt is made.
    retries_on(kinds: u16) => retries_on = FailureKinds(kinds);
    /// The first and the longest wait before another attempt, in milliseconds.
    waits(first: u64, most: u64) => wait = Some([first, most]);
    /// What follows from its failure.
    otherwise(failure: FailureRow) => failure = failure;
    /// It has an `ends turn`.
    ends_turn() => ends_turn = true;
    /// The tools that its model may call, and how often.
    tools(start: u32, len: u32, calls: u32) => tools = span(start, len), tool_calls = calls;
    /// The list that it runs for.
    each(each: EachRow) => each = Some(each);
    /// A call whose effect is unknown is made again.
    retries_doubt() => retries_doubt = true;
    /// A text that was cut off counts as an answer.
    accepts_cut() => accepts_cut = true;
    /// Only the name of an option or JSON that fits the schema counts as an answer.
    exact() => is_exact = true;
    /// Assignments run when it asks.
    asking() => asking = true;
    /// Its `tool` lines.
    tool_lines(start: u32, len: u32) => tool_lines = span(start, len);
    /// The step whose tool call it approves.
    approves(step: u32) => approves = Some(StepId(step));
}

/// An event with the names of its fields.
pub const fn event(name: &'static str, start: u32, len: u32) -> EventRow {
    EventRow { name: Text::Static(name), fields: span(start, len) }
}

/// An option without arguments.
pub const fn choice(name: &'static str, line: u32) -> ChoiceRow {
    let (transition, fields) = (TransitionId(line), Span::EMPTY);
    ChoiceRow { name: Text::Static(name), transition, fields, tools: None }
}

columns! { ChoiceRow:
    /// The names of its arguments.
    fields(start: u32, len: u32) => fields = span(start, len);
    /// The tools that it calls.
    tools(start: u32, len: u32) => tools = Some(span(start, len));
}

/// A walk over the steps of a region.
pub const fn walk(state: u32, outer: u32, start: u32, len: u32) -> WalkRow {
    WalkRow { state: StateId(state), outer, steps: span(start, len) }
}

/// The type of a param.
pub const fn param(name: &'static str, start: u32, len: u32) -> TypeRow {
    TypeRow { of: TypedRow::Param(Text::Static(name)), ty: span(start, len) }
}

/// The type of an input or variable.
pub const fn variable(name: &'static str, start: u32, len: u32) -> TypeRow {
    TypeRow { of: TypedRow::Variable(Text::Static(name)), ty: span(start, len) }
}

/// The type of a step's answer.
pub const fn answer(step: u32, start: u32, len: u32) -> TypeRow {
    TypeRow { of: TypedRow::Answer(StepId(step)), ty: span(start, len) }
}

/// The type of a field of an event.
pub const fn event_field(event: u32, name: &'static str, start: u32, len: u32) -> TypeRow {
    TypeRow { of: TypedRow::Event(EventId(event), Text::Static(name)), ty: span(start, len) }
}

/// The type of a field of a record.
pub const fn record_field(
    record: &'static str,
    name: &'static str,
    start: u32,
    len: u32,
) -> TypeRow {
    let of = TypedRow::Record(Text::Static(record), Text::Static(name));
    TypeRow { of, ty: span(start, len) }
}

/// A transition that an event may take.
pub const fn by(event: u32, line: u32) -> Dispatch {
    Dispatch { event: EventId(event), line: TransitionId(line) }
}

/// A transition that any event may take.
pub const fn by_any(line: u32) -> Dispatch {
    Dispatch { event: Dispatch::ANY, line: TransitionId(line) }
}
