//! Events that members send to each other.

use super::tree::{Offered, joined, meant};
use super::watch::Notice;
use super::{HandledInput, Handling, MemberPath, Origin, Task};
use crate::arena::{EventId, StepId};
use crate::host::{Machine, Post};
use crate::machine::{Element, Instant, Receipt, Receiver, Record, Sink, StepKey};
use alloc::string::String;
use alloc::vec::Vec;

/// An event that is under way from one member to another.
pub(super) struct Message {
    from: MemberPath,
    /// The event, by its id in the sender's chart.
    event: EventId,
    to: Receiver,
    written: Offered,
}

impl<M: Machine> Handling<'_, M> {
    /// Handles the effects of a member that concern its family, among them the events that it has sent to other members.
    #[inline]
    pub(super) fn follow_all(
        &mut self,
        member: &MemberPath,
        seen: Vec<Notice>,
        stopping: bool,
        sink: &mut dyn Sink,
    ) {
        let posted = self.with_member(member, |machine| machine.take_posted()).unwrap_or_default();
        if !posted.is_empty() || !seen.is_empty() {
            self.follow_each(member, posted, seen, stopping, sink);
        } else {
            self.tasks.seen = seen;
        }
    }

    fn follow_each(
        &mut self,
        member: &MemberPath,
        posted: Vec<Post>,
        seen: Vec<Notice>,
        stopping: bool,
        sink: &mut dyn Sink,
    ) {
        let mut down = Vec::new();
        for post in posted {
            let (event, to) = (post.event, post.to);
            // A child that is stopped sends no more events.
            let message = self.message(member, post).filter(|_| !stopping);
            let Some(message) = message.filter(|_| !self.goes_round(sink)) else {
                sink.record(Record::Undelivered(event, to));
                continue;
            };
            match to {
                Receiver::Own | Receiver::Parent => {
                    self.tasks.queue.push_back(Task::Deliver(message));
                }
                // Delivered after the children of this input have started, because one of them may be the receiver.
                Receiver::Child(_) | Receiver::Element(..) => down.push(Task::Deliver(message)),
            }
        }
        self.follow(member, seen, stopping, sink);
        for task in down {
            self.tasks.queue.push_back(task);
        }
    }

    /// The message for an event that a member sends; `None` if it is for a parent that does not exist or does not declare the event.
    fn message(&self, member: &MemberPath, post: Post) -> Option<Message> {
        let tables = self.member(member)?.tables();
        let row = tables.events.get(post.event.index())?;
        let fields = row.fields.of(tables.name_pool).iter().map(|field| String::from(*field));
        let written = Offered {
            name: row.name.into(),
            fields: fields.collect(),
            payload: post.payload,
            asked: false,
        };
        if post.to == Receiver::Parent {
            let (_, above) = member.split_last()?;
            meant(self.member(above)?, &written)?;
        }
        Some(Message { from: member.clone(), event: post.event, to: post.to, written })
    }

    /// The keys of the children that a step of a member runs, in the order of their start.
    fn children_of(
        &self,
        member: &MemberPath,
        step: StepId,
    ) -> impl Iterator<Item = StepKey> + use<M> {
        let children = self.member(member).map(Machine::children).unwrap_or_default();
        children.into_iter().filter(move |key| key.step == step)
    }

    /// Delivers an event to its receiver. An event for several children is replaced by a message for each.
    pub(super) fn deliver<S: Sink>(
        &mut self,
        message: Message,
        now: Instant,
        sink: &mut S,
    ) -> Option<HandledInput> {
        let Message { from, event, to, written } = message;
        let sender = from.last().copied().filter(|_| to == Receiver::Parent);
        let receiver = match to {
            Receiver::Own => Some(from.clone()),
            Receiver::Parent => from.split_last().map(|(_, above)| above.to_vec()),
            Receiver::Child(step) => {
                let of_elements = self.children_of(&from, step).filter_map(|key| key.element);
                let of_elements: Vec<Element> = of_elements.collect();
                if !of_elements.is_empty() {
                    // Each receiver gets a copy of its own. They are pushed in reverse, so that they are delivered in the order of the
                    // starts.
                    for element in of_elements.into_iter().rev() {
                        let (from, written) = (from.clone(), written.clone());
                        let to = Receiver::Element(step, element);
                        let message = Message { from, event, to, written };
                        self.tasks.queue.push_front(Task::Deliver(message));
                    }
                    return None;
                }
                self.children_of(&from, step).last().map(|key| joined(&from, key))
            }
            Receiver::Element(step, element) => {
                let mut children = self.children_of(&from, step);
                let child = children.find(|key| key.element == Some(element));
                child.map(|key| joined(&from, key))
            }
        };
        let input = receiver.as_ref().and_then(|receiver| self.meant(receiver, &written));
        if let (Some(receiver), Some(input)) = (receiver, input)
            && let Some(told) = self.handle(receiver, input, Origin::Member(sender), now, sink)
            && told.receipt.is_ok()
        {
            return Some(HandledInput { data: Some(written.data()), ..told });
        }
        sink.record(Record::Undelivered(event, to));
        let receipt = Ok(Receipt::Refused);
        let (answered, asked, passed_on, data) = (None, false, false, None);
        Some(HandledInput { member: from, receipt, answered, asked, passed_on, data })
    }
}
