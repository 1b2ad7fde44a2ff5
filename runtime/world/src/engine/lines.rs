//! A buffer for the lines of an agent's trace.

use chartc_runtime::trace::{Cause, Line, Sink, What};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A trace sink that keeps the lines of one agent until the engine takes them. Clones share the lines.
#[derive(Debug, Clone, Default)]
pub struct Lines(Arc<Mutex<Buffer>>);

#[derive(Debug, Default)]
struct Buffer {
    lines: Vec<(Option<Cause>, Line)>,
    /// The cause of the next event, which its first line gets.
    cause: Option<Cause>,
}

impl Lines {
    /// Takes all lines since the last call, each with the cause of its event.
    pub(crate) fn take(&self) -> Vec<(Option<Cause>, Line)> {
        std::mem::take(&mut self.buffer().lines)
    }

    /// Sets the cause of the next event.
    pub(crate) fn set_cause(&self, cause: Option<Cause>) {
        self.buffer().cause = cause;
    }

    fn buffer(&self) -> MutexGuard<'_, Buffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Lines {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let mut buffer = self.buffer();
        let is_event = matches!(line.what, What::Event { .. } | What::NotTaken { .. })
            && line.child.is_empty();
        let cause = if is_event { buffer.cause.take() } else { None };
        buffer.lines.push((cause, line.clone()));
        Ok(())
    }
}
