//! Oracles: whatever answers a chart's questions, such as a model, a person or a script. To add one, add a file and a `mod` line here.
//!
//! An [`Oracle`] gets a [`Question`] and returns a text. [`crate::answer`] reads the text, in the same way for all oracles.
//!
//! ```
//! use chartc_runtime::oracle::{Asking, Oracle, Question, ready};
//! use std::sync::Arc;
//!
//! /// Always takes the first option.
//! struct TheFirst;
//!
//! impl Oracle for TheFirst {
//!     fn ask(&self, question: Arc<Question>) -> Asking {
//!         let name = question.options.first().map_or("", |option| &option.offer.name);
//!         ready(Ok(name.to_owned().into()))
//!     }
//!
//!     fn name(&self) -> String {
//!         "first".to_owned()
//!     }
//! }
//!
//! assert_eq!(TheFirst.name(), "first");
//! ```

mod person;
pub mod script;

pub use crate::call::{FailureKind, OracleError};
pub use person::{NotOpen, find_open, shortened};
pub use script::Script;

use crate::budget::{Prices, Usage};
use crate::form::{self, ActionForm};
use crate::schema;
use crate::tools::{Calling, Tools, done};
use chartc_core::host::{Offer, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A question of a step to a model or a person.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Question {
    /// The id by which a person's answer names this question: see [`Question::name`]. Empty for a question to a model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The name of the step.
    pub step: Cow<'static, str>,
    /// The names of the `run` steps on the path to the child chart that asks, separated by slashes; empty for the run's own chart.
    pub child: String,
    /// The index of the element, from 0, if the step has an `each`.
    pub element: Option<u32>,
    /// The kind of the step.
    pub kind: Kind,
    /// The dotted path of the active leaf for which the step was started.
    pub state: Cow<'static, str>,
    /// The name of the client; empty for the host's default.
    pub client: Cow<'static, str>,
    /// The settings of the client.
    pub model: Model,
    /// The rendered prompt, as it is sent. If the question is asked again, it includes what was wrong with the last answer.
    pub prompt: String,
    /// The possible answers. For an `ask`, the enabled options, innermost first; for an `llm`, the tools that may be called before the
    /// answer.
    pub options: Vec<Alternative>,
    /// The declared tools that may not be called now. An answer that names one is refused.
    pub forbidden: Vec<Alternative>,
    /// The JSON Schema of the answer to an `llm` or `human` step. Empty for an action, or for any text of a person.
    pub schema: String,
    /// Whether only the name of an option or JSON that fits the schema counts as an answer to an `ask`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_exact: bool,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

impl Question {
    /// An upper bound of the tokens that sending the question takes, including the form of the answer, which is sent in words and as a
    /// schema. It counts bytes, as every token stands for at least one.
    pub fn token_bound(&self) -> u64 {
        let options = self.options.iter().map(|option| {
            let is_form = self.kind == Kind::Llm || !option.schema.is_empty();
            let frame = if is_form { OPTION_FORM } else { OPTION };
            // Name and schema are sent twice: in words, and in the schema of the answer.
            2 * (option.offer.name.len() + option.schema.len()) + option.offer.text.len() + frame
        });
        let is_action = self.kind == Kind::Llm && self.schema.is_empty();
        let form = FORM + if is_action { ACTION_FORM } else { 0 };
        let bytes = self.prompt.len() + 2 * self.wanted().len() + form + options.sum::<usize>();
        bytes as u64
    }

    /// The JSON Schema of the answer: that of the declared type, or of an action in the client's form. Empty for an action in any form,
    /// for options, and for any text of a person.
    pub fn wanted(&self) -> &str {
        match self.kind {
            Kind::Llm if self.schema.is_empty() => form::schema(self.model.actions),
            Kind::Llm | Kind::Ask | Kind::Human => &self.schema,
        }
    }

    /// A description of a person's answer: in words if the type has any, else its schema; empty if any text is accepted.
    pub fn wanted_of_a_person(&self) -> String {
        match self.schema.as_str() {
            r#"{"type":"boolean"}"# => "yes or no".into(),
            r#"{"type":"integer"}"# => "a whole number".into(),
            r#"{"type":"number"}"# => "a number".into(),
            schema => match (crate::schema::names(schema), crate::schema::range(schema)) {
                (Some(names), _) => names.join(" or "),
                (None, Some(range)) => range,
                (None, None) => schema.to_owned(),
            },
        }
    }
}

/// The size of an answer's form without options and types, in bytes: words, roles, the frame of the schema.
const FORM: usize = 640;
/// The size of the description of the actions, in bytes.
const ACTION_FORM: usize = 480;
/// The size of an option beside its name, in bytes.
const OPTION: usize = 16;
/// The size of an option with a schema of its own (a tool, or one with arguments) beside its name, in bytes.
const OPTION_FORM: usize = 176;

/// The settings of the client for a call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Model {
    /// The model as `provider:model`; empty for the host's default.
    pub model: Cow<'static, str>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The maximum length of the answer, in tokens.
    pub max_tokens: Option<u64>,
    /// The timeout of the call, in milliseconds.
    pub timeout: Option<u64>,
    /// Further parameters for the server, as a JSON object; empty if there are none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub options: Cow<'static, str>,
    /// The form in which the model writes actions.
    pub actions: ActionForm,
    /// The prices of tokens.
    pub prices: Prices,
}

/// The kind of a question, which decides how an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The answer is an action, or a value of the declared type.
    #[default]
    Llm,
    /// The answer is one of the options.
    Ask,
    /// The answer is what a person writes.
    Human,
}

