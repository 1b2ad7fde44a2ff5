//! Writes the records of machines to the trace, and updates the session's own data.

use super::Session;
use crate::error::RunError;
use crate::host::HostLog;
use crate::trace::{self, HostCall, What, describe, taken};
use chartc_core::arena::TransitionId;
use chartc_core::expr::Value;
use chartc_core::family::MemberPath;
use chartc_core::host::{About, Machine, Note};
use chartc_core::machine::{ErrorKind, Instant, LimitKind, Record, Status, WalkEnd};
use std::collections::VecDeque;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The reason why a limit has ended the run: which limit, in which state, and after how many turns and calls. `None` if none has.
    pub fn summary(&self) -> Option<&str> {
        self.extra.rare.summary.as_deref()
    }

    fn forced(&self) -> Option<String> {
        let limit = match self.extra.rare.limit? {
            LimitKind::Calls => "model calls",
            LimitKind::Turns => "turns",
            LimitKind::Time => "time",
            LimitKind::Tokens => "tokens",
            LimitKind::Cost => "cost",
        };
        let states = self.configuration().join(", ");
        let place = if states.is_empty() { String::new() } else { format!(" in `{states}`") };
        Some(format!(
            "the limit of {limit} was reached{place}, after {} and {}",
            counted(self.turns, "turn"),
            counted(self.total_calls, "model call")
        ))
    }

    /// Handles a record of a member. `child` is the path of the member. `held` is a transition with the alternatives of its guard that
    /// hold.
    pub(super) fn record(
        &mut self,
        now: Instant,
        member: &MemberPath,
        child: &str,
        record: Record,
        held: Option<(TransitionId, u64)>,
    ) -> Result<(), RunError> {
        let mut reasons = 0;
        if let Record::Taken(line) = record {
            reasons = held.filter(|(of, _)| *of == line).map_or(0, |(_, held)| held);
            self.remember(now, member, 0, (line, reasons));
        }
        // A child chart that is started again begins with an empty history.
        if let (Record::Ended(_), false) = (record, member.is_empty()) {
            self.extra.history.forget(member);
        }
        // Without a listener, such a record needs no text; only its line is counted.
        if is_only_told(record) && self.tracer.sink.is_deaf() {
            self.tracer.seq += 1;
            return Ok(());
        }
        let Some(machine) = self.family.member(member) else { return Ok(()) };
        // The next prompt tells the model why its tool call was refused.
        if let Record::Forbidden(key, tool) = record {
            let tables = machine.tables();
            let state = tables.states[key.leaf.index()].path;
            let tool = tables.tools[tool.index()].name;
            let why = format!("the tool `{tool}` may not be called in `{state}`");
            self.complain(&(member.clone(), key), &why);
        }
        if let Record::CallFailed(key, _) = record {
            self.used_in_vain(&(member.clone(), key));
        }
        if member.is_empty() {
            self.note_own(record);
        }
        self.trace(now, child, |run| run.told(member, record, reasons))
    }

    /// A record as a line of the trace.
    fn told(&self, member: &MemberPath, record: Record, reasons: u64) -> What {
        let machine = self.family.member(member).unwrap_or(self.family.root());
        let mut what = if let Record::Taken(line) = record {
            taken(machine.tables(), line, reasons)
        } else {
            describe(machine.tables(), record)
        };
        if let What::Ended { result, summary, .. } = &mut what {
            *result = Value::Map(machine.result().into_iter().collect());
            if let (Record::Ended(Status::Limit), true) = (record, member.is_empty()) {
                summary.clone_from(&self.extra.rare.summary);
            }
        }
        if let (What::Event { data, .. }, Some(sent)) = (&mut what, &self.extra.busy.sending) {
            data.clone_from(sent);
        }
        what
    }

    /// Updates the session's own data after a record of the run's own chart.
    fn note_own(&mut self, record: Record) {
        if let Record::Turn(turn) = record {
            self.turns = turn;
        } else if let Record::Ended(Status::Limit) = record {
            self.extra.rare.summary = self.forced();
        } else if let Record::Error(ErrorKind::Limit(kind)) = record {
            self.extra.rare.limit = Some(kind);
        } else if let Record::WalkEnded(WalkEnd::Failed(step)) = record {
            let row = self.family.root().tables().steps.get(step.index());
            let step = row.map(|row| row.name.to_owned());
            self.extra.rare.failed.clone_from(&step);
            self.extra.rare.heard.failed = step;
        }
    }

    /// Removes and returns the calls of host functions since the last time.
    pub(super) fn host_calls(&self) -> Vec<HostCall> {
        self.extra.host_log.as_ref().map(HostLog::take).unwrap_or_default()
    }

    pub(super) fn notes(
        &mut self,
        now: Instant,
        member: &MemberPath,
        child: &str,
    ) -> Result<(), RunError> {
        let notes = self.family.with_member(member, |machine| machine.take_notes());
        let called = self.host_calls();
        self.put_notes(now, child, notes.unwrap_or_default(), called)
    }

    /// Writes notes of a machine. The note about a call of a host function also contains the call. A call without a note gets one.
    pub(super) fn put_notes(
        &mut self,
        now: Instant,
        child: &str,
        notes: Vec<Note>,
        called: Vec<HostCall>,
    ) -> Result<(), RunError> {
        // A machine creates most notes only for a listener. Without one, notes do not count as lines, so that the numbers do not depend
        // on them.
        let is_unheard = self.tracer.sink.is_deaf();
        if is_unheard || notes.is_empty() && called.is_empty() {
            return Ok(());
        }
        let mut called = VecDeque::from(called);
        for Note { about, text } in notes {
            let is_of = |call: &HostCall| about == About::Call(call.function.clone());
            let mut call = None;
            // Calls without a note are written before the next call with one, in the order in which they were made.
            if let Some(index) = called.iter().position(is_of) {
                for lost in called.drain(..index).collect::<Vec<_>>() {
                    self.tracer.put(now, child, noted(lost))?;
                }
                call = called.pop_front();
            }
            self.tracer.put(now, child, What::Note { text, call })?;
        }
        for lost in called {
            self.tracer.put(now, child, noted(lost))?;
        }
        Ok(())
    }
}

/// The note about a call for which the machine has written none.
fn noted(call: HostCall) -> What {
    let arguments: Vec<String> = call.arguments.iter().map(json).collect();
    let end = match &call.failed {
        Some(why) => format!(" failed: {why}"),
        None => format!(" = {}", json(&call.value)),
    };
    let text = format!("{}({}){end}", call.function, arguments.join(", "));
    What::Note { text, call: Some(call) }
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Whether a record concerns only the trace, so that the session's own data does not change.
fn is_only_told(record: Record) -> bool {
    !matches!(
        record,
        Record::Turn(_)
            | Record::Forbidden(..)
            | Record::CallFailed(..)
            | Record::WalkEnded(_)
            | Record::Error(_)
            | Record::Ended(_)
    )
}

fn counted(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
