//! The actions of a host at a point of a run: events, turns, answers, and waiting for what is due.

use super::child_summary::ChildSummary;
use super::hints::Hints;
use super::host::Anything;
use super::observed_events::ObservedEvents;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{hinted, shown, tried};
use chartc_core::arena::{ChoiceId, EventId, FunctionId, StepId, ToolId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::LimitKind;
use chartc_core::machine::{Input, Outcome, StepKey};
use chartc_core::model::{Chart, ChoiceKind, Limits, StepKind, Trigger, VariableKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The maximum number of combinations of the values of several inputs, params or fields.
const MOST: usize = 128;

/// The values of fields, in the order of the fields.
pub type FieldValues = Rc<[Value]>;

/// The values of params and inputs.
pub type Named = Rc<[(VarId, Value)]>;

/// An answer to an open step.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The step, or the tool that a question called, is done and returns this value.
    Done(Value),
    /// The model chooses this option, with arguments.
    Option(ChoiceId, FieldValues),
    /// The model calls this tool, with arguments.
    Call(ToolId, FieldValues),
    /// The answer is not usable.
    Unusable,
    /// The step or tool has failed.
    Failed,
    /// It is unknown whether the call took effect.
    Doubt,
}

/// One action of a host.
#[derive(Debug, Clone, PartialEq)]
pub enum HostAct {
    /// It starts the machine with these params and inputs.
    Start(Named),
    /// It sets these inputs and sends an event.
    Event(Named, EventId, FieldValues),
    /// It sets these inputs and takes a turn.
    Turn(Named),
    /// It waits this many milliseconds, until something is due.
    Wait(u64),
    /// It answers an open step or question.
    Answer(StepKey, Answer),
}

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
        let counted =
            |limits: &Limits| limits.has(LimitKind::Tokens) || limits.has(LimitKind::Cost);
        if chart.states.iter().any(|state| counted(&state.limits)) {
            made.reasons.insert("what calls take of a limit of tokens or cost".into());
        }
        if chart.reads_amounts {
            made.reasons.insert("what calls take, which the chart reads".into());
        }
        if chart.computed_limits().next().is_some() {
            made.reasons.insert("limits that are computed from params".into());
        }
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
        if count.is_none_or(|n| n > MOST) {
            self.reasons.insert("too many values together".into());
            // Not all are tried. First each value with the first ones of the other slots.
            let first: Vec<Value> = all.iter().map(|v| v[0].clone()).collect();
            let mut rows = vec![first.clone()];
            for (nth, values) in all.iter().enumerate() {
                for value in values.iter().skip(1).take(MOST) {
                    let mut row = first.clone();
                    row[nth] = value.clone();
                    rows.push(row);
                }
            }
            // Then the nth values of all slots together, for conditions on several of them.
            let longest = all.iter().map(Vec::len).max().unwrap_or_default();
            for nth in 1..longest.min(MOST) {
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
        machine: &mut Interpreter<'_, Anything>,
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
        machine: &mut Interpreter<'_, Anything>,
        key: StepKey,
        acts: &mut Vec<HostAct>,
    ) {
        let chart = self.chart;
        let mut put = |answer| acts.push(HostAct::Answer(key, answer));
        let step = &chart.steps[key.step.index()];
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
            put(Answer::Failed);
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
                put(Answer::Failed);
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
fn offered(
    machine: &mut Interpreter<'_, Anything>,
    key: StepKey,
) -> Vec<(ChoiceId, Option<ToolId>)> {
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

/// The machine's input for an action of the host.
pub(super) fn input(act: &HostAct) -> Input<Vec<Value>> {
    match act {
        HostAct::Start(_) => Input::Start,
        HostAct::Event(_, event, payload) => Input::Event(*event, payload.to_vec()),
        HostAct::Turn(_) => Input::Turn,
        HostAct::Wait(_) => Input::Tick,
        HostAct::Answer(key, answer) => Input::Answer(
            *key,
            match answer {
                Answer::Done(value) => Outcome::Done(vec![value.clone()]),
                Answer::Option(choice, values) => Outcome::Choice(*choice, values.to_vec()),
                Answer::Call(tool, values) => Outcome::Call(*tool, values.to_vec()),
                Answer::Unusable => Outcome::Unusable,
                Answer::Failed => Outcome::Failed(vec![Value::Text("failed".into())]),
                Answer::Doubt => Outcome::Doubt,
            },
        ),
    }
}
