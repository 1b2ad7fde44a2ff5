//! What a host can do at a point of a run: events, turns, answers, and waiting for what is due.

use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{shown, tried};
use chartc_core::arena::{ChoiceId, EventId, StepId, ToolId, VarId};
use chartc_core::drive::{Host, Machine};
use chartc_core::expr::Value;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Outcome, StepKey};
use chartc_core::model::{Chart, ChoiceKind, StepKind, Trigger, VariableKind};
use std::collections::BTreeSet;

/// Most combinations of the values of several inputs, params or fields.
const MOST: usize = 128;

/// What an answer to an open step is.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The step, or the tool that a question called, is done.
    Done(Value),
    /// An option with its arguments.
    Option(ChoiceId, Vec<Value>),
    /// A tool with its arguments.
    Call(ToolId, Vec<Value>),
    /// Nothing that fits.
    Unusable,
    /// It failed.
    Failed,
    /// Whether it ran cannot be told.
    Doubt,
}

/// One thing that a host does.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// It starts the machine with these params and inputs.
    Start(Vec<(VarId, Value)>),
    /// It sets these inputs and sends an event.
    Event(Vec<(VarId, Value)>, EventId, Vec<Value>),
    /// It sets these inputs and takes a turn.
    Turn(Vec<(VarId, Value)>),
    /// It waits until something is due, so many milliseconds.
    Wait(u64),
    /// It answers an open step or question.
    Answer(StepKey, Answer),
}

/// What is tried at every point.
pub(super) struct Moves<'c> {
    chart: &'c Chart,
    relevant: &'c Relevant<'c>,
    /// Params and inputs that a run may begin with.
    pub(super) starts: Vec<Vec<(VarId, Value)>>,
    inputs: Vec<Vec<(VarId, Value)>>,
    events: Vec<(EventId, Vec<Vec<Value>>)>,
    /// Why not everything is tried.
    pub(super) reasons: BTreeSet<String>,
}

