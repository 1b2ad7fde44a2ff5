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
use chartc_core::family::Member;
use chartc_core::host::ToolCall;
use chartc_core::machine::StepKey;
use std::fmt;
use std::sync::Arc;

/// The permanent name of a call: if the call is repeated after a crash, it has the same name. Its text can serve as an
/// idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The run's name; empty unless set by [`Session::with_run`](crate::Session::with_run).
    pub run: Arc<str>,
    /// The path to the child chart that makes the call; empty for the run's own chart.
    pub member: Member,
    /// Step, leaf, event and attempt.
    pub key: StepKey,
    /// How many tools the step's model has called before under this key.
    pub nth: u32,
    /// Whether a tool is called, not a model or a person.
    pub is_tool: bool,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, key: &StepKey| {
            write!(f, "{}.{}.{}.{}", key.step.0, key.leaf.0, key.event, key.attempt)
        };
        write!(f, "{}:", self.run)?;
        for key in &self.member {
            part(f, key)?;
            f.write_str("/")?;
        }
        part(f, &self.key)?;
        write!(f, "+{}{}", self.nth, if self.is_tool { "t" } else { "" })
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

/// What a run does with a call if it is unknown whether the call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDoubt {
    /// If a `doubt` transition of its step is taken, the call is not repeated. Otherwise it is.
    #[default]
    Lines,
    /// The call is never repeated: its step is in doubt, and fails if no transition handles that.
    Ask,
    /// The call is repeated: it is free or may be made twice.
    Retry,
}

/// Makes a run's calls.
pub trait Driver: Send + Sync {
    /// Puts a question to a model or a person. Attempts, deadlines and the meaning of the answer are not the driver's concern.
    ///
    /// # Errors
    /// Why there is no answer.
    fn ask(&self, id: &CallId, question: Question) -> Asking;

    /// Makes a tool call.
    ///
    /// # Errors
    /// Why the call failed.
    fn call(&self, id: &CallId, call: ToolCall) -> Calling;

    /// What became of a call that another process may have made.
    fn probe(&self, _id: &CallId) -> Probe {
        Probe::Unknown
    }

    /// Whether answers arrive at the times of a recorded run. These include its waits and the deadlines of its calls.
    fn keeps_time(&self) -> bool {
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
    fn ask(&self, _: &CallId, question: Question) -> Asking {
        match (question.kind, &self.people) {
            (Kind::Human, Some(people)) => people.ask(question),
            (Kind::Human, None) | (Kind::Llm | Kind::Ask, _) => self.oracle.ask(question),
        }
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        self.tools.call(call)
    }

    fn keeps_time(&self) -> bool {
        self.oracle.keeps_time()
    }

    fn name(&self) -> String {
        self.oracle.name()
    }
}
