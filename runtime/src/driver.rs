//! All that a run pays for, behind one door: models, people and tools. A run names each call that it makes, so that a [`Driver`] can keep
//! the answer, and say after a crash what has become of the call.
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

/// Names one call for good: what is begun again after a crash has the name that it had. As text it can be an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// Whose run it is; empty unless [`Session::with_run`](crate::Session::with_run) says.
    pub run: Arc<str>,
    /// The way to the chart that makes it; empty for the run's own.
    pub member: Member,
    /// Step, leaf, event and attempt.
    pub key: StepKey,
    /// Tools that the step's model has called before under this key.
    pub nth: u32,
    /// Of a tool, not of a model or a person.
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

/// What is known of a call that was under way when its run was saved.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// Nothing: it may have been made, or not.
    Unknown,
    /// It was never made.
    NotMade,
    /// What a model or a person has said.
    Answered(Result<Answer, OracleError>),
    /// What a tool has returned.
    Returned(Result<Value, OracleError>),
}

/// What a run does about a call of which nobody knows whether it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDoubt {
    /// Where its step has a `doubt` line that is taken, else it is made again.
    #[default]
    Lines,
    /// It is never made again: its step is in doubt, and without a line for that it has failed.
    Ask,
    /// It is made again: it costs nothing, or may be made twice.
    Retry,
}

/// Who answers a run's calls.
pub trait Driver: Send + Sync {
    /// Puts a question to a model or a person. Attempts, deadlines and what an answer means are not its business.
    ///
    /// # Errors
    /// Why there is no answer.
    fn ask(&self, id: &CallId, question: Question) -> Asking;

    /// Makes a tool call.
    ///
    /// # Errors
    /// Why it brought nothing.
    fn call(&self, id: &CallId, call: ToolCall) -> Calling;

    /// What has become of a call that another process may have made.
    fn probe(&self, _id: &CallId) -> Probe {
        Probe::Unknown
    }

    /// Whether answers come at the times of a run that was: waits and deadlines of calls are in them already.
    fn keeps_time(&self) -> bool {
        false
    }

    /// For the first line of a trace.
    fn name(&self) -> String;
}

/// Models, people and tools, each by themselves.
#[derive(Clone)]
pub struct Parts {
    /// Who answers `llm` and `ask` steps.
    pub oracle: Arc<dyn Oracle>,
    /// Who answers `human` steps; without anybody the oracle does.
    pub people: Option<Arc<dyn Oracle>>,
    /// Who has the tools.
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
