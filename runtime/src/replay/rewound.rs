//! A run as it stood at one line of its trace.

use super::tape::Tape;
use super::{ReplayError, again, once};
use crate::driver::{CallId, Driver, Parts};
use crate::oracle::{Asking, Question};
use crate::session::Session;
use crate::tools::Calling;
use crate::trace::Line;
use chartc_core::host::{Machine, ToolCall};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A run as it stood at one line of its trace.
pub struct Rewound<M> {
    /// The session at the end of the step that wrote the line: calls without a result in the trace so far are open.
    pub session: Session<M, Tape>,
    /// The trace up to the line, and what the rest of its step has written.
    pub lines: Vec<Line>,
    /// The calls that are over, answered or given up, in the order in which they were begun.
    pub calls: Vec<CallId>,
}

/// Runs a machine as [`replay`](super::replay) does, through the first `count` lines of the trace and to the end of the step that wrote
/// the last of them. No answer that stands behind them is given, and no time passes after them. Calls are named as those of `run`.
///
/// # Errors
/// The first difference.
pub fn rewind<M: Machine>(
    tape: &Tape,
    machine: M,
    run: &str,
    count: usize,
) -> Result<Rewound<M>, ReplayError> {
    tape.end_after(count);
    let calls = Calls::default();
    let mut session = again(tape, machine, |session, recalled| {
        let parts = Parts { people: None, tools: recalled.clone(), oracle: recalled };
        session.with_driver(Arc::new(Noted { parts, calls: calls.clone() })).with_run(run)
    })?;
    // A run that has stopped here stops again when it goes on.
    drop(once(session.advance(0)));
    Ok(Rewound { session, lines: tape.written(), calls: calls.over() })
}

/// Calls in the order in which they were begun, and whether each is over.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(CallId, bool)>>>);

/// A call under way: it is over when this is dropped.
struct UnderWay(Calls, usize);

impl Calls {
    fn all(&self) -> MutexGuard<'_, Vec<(CallId, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: &CallId) -> UnderWay {
        let mut all = self.all();
        all.push((id.clone(), false));
        UnderWay(self.clone(), all.len() - 1)
    }

    fn over(&self) -> Vec<CallId> {
        self.all().iter().filter(|(_, is_over)| *is_over).map(|(id, _)| id.clone()).collect()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some((_, is_over)) = self.0.all().get_mut(self.1) {
            *is_over = true;
        }
    }
}

/// Answers from the trace, and notes its calls.
struct Noted {
    parts: Parts,
    calls: Calls,
}

impl Driver for Noted {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        let (asking, under_way) = (self.parts.ask(id, question), self.calls.begin(id));
        Box::pin(async {
            let answer = asking.await;
            drop(under_way);
            answer
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        let (calling, under_way) = (self.parts.call(id, call), self.calls.begin(id));
        Box::pin(async {
            let result = calling.await;
            drop(under_way);
            result
        })
    }

    fn keeps_time(&self) -> bool {
        self.parts.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.parts.has_answered()
    }

    fn name(&self) -> String {
        self.parts.name()
    }
}
