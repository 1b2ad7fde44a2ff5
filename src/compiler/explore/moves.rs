//! The actions of a host at a point of a run: events, turns, answers, and waiting for what is due.
//!
//! **The problem.** A host may send any event with any data at any time. Trying everything is impossible, and most of it has the same
//! effect.
//!
//! **The idea.** `Moves::here` lists the actions that are possible at a point, with the values from `values`. Four reductions keep the list
//! short, and each is exact or noted in `Moves::reasons`:
//!
//! - Combinations of several slots are tried completely only up to `MOST_COMBINATIONS`.
//! - Events to which no active state reacts have the same effect, so one represents all (`ObservedEvents`).
//! - Limits of turns and calls may be reached at any time (`AbstractLimits`): each action is tried just before a bound and far from it.
//!   Then keys need no counters. This adds runs that the chart does not have.
//! - Guards such as `turns >= 50` that only end the run may hold at any time in the same way (`Bounds`), if nothing else reads the number
//!   of turns.
//!
//! What is due happens before anything else, so it is then the only action.
//!
//! **Example.** In the example of [`super`], the actions in `work` are: `go`, which nothing handles there; `fail(499)`, `fail(500)` and
//! `fail(501)`; and a turn. If the chart had a second event that nothing handles in `work`, it would not be tried beside `go`.

use super::host::{Answer, Anything, ChildSummary, FieldValues, HostAct, Named};
use super::relevant::{Relevant, Slot, is_fixed, number};
use super::values::{Hints, hinted, shown, tried};
use crate::analysis::facts::reach::is_end;
use chartc_core::arena::{ChoiceId, EventId, FunctionId, StateId, StepId, ToolId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{LimitKind, StepKey};
use chartc_core::model::{
    Chart, ChoiceKind, CompareOp, Expr, ExprKind, FailureKinds, Limits, Observable, Step, StepKind,
    Transition, Trigger, VariableKind,
};
use chartc_core::store::bits;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The maximum number of combinations of the values of several inputs, params or fields.
const MOST_COMBINATIONS: usize = 128;

/// The actions that are tried at the points of one chart, with their values.
#[derive(Clone)]
pub(super) struct Moves<'c> {
    chart: &'c Chart,
    relevant: Rc<Relevant<'c>>,
    /// The params and inputs that are not varied.
    fixed: Vec<(VarId, Value)>,
    /// Further values for slots that cannot be tried exhaustively; `None` if only exhaustive values are wanted.
    hints: Option<Rc<Hints>>,
    /// By `run` step: the possible ends of its child chart.
    pub(super) children: BTreeMap<StepId, ChildSummary>,
    /// The params and inputs with which a run may begin.
    pub(super) starts: Vec<Named>,
    /// The combinations of inputs that are tried with each event and turn.
    inputs: Vec<Named>,
    /// The events with their payloads.
    events: Vec<(EventId, Rc<[FieldValues]>)>,
    observed: ObservedEvents,
    /// The steps with a transition for doubt, which the host may report.
    doubted: BTreeSet<StepId>,
    /// The combinations computed so far, by slots.
    combined: BTreeMap<Vec<Slot>, Rc<[FieldValues]>>,
    /// The reasons why not all values are tried, in words.
    pub(super) reasons: BTreeSet<String>,
}

