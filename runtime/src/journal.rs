//! Journals of calls: what became of each call of a run, by its id.
//!
//! The problem: a call costs money and may have an effect, so a run that continues after a crash, is repeated from its trace, or is forked
//! must not make it again. Where the outcome is kept differs: in a database, a folder, a trace, or memory. The idea: each of these is a
//! [`CallJournal`], which decides about a call before it is made, and [`Journaled`] is the driver that asks it. For example, a run that
//! was killed during its second call:
//!
//! ```text
//! first process    begin(a) is Make      the model is asked, and end(a) records its answer
//!                  begin(b) is Make      the model is asked, and the process is killed
//! second process   known(a) is Ended     the recorded answer is used
//!                  known(b) is Started   the driver is asked what became of `b`; if it does not know, `b` is in doubt
//! ```

use crate::budget::Usage;
use crate::driver::{CallId, Driver, Probe};
use crate::oracle::{Answer, Asking, Oracle, OracleError, Question};
use crate::tools::{Calling, Tools};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use serde::{Deserialize, Serialize};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A question to a model or a person.
    Question(Box<Question>),
    /// A tool call.
    Tool(ToolCall),
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
pub enum Outcome {
    /// The answer to a question.
    Answer(Result<Answer, OracleError>),
    /// The result of a tool call.
    Result(Result<Value, OracleError>),
}

/// What a journal knows of a call that an earlier process may have made.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// The call was not made.
    NotMade,
    /// The call was about to be made, and may have been made.
    Started,
    /// The call has ended with this outcome.
    Ended(Outcome),
}

/// The decision of a journal about a call that a run is about to make.
pub enum Begun {
    /// The call is to be made, and its outcome is to be recorded.
    Make(Call, Box<dyn OpenCall>),
    /// The call is not made: the journal has its outcome, or will have it.
    Recorded(Ending),
}

/// The future outcome of a call.
pub type Ending = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The record of a call that is being made. Dropping it before its end records that nobody waits for the call any more.
pub trait OpenCall: Send {
    /// Records the outcome.
    ///
    /// # Errors
    /// The journal cannot be written. The run must not use the outcome.
    fn end(&mut self, outcome: &Outcome) -> Result<(), OracleError>;
}

/// Keeps the calls of a run and their outcomes.
pub trait CallJournal: Send + Sync {
    /// Decides about a call.
    ///
    /// # Errors
    /// The journal has no outcome for the call and does not let it be made, or cannot be written.
    fn begin(&self, id: &CallId, call: Call) -> Result<Begun, OracleError>;

    /// What became of a call that was under way when the run was saved.
    fn known(&self, _id: &CallId) -> Known {
        Known::Started
    }

    /// Notes that nobody knows what became of a call.
    fn doubt(&self, _id: &CallId) {}

    /// Whether the outcomes arrive at the times of a recorded run, which already include its waits and deadlines.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether a model has answered any call of the journal.
    fn has_answered(&self) -> bool {
        false
    }

    /// The name of the journal in the first line of a trace; `None` if the calls are those of another driver.
    fn name(&self) -> Option<String> {
        None
    }
}

/// A driver whose calls a journal keeps.
pub struct Journaled<J, D: ?Sized> {
    journal: Arc<J>,
    driver: Arc<D>,
}

impl<J: CallJournal, D: Driver + ?Sized> Journaled<J, D> {
    /// Keeps the calls of `driver` in `journal`.
    pub fn new(journal: Arc<J>, driver: Arc<D>) -> Self {
        Self { journal, driver }
    }

    fn make(&self, id: &CallId, call: Call) -> Result<Ending, OracleError> {
        Ok(match self.journal.begin(id, call)? {
            Begun::Recorded(ending) => ending,
            Begun::Make(call, open) => recorded(start(&*self.driver, id, call), open),
        })
    }
}

/// Starts a call.
fn start<D: Driver + ?Sized>(driver: &D, id: &CallId, call: Call) -> Ending {
    match call {
        Call::Question(question) => {
            let asking = driver.ask(id, question.into());
            Box::pin(async { Outcome::Answer(asking.await) })
        }
        Call::Tool(call) => {
            let calling = driver.call(id, call);
            Box::pin(async { Outcome::Result(calling.await) })
        }
    }
}

/// Makes a call, with the driver.
pub async fn made(driver: Arc<dyn Driver>, id: CallId, call: Call) -> Outcome {
    start(&*driver, &id, call).await
}

/// Records the outcome of a call before it is used.
fn recorded(ending: Ending, mut open: Box<dyn OpenCall>) -> Ending {
    Box::pin(async move {
        let outcome = ending.await;
        match (open.end(&outcome), outcome) {
            (Ok(()), outcome) => outcome,
            (Err(why), Outcome::Answer(_)) => Outcome::Answer(Err(why)),
            (Err(why), Outcome::Result(_)) => Outcome::Result(Err(why)),
        }
    })
}

