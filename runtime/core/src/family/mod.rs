//! A machine with the machines of its `run` steps, driven as one: no I/O, no clock.
//!
//! The machines own each other ([`Machine::begin_child`]); a family decides which of them handles an input, and when. A member is named by
//! the keys of the `run` steps that lead to it; [] is the chart itself. For example, with a step `run help = Helper` and its key `k`:
//!
//! ```text
//! the host gives Turn to []      the walk starts `help`: the child [k] is created, and its Start is queued
//! [k] handles Start              Helper runs and ends as `ok`: the end of [k] and Answer(k, Done(result)) for [] are queued
//! [k] is dropped                 [] handles the answer and takes `done help`. The queue is empty: the input of the host is done
//! ```
//!
//! Rules:
//!
//! * Inputs are handled one after the other, in the order in which they were given or arose. The queue is empty between two inputs of the
//!   host, so a snapshot of the root is a snapshot of the family.
//! * A started `run` step makes its child, which then starts. If the child ends with the status `ok` or `partial`, the data of its final
//!   state is the step's answer. Any other status is the step's failure, and so is a dead end of the child.
//! * When a `run` step is cancelled, its child is stopped before anything else happens: the `exit` blocks of the child and its descendants
//!   run, innermost machine last.
//! * An event that a member does not handle is offered to its children that declare it with the same fields, in the order of their start,
//!   each before its own children, until one handles it. A child to which all events are forwarded gets a copy of each instead. A child to
//!   which no events are forwarded is skipped together with its descendants.
//! * An event that a member sends to its parent or to a child is handled by the receiver alone, after the current input. If there is no
//!   receiver that declares the event, the event is lost and recorded as lost. A stopped child sends no more events.
//! * When a member's turn ends, each of its children has a turn. A child that is made for an element of a list between two turns has a turn
//!   at once.
//! * Deadlines that are due fire first, the earliest first.
//! * Charts that start each other or send to each other without end are stopped: see [`ROUNDS`].

mod lent;
mod making;
mod passing;
mod posting;
mod rounds;
mod saved;
mod tasks;
mod tree;
mod watch;

pub use lent::Lent;
pub use rounds::ROUNDS;
pub use tasks::Tasks;

use crate::expr::{Map, Value};
use crate::host::{Machine, Mismatch};
use crate::machine::{Input, Instant, Outcome, Receipt, Record, Sink, StepKey};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;
use core::ops::{Deref, DerefMut};
use tasks::Task;
use tree::{below, joined, reach};
use watch::{Notice, Watch};

/// The keys of the `run` steps that lead to a member, outermost first. Empty for the root.
pub type MemberPath = Vec<StepKey>;

/// The maximum depth of nested children. A `run` step that would exceed it fails.
pub const DEPTH: usize = 16;

/// A machine and the machines that its `run` steps have created. It takes no memory besides theirs.
pub struct Family<M> {
    root: M,
}

/// A family together with the tasks that it still has to handle.
pub struct Handling<'f, M> {
    family: &'f mut Family<M>,
    tasks: &'f mut Tasks,
}

impl<M> Deref for Handling<'_, M> {
    type Target = Family<M>;

    fn deref(&self) -> &Family<M> {
        self.family
    }
}

impl<M> DerefMut for Handling<'_, M> {
    fn deref_mut(&mut self) -> &mut Family<M> {
        self.family
    }
}

/// The source of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The host.
    Host,
    /// The family itself: the start, turn, tick or end of a member, or an answer to one.
    Family,
    /// Another member, which sent the event to this one. The key is that of the sender if it is a child: it gets no copy of the event. The
    /// event is offered to no further member.
    Member(Option<StepKey>),
}

/// A report on an input that was handled.
#[derive(Debug, Clone, PartialEq)]
pub struct HandledInput {
    /// The member that handled it.
    pub member: MemberPath,
    /// The receipt of the member, or the reason why the input does not fit.
    pub receipt: Result<Receipt, Mismatch>,
    /// The key of the question or step, if the input was an answer with an effect.
    pub answered: Option<StepKey>,
    /// Whether the input came from the host. An event of the host that is offered to a child counts, too.
    pub asked: bool,
    /// Whether the input is an event that the member did not handle, and that is now offered to its children.
    pub passed_on: bool,
    /// The data by field name, if another member has sent or forwarded the event.
    pub data: Option<Map>,
}

impl<M: Machine> Family<M> {
    /// A family with a single member.
    pub fn new(root: M) -> Self {
        Self { root }
    }

    /// Borrows the family with its tasks, to handle inputs.
    pub fn handling<'f>(&'f mut self, tasks: &'f mut Tasks) -> Handling<'f, M> {
        Handling { family: self, tasks }
    }

    /// The machine of the chart itself.
    pub fn root(&self) -> &M {
        &self.root
    }