impl<'c> Moves<'c> {
    pub(super) fn of(chart: &'c Chart, relevant: &'c Relevant<'c>) -> Self {
        let mut made = Self {
            chart,
            relevant,
            starts: Vec::new(),
            inputs: Vec::new(),
            events: Vec::new(),
            reasons: BTreeSet::new(),
        };
        let all = |kind: fn(&VariableKind) -> bool| -> Vec<VarId> {
            let rows = chart.variables.iter().enumerate();
            rows.filter(|(_, row)| kind(&row.kind)).map(|(i, _)| VarId::at(i)).collect()
        };
        let params = all(|kind| matches!(kind, VariableKind::Param { .. }));
        let inputs = all(|kind| matches!(kind, VariableKind::Input));
        let is_tried = |id: &VarId| {
            let has_default = chart.variables[id.index()].default.is_some();
            relevant.slots.contains(&Slot::Variable(*id)) || !has_default
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
        made
    }

    fn named(&mut self, ids: &[VarId]) -> Vec<Vec<(VarId, Value)>> {
        let slots: Vec<Slot> = ids.iter().map(|id| Slot::Variable(*id)).collect();
        let rows = self.combinations(&slots).into_iter();
        rows.map(|values| ids.iter().copied().zip(values).collect()).collect()
    }

    fn values(&mut self, slot: Slot) -> Vec<Value> {
        let tried = tried(self.chart, self.relevant, slot);
        if !tried.exact {
            self.reasons.insert(format!("unbounded {}", shown(self.chart, slot)));
        }
        tried.values
    }

    /// Every way to give each slot one of its values.
    fn combinations(&mut self, slots: &[Slot]) -> Vec<Vec<Value>> {
        let all: Vec<Vec<Value>> = slots.iter().map(|slot| self.values(*slot)).collect();
        let count = all.iter().try_fold(1_usize, |n, v| n.checked_mul(v.len()));
        if count.is_none_or(|n| n > MOST) {
            self.reasons.insert("too many values together".into());
            // Each in turn, the others as they are first.
            let first: Vec<Value> = all.iter().map(|v| v[0].clone()).collect();
            let mut rows = vec![first.clone()];
            for (nth, values) in all.iter().enumerate() {
                for value in values.iter().skip(1).take(MOST) {
                    let mut row = first.clone();
                    row[nth] = value.clone();
                    rows.push(row);
                }
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

    /// Everything that can be done where the machine stands, in a fixed order.
    /// `waited` says that what is due has been waited for already.
    pub(super) fn here<H: Host>(
        &mut self,
        machine: &mut Interpreter<'_, H>,
        waited: bool,
    ) -> Vec<Deed> {
        let mut deeds = Vec::new();
        if machine.ended().is_some() {
            return deeds;
        }
        let now = machine.standing().now;
        let due = machine.next_deadline();
        if due.is_some_and(|due| due <= now) && !waited {
            return vec![Deed::Wait(0)];
        }
        for inputs in &self.inputs {
            for (event, payloads) in &self.events {
                let each = |p: &Vec<Value>| Deed::Event(inputs.clone(), *event, p.clone());
                deeds.extend(payloads.iter().map(each));
            }
        }
        for key in machine.pending() {
            self.answers(machine, key, &mut deeds);
        }
        if !machine.is_walking() {
            deeds.extend(self.inputs.iter().cloned().map(Deed::Turn));
        }
        deeds.extend(due.map(|due| Deed::Wait(due.saturating_sub(now))));
        deeds
    }

    fn answers<H: Host>(
        &mut self,
        machine: &mut Interpreter<'_, H>,
        key: StepKey,
        deeds: &mut Vec<Deed>,
    ) {
        let chart = self.chart;
        let mut put = |answer| deeds.push(Deed::Answer(key, answer));
        let step = &chart.steps[key.step.index()];
        let doubts = |step: StepId| {
            chart.transitions.iter().any(|line| line.trigger == Trigger::StepDoubt(step))
        };
        if let Some(tool) = machine.calls(key) {
            self.values(Slot::Result(tool)).into_iter().for_each(|v| put(Answer::Done(v)));
            put(Answer::Failed);
        } else if matches!(step.kind, StepKind::Ask { .. }) {
            for offer in machine.options(key) {
                match offer.tool {
                    Some(tool) => {
                        let count = chart.tools[tool.index()].params.len();
                        let slots: Vec<Slot> =
                            (0..count).map(|nth| Slot::Passed(tool, nth as u32)).collect();
                        for row in self.combinations(&slots) {
                            put(Answer::Call(tool, row));
                        }
                    }
                    None => {
                        let ChoiceKind::Option(fields) = &chart.choices[offer.choice.index()].kind
                        else {
                            continue;
                        };
                        let slots: Vec<Slot> = (0..fields.len())
                            .map(|nth| Slot::Argument(offer.choice, nth as u32))
                            .collect();
                        for row in self.combinations(&slots) {
                            put(Answer::Option(offer.choice, row));
                        }
                    }
                }
            }
            put(Answer::Unusable);
            put(Answer::Failed);
        } else {
            let slot = match step.kind {
                StepKind::Call(tool, _) => Slot::Result(tool),
                StepKind::Llm
                | StepKind::Code(_)
                | StepKind::Ask { .. }
                | StepKind::Human(_)
                | StepKind::Run(_) => Slot::Answer(key.step),
            };
            self.values(slot).into_iter().for_each(|v| put(Answer::Done(v)));
            if !matches!(step.kind, StepKind::Call(..)) {
                put(Answer::Unusable);
            }
            put(Answer::Failed);
        }
        if doubts(key.step) {
            put(Answer::Doubt);
        }
    }
}

/// A deed as the machine is told it, and when.
pub(super) fn input(deed: &Deed) -> Input<Vec<Value>> {
    match deed {
        Deed::Start(_) => Input::Start,
        Deed::Event(_, event, payload) => Input::Event(*event, payload.clone()),
        Deed::Turn(_) => Input::Turn,
        Deed::Wait(_) => Input::Tick,
        Deed::Answer(key, answer) => Input::Answer(
            *key,
            match answer {
                Answer::Done(value) => Outcome::Done(vec![value.clone()]),
                Answer::Option(choice, values) => Outcome::Choice(*choice, values.clone()),
                Answer::Call(tool, values) => Outcome::Call(*tool, values.clone()),
                Answer::Unusable => Outcome::Unusable,
                Answer::Failed => Outcome::Failed(vec![Value::Text("failed".into())]),
                Answer::Doubt => Outcome::Doubt,
            },
        ),
    }
}
