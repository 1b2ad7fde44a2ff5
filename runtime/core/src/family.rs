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
//! * In a member's turn, each of its children has a turn as well. It begins when the walk of the member ends or has to wait, so the calls of
//!   parent and children are open at the same time. A child that starts during the turn has one at once, and so has a child that is made
//!   for an element of a list between two turns.
//! * Deadlines that are due fire first, the earliest first.
//! * Charts that start each other or send to each other without end are stopped: see [`ROUNDS`].

use crate::arena::{EventId, StepId, TransitionId};
use crate::expr::{Map, Value};
use crate::host::{Host, Machine, Mismatch, Post};
use crate::machine::{
    Effect, Element, ErrorKind, Input, Instant, Outcome, Receipt, Receiver, Record, Sink, Status,
    StepKey,
};
use crate::saved::{Saved, Unfit};
use crate::tables::{Forward, StepRowKind};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;
use core::ops::{Deref, DerefMut};

/// The keys of the `run` steps that lead to a member, outermost first. Empty for the root.
pub type MemberPath = Vec<StepKey>;

/// The maximum depth of nested children. A `run` step that would exceed it fails.
pub const DEPTH: usize = 16;

/// A machine and the machines that its `run` steps have created.
pub struct Family<M> {
    root: M,
    /// Whether children have their turn only after that of their parent. Runs of earlier versions were recorded so.
    children_last: bool,
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
        Self { root, children_last: false }
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

    /// Whether children have their turn only after that of their parent.
    pub fn children_last(&self) -> bool {
        self.children_last
    }