    /// The machine of the chart itself, mutable.
    pub fn root_mut(&mut self) -> &mut M {
        &mut self.root
    }

    /// Takes the family apart, and returns the machine of the chart itself.
    pub fn into_root(self) -> M {
        self.root
    }

    /// The members: each before its children, and children in the order of their start.
    pub fn members(&self) -> Vec<MemberPath> {
        let mut found = Vec::new();
        below(&self.root, &mut Vec::new(), &mut |member, _| found.push(member.clone()));
        found
    }

    /// The member with this path, read-only.
    pub fn member(&self, member: &[StepKey]) -> Option<&dyn Machine> {
        let mut at: &dyn Machine = &self.root;
        for key in member {
            at = at.child(*key)?;
        }
        Some(at)
    }

    /// Calls `act` with the member with this path. Returns `None` if there is no such member.
    pub fn with_member<R>(
        &mut self,
        member: &[StepKey],
        act: impl FnOnce(&mut dyn Machine) -> R,
    ) -> Option<R> {
        if member.is_empty() {
            return Some(act(&mut self.root));
        }
        let (mut act, mut result) = (Some(act), None);
        reach(&mut self.root, member, &mut |machine| {
            if let Some(act) = act.take() {
                result = Some(act(machine));
            }
        });
        result
    }

    /// The earliest time at which a tick has an effect on any member.
    pub fn next_deadline(&self) -> Option<Instant> {
        let mut earliest = self.root.next_deadline();
        self.root.each_child(&mut |_, child| {
            below(child, &mut Vec::new(), &mut |_, machine| {
                earliest = earliest.into_iter().chain(machine.next_deadline()).min();
            });
        });
        earliest
    }
}

