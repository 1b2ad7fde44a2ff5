//! A machine with the machines of its `run` steps, driven and shown together.

use super::{Follower, Log, MISMATCH, Open, Scripted, Step, records, script, shown, waiting};
use chartc_core::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use chartc_core::expr::Value;
use chartc_core::family::{Family, MemberPath, Tasks};
use chartc_core::host::{Machine, Mismatch, Offer, ToolCall};
use chartc_core::machine::{Effect, Fault, Input, Instant, Receipt, Sink, StepKey};
use chartc_core::store::Sent;
use chartc_core::tables::{StepRowKind, Tables};
use std::fmt::Write;

/// Inputs of members that one input of the host may cause before the next: some families never come to rest.
const MOST: usize = 120;

/// A machine of any chart.
pub(crate) struct Boxed<'m>(pub(crate) Box<dyn Machine + 'm>);

/// A family that is followed.
pub(crate) struct Kin<M> {
    pub(crate) family: Family<M>,
    /// What waits for an answer, and whose it is.
    pub(crate) open: Vec<(MemberPath, Open)>,
    /// Nothing is left to be done before the next input.
    pub(crate) at_rest: bool,
    /// What all members told during the last input.
    pub(crate) log: Log,
    /// By member: the events that it would handle.
    enabled: Vec<(MemberPath, Vec<EventId>)>,
    nth: u64,
}

impl<M: Machine> Kin<M> {
    /// Of a machine that was not started.
    pub(crate) fn of(root: M) -> Self {
        Self {
            family: Family::new(root),
            open: Vec::new(),
            at_rest: true,
            log: Log::default(),
            enabled: Vec::new(),
            nth: 0,
        }
    }

    /// Puts another machine, which goes on where this one is, in its place.
    pub(crate) fn restart(&mut self, root: M) {
        self.family = Family::new(root);
    }

    /// Does one thing, and shows all that can be seen afterwards, of every member.
    pub(crate) fn step(&mut self, host: &Scripted, step: &Step) -> String {
        self.nth += 1;
        host.nth.set(self.nth);
        self.log = Log::default();
        let mut out = format!("> {}\n", script::line(step));
        let mut tasks = Tasks::new();
        let now = match step {
            Step::Set(name, value) => {
                let set = self.family.root_mut().set_input(name, value.clone());
                let _ = writeln!(out, "receipt: {}", set.map_or(MISMATCH, |()| "set"));
                0
            }
            Step::Give(now, input) => {
                self.family.handling(&mut tasks).tell(MemberPath::new(), input.clone(), *now);
                *now
            }
            Step::Tell(member, now, input) => {
                if let Input::Answer(key, _) = input {
                    self.open.retain(|(of, open)| (of, open.key) != (member, *key));
                }
                self.family.handling(&mut tasks).tell(member.clone(), input.clone(), *now);
                *now
            }
        };
        self.at_rest = false;
        for _ in 0..if matches!(step, Step::Set(..)) { 0 } else { MOST } {
            let mut log = Log::default();
            let Some(told) = self.family.handling(&mut tasks).handle_next(now, &mut log) else {
                self.at_rest = true;
                break;
            };
            let receipt = told.receipt.as_ref().map_or(MISMATCH.to_owned(), |r| format!("{r:?}"));
            let _ = writeln!(out, "told: {:?} {receipt} {}", told.member, told.passed_on);
            out += &records(&log);
            self.follow(&told.member, &log);
            self.log.records.extend(log.records);
            self.log.effects.extend(log.effects);
        }
        self.look(&mut out);
        out
    }

