//! The log of a world: the trace lines of many agents in one file.

use super::Line;
use chartc_core::visible;
use serde::{Deserialize, Serialize};

/// A line of the log of a world: a trace line, with the agent to which it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// The name of the agent; empty for the world itself.
    pub agent: String,
    /// For a host event, the agent that has caused it, and the place in that agent's trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cause>,
    /// The trace line.
    #[serde(flatten)]
    pub line: Line,
}

/// The cause of an event, as a place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cause {
    /// The agent that has acted; empty for the world itself.
    pub agent: String,
    /// The `seq` of the agent's last line before the action. Its `acted` line is the next one.
    pub seq: u64,
}

impl Logged {
    /// The line as JSON with a line feed at the end. Invisible characters are escaped.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut text = visible::json(&serde_json::to_string(self)?).into_owned();
        text.push('\n');
        Ok(text)
    }
}