/// The future result of a call of one kind, which `pick` takes out of the outcome.
fn picked<T: Send + 'static>(
    ending: Result<Ending, OracleError>,
    pick: fn(Outcome) -> Result<T, OracleError>,
) -> Pin<Box<dyn Future<Output = Result<T, OracleError>> + Send>> {
    match ending {
        Ok(ending) => Box::pin(async move { pick(ending.await) }),
        Err(why) => Box::pin(ready(Err(why))),
    }
}

fn answer(outcome: Outcome) -> Result<Answer, OracleError> {
    if let Outcome::Answer(answer) = outcome { answer } else { Err(misfit()) }
}

fn result(outcome: Outcome) -> Result<Value, OracleError> {
    if let Outcome::Result(result) = outcome { result } else { Err(misfit()) }
}

fn misfit() -> OracleError {
    OracleError::Script("what is kept of the call is of another kind".into())
}

fn asked(question: Arc<Question>) -> Call {
    Call::Question(Box::new(Arc::unwrap_or_clone(question)))
}

impl<J: CallJournal, D: Driver + ?Sized> Driver for Journaled<J, D> {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        picked(self.make(id, asked(question)), answer)
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        picked(self.make(id, Call::Tool(call)), result)
    }

    fn probe(&self, id: &CallId) -> Probe {
        let probe = match self.journal.known(id) {
            Known::NotMade => Probe::NotMade,
            // Only the driver may know whether the call reached its server.
            Known::Started => self.driver.probe(id),
            Known::Ended(Outcome::Answer(answer)) => Probe::Answered(answer),
            Known::Ended(Outcome::Result(result)) => Probe::Returned(result),
        };
        if probe == Probe::Unknown {
            self.journal.doubt(id);
        }
        probe
    }

    fn keeps_time(&self) -> bool {
        self.journal.keeps_time() || self.driver.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.journal.has_answered() || self.driver.has_answered()
    }

    fn name(&self) -> String {
        self.journal.name().unwrap_or_else(|| self.driver.name())
    }
}

/// An oracle and tools that answer from a journal alone. A call that the journal lets be made fails.
pub struct FromJournal<J>(pub J);

impl<J: CallJournal> FromJournal<J> {
    fn recorded(&self, call: Call) -> Result<Ending, OracleError> {
        match self.0.begin(&CallId::default(), call)? {
            Begun::Recorded(ending) => Ok(ending),
            Begun::Make(..) => Err(OracleError::Script("the call is not recorded".into())),
        }
    }
}

impl<J: CallJournal> Oracle for FromJournal<J> {
    fn ask(&self, question: Arc<Question>) -> Asking {
        picked(self.recorded(asked(question)), answer)
    }

    fn keeps_time(&self) -> bool {
        self.0.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.0.has_answered()
    }

    fn name(&self) -> String {
        self.0.name().unwrap_or_default()
    }
}

impl<J: CallJournal> Tools for FromJournal<J> {
    fn call(&self, call: ToolCall) -> Calling {
        picked(self.recorded(Call::Tool(call)), result)
    }
}

// The stored form of an outcome. An error is stored as its kind and its message.

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Answer {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    NoAnswer(Error),
    Value(Value),
    NoValue(Error),
}

#[derive(Clone, Serialize, Deserialize)]
struct Error {
    kind: String,
    why: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl From<OracleError> for Error {
    fn from(error: OracleError) -> Self {
        let (kind, retry_after_ms) = (error.kind().word().to_owned(), error.retry_after());
        Self { kind, why: error.to_string(), retry_after_ms }
    }
}

impl From<Error> for OracleError {
    fn from(Error { kind, why, retry_after_ms }: Error) -> Self {
        Self::recorded(&kind, &why, retry_after_ms)
    }
}

impl From<Outcome> for Written {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answer(Ok(Answer { text, usage, cut })) => Self::Answer { text, usage, cut },
            Outcome::Answer(Err(error)) => Self::NoAnswer(error.into()),
            Outcome::Result(Ok(value)) => Self::Value(value),
            Outcome::Result(Err(error)) => Self::NoValue(error.into()),
        }
    }
}

impl From<Written> for Outcome {
    fn from(written: Written) -> Self {
        match written {
            Written::Answer { text, usage, cut } => Self::Answer(Ok(Answer { text, usage, cut })),
            Written::NoAnswer(error) => Self::Answer(Err(error.into())),
            Written::Value(value) => Self::Result(Ok(value)),
            Written::NoValue(error) => Self::Result(Err(error.into())),
        }
    }
}
