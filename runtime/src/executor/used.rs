//! The tools of an `llm` step in its prompt: which there are, what was called, what came of it.

use crate::oracle::Alternative;
use chartc_core::expr::Value;
use serde::{Deserialize, Serialize};

/// A tool call of an `llm` step's model, as the next prompt tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    call: String,
    end: Option<String>,
}

impl Used {
    /// A call that is under way.
    pub(crate) fn begun(tool: &str, arguments: &Value) -> Self {
        Self { call: format!("{tool}({})", json(arguments)), end: None }
    }

    /// What it came to.
    pub(crate) fn ends(&mut self, result: Result<&Value, &str>) {
        self.end = Some(match result {
            Ok(value) => format!(" = {}", json(value)),
            Err(why) => format!(" failed: {why}"),
        });
    }

    /// It has failed after all, unless that is known.
    pub(crate) fn fails(&mut self, why: &str) {
        if self.end.as_ref().is_none_or(|end| end.starts_with(" = ")) {
            self.ends(Err(why));
        }
    }

    /// Whether it is still under way.
    pub(crate) fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// What follows the step's own prompt.
pub(super) fn told(tools: &[Alternative], used: &[Used]) -> String {
    let mut text = String::new();
    if !tools.is_empty() {
        text.push_str(
            "\n\nBefore you answer you may call tools, one at a time. To call one, answer with nothing but \
             {\"tool\": \"its name\", \"arguments\": {…}}; you are asked again with what came of it.",
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
            text.push_str(&format!("\n- {call}{end}"));
        }
        if tools.is_empty() {
            text.push_str("\n\nNo further call is possible: answer now.");
        }
    }
    text
}
