//! The APIs of providers: what is sent and what comes back. To add one, add a file here and a row in [`crate::known::PROVIDERS`].

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod ollama;
pub(crate) mod openai;

use crate::form::Form;
use chartc_runtime::budget::Usage;
use chartc_runtime::oracle::OracleError;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A request, independent of the provider.
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) form: &'a Form,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: u64,
    /// Further parameters from the client of the chart, as JSON. The fields above take precedence.
    pub(crate) options: &'a Map<String, Value>,
}

/// Adds the client's further parameters to an object, except those that are already set.
fn add(options: &Map<String, Value>, to: &mut Value) {
    let Value::Object(to) = to else { return };
    for (name, value) in options {
        to.entry(name).or_insert_with(|| value.clone());
    }
}

/// A request in the form of one provider.
pub(crate) struct Written {
    /// The path below the base URL, without a leading slash.
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// The part of a response that the runtime needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModelAnswer {
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
    /// The answer was cut off at the maximum number of tokens.
    pub(crate) cut: bool,
}

/// The API of a kind of server, as functions and constants.
pub(crate) struct Wire {
    /// The name in messages such as "the answer has another form than OpenAI's".
    pub(crate) whose: &'static str,
    pub(crate) write: fn(&Request) -> Written,
    /// The name and the value of the header that carries the key.
    pub(crate) key: fn(&str) -> (&'static str, String),
    /// Further headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The path of the list of models, below the base URL. It serves to test the connection and the key.
    pub(crate) models: &'static str,
    /// Parses the body of a response with status 2xx.
    pub(crate) read: fn(&[u8]) -> Read,
}

/// The result of parsing a body: an answer or the reason for its absence; the outer error means that the body has another form.
pub(crate) type Read = Result<Result<ModelAnswer, OracleError>, serde_json::Error>;

/// A part of a body that is parsed separately and leniently: an unexpected form does not fail the rest, and costs only its text in
/// memory.
type Part = Box<RawValue>;

/// Parses such a part; `None` if it has another form than expected.
fn part<T: DeserializeOwned>(part: Option<&Part>) -> Option<T> {
    part.and_then(|part| serde_json::from_str(part.get()).ok())
}

/// The token counts of an answer; `None` if the provider reported none.
fn usage(input_tokens: u64, output_tokens: u64) -> Option<Usage> {
    (input_tokens.saturating_add(output_tokens) > 0).then_some(Usage {
        input_tokens,
        output_tokens,
        cost: None,
    })
}

/// Combines the parts of a response into an answer, or into the error that its end means.
fn said(text: String, usage: Option<Usage>, stop: Stop) -> Result<ModelAnswer, OracleError> {
    match stop {
        Stop::Refused(why) => Err(OracleError::Refusal(why)),
        // A reasoning model may use up its tokens before it writes anything.
        Stop::Cut if text.trim().is_empty() => Err(OracleError::Other(
            "the answer was cut off before its first word: `max_tokens` is too small".into(),
        )),
        Stop::Ended | Stop::Cut if text.trim().is_empty() => Err(OracleError::Empty),
        Stop::Ended => Ok(ModelAnswer { text, usage, cut: false }),
        Stop::Cut => Ok(ModelAnswer { text, usage, cut: true }),
    }
}

/// The reason why the model stopped writing.
enum Stop {
    Ended,
    Cut,
    Refused(String),
}