    fn follow(&mut self, member: &MemberPath, log: &Log) {
        for effect in &log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) => {
                    self.open.retain(|(of, open)| (of, open.key) != (member, *key));
                    let steps = self.family.member(member).map(|machine| &machine.tables().steps);
                    let row = steps.and_then(|steps| steps.get(key.step.index()));
                    if row.is_some_and(|row| !matches!(row.kind, StepRowKind::Run { .. })) {
                        let open = Open { key: *key, tool: None, offers: Vec::new() };
                        self.open.push((member.clone(), open));
                    }
                }
                Effect::Call(key, tool) => {
                    let mut open = self.open.iter_mut();
                    match open.find(|(of, open)| (of, open.key) == (member, *key)) {
                        Some((_, open)) => open.tool = Some(*tool),
                        None => {
                            let open = Open { key: *key, tool: Some(*tool), offers: Vec::new() };
                            self.open.push((member.clone(), open));
                        }
                    }
                }
                Effect::Cancel(key) => {
                    self.open.retain(|(of, open)| (of, open.key) != (member, *key));
                }
                Effect::Ended(_) => self.open.retain(|(of, _)| !of.starts_with(member)),
            }
        }
    }

    fn look(&mut self, out: &mut String) {
        let _ = writeln!(out, "next: {:?}", self.family.next_deadline());
        self.enabled.clear();
        for member in self.family.members() {
            let _ = writeln!(out, "member: {member:?}");
            let mut enabled = Vec::new();
            let seen = self.family.with_member(&member, |machine| {
                enabled = machine.enabled_events();
                shown(machine, &enabled)
            });
            out.push_str(&seen.unwrap_or_default());
            self.enabled.push((member, enabled));
        }
        for (member, open) in &mut self.open {
            let _ = writeln!(out, "owed: {member:?}");
            let seen = self.family.with_member(member, |machine| waiting(machine, open));
            out.push_str(&seen.unwrap_or_default());
        }
    }

    /// A follower of some member, as acts need it: what would be handled there.
    pub(crate) fn follower(&self, nth: usize) -> Follower {
        let one = self.enabled.get(nth % self.enabled.len().max(1));
        let enabled = one.map(|(_, enabled)| enabled.clone()).unwrap_or_default();
        Follower { enabled, ..Follower::default() }
    }
}

impl Machine for Boxed<'_> {
    fn tables(&self) -> &Tables {
        self.0.tables()
    }

    fn handle(
        &mut self,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Result<Receipt, Mismatch> {
        self.0.handle(input, now, sink)
    }

    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch> {
        self.0.set_input(name, value)
    }

    fn prompt(&mut self, key: StepKey) -> Result<String, Fault> {
        self.0.prompt(key)
    }

    fn options(&mut self, key: StepKey) -> Vec<Offer> {
        self.0.options(key)
    }

    fn answer_schema(&self, step: StepId) -> String {
        self.0.answer_schema(step)
    }

    fn argument_schema(&self, choice: ChoiceId) -> String {
        self.0.argument_schema(choice)
    }

    fn tool_schema(&self, tool: ToolId) -> String {
        self.0.tool_schema(tool)
    }

    fn call(&mut self, key: StepKey) -> Result<ToolCall, Fault> {
        self.0.call(key)
    }

    fn is_active(&self, state: StateId) -> bool {
        self.0.is_active(state)
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        self.0.enabled_events()
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.0.next_deadline()
    }

    fn sends(&self) -> Vec<Sent> {
        self.0.sends()
    }

    fn is_walking(&self) -> bool {
        self.0.is_walking()
    }

    fn variables(&self) -> Vec<(String, Value)> {
        self.0.variables()
    }

    fn result(&self) -> Vec<(String, Value)> {
        self.0.result()
    }

    fn take_notes(&mut self) -> Vec<chartc_core::host::Note> {
        self.0.take_notes()
    }

    fn begin_child(&mut self, key: StepKey) -> Result<(), Mismatch> {
        self.0.begin_child(key)
    }

    fn children(&self) -> Vec<StepKey> {
        self.0.children()
    }

    fn child(&self, key: StepKey) -> Option<&dyn Machine> {
        self.0.child(key)
    }

    fn with_child(&mut self, key: StepKey, act: &mut dyn FnMut(&mut dyn Machine)) -> bool {
        self.0.with_child(key, act)
    }

    fn end_child(&mut self, key: StepKey) {
        self.0.end_child(key);
    }
}
