//! Artifacts: everything of which a world consists. Agents are artifacts, too.

use crate::charts::{Family, Form};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Price, Results, Who};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum length of an id, in bytes.
const LONGEST_ID: usize = 200;
/// The suffix of the ids of memory artifacts.
const MEMORY: &str = "_memory";
/// The prefix of the ids of the world's own artifacts.
const GENESIS: &str = "genesis_";
/// Further reserved ids, which name the world or parts of it.
const NOBODY: [&str; 4] = ["mint", "escrow", "system", "world"];

/// Text or data with an owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// The name of the agent that may change the policies of the artifact, and sell it.
    pub owner: String,
    /// The name of the agent that created the artifact.
    pub created_by: String,
    /// The type: `data`, `chart`, `agent`, or any other word.
    pub ty: String,
    /// The content: a text, or any other value of JSON.
    pub content: Value,
    /// The permissions. Artifacts can share them.
    pub policy: Arc<Policy>,
    /// The fixed results of methods, from the file of a world (`--world FILE`).
    pub methods: BTreeMap<String, Results>,
    /// The role of the artifact beyond its content.
    pub nature: Nature,
    /// The size of the content in bytes; see [`size`].
    pub bytes: u64,
    /// A number that grows with each new artifact.
    pub number: u64,
    /// A number that changes with each write.
    pub version: u64,
    /// Whether it is there from the beginning: of the world's file, or of an agent that the run file names.
    pub is_genesis: bool,
}

/// The permissions of an artifact, and the price of its methods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The agents that may read it.
    pub read: Who,
    /// The agents that may write it.
    pub write: Who,
    /// The agents that may invoke it.
    pub invoke: Who,
    /// The price of an invocation, in scrip.
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

/// The role of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub enum Nature {
    /// Plain data.
    Data,
    /// An agent, which has standing and can execute.
    Agent {
        /// The id of the artifact that holds its long-term memory.
        memory: String,
    },
    /// The long-term memory of an agent.
    Memory {
        /// The name of the agent.
        agent: String,
    },
    /// A chart that has compiled. Others can invoke it, and spawn agents from it.
    Compiled(Compiled),
}

/// The result of compiling the text of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The language of the text.
    pub form: Form,
    /// The compiled charts; `None` if the world was restored from a snapshot without a workshop.
    pub family: Option<Arc<Family>>,
    /// The texts of the artifacts that were imported, by their ids, as they were when the text was compiled.
    pub read: BTreeMap<String, String>,
}

impl Artifact {
    /// Whether the artifact is an agent, and so can own artifacts, hold scrip and act.
    pub fn has_standing(&self) -> bool {
        matches!(self.nature, Nature::Agent { .. })
    }

    /// Whether the artifact has methods that can be invoked, or is an agent.
    pub fn can_execute(&self) -> bool {
        match &self.nature {
            Nature::Agent { .. } | Nature::Compiled(_) => true,
            Nature::Data | Nature::Memory { .. } => !self.methods.is_empty(),
        }
    }

    /// The id of the long-term memory, if the artifact is an agent.
    pub fn memory_artifact_id(&self) -> Option<&str> {
        match &self.nature {
            Nature::Agent { memory } => Some(memory),
            Nature::Data | Nature::Memory { .. } | Nature::Compiled(_) => None,
        }
    }

    /// Whether `agent` is among those that `who` permits.
    pub fn allows(&self, who: &Who, agent: &str) -> bool {
        who.allows(agent, &self.owner)
    }
}

/// The id of the artifact that holds an agent's long-term memory.
pub fn memory_of(agent: &str) -> String {
    format!("{agent}{MEMORY}")
}

/// Whether only the world may create artifacts with this id.
pub(crate) fn is_reserved(id: &str) -> bool {
    id.ends_with(MEMORY) || id.starts_with(GENESIS) || NOBODY.contains(&id)
}

/// The reason why a text cannot be an id; `None` if it can.
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

/// The size of a content in bytes: the length of a text, and of any other value its length as JSON. A value that was saved as JSON and read
/// again has the same size.
pub fn size(content: &Value) -> u64 {
    let json = || serde_json::to_string(content).unwrap_or_default().len();
    let bytes = match content {
        Value::None => 0,
        // JSON has no such number, and writes it as null.
        Value::Float(n) if !n.is_finite() => 0,
        Value::Text(text) => text.len(),
        // In JSON, a duration is a text in quotation marks, and it is read back without them.
        Value::Duration(_) => json() - 2,
        _ => json(),
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
