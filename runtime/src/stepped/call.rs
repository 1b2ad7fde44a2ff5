//! Calls and their outcomes in a form that can be stored as JSON.

use crate::budget::Usage;
use crate::oracle::{Answer, OracleError, Question};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use serde::{Deserialize, Serialize};

/// A call that an engine makes.
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

/// The stored form of an outcome. An error is stored as its kind and its message.
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
