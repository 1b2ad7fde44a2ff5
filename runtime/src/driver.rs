//! One interface for everything that a run pays for: models, people and tools. A run names each call that it makes, so that a
//! [`Driver`] can keep the answer and tell after a crash what became of the call.
//!
//! ```
//! use chartc_runtime::driver::{Driver, Parts};
//! use chartc_runtime::oracle::Deny;
//! use std::sync::Arc;
//!
//! // A model, and no tools: what `Session::new` makes of its oracle.
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

/// The permanent name of a call: if the call is repeated after a crash, it has the same name, also in a changed chart that still has the
/// step. Its text can serve as an idempotency key: it consists of letters, digits and `-._~/:@+%`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The run's name; empty unless set by [`Session::with_run`](crate::Session::with_run).
    pub run: Arc<str>,
    /// The `run` steps that lead to the child chart that makes the call; empty for the run's own chart.
    pub path: Vec<CallName>,
    /// The attempt at the step.
    pub name: CallName,
    /// How many tools the step's model has called before in this attempt.
    pub nth: u32,
    /// Whether a tool is called, not a model or a person.
    pub is_tool: bool,
}

/// The permanent name of an attempt at a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallName {
    /// The dotted path of the leaf for which the step was started; empty for the chart.
    pub state: String,
    /// The name of the step.
    pub step: String,
    /// The number of the host event, turns included, in which it was started.
    pub event: u32,
    /// From 1.
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

/// A text without characters that separate parts or may not stand in a header; percent-encoded, RFC 3986.
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

/// What is known about a call that was under way when its run was saved.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// Nothing: it may have been made or not.
    Unknown,
    /// It was never made.
    NotMade,
    /// The answer of the model or the person.
    Answered(Result<Answer, OracleError>),
    /// The result of the tool.
    Returned(Result<Value, OracleError>),
}

/// Makes a run's calls.
pub trait Driver: Send + Sync {
    /// Puts a question to a model or a person. Attempts, deadlines and the meaning of the answer are not the driver's concern.
    ///
    /// # Errors
    /// Why there is no answer.
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking;

    /// Makes a tool call.
    ///
    /// # Errors
    /// Why the call failed.
    fn call(&self, id: &CallId, call: ToolCall) -> Calling;

    /// What became of a call that another process may have made. If nobody knows, the chart decides: the call is made again where the step says
    /// `doubt retry` or the tool is `idempotent`; otherwise the step is in doubt. People are asked again.
    fn probe(&self, _id: &CallId) -> Probe {
        Probe::Unknown
    }

    /// Whether the driver reads the ids of calls. If not, it gets ids without names, which are not built.
    fn reads_ids(&self) -> bool {
        true
    }

    /// Whether answers arrive at the times of a recorded run. These include its waits and the deadlines of its calls.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether a model has answered a call of this driver for any of its runs, where they are one to their host, such as the agents of a world.
    /// Then a run that finds no model to ask goes on as its chart says, even if none has answered the run itself.
    fn has_answered(&self) -> bool {
        false
    }

    /// The name for the first line of a trace.
    fn name(&self) -> String;
}

/// A driver made of three parts: models, people and tools.
#[derive(Clone)]
pub struct Parts {
    /// Answers `llm` and `ask` steps.
    pub oracle: Arc<dyn Oracle>,
    /// Answers `human` steps. Without it, the oracle does.
    pub people: Option<Arc<dyn Oracle>>,
    /// Runs the tools.
    pub tools: Arc<dyn Tools>,
}

impl Parts {
    /// A model, and no tools.
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

/// A driver whose calls cost nothing and have no effect, such as a script: one that was under way when its run was saved is made again.
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
