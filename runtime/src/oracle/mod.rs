//! Who answers a chart's questions: a model, a person, a script. To add one: a file here, and a `mod` line.
//!
//! An [`Oracle`] gets a [`Question`] and gives words; what these mean [`crate::answer`] decides, the same for all oracles.
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

pub mod cassette;
mod deny;
mod diff;
mod person;
mod pick;
mod record;
mod replay;
pub mod script;

pub use crate::call::{OracleError, OracleErrorKind};
pub use deny::Deny;
pub use person::{NotOpen, find_open, shortened};
pub use pick::{First, Random};
pub use record::{CassetteSink, Recording, Tape};
pub use replay::Replaying;
pub use script::Script;

use crate::budget::{Prices, Usage};
use crate::form::{self, ActionForm};
use chartc_core::host::Offer;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a step asks of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Question {
    /// What an answer of a person names this question by: see [`Question::name`]. Empty for a question to a model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Name of the step.
    pub step: Cow<'static, str>,
    /// The names of the `run` steps that lead to the chart that asks, with slashes between; empty for the run's own chart.
    pub child: String,
    /// The index of the element of a step with an `each`, from 0.
    pub element: Option<u32>,
    /// What kind of answer is wanted.
    pub kind: Kind,
    /// Dotted path of the active leaf that it was started for.
    pub state: Cow<'static, str>,
    /// Name of the client; empty is the host's default.
    pub client: Cow<'static, str>,
    /// What the client says about the call.
    pub model: Model,
    /// As it is sent: rendered, in a re-ask with what was wrong and what would be right.
    pub prompt: String,
    /// What may be answered, for an `ask`: those enabled now, innermost first. For an `llm` the tools that may be called before the answer.
    pub options: Vec<Alternative>,
    /// Declared tools that may not be called now, for an `ask` or an `llm` with tools: an answer that names one is refused.
    pub forbidden: Vec<Alternative>,
    /// JSON Schema of the answer of an `llm` or `human` step; empty is an action object, or what a person writes.
    pub schema: String,
    /// From 1.
    pub attempt: u32,
}

impl Question {
    /// The most tokens that sending it can take. A token stands for one byte or more; the form of the answer, which is sent beside the
    /// prompt in words and as a schema, is counted, too.
    pub fn token_bound(&self) -> u64 {
        let options = self.options.iter().map(|option| {
            let is_form = self.kind == Kind::Llm || !option.schema.is_empty();
            let frame = if is_form { OPTION_FORM } else { OPTION };
            2 * (option.offer.name.len() + option.schema.len()) + option.offer.text.len() + frame
        });
        let is_action = self.kind == Kind::Llm && self.schema.is_empty();
        let form = FORM + if is_action { ACTION_FORM } else { 0 };
        let bytes = self.prompt.len() + 2 * self.wanted().len() + form + options.sum::<usize>();
        bytes as u64
    }

    /// JSON Schema of what is to be answered: the declared type, or an action in the form that the client has; empty for any action, for
    /// options, and for what a person writes.
    pub fn wanted(&self) -> &str {
        match self.kind {
            Kind::Llm if self.schema.is_empty() => form::schema(self.model.actions),
            Kind::Llm | Kind::Ask | Kind::Human => &self.schema,
        }
    }

    /// The form of a person's answer, in words where there are any; empty where any text will do.
    pub fn wanted_of_a_person(&self) -> String {
        match self.schema.as_str() {
            r#"{"type":"boolean"}"# => "yes or no".into(),
            r#"{"type":"integer"}"# => "a whole number".into(),
            r#"{"type":"number"}"# => "a number".into(),
            schema => match crate::schema::names(schema) {
                Some(names) => names.join(" or "),
                None => schema.to_owned(),
            },
        }
    }
}

/// Bytes of the form of an answer without what it says of options and types: words, roles, the frame of a schema.
const FORM: usize = 640;
/// Bytes of the form of an action beside its schema: what the actions do.
const ACTION_FORM: usize = 480;
/// Bytes around the name of an option.
const OPTION: usize = 16;
/// Bytes around an option that has a form of its own: a tool, or an option with arguments.
const OPTION_FORM: usize = 176;

/// The model that a question is put to, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Model {
    /// `provider:model`; empty is the host's default.
    pub model: Cow<'static, str>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Upper bound of the answer, in tokens.
    pub max_tokens: Option<u64>,
    /// Milliseconds that the call may take.
    pub timeout: Option<u64>,
    /// Options of the server, as a JSON object; empty without any.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub options: Cow<'static, str>,
    /// How it is to write actions.
    pub actions: ActionForm,
    /// What tokens cost.
    pub prices: Prices,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An action, or a value of the declared type.
    #[default]
    Llm,
    /// One of the options.
    Ask,
    /// What a person says.
    Human,
}

impl Kind {
    /// As written in a chart.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Ask => "ask",
            Self::Human => "human",
        }
    }
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// The option as the machine offers it.
    pub offer: Offer,
    /// JSON Schema of its arguments, an object; empty without any.
    pub schema: String,
}

/// What a model said, word for word. The [`crate::answer`] reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// All of it, with reasoning, fences and prose.
    pub text: String,
    /// What the call took, if the provider says so.
    pub usage: Option<Usage>,
    /// Whether it was cut off, because it had as many tokens as it might have.
    pub cut: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, usage: None, cut: false }
    }
}

/// An answer under way. Dropping it cancels the call.
pub type Asking = Pin<Box<dyn Future<Output = Result<Answer, OracleError>> + Send>>;

/// Somebody who answers.
pub trait Oracle: Send + Sync {
    /// Makes one call. Attempts, deadlines and what an answer means are not its business.
    ///
    /// # Errors
    /// Why there is no answer.
    fn ask(&self, question: Arc<Question>) -> Asking;

    /// Whether its answers come at the times of a run that was: waits and deadlines of calls are in them already.
    fn keeps_time(&self) -> bool {
        false
    }

    /// Whether a model is known to have answered, in this run or in one beside it: see [`Driver::has_answered`](crate::driver::Driver::has_answered).
    fn has_answered(&self) -> bool {
        false
    }

    /// For the first line of a trace.
    fn name(&self) -> String;
}

/// An answer that is there already.
pub fn ready(answer: Result<Answer, OracleError>) -> Asking {
    Box::pin(std::future::ready(answer))
}
