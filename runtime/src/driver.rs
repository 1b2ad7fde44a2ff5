//! The interface for all calls of a run: models, people and tools. Each call has a permanent id, by which a [`Driver`] can store the
//! answer, and can say after a crash whether the call was made.
//!
//! ```
//! use chartc_runtime::driver::{Driver, Parts};
//! use chartc_runtime::oracle::Deny;
//! use std::sync::Arc;
//!
//! // A model without tools: the driver that `Session::new` makes from its oracle.
//! let driver = Parts::of(Arc::new(Deny));
//! assert_eq!(driver.name(), "deny");
//! ```

use crate::oracle::{Answer, Asking, Kind, Oracle, OracleError, Question};
use crate::tools::{Calling, NoTools, Tools};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The permanent id of a call. A call that is repeated after a crash has the same id, also in a changed chart that still has the step.
/// The text of the id can serve as an idempotency key. It consists of letters, digits and `-._~/:@+%`, for example
/// `run7/open:triage@3.1+0`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The name of the run; empty unless set by [`Session::with_run`](crate::Session::with_run).
    pub run: Arc<str>,
    /// The `run` steps on the path to the child chart that makes the call; empty for the run's own chart.
    pub path: Vec<CallName>,
    /// The attempt at the step that makes the call.
    pub name: CallName,
    /// The number of tools that the step's model has called before in this attempt.
    pub nth: u32,
    /// Whether the call is one of a tool, not of a model or a person.
    pub is_tool: bool,
}

/// The permanent name of an attempt at a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallName {
    /// The dotted path of the leaf for which the step was started; empty for the chart.
    pub state: String,
    /// The name of the step.
    pub step: String,
    /// The number of the host event in which the step was started. Turns count as events.
    pub event: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The index of the element, from 0, if the step has an `each`.
    pub element: Option<u32>,
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, step, event, attempt, element } = self;
        write!(f, "{}:{}", Plain(state), Plain(step))?;
        if let Some(element) = element {
            write!(f, "~{element}")?;
        }
        write!(f, "@{event}.{attempt}")
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Plain(&self.run))?;
        for name in self.path.iter().chain([&self.name]) {
            write!(f, "/{name}")?;
        }
        write!(f, "+{}{}", self.nth, if self.is_tool { "t" } else { "" })
    }
}

/// Displays a text percent-encoded (RFC 3986), without the characters that separate the parts of an id or are not allowed in headers.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    write!(f, "{}", char::from(byte))?;
                }
                _ => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

/// The state of a call that was under way when its run was saved.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// It is unknown whether the call was made.
    Unknown,
    /// The call was never made.
    NotMade,
    /// The call was made, and the model or the person has answered.
    Answered(Result<Answer, OracleError>),
    /// The call was made, and the tool has returned.
    Returned(Result<Value, OracleError>),
}

/// Makes the calls of a run.
pub trait Driver: Send + Sync {
    /// Asks a model or a person. The caller handles attempts, timeouts and the meaning of the answer.
    ///
    /// # Errors
    /// The reason why there is no answer.
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking;

    /// Calls a tool.
    ///
    /// # Errors
    /// The reason why the call failed.
    fn call(&self, id: &CallId, call: ToolCall) -> Calling;

    /// Finds out what became of a call that an earlier process may have made. If that is unknown, the chart decides: the call is made
    /// again if the step says `doubt retry` or the tool is `idempotent`; otherwise the step is in doubt. People are asked again in any
    /// case.
    fn probe(&self, _id: &CallId) -> Probe {
        Probe::Unknown
    }

    /// Whether the driver uses the ids of calls. If not, it gets ids without names, which saves building them.
    fn reads_ids(&self) -> bool {
        true
    }

    /// Whether answers arrive at the times of a recorded run, which already include its waits and deadlines.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether a model has answered any run of this driver, for hosts whose runs belong together, such as the agents of a world. Then a
    /// run without an available model continues as its chart says, instead of ending with
    /// [`RunError::NoModel`](crate::RunError::NoModel).
    fn has_answered(&self) -> bool {
        false
    }

    /// The name of the driver in the first line of a trace.
    fn name(&self) -> String;
}

/// A driver that delegates to three parts: models, people and tools.
#[derive(Clone)]
pub struct Parts {
    /// Answers `llm` and `ask` steps.
    pub oracle: Arc<dyn Oracle>,
    /// Answers `human` steps. Without it, the oracle answers them.
    pub people: Option<Arc<dyn Oracle>>,
    /// Executes tool calls.
    pub tools: Arc<dyn Tools>,
}

impl Parts {
    /// Creates a driver with a model and without tools.
    pub fn of(oracle: Arc<dyn Oracle>) -> Self {
        Self { oracle, people: None, tools: Arc::new(NoTools) }
    }
}

impl Driver for Parts {
    fn ask(&self, _: &CallId, question: Arc<Question>) -> Asking {
        match (question.kind, &self.people) {
            (Kind::Human, Some(people)) => people.ask(question),
            (Kind::Human, None) | (Kind::Llm | Kind::Ask, _) => self.oracle.ask(question),
        }
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        self.tools.call(call)
    }

    fn reads_ids(&self) -> bool {
        false
    }

    fn keeps_time(&self) -> bool {
        self.oracle.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.oracle.has_answered()
    }

    fn name(&self) -> String {
        self.oracle.name()
    }
}

/// A driver whose calls cost nothing and have no effects, such as a script. Calls that were under way when a run was saved are made
/// again.
pub struct Free<D>(pub D);

impl<D: Driver> Driver for Free<D> {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        self.0.ask(id, question)
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        self.0.call(id, call)
    }

    fn probe(&self, _: &CallId) -> Probe {
        Probe::NotMade
    }

    fn reads_ids(&self) -> bool {
        self.0.reads_ids()
    }

    fn keeps_time(&self) -> bool {
        self.0.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.0.has_answered()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(state: &str, step: &str) -> CallName {
        CallName { state: state.into(), step: step.into(), event: 3, attempt: 2, element: None }
    }

    #[test]
    fn parts_read_no_ids() {
        let parts = Parts::of(Arc::new(crate::oracle::Deny));
        assert!(!parts.reads_ids());
        assert!(!Free(parts).reads_ids());
    }

    #[test]
    fn a_name_tells_each_part_and_may_stand_in_a_header() {
        let path = vec![name("work.`a/b`", "dig")];
        let id =
            CallId { run: "r 1".into(), path, name: name("x", "müde"), nth: 1, is_tool: true };
        let third = CallName { element: Some(2), ..name("a", "b") };
        assert_eq!(third.to_string(), "a:b~2@3.2");
        assert_eq!(id.to_string(), "r%201/work.%60a%2Fb%60:dig@3.2/x:m%C3%BCde@3.2+1t");
    }
}