impl<'c> Moves<'c> {
    pub(super) fn new(
        chart: &'c Chart,
        relevant: &Rc<Relevant<'c>>,
        fixed: &[(VarId, Value)],
        hints: Option<Rc<Hints>>,
    ) -> Self {
        let mut made = Self {
            chart,
            relevant: relevant.clone(),
            fixed: fixed.to_vec(),
            hints,
            children: BTreeMap::new(),
            starts: Vec::new(),
            inputs: Vec::new(),
            events: Vec::new(),
            observed: ObservedEvents::new(chart, relevant),
            doubted: BTreeSet::new(),
            combined: BTreeMap::new(),
            reasons: BTreeSet::new(),
        };
        made.doubted.extend(chart.transitions.iter().filter_map(|transition| {
            if let Trigger::StepDoubt(step) = transition.trigger { Some(step) } else { None }
        }));
        made.doubted.retain(|step| chart.may_doubt(*step));
        made.not_counted();
        let all = |kind: fn(&VariableKind) -> bool| -> Vec<VarId> {
            let rows = chart.variables.iter().enumerate();
            rows.filter(|(_, row)| kind(&row.kind)).map(|(i, _)| VarId::at(i)).collect()
        };
        let params = all(|kind| matches!(kind, VariableKind::Param { .. }));
        let inputs = all(|kind| matches!(kind, VariableKind::Input));
        let is_fixed = |id: &VarId| fixed.iter().any(|(given, _)| given == id);
        let is_tried = |id: &VarId| {
            let has_default = chart.variables[id.index()].default.is_some();
            relevant.slots.contains(&Slot::Variable(*id)) || !has_default || is_fixed(id)
        };
        let read = |id: &VarId| relevant.slots.contains(&Slot::Variable(*id));
        let given: Vec<VarId> = params.iter().chain(&inputs).copied().filter(is_tried).collect();
        made.starts = made.named(&given);
        let read: Vec<VarId> = inputs.into_iter().filter(read).collect();
        made.inputs = made.named(&read);
        for (i, event) in chart.events.iter().enumerate() {
            let id = EventId::at(i);
            let slots: Vec<Slot> =
                (0..event.fields.len()).map(|nth| Slot::Field(id, nth as u32)).collect();
            let payloads = made.combinations(&slots);
            made.events.push((id, payloads));
        }
        made.left_open();
        made
    }

    /// Adds the reasons for amounts and limits that are not followed.
    fn not_counted(&mut self) {
        let Self { chart, reasons, .. } = self;
        let counted =
            |limits: &Limits| limits.has(LimitKind::Tokens) || limits.has(LimitKind::Cost);
        if chart.states.iter().any(|state| counted(&state.limits)) {
            reasons.insert("what calls take of a limit of tokens or cost".into());
        }
        if chart.reads_amounts {
            reasons.insert("what calls take, which the chart reads".into());
        }
        if chart.computed_limits().next().is_some() {
            reasons.insert("limits that are computed from params".into());
        }
    }

    /// Adds the reasons for values that are not exhaustive but never combined here: results of functions, and why steps fail.
    fn left_open(&mut self) {
        let Self { chart, relevant, .. } = self;
        let functions = (0..chart.functions.len()).map(|i| Slot::Function(FunctionId::at(i)));
        let steps = (0..chart.steps.len()).map(|i| Slot::Reason(StepId::at(i)));
        let open = functions
            .filter(|slot| !tried(chart, relevant, *slot).exact)
            .chain(steps.filter(|slot| relevant.slots.contains(slot)));
        self.reasons.extend(open.map(|slot| format!("unbounded {}", shown(chart, slot))));
    }

    /// All combinations of values of these variables.
    fn named(&mut self, ids: &[VarId]) -> Vec<Named> {
        let slots: Vec<Slot> = ids.iter().map(|id| Slot::Variable(*id)).collect();
        let rows = self.combinations(&slots);
        let named =
            |values: &FieldValues| ids.iter().copied().zip(values.iter().cloned()).collect();
        rows.iter().map(named).collect()
    }

    /// The values of a slot. Adds a reason if they are not exhaustive.
    fn values(&mut self, slot: Slot) -> Vec<Value> {
        let is_it = |(id, _): &&(VarId, Value)| slot == Slot::Variable(*id);
        if let Some((_, value)) = self.fixed.iter().find(is_it) {
            return vec![value.clone()];
        }
        let mut tried = tried(self.chart, &self.relevant, slot);
        if !tried.exact {
            self.reasons.insert(format!("unbounded {}", shown(self.chart, slot)));
            if let Some(hints) = &self.hints {
                hinted(self.chart, hints, slot, &mut tried.values);
            }
        }
        tried.values
    }

    /// All combinations of the values of these slots, or only some if there are too many.
    fn combinations(&mut self, slots: &[Slot]) -> Rc<[FieldValues]> {
        if let Some(rows) = self.combined.get(slots) {
            return rows.clone();
        }
        let rows: Rc<[FieldValues]> = self.combine(slots).into_iter().map(Rc::from).collect();
        self.combined.insert(slots.to_vec(), rows.clone());
        rows
    }

