//! What happened, into the trace.

use super::Session;
use crate::error::RunError;
use crate::trace::{self, What, describe};
use chartc_core::drive::Machine;
use chartc_core::expr::Value;
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
        };
        let states = self.configuration().join(", ");
        let place = if states.is_empty() { String::new() } else { format!(" in `{states}`") };
        Some(format!(
            "the limit of {limit} was reached{place}, after {} turns and {} model calls",
            self.turns, self.total_calls
        ))
    }

    pub(super) fn record(&mut self, now: Instant, record: Record) -> Result<(), RunError> {
        let mut what = describe(&self.machine.tables(), record);
        match (&mut what, record) {
            (What::Event { data, .. }, _) => {
                if let Some(sent) = self.sending.take() {
                    *data = sent;
                }
            }
            (What::Ended { result, summary, .. }, Record::Ended(status)) => {
                *result = Value::Map(self.machine.result().into_iter().collect());
                if status == Status::Limit {
                    *summary = self.forced();
                    self.summary.clone_from(summary);
                }
            }
            (What::Error { .. }, Record::Error(ErrorKind::Limit(kind))) => self.limit = Some(kind),
            (What::Turn { turn }, _) => self.turns = *turn,
            (What::Forbidden { tool, state, .. }, Record::Forbidden(key, _)) => {
                let why = format!("the tool `{tool}` may not be called in `{state}`");
                self.complaints.insert((key.step, key.leaf), (key.event, why));
            }
            (What::WalkEnded { step, .. }, Record::WalkEnded(WalkEnd::Failed(_))) => {
                self.failed.clone_from(step);
            }
            _ => {}
        }
        self.tracer.put(now, what)
    }

    pub(super) fn notes(&mut self, now: Instant) -> Result<(), RunError> {
        for text in self.machine.take_notes() {
            self.tracer.put(now, What::Note { text })?;
        }
        Ok(())
    }
}
