//! What the world is made of. An agent is an artifact, too.

use crate::workshop::{Family, Form};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Price, Results, Who};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest id, in bytes.
const LONGEST_ID: usize = 200;
/// The end of the ids of memory artifacts.
const MEMORY: &str = "_memory";
/// The beginning of the ids that the world itself has.
const GENESIS: &str = "genesis_";
/// Words for what is no agent.
const NOBODY: [&str; 4] = ["mint", "escrow", "system", "world"];

/// Text or data that somebody owns.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Who may change its policies, and sell it.
    pub owner: String,
    /// Who has made it.
    pub created_by: String,
    /// `data`, `chart`, `agent`, or any other word.
    pub ty: String,
    /// Text, or anything else that JSON has.
    pub content: Value,
    /// The permissions. Artifacts can share them.
    pub policy: Arc<Policy>,
    /// Results that a world's file has for its methods.
    pub methods: BTreeMap<String, Results>,
    /// What it is beside its content.
    pub nature: Nature,
    /// Bytes of the content.
    pub bytes: u64,
    /// Which was made first.
    pub number: u64,
    /// Changes with each content.
    pub version: u64,
}

/// Who may do what with an artifact, and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Who may read it.
    pub read: Who,
    /// Who may write it.
    pub write: Who,
    /// Who may invoke it.
    pub invoke: Who,
    /// What an invocation costs.
    pub price: Price,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            read: Who::Everyone,
            write: Who::Owner,
            invoke: Who::Everyone,
            price: Price::Each(0),
        }
    }
}

/// What an artifact is.
#[derive(Debug, Clone, PartialEq)]
pub enum Nature {
    /// Nothing but its content.
    Data,
    /// An agent: it has standing, and it can execute.
    Agent {
        /// Where its long-term memory is.
        memory: String,
    },
    /// The long-term memory of an agent.
    Memory {
        /// Whose.
        agent: String,
    },
    /// A chart that has compiled: others can invoke it, and make agents of it.
    Compiled(Compiled),
}

/// A text that has compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// What it is written in.
    pub form: Form,
    /// The charts; `None` where a snapshot was taken back without a workshop.
    pub family: Option<Arc<Family>>,
    /// The artifacts that it has read while it was compiled, as they were then.
    pub read: BTreeMap<String, String>,
}

impl Artifact {
    /// Whether it is an agent.
    pub fn has_standing(&self) -> bool {
        matches!(self.nature, Nature::Agent { .. })
    }

    /// Whether there is anything that runs.
    pub fn can_execute(&self) -> bool {
        match &self.nature {
            Nature::Agent { .. } | Nature::Compiled(_) => true,
            Nature::Data | Nature::Memory { .. } => !self.methods.is_empty(),
        }
    }

    /// Where its long-term memory is.
    pub fn memory_artifact_id(&self) -> Option<&str> {
        match &self.nature {
            Nature::Agent { memory } => Some(memory),
            Nature::Data | Nature::Memory { .. } | Nature::Compiled(_) => None,
        }
    }

    /// Whether `agent` may do what `who` says.
    pub fn allows(&self, who: &Who, agent: &str) -> bool {
        who.allows(agent, &self.owner)
    }
}

/// The id of an agent's long-term memory.
pub fn memory_of(agent: &str) -> String {
    format!("{agent}{MEMORY}")
}

/// Whether an id is of those that only the world gives.
pub(crate) fn is_reserved(id: &str) -> bool {
    id.ends_with(MEMORY) || id.starts_with(GENESIS) || NOBODY.contains(&id)
}

/// Why a text is no id.
pub(crate) fn no_id(id: &str) -> Option<String> {
    if id.is_empty() {
        Some("an id has at least one character".into())
    } else if id.len() > LONGEST_ID {
        Some(format!("an id has at most {LONGEST_ID} bytes, and this one has {}", id.len()))
    } else if id.chars().any(char::is_control) || id.trim() != id {
        Some("an id has no control characters, and no spaces around it".into())
    } else {
        None
    }
}

/// Bytes of a content: of a text its own, of anything else as JSON. A content that was saved as JSON has as many as before.
pub fn size(content: &Value) -> u64 {
    let json = || serde_json::to_string(content).unwrap_or_default().len();
    let bytes = match content {
        Value::None => 0,
        // JSON has no such number.
        Value::Float(n) if !n.is_finite() => 0,
        Value::Text(text) => text.len(),
        // It is a text there, in quotation marks.
        Value::Duration(_) => json() - 2,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => json(),
    };
    bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_content_has_the_same_bytes() {
        for content in [
            Value::None,
            Value::Bool(true),
            Value::Int(-3),
            Value::Float(3.0),
            Value::Float(1e300),
            Value::Float(f64::NAN),
            Value::Float(f64::INFINITY),
            Value::Text("é \" \n".into()),
            Value::Duration(90_000),
            Value::List(vec![Value::Duration(1), Value::Float(f64::NAN), Value::None]),
            Value::Map([("a".to_owned(), Value::Duration(0))].into_iter().collect()),
        ] {
            let text = serde_json::to_string(&content).expect("it is JSON");
            let again: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(size(&again), size(&content), "{text}");
        }
    }
}