impl<M: Machine> Handling<'_, M> {
    /// Queues an input of the host, behind a tick for each member with a deadline that is due by `now`. An `Input::Tick` is replaced by
    /// these ticks if there are any.
    pub fn tell(&mut self, member: MemberPath, input: Input<Vec<Value>>, now: Instant) {
        let tick = matches!(input, Input::Tick);
        self.tasks.rounds = 0;
        if tick || !self.root.children().is_empty() {
            let mut due: Vec<(Instant, MemberPath)> = Vec::new();
            below(&self.root, &mut Vec::new(), &mut |member, machine| {
                let deadline = machine.next_deadline().filter(|at| *at <= now);
                due.extend(deadline.map(|at| (at, member.clone())));
            });
            due.sort_by_key(|(at, _)| *at);
            let none = due.is_empty();
            for (_, member) in due {
                let origin = if tick { Origin::Host } else { Origin::Family };
                self.tasks.queue.push_back(Task::Handle(member, Input::Tick, origin));
            }
            if tick && !none {
                return;
            }
        }
        self.tasks.queue.push_back(Task::Handle(member, input, Origin::Host));
    }

    /// Has the effect of [`Handling::tell`] followed by [`Handling::handle_next`], but skips the queue if the machine has no children.
    pub fn put<S: Sink>(
        &mut self,
        member: MemberPath,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut S,
    ) -> Option<HandledInput> {
        // Without children, there are no deadlines of others to fire first, and no member to offer the event to.
        if self.tasks.is_empty() && member.is_empty() && self.root.children().is_empty() {
            self.tasks.rounds = 0;
            let (answered, stopping) = (answered(&input), matches!(input, Input::Stop));
            let mut watch = Watch::new(sink, take(&mut self.tasks.seen));
            let receipt = self.root.handle(input, now, &mut watch);
            let seen = watch.seen;
            self.follow_all(&member, seen, stopping, sink);
            let (asked, passed_on, data) = (true, false, None);
            return Some(HandledInput { member, receipt, answered, asked, passed_on, data });
        }
        self.tell(member, input, now);
        self.handle_next(now, sink)
    }

    /// Handles the oldest task that is an input. Returns `None` if there is nothing to do. The member's effects and records go to `sink`;
    /// the family itself handles the start and end of `run` steps.
    pub fn handle_next<S: Sink>(&mut self, now: Instant, sink: &mut S) -> Option<HandledInput> {
        loop {
            match self.tasks.queue.pop_front()? {
                Task::Forget(member) => self.forget(&member),
                Task::Handle(member, input, origin) => {
                    if let Some(told) = self.handle(member, input, origin, now, sink) {
                        return Some(told);
                    }
                }
                Task::Copy(member, event) => {
                    if let Some(input) = self.meant(&member, &event)
                        && let Some(told) = self.handle(member, input, Origin::Family, now, sink)
                    {
                        return Some(HandledInput { data: Some(event.data()), ..told });
                    }
                }
                Task::Deliver(letter) => {
                    if let Some(told) = self.deliver(letter, now, sink) {
                        return Some(told);
                    }
                }
                Task::Offer(members, event) => {
                    if let Some(told) = self.offer(members, event, now, sink) {
                        return Some(told);
                    }
                }
            }
        }
    }

    fn handle<S: Sink>(
        &mut self,
        member: MemberPath,
        input: Input<Vec<Value>>,
        origin: Origin,
        now: Instant,
        sink: &mut S,
    ) -> Option<HandledInput> {
        let asked = origin == Origin::Host;
        let stopping = matches!(input, Input::Stop);
        let starting = matches!(input, Input::Start);
        let answered = answered(&input);
        let offered = self.offered(&member, &input, asked);
        if let (None, Input::Answer(..)) = (self.member(&member), &input) {
            return Some(self.late(member, asked, sink));
        }
        let sender = if let Origin::Member(sender) = origin { sender } else { None };
        self.copy(&member, offered.as_ref(), sender);
        let mut watch = Watch::new(sink, take(&mut self.tasks.seen));
        let receipt =
            self.with_member(&member, |machine| machine.handle(input, now, &mut watch))?;
        let seen = watch.seen;
        let mut passed_on = false;
        if receipt == Ok(Receipt::Unhandled)
            && !matches!(origin, Origin::Member(_))
            && let Some(offered) = offered
        {
            let members = self.takers(&member, &offered);
            if !members.is_empty() {
                passed_on = true;
                self.tasks.queue.push_front(Task::Offer(members, offered));
            }
        }
        if let (true, Err(Mismatch(why))) = (starting && !member.is_empty(), &receipt) {
            self.fails(&member, format!("it cannot start: {why}"));
            self.tasks.queue.push_back(Task::Forget(member.clone()));
        }
        self.follow_all(&member, seen, stopping, sink);
        Some(HandledInput { member, receipt, answered, asked, passed_on, data: None })
    }

    /// Drops an answer to a member that no longer exists. The record names the step of its nearest ancestor that exists.
    fn late(&self, member: MemberPath, asked: bool, sink: &mut dyn Sink) -> HandledInput {
        let living = (0..member.len()).rev().find(|n| self.member(&member[..*n]).is_some());
        let living = living.unwrap_or(0);
        sink.record(Record::Dropped(member[living]));
        let member = member[..living].to_vec();
        HandledInput {
            member,
            receipt: Ok(Receipt::Refused),
            answered: None,
            asked,
            passed_on: false,
            data: None,
        }
    }

    /// Handles the notices of a member that concern its family.
    fn follow(
        &mut self,
        member: &MemberPath,
        mut seen: Vec<Notice>,
        stopping: bool,
        sink: &mut dyn Sink,
    ) {
        let mut first = Vec::new();
        // At the end of the turn, all children get a turn anyway.
        let is_turn = seen.iter().any(|one| matches!(one, Notice::TurnEnded))
            || self.member(member).is_some_and(Machine::is_walking);
        for one in seen.drain(..) {
            match one {
                Notice::Start(key) if self.runs(member, key) => {
                    self.begin(member, key, sink);
                    if key.element.is_some() && !is_turn {
                        let task = Task::Handle(joined(member, key), Input::Turn, Origin::Family);
                        self.tasks.queue.push_back(task);
                    }
                }
                Notice::Cancel(key) => {
                    let child = joined(member, key);
                    if self.member(&child).is_some() {
                        first.push(Task::Handle(child.clone(), Input::Stop, Origin::Family));
                        first.push(Task::Forget(child));
                    }
                }
                Notice::TurnEnded => {
                    let children = self.member(member).map(Machine::children).unwrap_or_default();
                    for key in children {
                        let task = Task::Handle(joined(member, key), Input::Turn, Origin::Family);
                        self.tasks.queue.push_back(task);
                    }
                }
                Notice::Ended(status) if !member.is_empty() && !stopping => {
                    self.ended(member, status);
                    first.push(Task::Forget(member.clone()));
                }
                Notice::Dead if !member.is_empty() && !stopping => {
                    self.fails(member, String::from("it can do nothing more"));
                    first.push(Task::Handle(member.clone(), Input::Stop, Origin::Family));
                    first.push(Task::Forget(member.clone()));
                }
                Notice::Start(_) | Notice::Ended(_) | Notice::Dead => {}
            }
        }
        // Pushed in reverse, so that they are handled in order, before anything that is queued already.
        for task in first.into_iter().rev() {
            self.tasks.queue.push_front(task);
        }
        self.tasks.seen = seen;
    }
}

/// The key of an answer that has an effect on a step or question.
fn answered(input: &Input<Vec<Value>>) -> Option<StepKey> {
    match input {
        Input::Answer(key, Outcome::Done(_) | Outcome::Choice(..) | Outcome::Call(..)) => {
            Some(*key)
        }
        _ => None,
    }
}
