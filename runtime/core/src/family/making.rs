//! Children: their creation, and their end, which becomes the outcome of the step that runs them.

use super::tree::joined;
use super::{DEPTH, Handling, MemberPath, Origin, ROUNDS, Task};
use crate::expr::{Map, Value};
use crate::host::{Machine, Mismatch};
use crate::machine::{Input, Outcome, Sink, Status, StepKey};
use crate::tables::StepRowKind;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl<M: Machine> Handling<'_, M> {
    pub(super) fn runs(&self, member: &MemberPath, key: StepKey) -> bool {
        self.member(member).is_some_and(|machine| {
            let steps = machine.tables().steps;
            steps.get(key.step.index()).is_some_and(|s| matches!(s.kind, StepRowKind::Run { .. }))
        })
    }

    /// Creates the child of a started `run` step, and queues its start.
    pub(super) fn begin(&mut self, member: &MemberPath, key: StepKey, sink: &mut dyn Sink) {
        if self.goes_round(sink) {
            // Only the first refused step fails: the chart may react to a failure by starting the step again.
            if self.tasks.rounds == ROUNDS + 1 {
                self.answer(
                    member.clone(),
                    key,
                    failed("charts start each other without end".into()),
                );
            }
            return;
        }
        let begun = if member.len() >= DEPTH {
            Err(Mismatch(format!("charts that run each other nest at most {DEPTH} deep")))
        } else {
            let begun = self.with_member(member, |machine| machine.begin_child(key));
            begun.unwrap_or_else(|| Err(Mismatch(String::new())))
        };
        match begun {
            Ok(()) => {
                let task = Task::Handle(joined(member, key), Input::Start, Origin::Family);
                self.tasks.queue.push_back(task);
            }
            Err(Mismatch(why)) => self.answer(member.clone(), key, failed(why)),
        }
    }

    /// Answers the step that runs a child, after the child's run has ended.
    pub(super) fn ended(&mut self, member: &MemberPath, status: Status) {
        let Some((key, parent)) = member.split_last() else { return };
        match status {
            Status::Ok | Status::Partial => {
                let result = self.member(member).map(Machine::result).unwrap_or_default();
                let result = Value::Map(result.into_iter().collect::<Map>());
                self.answer(parent.to_vec(), *key, Outcome::Done(alloc::vec![result]));
            }
            _ => {
                self.fails(member, format!("it ended with status {}", status.word()));
            }
        }
    }

    pub(super) fn fails(&mut self, member: &MemberPath, why: String) {
        let Some((key, parent)) = member.split_last() else { return };
        let name = self.member(member).map_or_else(String::new, |m| m.tables().name.into());
        self.answer(parent.to_vec(), *key, failed(format!("`{name}`: {why}")));
    }

    fn answer(&mut self, member: MemberPath, key: StepKey, outcome: Outcome<Vec<Value>>) {
        let input = Input::Answer(key, outcome);
        self.tasks.queue.push_back(Task::Handle(member, input, Origin::Family));
    }

    pub(super) fn forget(&mut self, member: &MemberPath) {
        if let Some((key, parent)) = member.split_last() {
            self.with_member(parent, |machine| machine.end_child(*key));
        }
    }
}

fn failed(why: String) -> Outcome<Vec<Value>> {
    Outcome::Failed(alloc::vec![Value::Text(why)])
}
