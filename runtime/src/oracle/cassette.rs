//! What was asked and answered, as files: one JSON file for each call, so that a review shows call by call what is new, gone or
//! another, and texts line by line.
//!
//! An entry is found by what was asked: step, kind, client, model, prompt, options and schemas, for which element of a list, and how many
//! times the same was asked for it before. Where the files lie is not this crate's business: it makes and reads their names and texts.

use super::{Answer, OracleError, Question};
use crate::budget::Usage;
use chartc_core::expr::{Map, Value};
use chartc_core::host::ToolCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the files.
pub const VERSION: u32 = 1;

/// One call and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`VERSION`].
    pub v: u32,
    /// What was asked.
    #[serde(flatten)]
    pub request: Request,
    /// For which element of a list, with the way to it, as `dig[2]/grade[0]`; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub element: String,
    /// How many times the same had been asked for it, this time included.
    pub nth: u32,
    /// Milliseconds on the run's clock until it ended.
    pub after_ms: u64,
    /// How it ended.
    #[serde(flatten)]
    pub end: End,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// A question to a model or a person.
    Step {
        /// Its name.
        step: String,
        /// `llm`, `ask` or `human`.
        kind: String,
        /// The client, as the chart calls it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        client: String,
        /// What it stands for.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// Sampling temperature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>,
        /// Options of the server.
        #[serde(default, skip_serializing_if = "is_null")]
        server_options: serde_json::Value,
        /// As it was sent.
        prompt: Lines,
        /// What might be answered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<OptionAsked>,
        /// JSON Schema of the answer.
        #[serde(default, skip_serializing_if = "is_null")]
        schema: serde_json::Value,
    },
    /// A call of a tool.
    Tool {
        /// Its name.
        tool: String,
        /// By name, in declared order.
        arguments: Value,
    },
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionAsked {
    /// What is answered.
    pub name: String,
    /// What the model is told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// JSON Schema of its arguments.
    #[serde(default, skip_serializing_if = "is_null")]
    pub schema: serde_json::Value,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With an answer, word for word, and what it took.
    Answer {
        /// All of it.
        text: Lines,
        /// If the provider said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// It was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// With the result of a tool.
    Result(Value),
    /// With nothing.
    Failed {
        /// The kind of error, as in a trace.
        error: String,
        /// Its message.
        why: String,
        /// How long the provider wanted to be left alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// It was given up before: its state was left, its time was over, or the run ended.
    GivenUp(bool),
}

/// A text, as a list of its lines if it has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Lines {
    /// One line.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Lines {
    fn of(text: &str) -> Self {
        if text.contains('\n') {
            Self::Many(text.split('\n').map(str::to_owned).collect())
        } else {
            Self::One(text.to_owned())
        }
    }

    /// The text.
    pub fn text(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Many(lines) => lines.join("\n"),
        }
    }
}

fn is_null(value: &serde_json::Value) -> bool {
    value.is_null()
}

/// A schema as JSON; one that is none stays a text.
fn schema(text: &str) -> serde_json::Value {
    match text {
        "" => serde_json::Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// JSON without space, keys sorted.
fn canonical(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::Object(map) => {
            let sorted: BTreeMap<&String, &serde_json::Value> = map.iter().collect();
            out.push('{');
            for (name, value) in sorted {
                out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                out.push(':');
                canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => out.push_str(&value.to_string()),
    }
}

impl Request {
    /// Of a question.
    pub fn of(question: &Question) -> Self {
        let options = question.options.iter().map(|option| OptionAsked {
            name: option.offer.name.to_string(),
            text: option.offer.text.to_string(),
            schema: schema(&option.schema),
        });
        Self::Step {
            step: question.step.to_string(),
            kind: question.kind.word().to_owned(),
            client: question.client.to_string(),
            model: question.model.model.to_string(),
            temperature: question.model.temperature,
            server_options: schema(&question.model.options),
            prompt: Lines::of(&question.prompt),
            options: options.collect(),
            schema: schema(question.wanted()),
        }
    }

    /// Of a tool call.
    pub fn of_tool(call: &ToolCall) -> Self {
        let arguments: Map = call.arguments.iter().cloned().collect();
        Self::Tool { tool: call.tool.clone(), arguments: Value::Map(arguments) }
    }

    /// The step or the tool.
    pub fn name(&self) -> &str {
        match self {
            Self::Step { step, .. } => step,
            Self::Tool { tool, .. } => tool,
        }
    }

    /// FNV-1a over its JSON with sorted keys: the same on every machine and in every build.
    pub fn hash(&self) -> u64 {
        let mut text = String::new();
        canonical(&serde_json::to_value(self).unwrap_or_default(), &mut text);
        fnv(0xcbf2_9ce4_8422_2325, &text)
    }
}

fn fnv(first: u64, text: &str) -> u64 {
    text.bytes()
        .fold(first, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The element for which a question is put, with the way to it; empty for none.
pub(super) fn element_of(question: &Question) -> String {
    let own = question.element.map(|element| format!("{}[{element}]", question.step));
    let above = (own.is_some() || question.child.contains('[')).then(|| question.child.clone());
    let way = above.into_iter().filter(|way| !way.is_empty()).chain(own);
    way.collect::<Vec<_>>().join("/")
}

impl Entry {
    /// The file's name: the step or tool, the hash of the request and its element, and how many times it had been put.
    pub fn file(&self) -> String {
        let word = match &self.request {
            Request::Step { .. } => "step",
            Request::Tool { .. } => "tool",
        };
        let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        let name: String = self.request.name().chars().map(plain).take(60).collect();
        let hash = fnv(self.request.hash(), &self.element);
        format!("{word}.{name}.{hash:016x}.{}.json", self.nth)
    }

    /// Whether a file of this name may be an entry.
    pub fn is_file(name: &str) -> bool {
        let parts: Vec<&str> = name.split('.').collect();
        matches!(parts.as_slice(), ["step" | "tool", _, hash, nth, "json"]
            if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) && nth.parse::<u32>().is_ok())
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is no entry, or one of another version.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            v: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(|fault| fault.to_string())?;
        if head.v != VERSION {
            return Err(format!(
                "version {} of recorded calls is not known; this is version {VERSION}",
                head.v
            ));
        }
        serde_json::from_str(text).map_err(|fault| fault.to_string())
    }
}

impl End {
    /// Of an answer.
    pub fn of(answer: &Result<Answer, OracleError>) -> Self {
        match answer {
            Ok(Answer { text, usage, cut }) => {
                Self::Answer { text: Lines::of(text), usage: *usage, cut: *cut }
            }
            Err(error) => Self::failed(error),
        }
    }

    /// Of a tool's result.
    pub fn of_tool(result: &Result<Value, OracleError>) -> Self {
        match result {
            Ok(value) => Self::Result(value.clone()),
            Err(error) => Self::failed(error),
        }
    }

    fn failed(error: &OracleError) -> Self {
        let (kind, why) = (error.kind().word().to_owned(), error.to_string());
        Self::Failed { error: kind, why, retry_after_ms: error.retry_after() }
    }
}