    /// Gives children their turn only after that of their parent, or during it. A run that an earlier version has begun needs the former.
    pub fn set_children_last(&mut self, last: bool) {
        self.children_last = last;
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
        let turns = self.turns(member, &seen);
        for one in seen.drain(..) {
            match one {
                Notice::Start(key) if self.runs(member, key) => self.begin(member, key, sink),
                Notice::Cancel(key) => {
                    let child = joined(member, key);
                    if self.member(&child).is_some() {
                        first.push(Task::Handle(child.clone(), Input::Stop, Origin::Family));
                        first.push(Task::Forget(child));
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
                Notice::Start(_)
                | Notice::TurnBegan
                | Notice::TurnEnded
                | Notice::Ended(_)
                | Notice::Dead => {}
            }
        }
        for key in turns {
            let task = Task::Handle(joined(member, key), Input::Turn, Origin::Family);
            self.tasks.queue.push_back(task);
        }
        // Pushed in reverse, so that they are handled in order, before anything that is queued already.
        for task in first.into_iter().rev() {
            self.tasks.queue.push_front(task);
        }
        self.tasks.seen = seen;
    }

    /// The children that have a turn after their parent has handled an input, in order. `seen` are the notices of that input.
    fn turns(&self, member: &MemberPath, seen: &[Notice]) -> Vec<StepKey> {
        let Some(machine) = self.member(member) else { return Vec::new() };
        let (is_walking, mut living, mut turns) =
            (machine.is_walking(), machine.children(), Vec::new());
        let mut edges =
            seen.iter().filter(|one| matches!(one, Notice::TurnBegan | Notice::TurnEnded));
        // If this input ends a turn, that turn was on before it.
        let mut is_turn = edges.next().map_or(is_walking, |one| matches!(one, Notice::TurnEnded));
        let ends = seen.iter().any(|one| matches!(one, Notice::TurnEnded));
        for one in seen {
            match one {
                Notice::Start(key) if self.runs(member, *key) => {
                    living.push(*key);
                    let of_element = key.element.is_some();
                    let has_turn = if self.children_last {
                        of_element && !is_walking && !ends
                    } else {
                        of_element || is_turn
                    };
                    turns.extend(has_turn.then_some(*key));
                }
                Notice::TurnBegan | Notice::TurnEnded => {
                    is_turn = matches!(one, Notice::TurnBegan);
                    if is_turn != self.children_last {
                        turns.extend(living.iter().copied());
                    }
                }
                Notice::Start(_) | Notice::Cancel(_) | Notice::Ended(_) | Notice::Dead => {}
            }
        }
        turns
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

// The host, which the machines of a family lend to each other.

/// The slot of a machine for the host. There is one host for the whole family, so a parent's slot is empty while its child handles an
/// input.
#[derive(Debug, Clone, Default)]
pub struct Lent<H>(Option<H>);

impl<H> Lent<H> {
    /// A slot with a host, or an empty one.
    pub const fn of(host: Option<H>) -> Self {
        Self(host)
    }

    /// Takes the host out of the slot.
    pub fn take(&mut self) -> Option<H> {
        self.0.take()
    }

    /// Puts the host back. `None` leaves the slot as it is.
    pub fn put(&mut self, host: Option<H>) {
        if host.is_some() {
            self.0 = host;
        }
    }

    /// The host. It is present whenever no child handles an input.
    ///
    /// # Panics
    /// The slot is empty, which cannot be the case between two inputs.
    pub fn get(&self) -> &H {
        self.0.as_ref().expect("no child is at work")
    }

    /// The host. It is present whenever no child handles an input.
    ///
    /// # Panics
    /// The slot is empty, which cannot be the case between two inputs.
    pub fn get_mut(&mut self) -> &mut H {
        self.0.as_mut().expect("no child is at work")
    }
}

impl<H: Host> Host for Lent<H> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match &mut self.0 {
            Some(host) => host.call(function, arguments),
            None => Err(String::from("the host is busy")),
        }
    }
}

// Children: their creation, and their end, which becomes the outcome of the step that runs them.

impl<M: Machine> Handling<'_, M> {
    fn runs(&self, member: &MemberPath, key: StepKey) -> bool {
        self.member(member).is_some_and(|machine| {
            let steps = &machine.tables().steps;
            steps.get(key.step.index()).is_some_and(|s| matches!(s.kind, StepRowKind::Run { .. }))
        })
    }

    /// Creates the child of a started `run` step, and queues its start.
    fn begin(&mut self, member: &MemberPath, key: StepKey, sink: &mut dyn Sink) {
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
    fn ended(&mut self, member: &MemberPath, status: Status) {
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

    fn fails(&mut self, member: &MemberPath, why: String) {
        let Some((key, parent)) = member.split_last() else { return };
        let name = self.member(member).map_or_else(String::new, |m| String::from(&m.tables().name));
        self.answer(parent.to_vec(), *key, failed(format!("`{name}`: {why}")));
    }

    fn answer(&mut self, member: MemberPath, key: StepKey, outcome: Outcome<Vec<Value>>) {
        let input = Input::Answer(key, outcome);
        self.tasks.queue.push_back(Task::Handle(member, input, Origin::Family));
    }

    fn forget(&mut self, member: &MemberPath) {
        if let Some((key, parent)) = member.split_last() {
            self.with_member(parent, |machine| machine.end_child(*key));
        }
    }
}

fn failed(why: String) -> Outcome<Vec<Value>> {
    Outcome::Failed(alloc::vec![Value::Text(why)])
}

// Events that members forward to their children.

impl<M: Machine> Handling<'_, M> {
    /// The event of an input by its names, for the children to which it may be offered or copied. `None` if there are no children.
    fn offered(
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
        let fields = row.fields.of(&tables.name_pool);
        Some(Offered {
            name: String::from(&row.name),
            fields: fields.iter().map(String::from).collect(),
            payload: payload.clone(),
            asked,
        })
    }

    /// The descendants to which an event that this member did not handle is offered, in order.
    fn takers(&self, member: &MemberPath, event: &Offered) -> VecDeque<MemberPath> {
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
        let steps = self.member(member).map(|machine| &machine.tables().steps);
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
    fn copy(&mut self, member: &MemberPath, event: Option<&Offered>, sender: Option<StepKey>) {
        let Some(event) = event else { return };
        for key in self.member(member).map(Machine::children).unwrap_or_default() {
            if Some(key) != sender && self.forward(member, key) == Forward::All {
                self.tasks.queue.push_back(Task::Copy(joined(member, key), event.clone()));
            }
        }
    }

    /// The event as an input of a member; `None` if the member declares no such event.
    fn meant(&self, member: &MemberPath, event: &Offered) -> Option<Input<Vec<Value>>> {
        let (id, payload) = meant(self.member(member)?, event)?;
        Some(Input::Event(id, payload))
    }

    fn offer<S: Sink>(
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

// Events that members send to each other.

/// An event that is under way from one member to another.
struct Message {
    from: MemberPath,
    /// The event, by its id in the sender's chart.
    event: EventId,
    to: Receiver,
    written: Offered,
}

impl<M: Machine> Handling<'_, M> {
    /// Handles the effects of a member that concern its family, among them the events that it has sent to other members.
    #[inline]
    fn follow_all(
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
        let fields = row.fields.of(&tables.name_pool).iter().map(String::from);
        let written = Offered {
            name: String::from(&row.name),
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
    fn deliver<S: Sink>(
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

// The bound on child starts and events between members, which stops an exchange without end.

/// The maximum number of child starts and of events between members in one input of the host. Beyond it, `error.livelock` is recorded, the
/// first `run` step fails that is refused, later ones do not start, and events are lost.
pub const ROUNDS: u32 = 10_000;

impl<M> Handling<'_, M> {
    /// Counts a child start or an event. Returns whether the bound is exceeded.
    fn goes_round(&mut self, sink: &mut dyn Sink) -> bool {
        self.tasks.rounds = self.tasks.rounds.saturating_add(1);
        if self.tasks.rounds == ROUNDS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
        }
        self.tasks.rounds > ROUNDS
    }
}

// Saves and restores a family.

impl<M: Machine> Family<M> {
    /// The state of all machines, between two inputs; `None` if one of them cannot be saved.
    pub fn save(&self) -> Option<Saved> {
        fn of(machine: &dyn Machine) -> Option<Saved> {
            let mut saved = machine.save()?;
            for key in machine.children() {
                if let Some(child) = machine.child(key) {
                    saved.with_child(machine.tables(), key, of(child)?);
                }
            }
            Some(saved)
        }
        of(&self.root)
    }

    /// Replaces the state of all machines by a saved one.
    ///
    /// # Errors
    /// As for [`Machine::load`], for each machine.
    pub fn load(&mut self, saved: &Saved) -> Result<(), Unfit> {
        fn into(machine: &mut dyn Machine, saved: &Saved) -> Result<(), Unfit> {
            let found = saved.compare(machine.tables());
            // Under another name, `load` returns the error for another chart.
            if machine.tables().is_named(saved.chart()) && !found.differences.is_empty() {
                return Err(Unfit::Differs(found.differences));
            }
            machine.load(saved)?;
            let children = saved.children(machine.tables())?;
            for (key, child) in children {
                machine.place_child(key, child)?;
                let mut loaded = Ok(());
                machine.with_child(key, &mut |machine| loaded = into(machine, child));
                loaded.map_err(|why| {
                    let Unfit::Differs(all) = why else { return why };
                    Unfit::Differs(all.into_iter().map(|one| child.differs(one)).collect())
                })?;
            }
            Ok(())
        }
        into(&mut self.root, saved)
    }
}

// The inputs that a family still has to handle.

/// The inputs that a family still has to handle. Empty between two inputs of the host.
#[derive(Default)]
pub struct Tasks {
    queue: Queue,
    /// The number of children started and events sent since the last input of the host.
    rounds: u32,
    /// An empty buffer, kept for the notices of the next input.
    seen: Vec<Notice>,
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
struct Queue(Option<VecDeque<Task>>);

impl Queue {
    fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(VecDeque::is_empty)
    }

    fn push_back(&mut self, task: Task) {
        self.0.get_or_insert_default().push_back(task);
    }

    fn push_front(&mut self, task: Task) {
        self.0.get_or_insert_default().push_front(task);
    }

    fn pop_front(&mut self) -> Option<Task> {
        self.0.as_mut()?.pop_front()
    }
}

/// A task in the queue.
enum Task {
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

// Paths through the tree of a family's machines.

/// An event by name, which another chart can understand.
#[derive(Clone)]
struct Offered {
    name: String,
    fields: Vec<String>,
    payload: Vec<Value>,
    asked: bool,
}

impl Offered {
    /// The data of the event, by field name.
    fn data(&self) -> Map {
        self.fields.iter().cloned().zip(self.payload.iter().cloned()).collect()
    }
}

fn joined(member: &[StepKey], key: StepKey) -> MemberPath {
    let mut child = member.to_vec();
    child.push(key);
    child
}

/// Calls `act` with a machine and all machines below it, each before its children.
fn below(
    machine: &dyn Machine,
    at: &mut MemberPath,
    act: &mut dyn FnMut(&MemberPath, &dyn Machine),
) {
    act(at, machine);
    machine.each_child(&mut |key, child| {
        at.push(key);
        below(child, at, act);
        at.pop();
    });
}

fn reach(machine: &mut dyn Machine, member: &[StepKey], act: &mut dyn FnMut(&mut dyn Machine)) {
    match member.split_first() {
        None => act(machine),
        Some((key, rest)) => {
            machine.with_child(*key, &mut |child| reach(child, rest, act));
        }
    }
}

/// The event of this machine's chart with the same name and fields, and its payload. A chart that accepts undeclared events accepts any
/// event; the payload is cut or filled with `none` to the number of fields that the chart declares.
fn meant(machine: &dyn Machine, event: &Offered) -> Option<(EventId, Vec<Value>)> {
    let tables = machine.tables();
    if !tables.is_open() {
        return Some((named(machine, event)?, event.payload.clone()));
    }
    let id = tables.event_named(&event.name)?;
    let mut payload = event.payload.clone();
    payload.resize(tables.events[id.index()].fields.of(&tables.name_pool).len(), Value::None);
    Some((id, payload))
}

/// The event of this machine's chart with the same name and fields.
fn named(machine: &dyn Machine, event: &Offered) -> Option<EventId> {
    let tables = machine.tables();
    let found = tables.events.iter().position(|row| {
        let fields = row.fields.of(&tables.name_pool).iter().map(|name| &**name);
        row.name == *event.name && fields.eq(event.fields.iter().map(String::as_str))
    });
    found.map(EventId::at)
}

// The effects and records of a machine that concern its family.

/// An effect or record that concerns the family.
enum Notice {
    /// A step of any kind was started.
    Start(StepKey),
    /// A step was canceled.
    Cancel(StepKey),
    /// A turn has begun.
    TurnBegan,
    /// A turn has ended.
    TurnEnded,
    /// The run has ended.
    Ended(Status),
    /// The machine is in a dead end.
    Dead,
}

/// A sink that passes everything on to another sink, and collects the notices for the family.
struct Watch<'s, S> {
    sink: &'s mut S,
    seen: Vec<Notice>,
}

impl<'s, S: Sink> Watch<'s, S> {
    /// A watch on `sink`. `seen` is an empty buffer for the notices.
    fn new(sink: &'s mut S, seen: Vec<Notice>) -> Self {
        Self { sink, seen }
    }
}

impl<S: Sink> Sink for Watch<'_, S> {
    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Start(key) => self.seen.push(Notice::Start(key)),
            Effect::Cancel(key) => self.seen.push(Notice::Cancel(key)),
            // A run that ends in its dead end is reported as ended only.
            Effect::Ended(status) => {
                self.seen.retain(|one| !matches!(one, Notice::Dead));
                self.seen.push(Notice::Ended(status));
            }
            Effect::Ask(_) | Effect::Call(..) => {}
        }
        self.sink.effect(effect);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        match record {
            Record::Turn(_) => self.seen.push(Notice::TurnBegan),
            Record::TurnEnded(_) => self.seen.push(Notice::TurnEnded),
            Record::Error(ErrorKind::StuckDead) => self.seen.push(Notice::Dead),
            // The machine has left its dead end. The new configuration may not be one.
            Record::Entered(_) if !self.seen.is_empty() => {
                self.seen.retain(|one| !matches!(one, Notice::Dead));
            }
            _ => {}
        }
        self.sink.record(record);
    }

    fn asks_why(&self) -> bool {
        self.sink.asks_why()
    }

    fn is_full(&self) -> bool {
        self.sink.is_full()
    }

    fn takes_notes(&self) -> bool {
        self.sink.takes_notes()
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.sink.held(line, alternatives);
    }
}
