//! Events that members forward to their children.

use super::tree::{Offered, joined, meant, named};
use super::watch::Watch;
use super::{HandledInput, Handling, MemberPath, Task};
use crate::expr::Value;
use crate::host::Machine;
use crate::machine::{Input, Instant, Receipt, Sink, StepKey};
use crate::tables::{Forward, StepRowKind};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;

impl<M: Machine> Handling<'_, M> {
    /// The event of an input by its names, for the children to which it may be offered or copied. `None` if there are no children.
    pub(super) fn offered(
        &self,
        member: &MemberPath,
        input: &Input<Vec<Value>>,
        asked: bool,
    ) -> Option<Offered> {
        let Input::Event(event, payload) = input else { return None };
        let machine = self.member(member)?;
        if machine.children().is_empty() {
            return None;
        }
        let tables = machine.tables();
        let row = tables.events.get(event.index())?;
        let fields = row.fields.of(tables.name_pool);
        Some(Offered {
            name: row.name.into(),
            fields: fields.iter().map(|field| String::from(*field)).collect(),
            payload: payload.clone(),
            asked,
        })
    }

    /// The descendants to which an event that this member did not handle is offered, in order.
    pub(super) fn takers(&self, member: &MemberPath, event: &Offered) -> VecDeque<MemberPath> {
        let mut members = self.members();
        // Descendants only.
        members.retain(|m| m.len() > member.len() && m.starts_with(member));
        members.retain(|m| {
            // All `run` steps between the member and the descendant must forward the event.
            (member.len()..m.len()).all(|n| self.forward(&m[..n], m[n]) == Forward::Rest)
        });
        members.retain(|m| self.member(m).is_some_and(|m| named(m, event).is_some()));
        members.into()
    }

    /// The declaration of which events are forwarded to a child.
    fn forward(&self, member: &[StepKey], key: StepKey) -> Forward {
        let steps = self.member(member).map(|machine| machine.tables().steps);
        match steps.and_then(|steps| steps.get(key.step.index())).map(|row| row.kind) {
            Some(StepRowKind::Run { forward, .. }) => forward,
            Some(
                StepRowKind::Llm
                | StepRowKind::Code
                | StepRowKind::Ask { .. }
                | StepRowKind::Call
                | StepRowKind::Human,
            )
            | None => Forward::Nothing,
        }
    }

    /// Queues copies of an event for the children to which all events are forwarded, except for the child that sent it. Called before the
    /// member handles the event.
    pub(super) fn copy(
        &mut self,
        member: &MemberPath,
        event: Option<&Offered>,
        sender: Option<StepKey>,
    ) {
        let Some(event) = event else { return };
        for key in self.member(member).map(Machine::children).unwrap_or_default() {
            if Some(key) != sender && self.forward(member, key) == Forward::All {
                self.tasks.queue.push_back(Task::Copy(joined(member, key), event.clone()));
            }
        }
    }

    /// The event as an input of a member; `None` if the member declares no such event.
    pub(super) fn meant(&self, member: &MemberPath, event: &Offered) -> Option<Input<Vec<Value>>> {
        let (id, payload) = meant(self.member(member)?, event)?;
        Some(Input::Event(id, payload))
    }

    pub(super) fn offer<S: Sink>(
        &mut self,
        mut members: VecDeque<MemberPath>,
        event: Offered,
        now: Instant,
        sink: &mut S,
    ) -> Option<HandledInput> {
        while let Some(member) = members.pop_front() {
            // The members were collected earlier; one may have ended since.
            let Some(id) = self.member(&member).and_then(|machine| named(machine, &event)) else {
                continue;
            };
            let input = Input::Event(id, event.payload.clone());
            self.copy(&member, Some(&event), None);
            let mut watch = Watch::new(sink, take(&mut self.tasks.seen));
            let receipt =
                self.with_member(&member, |machine| machine.handle(input, now, &mut watch));
            let seen = watch.seen;
            let Some(Ok(receipt)) = receipt else { continue };
            // The copy of the event to the next members waits until this one's effects are followed.
            if receipt == Receipt::Unhandled && !members.is_empty() {
                self.tasks.queue.push_front(Task::Offer(members, event.clone()));
            }
            self.follow_all(&member, seen, false, sink);
            let receipt = Ok(receipt);
            let asked = event.asked;
            let data = (!asked).then(|| event.data());
            return Some(HandledInput {
                member,
                receipt,
                answered: None,
                asked,
                passed_on: false,
                data,
            });
        }
        None
    }
}
