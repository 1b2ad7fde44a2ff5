//! What happened, into the trace.

use super::Session;
use crate::error::RunError;
use crate::trace::{self, What, describe};
use chartc_core::drive::Machine;
use chartc_core::expr::Value;
use chartc_core::family::Member;
use chartc_core::machine::{ErrorKind, Instant, LimitKind, Record, Status, WalkEnd};

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// What forced an end that no final state has given arguments: which limit was used up, where, after how much work.
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    fn forced(&self) -> Option<String> {
        let limit = match self.limit? {
            LimitKind::Calls => "model calls",
            LimitKind::Turns => "turns",
            LimitKind::Time => "time",
            LimitKind::Tokens => "tokens",
            LimitKind::Cost => "cost",
        };
        let states = self.configuration().join(", ");
        let place = if states.is_empty() { String::new() } else { format!(" in `{states}`") };
        Some(format!(
            "the limit of {limit} was reached{place}, after {} turns and {} model calls",
            self.turns, self.total_calls
        ))
    }

    /// Writes a record of a member; `child` is the way to it.
    pub(super) fn record(
        &mut self,
        now: Instant,
        member: &Member,
        child: &str,
        record: Record,
    ) -> Result<(), RunError> {
        let Some(machine) = self.family.member(member) else { return Ok(()) };
        let mut what = describe(&machine.tables(), record);
        if let What::Ended { result, .. } = &mut what {
            *result = Value::Map(machine.result().into_iter().collect());
        }
        if let (What::Forbidden { tool, state, .. }, Record::Forbidden(key, _)) = (&what, record) {
            let why = format!("the tool `{tool}` may not be called in `{state}`");
            self.complain(&(member.clone(), key), &why);
        }
        if let (What::Event { data, .. }, Some(sent)) = (&mut what, &self.sending) {
            data.clone_from(sent);
        }
        if member.is_empty() {
            self.note_own(&mut what, record);
        }
        self.tracer.put(now, child, what)
    }

    /// What the run itself keeps of a record.
    fn note_own(&mut self, what: &mut What, record: Record) {
        match (what, record) {
            (What::Ended { summary, .. }, Record::Ended(Status::Limit)) => {
                *summary = self.forced();
                self.summary.clone_from(summary);
            }
            (What::Error { .. }, Record::Error(ErrorKind::Limit(kind))) => self.limit = Some(kind),
            (What::Turn { turn }, _) => self.turns = *turn,
            (What::WalkEnded { step, .. }, Record::WalkEnded(WalkEnd::Failed(_))) => {
                self.failed.clone_from(step);
            }
            _ => {}
        }
    }

    pub(super) fn notes(
        &mut self,
        now: Instant,
        member: &Member,
        child: &str,
    ) -> Result<(), RunError> {
        let notes = self.family.with_member(member, |machine| machine.take_notes());
        for text in notes.unwrap_or_default() {
            self.tracer.put(now, child, What::Note { text })?;
        }
        Ok(())
    }
}
