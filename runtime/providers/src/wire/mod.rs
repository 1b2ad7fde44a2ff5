//! What providers are sent and what they answer. To add one: a file here, and a row in [`crate::known::PROVIDERS`].

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

/// A request as no provider writes it.
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) form: &'a Form,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: u64,
    /// Of the server; what the request itself says goes first.
    pub(crate) options: &'a Map<String, Value>,
}

/// Adds the options of a server to a part of a request that does not say the same already.
fn add(options: &Map<String, Value>, to: &mut Value) {
    let Value::Object(to) = to else { return };
    for (name, value) in options {
        to.entry(name).or_insert_with(|| value.clone());
    }
}

/// A request as one provider writes it.
pub(crate) struct Written {
    /// Added to the address of the server, which ends with a slash.
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// What was answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModelAnswer {
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
    /// The answer ended because it had as many tokens as it might have.
    pub(crate) cut: bool,
}

/// How one kind of interface is spoken.
pub(crate) struct Wire {
    /// In messages: "the answer has another form than OpenAI's".
    pub(crate) whose: &'static str,
    pub(crate) write: fn(&Request) -> Written,
    /// The headers that carry the key.
    pub(crate) key: fn(&str) -> (&'static str, String),
    /// Headers of each request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Where the models are listed, for a look at whether the server can be reached and takes the key.
    pub(crate) models: &'static str,
    /// The body of an answer with status 2xx.
    pub(crate) read: fn(&[u8]) -> Read,
}

/// What a body says: an answer, or why there is none; or it has another form.
pub(crate) type Read = Result<Result<ModelAnswer, OracleError>, serde_json::Error>;

/// A part that is read by itself, so that an odd one costs neither the rest nor more memory than its text.
type Part = Box<RawValue>;

/// What such a part holds, if it has the form that is expected.
fn part<T: DeserializeOwned>(part: Option<&Part>) -> Option<T> {
    part.and_then(|part| serde_json::from_str(part.get()).ok())
}

/// The tokens of an answer, if the provider told any.
fn usage(input_tokens: u64, output_tokens: u64) -> Option<Usage> {
    (input_tokens.saturating_add(output_tokens) > 0).then_some(Usage {
        input_tokens,
        output_tokens,
        cost: None,
    })
}

/// An answer, or why there is none.
fn said(text: String, usage: Option<Usage>, stop: Stop) -> Result<ModelAnswer, OracleError> {
    match stop {
        Stop::Refused(why) => Err(OracleError::Refusal(why)),
        // A model that thinks may use up its tokens before it writes anything.
        Stop::Cut if text.trim().is_empty() => Err(OracleError::Other(
            "the answer was cut off before its first word: `max_tokens` is too small".into(),
        )),
        Stop::Ended | Stop::Cut if text.trim().is_empty() => Err(OracleError::Empty),
        Stop::Ended => Ok(ModelAnswer { text, usage, cut: false }),
        Stop::Cut => Ok(ModelAnswer { text, usage, cut: true }),
    }
}

/// Why an answer ended.
enum Stop {
    Ended,
    Cut,
    Refused(String),
}
