//! The inputs that a family still has to handle.

use super::posting::Message;
use super::tree::Offered;
use super::watch::Notice;
use super::{MemberPath, Origin};
use crate::expr::Value;
use crate::machine::Input;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The inputs that a family still has to handle. Empty between two inputs of the host.
#[derive(Default)]
pub struct Tasks {
    pub(super) queue: Queue,
    /// The number of children started and events sent since the last input of the host.
    pub(super) rounds: u32,
    /// An empty buffer, kept for the notices of the next input.
    pub(super) seen: Vec<Notice>,
}

impl Tasks {
    /// An empty list of tasks.
    pub const fn new() -> Self {
        Self { queue: Queue(None), rounds: 0, seen: Vec::new() }
    }

    /// Whether no task is left.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// A queue that does not allocate before the first task.
#[derive(Default)]
pub(super) struct Queue(Option<VecDeque<Task>>);

impl Queue {
    fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(VecDeque::is_empty)
    }

    pub(super) fn push_back(&mut self, task: Task) {
        self.0.get_or_insert_default().push_back(task);
    }

    pub(super) fn push_front(&mut self, task: Task) {
        self.0.get_or_insert_default().push_front(task);
    }

    pub(super) fn pop_front(&mut self) -> Option<Task> {
        self.0.as_mut()?.pop_front()
    }
}

/// A task in the queue.
pub(super) enum Task {
    /// A member, an input that it handles, and the source of the input.
    Handle(MemberPath, Input<Vec<Value>>, Origin),
    /// An event that is offered to these members, until one handles it.
    Offer(VecDeque<MemberPath>, Offered),
    /// A copy of an event, for a child to which all events are forwarded.
    Copy(MemberPath, Offered),
    /// An event that a member has sent to another one.
    Deliver(Message),
    /// A child that has ended and is dropped.
    Forget(MemberPath),
}