    /// Computes the combinations, as for [`Self::combinations`].
    fn combine(&mut self, slots: &[Slot]) -> Vec<Vec<Value>> {
        let all: Vec<Vec<Value>> = slots.iter().map(|slot| self.values(*slot)).collect();
        let count = all.iter().try_fold(1_usize, |n, v| n.checked_mul(v.len()));
        if count.is_none_or(|n| n > MOST_COMBINATIONS) {
            self.reasons.insert("too many values together".into());
            // Not all are tried. First each value with the first ones of the other slots.
            let first: Vec<Value> = all.iter().map(|v| v[0].clone()).collect();
            let mut rows = vec![first.clone()];
            for (nth, values) in all.iter().enumerate() {
                for value in values.iter().skip(1).take(MOST_COMBINATIONS) {
                    let mut row = first.clone();
                    row[nth] = value.clone();
                    rows.push(row);
                }
            }
            // Then the nth values of all slots together, for conditions on several of them.
            let longest = all.iter().map(Vec::len).max().unwrap_or_default();
            for nth in 1..longest.min(MOST_COMBINATIONS) {
                rows.push(all.iter().map(|values| values[nth % values.len()].clone()).collect());
            }
            return rows;
        }
        let mut rows = vec![Vec::new()];
        for values in &all {
            let longer = |row: &Vec<Value>| {
                let row = row.clone();
                values.iter().map(move |v| row.iter().cloned().chain([v.clone()]).collect())
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        rows
    }

    /// The actions that are possible at the machine's point, in a fixed order. `waited` tells that the host has already waited for what is
    /// due.
    pub(super) fn here(
        &mut self,
        machine: &mut Interpreter<Anything>,
        waited: bool,
    ) -> Vec<HostAct> {
        let mut acts = Vec::new();
        if machine.ended().is_some() {
            return acts;
        }
        let now = machine.standing().now;
        let due = machine.next_deadline();
        // What is due happens before anything else.
        if due.is_some_and(|due| due <= now) && !waited {
            return vec![HostAct::Wait(0)];
        }
        let configuration = machine.configuration();
        for inputs in &self.inputs {
            let mut is_tried = false;
            for (event, payloads) in &self.events {
                // One event that has no effect represents all such events.
                let is_heard = self.observed.are_observed(*event, configuration);
                let count = if is_heard { payloads.len() } else { usize::from(!is_tried) };
                is_tried |= !is_heard;
                let each = |p: &FieldValues| HostAct::Event(inputs.clone(), *event, p.clone());
                acts.extend(payloads.iter().take(count).map(each));
            }
        }
        for key in machine.pending() {
            self.answers(machine, key, &mut acts);
        }
        if !machine.is_walking() {
            acts.extend(self.inputs.iter().cloned().map(HostAct::Turn));
        }
        acts.extend(due.map(|due| HostAct::Wait(due.saturating_sub(now))));
        acts
    }

    /// Adds the possible answers to an open step.
    fn answers(
        &mut self,
        machine: &mut Interpreter<Anything>,
        key: StepKey,
        acts: &mut Vec<HostAct>,
    ) {
        let chart = self.chart;
        let mut put = |answer| acts.push(HostAct::Answer(key, answer));
        let step = &chart.steps[key.step.index()];
        let failed = |put: &mut dyn FnMut(Answer)| failures(step, key).into_iter().for_each(put);
        if let Some(tool) = machine.calls(key) {
            self.combinations(&[Slot::Result(tool)])
                .iter()
                .for_each(|v| put(Answer::Done(v[0].clone())));
            put(Answer::Failed);
        } else if matches!(step.kind, StepKind::Ask { .. }) {
            for (choice, tool) in offered(machine, key) {
                match tool {
                    Some(tool) => self.calls_of(tool, &mut put),
                    None => {
                        let ChoiceKind::Option(fields) = &chart.choices[choice.index()].kind else {
                            continue;
                        };
                        let slots: Vec<Slot> = (0..fields.len())
                            .map(|nth| Slot::Argument(choice, nth as u32))
                            .collect();
                        for row in self.combinations(&slots).iter() {
                            put(Answer::Option(choice, row.clone()));
                        }
                    }
                }
            }
            put(Answer::Unusable);
            failed(&mut put);
        } else {
            let slot = match step.kind {
                StepKind::Call(tool, _) => Slot::Result(tool),
                _ => Slot::Answer(key.step),
            };
            match self.children.get(&key.step) {
                Some(child) => child.answers.iter().for_each(|v| put(Answer::Done(v.clone()))),
                None => {
                    let values = self.combinations(&[slot]);
                    values.iter().for_each(|v| put(Answer::Done(v[0].clone())));
                }
            }
            for tool in machine.step_tools(key) {
                self.calls_of(tool, &mut put);
            }
            if !matches!(step.kind, StepKind::Call(..) | StepKind::Run(_)) {
                put(Answer::Unusable);
            }
            if self.children.get(&key.step).is_none_or(|child| child.fails) {
                failed(&mut put);
            }
        }
        if self.doubted.contains(&key.step) {
            put(Answer::Doubt);
        }
    }

    /// Adds the calls of a tool, with all arguments that matter.
    fn calls_of(&mut self, tool: ToolId, put: &mut impl FnMut(Answer)) {
        let count = self.chart.tools[tool.index()].params.len();
        let slots: Vec<Slot> = (0..count).map(|nth| Slot::Passed(tool, nth as u32)).collect();
        for row in self.combinations(&slots).iter() {
            put(Answer::Call(tool, row.clone()));
        }
    }
}

/// The options and tools that a question offers, over all results of host functions, which guards may call.
fn offered(machine: &mut Interpreter<Anything>, key: StepKey) -> Vec<(ChoiceId, Option<ToolId>)> {
    let mut all = Vec::new();
    machine.with_host(Anything::begin);
    loop {
        for offer in machine.offered(key) {
            if !all.contains(&offer) {
                all.push(offer);
            }
        }
        if !machine.with_host(Anything::next) {
            return all;
        }
    }
}

// The states in which events have an effect, so that events without an effect are tried only once.

/// The states whose transitions or questions react to events. If none of those for an event is active, it has the same effect as any
/// other event that is ignored there.
#[derive(Debug, Clone)]
pub(super) enum ObservedEvents {
    /// Some condition reads the name of the event, so every event has an effect of its own.
    Everywhere,
    /// The states that react to all events, and by event those that react to it.
    In(Vec<StateId>, Vec<Vec<StateId>>),
}

impl ObservedEvents {
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>) -> Self {
        if relevant.counters.event {
            return Self::Everywhere;
        }
        let (mut any, mut each) = (Vec::new(), vec![Vec::new(); chart.events.len()]);
        let mut hears = |events: &[EventId], state: StateId| {
            for event in events {
                each[event.index()].push(state);
            }
        };
        for transition in &chart.transitions {
            match &transition.trigger {
                Trigger::Event(events) => hears(events, transition.source),
                Trigger::AnyEvent | Trigger::AnyOccurrence => any.push(transition.source),
                _ => {}
            }
        }
        for step in &chart.steps {
            hears(step.events(), step.state);
        }
        for (id, state) in chart.state_ids().zip(&chart.states) {
            hears(&state.defers, id);
        }
        for states in each.iter_mut().chain([&mut any]) {
            states.sort_unstable();
            states.dedup();
        }
        Self::In(any, each)
    }

    /// Whether the event may have an effect of its own in this configuration.
    pub(super) fn are_observed(&self, event: EventId, configuration: &[u64]) -> bool {
        let is_active = |s: &StateId| bits::has(configuration, s.index());
        match self {
            Self::Everywhere => true,
            Self::In(any, each) => any.iter().chain(&each[event.index()]).any(is_active),
        }
    }
}

// Over-approximates limits of turns and calls: a limit may be reached at any time. This includes every run of the chart and has far
// fewer points, because keys omit the counters of limits. Each input is tried once for each combination of limits that are reached and
// limits that are not: the machine's counters are set to a number just before the bound, or far from it.

/// The maximum number of combinations of reached and unreached limits. If there are more, keys keep the counters.
const MOST_LIMITS: usize = 12;

/// The values to which the counters of a state's limits are set: its calls, then its turns. `None` keeps a counter as it is.
pub(super) type CounterValues = (StateId, Option<u32>, Option<u32>);

/// The limits whose counters keys leave out.
#[derive(Debug, Default)]
pub(super) struct AbstractLimits {
    /// By limited state: whether the counter of its calls is left out, and that of its turns.
    states: Vec<(StateId, bool, bool)>,
    /// The combinations of values of the counters. In the first, all are far from their bounds, if possible.
    pub(super) combinations: Vec<Vec<CounterValues>>,
}

impl AbstractLimits {
    /// Collects the limits whose counters nothing else reads. `calls` and `turns` tell which counters may be left out.
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>, calls: bool, turns: bool) -> Self {
        let mut made = Self { states: Vec::new(), combinations: vec![Vec::new()] };
        for state in chart.state_ids() {
            let limits = &chart.state(state).limits;
            let calls = calls && (limits.calls.is_some() || limits.calls_warn.is_some());
            let turns = turns
                && (limits.turns.is_some() || limits.turns_warn.is_some())
                && !relevant.counters.turns_in.contains_key(&state);
            if !calls && !turns {
                continue;
            }
            let calls_ways = if calls { call_classes(limits) } else { vec![None] };
            let turns_ways = if turns { turn_classes(limits) } else { vec![None] };
            let count = made.combinations.len() * calls_ways.len() * turns_ways.len();
            if count > MOST_LIMITS {
                continue;
            }
            let mut ways = Vec::with_capacity(count);
            for way in &made.combinations {
                for calls in &calls_ways {
                    for turns in &turns_ways {
                        let mut way = way.clone();
                        way.push((state, *calls, *turns));
                        ways.push(way);
                    }
                }
            }
            made.combinations = ways;
            made.states.push((state, calls, turns));
        }
        made
    }