impl Kind {
    /// The keyword of the step in a chart.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Ask => "ask",
            Self::Human => "human",
        }
    }
}

/// A possible answer: an option or a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// The option as the machine offers it.
    pub offer: Offer,
    /// The JSON Schema of its arguments, an object; empty if it has none.
    pub schema: String,
}

/// The answer of a model, word for word. [`crate::answer`] reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The complete text, with reasoning, fences and prose.
    pub text: String,
    /// The use of the call, if the provider reports it.
    pub usage: Option<Usage>,
    /// Whether the answer was cut off at the maximum number of tokens.
    pub cut: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, usage: None, cut: false }
    }
}

/// An answer under way. Dropping it cancels the call.
pub type Asking = Pin<Box<dyn Future<Output = Result<Answer, OracleError>> + Send>>;

/// Something that answers questions.
pub trait Oracle: Send + Sync {
    /// Makes one call. The caller handles attempts, timeouts and the meaning of the answer.
    ///
    /// # Errors
    /// The reason why there is no answer.
    fn ask(&self, question: Arc<Question>) -> Asking;

    /// Whether answers arrive at the times of a recorded run, which already include its waits and deadlines.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether a model is known to have answered, in this run or a related one: see
    /// [`Driver::has_answered`](crate::driver::Driver::has_answered).
    fn has_answered(&self) -> bool {
        false
    }

    /// The name of the oracle in the first line of a trace.
    fn name(&self) -> String;
}

/// An answer that is available at once.
pub fn ready(answer: Result<Answer, OracleError>) -> Asking {
    Box::pin(std::future::ready(answer))
}

// An oracle that answers nothing.

/// Fails every call. With it, a chart runs without any model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deny;

impl Oracle for Deny {
    fn ask(&self, question: Arc<Question>) -> Asking {
        ready(Err(OracleError::Denied(format!("`{}` has nobody to ask", question.step))))
    }

    fn name(&self) -> String {
        "deny".into()
    }
}

// Oracles and tools that answer without a model, to explore a chart: by the minimum, or by chance.

/// Always chooses the first option, the minimal value, or the action `noop`.
#[derive(Debug, Clone, Copy, Default)]
pub struct First;

impl Oracle for First {
    fn ask(&self, question: Arc<Question>) -> Asking {
        ready(answer(&question, &mut |_| 0))
    }

    fn name(&self) -> String {
        "first".into()
    }
}

/// Chooses any option, any value that fits, or the action `noop`. Equal seeds give equal answers to equal sequences of questions: the
/// numbers are those of SplitMix64, the same on every machine and in every version.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    state: Mutex<u64>,
}

impl Random {
    /// Creates an oracle with the given seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, state: Mutex::new(seed) }
    }
}

impl Oracle for Random {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ready(answer(&question, &mut |below| next(&mut state) % below.max(1)))
    }

    fn name(&self) -> String {
        format!("random:{}", self.seed)
    }
}

/// Returns the minimal value of the tool's type.
impl Tools for First {
    fn call(&self, call: ToolCall) -> Calling {
        done(result(&call, &mut |_| 0))
    }
}

/// Returns any value of the tool's type.
impl Tools for Random {
    fn call(&self, call: ToolCall) -> Calling {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        done(result(&call, &mut |below| next(&mut state) % below.max(1)))
    }
}

fn result(
    call: &ToolCall,
    pick: &mut dyn FnMut(u64) -> u64,
) -> Result<chartc_core::expr::Value, OracleError> {
    Ok(serde_json::from_value(made_up(&call.result, pick)?).unwrap_or_default())
}

fn made_up(schema: &str, pick: &mut dyn FnMut(u64) -> u64) -> Result<Value, OracleError> {
    schema::example(schema, pick).ok_or_else(|| {
        let parts = schema::PARTS;
        OracleError::Other(format!("what fits the type has more than {parts} values in it"))
    })
}

// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn answer(question: &Question, pick: &mut dyn FnMut(u64) -> u64) -> Result<Answer, OracleError> {
    let value = match question.kind {
        Kind::Ask => {
            let count = question.options.len();
            match question.options.get(pick(count as u64) as usize) {
                None => Value::Null,
                Some(option) if option.offer.arguments.is_empty() => {
                    json!({"choice": option.offer.name})
                }
                Some(option) => json!({
                    "choice": option.offer.name,
                    "arguments": made_up(&option.schema, pick)?,
                }),
            }
        }
        // A number below `tools + 1`: 0 answers, the others call a tool. `First` always answers, so that it cannot call tools without
        // end.
        Kind::Llm if !question.options.is_empty() => {
            match pick(question.options.len() as u64 + 1).checked_sub(1) {
                Some(nth) => call(&question.options[nth as usize], pick)?,
                None => return answer(&Question { options: Vec::new(), ..question.clone() }, pick),
            }
        }
        Kind::Llm if question.schema.is_empty() => json!({"reasoning": "", "action": "noop"}),
        Kind::Human if question.schema.is_empty() => return Ok(Answer::from(String::new())),
        Kind::Llm | Kind::Human => made_up(&question.schema, pick)?,
    };
    Ok(Answer::from(value.to_string()))
}

/// A call of a tool with generated arguments.
fn call(tool: &Alternative, pick: &mut dyn FnMut(u64) -> u64) -> Result<Value, OracleError> {
    let arguments = match tool.schema.as_str() {
        "" => json!({}),
        schema => made_up(schema, pick)?,
    };
    Ok(json!({"tool": tool.offer.name, "arguments": arguments}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut state = 1_234_567;
        let numbers: Vec<u64> = (0..3).map(|_| next(&mut state)).collect();
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
