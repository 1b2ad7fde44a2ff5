//! The lines of an agent's trace, until the engine takes them.

use chartc_runtime::trace::{Cause, Line, Sink, What};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the lines of one agent. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Lines(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<(Option<Cause>, Line)>,
    /// The cause of the event that is being handed over.
    cause: Option<Cause>,
}

impl Lines {
    /// Takes all lines since the last call, each with the cause of its event.
    pub(crate) fn take(&self) -> Vec<(Option<Cause>, Line)> {
        std::mem::take(&mut self.kept().lines)
    }

    /// Sets the cause of the next event.
    pub(crate) fn set_cause(&self, cause: Option<Cause>) {
        self.kept().cause = cause;
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Lines {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let mut kept = self.kept();
        let is_event = matches!(line.what, What::Event { .. } | What::NotTaken { .. })
            && line.child.is_empty();
        let cause = if is_event { kept.cause.take() } else { None };
        kept.lines.push((cause, line.clone()));
        Ok(())
    }
}