    /// Whether no limit is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether the counter of a state's calls is left out, and that of its turns.
    pub(super) fn omits(&self, state: StateId) -> (bool, bool) {
        let row = self.states.iter().find(|(s, ..)| *s == state);
        row.map_or((false, false), |(_, calls, turns)| (*calls, *turns))
    }
}

/// A bound as the tables of a chart store it; `u32::MAX` for numbers that do not fit.
fn bound_of_limit(n: Option<i64>) -> Option<u32> {
    n.map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// A number of calls of each class: the next call is normal, causes a warning, or is forbidden.
fn call_classes(limits: &Limits) -> Vec<Option<u32>> {
    let (hard, warn) = (bound_of_limit(limits.calls), bound_of_limit(limits.calls_warn));
    let class = |n: u32| (hard.is_some_and(|hard| n >= hard), Some(n.saturating_add(1)) == warn);
    one_of_each(class, [warn.unwrap_or(0).saturating_sub(1), hard.unwrap_or(0)])
}

/// A number of turns of each class: the next turn is normal, causes a warning, or is the last.
fn turn_classes(limits: &Limits) -> Vec<Option<u32>> {
    let (hard, warn) = (bound_of_limit(limits.turns), bound_of_limit(limits.turns_warn));
    let class = |n: u32| (Some(n.saturating_add(1)) == hard, Some(n.saturating_add(1)) == warn);
    let before = |bound: Option<u32>| bound.unwrap_or(0).saturating_sub(1);
    one_of_each(class, [before(warn), before(hard)])
}

/// The first number of each class. `bounds` are the numbers at which the class may change.
fn one_of_each(class: impl Fn(u32) -> (bool, bool), bounds: [u32; 2]) -> Vec<Option<u32>> {
    let mut found: Vec<((bool, bool), u32)> = Vec::new();
    let mut put = |n: u32| {
        let class = class(n);
        if !found.iter().any(|(other, _)| *other == class) {
            found.push((class, n));
        }
    };
    // The class changes only near a bound, so these numbers include one of each.
    let [a, b] = bounds;
    for n in [0, 1, 2, a.saturating_add(1), b.saturating_add(1), a, b] {
        put(n);
    }
    // The class without warning and limit sorts first.
    found.sort_by_key(|(class, _)| *class);
    found.into_iter().map(|(_, n)| Some(n)).collect()
}

// Transitions by which a chart bounds its own turns, as `limits` does: `when turns >= n -> given_up`.
//
// They end every run at the bound, and keys that count turns multiply the points by that bound. If nothing else reads the number of turns,
// an over-approximation is enough: their guards may hold at any time.

/// The numbers to which the turns are set: one with which the guards fail, one with which they hold, also after one more turn.
pub(super) const WAYS: [u32; 2] = [0, u32::MAX / 2];

/// The transitions of a chart whose only condition is a number of turns, and which end the run.
#[derive(Debug)]
pub(super) struct Bounds<'c> {
    chart: &'c Chart,
    transitions: Vec<&'c Transition>,
}

