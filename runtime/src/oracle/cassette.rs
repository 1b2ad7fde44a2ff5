//! Cassettes: recorded calls as files, one JSON file per call, so that a review shows which calls are new, gone or changed, and shows
//! changed texts line by line.
//!
//! An entry is found by its request: step, kind, client, model, prompt, options and schemas; by the element of a list; and by the number
//! of earlier equal requests. A changed prompt therefore never gets an old answer. This module makes and reads names and contents of
//! files; the host stores them. An entry, in the file `step.triage.1f0c….1.json`:
//!
//! ```text
//! {"v":1, "step":"triage", "kind":"ask", "model":"openai:gpt-5", "prompt":["They say thanks.","What now?"],
//!  "options":[{"name":"close"},{"name":"stay"}], "nth":1, "after_ms":840, "answer":{"text":"close"}}
//! ```

use super::{Answer, OracleError, Question};
use crate::budget::Usage;
use chartc_core::expr::{Map, Value};
use chartc_core::host::ToolCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the file format.
pub const VERSION: u32 = 1;

/// A call and its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the file format, [`VERSION`].
    pub v: u32,
    /// The request, which identifies the call.
    #[serde(flatten)]
    pub request: Request,
    /// The element of a list for which the call was made, with its path, such as `dig[2]/grade[0]`; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub element: String,
    /// The number of equal requests for this element so far, including this one.
    pub nth: u32,
    /// The time until the call ended, in milliseconds on the run's clock.
    pub after_ms: u64,
    /// The end of the call.
    #[serde(flatten)]
    pub end: End,
}

/// The request of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Request {
    /// A question to a model or a person.
    Step {
        /// The name of the step.
        step: String,
        /// The kind of step: `llm`, `ask` or `human`.
        kind: String,
        /// The name of the client in the chart.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        client: String,
        /// The client's model, as `provider:model`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// The sampling temperature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>,
        /// Further parameters for the server.
        #[serde(default, skip_serializing_if = "is_null")]
        server_options: serde_json::Value,
        /// The prompt as it was sent.
        prompt: Lines,
        /// The possible answers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<OptionAsked>,
        /// The JSON Schema of the answer.
        #[serde(default, skip_serializing_if = "is_null")]
        schema: serde_json::Value,
    },
    /// A tool call.
    Tool {
        /// The name of the tool.
        tool: String,
        /// The arguments by name, in declared order.
        arguments: Value,
    },
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionAsked {
    /// The name.
    pub name: String,
    /// The description in the prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The JSON Schema of its arguments.
    #[serde(default, skip_serializing_if = "is_null")]
    pub schema: serde_json::Value,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// An answer.
    Answer {
        /// The complete text, word for word.
        text: Lines,
        /// The use of the call, if the provider reported it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Whether the answer was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// The result of a tool.
    Result(Value),
    /// A failure.
    Failed {
        /// The kind of error, as in a trace.
        error: String,
        /// The message.
        why: String,
        /// The time to wait that the provider named, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// The call was cancelled before it ended: its state was left, its time had run out, or the run ended. Always `true`.
    GivenUp(bool),
}

/// A text; several lines are a JSON array, so that differences show line by line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Lines {
    /// A text without line breaks.
    One(String),
    /// The lines of a text.
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

    /// The text as one string.
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

/// Parses a schema. A text that is no JSON stays a string.
fn schema(text: &str) -> serde_json::Value {
    match text {
        "" => serde_json::Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// Writes a value without blanks and with sorted keys, as the input of the hash.
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
        _ => out.push_str(&value.to_string()),
    }
}

impl Request {
    /// The request for a question.
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

    /// The request for a tool call.
    pub fn of_tool(call: &ToolCall) -> Self {
        let arguments: Map = call.arguments.iter().cloned().collect();
        Self::Tool { tool: call.tool.clone(), arguments: Value::Map(arguments) }
    }

    /// The name of the step or tool.
    pub fn name(&self) -> &str {
        match self {
            Self::Step { step, .. } => step,
            Self::Tool { tool, .. } => tool,
        }
    }

    /// The FNV-1a hash of the request as JSON with sorted keys. It is the same on every machine and in every build.
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

/// The element for which a question is asked, with its path; empty if there is none.
pub(super) fn element_of(question: &Question) -> String {
    let own = question.element.map(|element| format!("{}[{element}]", question.step));
    // Without an element on the path, the path does not matter: the request identifies the call.
    let above = (own.is_some() || question.child.contains('[')).then(|| question.child.clone());
    let way = above.into_iter().filter(|way| !way.is_empty()).chain(own);
    way.collect::<Vec<_>>().join("/")
}

impl Entry {
    /// The name of the file: the step or tool, the hash of request and element, and the number of equal requests.
    pub fn file(&self) -> String {
        let word = match &self.request {
            Request::Step { .. } => "step",
            Request::Tool { .. } => "tool",
        };
        // Names of tools contain dots, and names of steps may have characters that file systems do not allow.
        let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        let name: String = self.request.name().chars().map(plain).take(60).collect();
        let hash = fnv(self.request.hash(), &self.element);
        format!("{word}.{name}.{hash:016x}.{}.json", self.nth)
    }

    /// Whether a file name has the form of an entry's.
    pub fn is_file(name: &str) -> bool {
        let parts: Vec<&str> = name.split('.').collect();
        matches!(parts.as_slice(), ["step" | "tool", _, hash, nth, "json"]
            if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) && nth.parse::<u32>().is_ok())
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Parses a file.
    ///
    /// # Errors
    /// The text is no entry, or one of another version.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            v: u32,
        }
        // The version is checked first, because other versions may have other fields.
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
    /// The end of a question.
    pub fn of(answer: &Result<Answer, OracleError>) -> Self {
        match answer {
            Ok(Answer { text, usage, cut }) => {
                Self::Answer { text: Lines::of(text), usage: *usage, cut: *cut }
            }
            Err(error) => Self::failed(error),
        }
    }

    /// The end of a tool call.
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
