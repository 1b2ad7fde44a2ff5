//! The answers of models, people, tools and host functions, taken from a trace.

use super::clock::ReplayClock;
use super::tape::Tape;
use crate::budget::Usage;
use crate::clock::Clock;
use crate::oracle::{Answer, Asking, Oracle, OracleError, Question};
use crate::tools::{Calling, Tools};
use crate::trace::{Line, What};
use chartc_core::expr::Value;
use chartc_core::host::{Host, ToolCall};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// An oracle, tools and a host that answer from a trace. A call ends when the next line of the trace is the line about its end.
#[derive(Debug, Clone)]
pub struct Recalled {
    tape: Tape,
    clock: Arc<ReplayClock>,
}

impl Recalled {
    pub(super) fn new(tape: Tape, clock: Arc<ReplayClock>) -> Self {
        Self { tape, clock }
    }

    /// Waits until the next line ends the call that the last line has started. `read` recognises that line. A `usage` line may come
    /// before it.
    fn wait<T: Send + 'static>(
        &self,
        read: impl Fn(&What, &What, Taken) -> Option<T> + Send + 'static,
    ) -> std::pin::Pin<Box<dyn Future<Output = T> + Send>> {
        let Self { tape, clock } = self.clone();
        let begun = tape.last();
        Box::pin(poll_fn(move |_| {
            let (Some(begun), Some((index, line))) = (&begun, tape.next()) else {
                return Poll::Pending;
            };
            // A line of another chart, or of a later time, does not end this call.
            if line.child != begun.child || line.at_ms > clock.now() {
                return Poll::Pending;
            }
            let ended = match (&line.what, tape.line(index + 1)) {
                (What::Usage { .. }, Some(end)) if end.child == line.child => {
                    read(&begun.what, &end.what, taken(&line.what))
                }
                _ => read(&begun.what, &line.what, Taken::default()),
            };
            match ended {
                Some(ended) => {
                    tape.count_answer();
                    Poll::Ready(ended)
                }
                None => Poll::Pending,
            }
        }))
    }
}

/// The provider's data about a call: its use, and whether the answer was cut off.
#[derive(Clone, Copy, Default)]
struct Taken {
    usage: Option<Usage>,
    cut: bool,
}

fn taken(what: &What) -> Taken {
    let What::Usage { input_tokens, output_tokens, cost, assumed, cut, .. } = what else {
        return Taken::default();
    };
    let (input_tokens, output_tokens) = (*input_tokens, *output_tokens);
    let cost = Some((cost * 1e6).round() as u64);
    let usage = (!assumed).then_some(Usage { input_tokens, output_tokens, cost });
    Taken { usage, cut: *cut }
}

impl Oracle for Recalled {
    fn ask(&self, _question: Arc<Question>) -> Asking {
        self.wait(answered)
    }

    fn keeps_time(&self) -> bool {
        true
    }

    /// If the trace goes on after the failed call that comes next, the failure did not end the run, so a model had answered.
    fn has_answered(&self) -> bool {
        self.tape.next().is_some_and(|(index, _)| self.tape.line(index + 1).is_some())
    }

    fn name(&self) -> String {
        match self.tape.first() {
            Some(Line { what: What::Run { oracle, .. }, .. }) => oracle.clone(),
            Some(_) | None => String::new(),
        }
    }
}

/// Reads a line as the end of a question; `None` if it is none.
fn answered(
    question: &What,
    line: &What,
    Taken { usage, cut }: Taken,
) -> Option<Result<Answer, OracleError>> {
    let What::Question { step: asked, attempt: nth, which: of, .. } = question else { return None };
    if let What::Answer { step, attempt, text, which, .. }
    | What::Unusable { step, attempt, text, which, .. } = line
        && (step, attempt, which) == (asked, nth, of)
    {
        return Some(Ok(Answer { text: text.clone(), usage, cut }));
    }
    if let What::CallFailed { step, attempt, error, why, retry_after_ms, which } = line
        && (step, attempt, which) == (asked, nth, of)
    {
        return Some(Err(OracleError::recorded(error, why, *retry_after_ms)));
    }
    None
}

impl Tools for Recalled {
    fn call(&self, _call: ToolCall) -> Calling {
        self.wait(returned)
    }
}

/// Reads a line as the end of a tool call; `None` if it is none.
fn returned(call: &What, line: &What, _: Taken) -> Option<Result<Value, OracleError>> {
    let What::ToolCall { step: of, tool: called, which: one, .. } = call else { return None };
    if let What::ToolResult { step, tool, value, which } = line
        && (step, tool, which) == (of, called, one)
    {
        return Some(Ok(value.clone()));
    }
    if let What::ToolFailed { step, tool, error, why, which } = line
        && (step, tool, which) == (of, called, one)
    {
        return Some(Err(OracleError::recorded(error, why, None)));
    }
    None
}

impl Host for Recalled {
    fn call(&mut self, function: &str, _arguments: &[Value]) -> Result<Value, String> {
        // Other arguments need no check here: the `note` line that follows contains them and would differ.
        match self.tape.call() {
            Some(call) if call.function == function => match call.failed {
                Some(why) => Err(why),
                None => Ok(call.value),
            },
            Some(call) => Err(format!(
                "the trace has a call of `{}` here, not of `{function}`",
                call.function
            )),
            None => Err(format!("the trace has no further result of `{function}`")),
        }
    }
}