impl<'c> Bounds<'c> {
    /// `None` if the chart has no such transitions.
    pub(super) fn new(chart: &'c Chart) -> Option<Self> {
        let ends = |transition: &&Transition| {
            ends_run(chart, transition)
                && transition.guard.as_ref().is_some_and(|guard| is_bound(chart, guard))
        };
        let transitions: Vec<_> = chart.transitions.iter().filter(ends).collect();
        (!transitions.is_empty()).then_some(Self { chart, transitions })
    }

    /// The guards of these transitions.
    pub(super) fn conditions(&self) -> Vec<&'c Expr> {
        self.transitions.iter().filter_map(|transition| transition.guard.as_ref()).collect()
    }

    /// The maximum number of turns that any of these transitions allows, over all values of the params.
    pub(super) fn most(&self) -> usize {
        let most = |id: VarId| match &self.chart.variables[id.index()].kind {
            VariableKind::Param { range: Some((_, most)) } => Some(most.clone()),
            VariableKind::Param { range: None }
            | VariableKind::Input
            | VariableKind::Var { .. }
            | VariableKind::Asked => None,
        };
        let bounds =
            self.transitions.iter().filter_map(|transition| turn_bound(transition.guard.as_ref()?));
        let turns = bounds.map(|bound| number(bound, &most).and_then(|n| usize::try_from(n).ok()));
        turns.map(|n| n.unwrap_or(usize::MAX - 1)).max().unwrap_or(0)
    }

    /// Whether one of these transitions leads into a state.
    pub(super) fn lead_to(&self, state: StateId) -> bool {
        let targets = self.transitions.iter().flat_map(|transition| &transition.targets);
        targets.into_iter().any(|target| self.chart.contains(state, target.state))
    }
}

