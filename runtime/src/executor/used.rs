//! The part of an `llm` step's prompt about tools: those that may be called, and the calls so far with their results.

use crate::oracle::Alternative;
use chartc_core::expr::Value;
use serde::{Deserialize, Serialize};

/// A tool call of an `llm` step, in the form in which the next prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    call: String,
    end: Option<End>,
}

/// The end of a tool call. Saved runs store it as the text of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
enum End {
    Returned(String),
    Failed(String),
}

/// The prefix of a result, which distinguishes it from a failure in the stored text.
const RETURNED: &str = " = ";

impl From<End> for String {
    fn from(end: End) -> Self {
        match end {
            End::Returned(value) => format!("{RETURNED}{value}"),
            End::Failed(why) => format!(" failed: {why}"),
        }
    }
}

impl From<String> for End {
    fn from(text: String) -> Self {
        if let Some(value) = text.strip_prefix(RETURNED) {
            return Self::Returned(value.to_owned());
        }
        Self::Failed(text.strip_prefix(" failed: ").unwrap_or(&text).to_owned())
    }
}

impl Used {
    /// Creates a call that is under way.
    pub(crate) fn begun(tool: &str, arguments: &Value) -> Self {
        Self { call: format!("{tool}({})", json(arguments)), end: None }
    }

    /// Sets the result of the call.
    pub(crate) fn ends(&mut self, result: Result<&Value, &str>) {
        self.end = Some(match result {
            Ok(value) => End::Returned(json(value)),
            Err(why) => End::Failed(why.to_owned()),
        });
    }

    /// Changes the result to a failure, unless the call has failed already.
    pub(crate) fn fails(&mut self, why: &str) {
        if !matches!(self.end, Some(End::Failed(_))) {
            self.ends(Err(why));
        }
    }

    /// Whether the call is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The text about tools that follows the step's own prompt.
pub(super) fn told(tools: &[Alternative], used: &[Used]) -> String {
    let mut text = String::new();
    if !tools.is_empty() {
        text.push_str(
            "\n\nBefore you answer you may call tools, one at a time. To call one, answer with nothing but a JSON object \
             that has its name under `tool` and its arguments under `arguments`; you are asked again with the result.",
        );
        for tool in tools {
            let offer = &tool.offer;
            text.push_str("\n- ");
            text.push_str(&offer.name);
            let arguments = offer.arguments.iter().map(|(name, ty)| format!("{name}: {ty}"));
            text.push_str(&format!("({})", arguments.collect::<Vec<_>>().join(", ")));
            if !offer.text.is_empty() {
                text.push_str(": ");
                text.push_str(&offer.text);
            }
        }
    }
    let mut ended = used.iter().filter_map(|one| Some((&one.call, one.end.as_ref()?))).peekable();
    if ended.peek().is_some() {
        text.push_str("\n\nCalled so far:");
        for (call, end) in ended {
            text.push_str(&format!("\n- {call}{}", String::from(end.clone())));
        }
        if tools.is_empty() {
            text.push_str("\n\nNo further call is possible: answer now.");
        }
    }
    text
}
