//! Rewinding: the state of a run at a line of its trace.

use super::tape::Tape;
use super::{ReplayError, again, once};
use crate::driver::{CallId, Driver, Parts};
use crate::oracle::{Asking, Question};
use crate::session::Session;
use crate::tools::Calling;
use crate::trace::Line;
use chartc_core::host::{Machine, ToolCall};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state of a run at a line of its trace.
pub struct Rewound<M> {
    /// The session after the step that wrote the line. Calls that have no result by then are open.
    pub session: Session<M, Tape>,
    /// The trace up to the line, and the further lines of the same step.
    pub lines: Vec<Line>,
    /// The calls that have ended by then, answered or cancelled, in the order in which they were started.
    pub calls: Vec<CallId>,
}

/// Replays the first `count` lines of a trace, to the end of the step that wrote the last of them. No later answer is returned, and no
/// time passes after them. The calls get ids as those of `run`.
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
    // An error is dropped: a run that has stopped at this point stops again when it continues.
    drop(once(session.advance(0)));
    Ok(Rewound { session, lines: tape.written(), calls: calls.over() })
}

/// The calls in the order in which they were started, each with whether it has ended.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(CallId, bool)>>>);

/// A call under way. Dropping it marks the call as ended.
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

/// A driver that answers from the trace and records which calls were made.
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