/// The `n` of a guard of the form `turns >= n` or `turns > n`.
fn turn_bound(guard: &Expr) -> Option<&Expr> {
    let ExprKind::Compare(left, rest) = &guard.kind else { return None };
    let [(CompareOp::GreaterEqual | CompareOp::Greater, turn_bound)] = &rest[..] else {
        return None;
    };
    (left.kind == ExprKind::Observable(Observable::Turns)).then_some(turn_bound)
}

/// Whether a guard has the form of [`turn_bound`], with an `n` of at least 2 if params have their defaults.
fn is_bound(chart: &Chart, guard: &Expr) -> bool {
    let value = |id: VarId| usual(chart, id);
    let holds = |n: i64| (2..=i64::from(WAYS[1])).contains(&n);
    turn_bound(guard).is_some_and(|n| is_fixed(chart, n, 0) && number(n, &value).is_some_and(holds))
}

/// The default of a param, if it is a literal whole number.
fn usual(chart: &Chart, id: VarId) -> Option<Value> {
    let row = &chart.variables[id.index()];
    let default =
        row.default.as_ref().filter(|_| matches!(row.kind, VariableKind::Param { .. }))?;
    number(default, &|_| None).map(Value::Int)
}

/// Whether all targets of a transition end the run.
pub(super) fn ends_run(chart: &Chart, transition: &Transition) -> bool {
    !transition.targets.is_empty()
        && transition.targets.iter().all(|target| is_end(chart, target.state))
}

/// How an attempt at a step can fail. With kinds of failures after which it is tried again, there are those after which it is not.
fn failures(step: &Step, key: StepKey) -> Vec<Answer> {
    let retry = step.failure.retry;
    let is_child = matches!(step.kind, StepKind::Run(_));
    if is_child || retry.times < key.attempt || retry.on == FailureKinds::ALL {
        return vec![Answer::Failed];
    }
    let again = retry.on.has_failed_calls().then_some(Answer::Failed);
    again.into_iter().chain([Answer::Final]).collect()
}
