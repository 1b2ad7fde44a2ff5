//! Completion and hover in an `agent.yaml`, a component or a run file: by the table of its keys, from text that may be broken.

mod complete;
mod flow;
mod hole;
mod hover;
mod place;
mod tree;

pub use complete::{Completion, CompletionItem, ItemKind, complete};
pub use hole::names;
pub use hover::{Hover, hover};

use crate::keys::{AGENT, COMPONENT, Mapping, RUN};

/// What a YAML file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An `agent.yaml`.
    Agent,
    /// A component of agents.
    Component,
    /// A run file.
    Run,
}

impl Format {
    /// By the path of a file and its text; `None` where both tell nothing.
    pub fn from_path(path: &str, text: &str) -> Option<Self> {
        let path = path.replace('\\', "/");
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))?;
        if path.split('/').any(|folder| folder == "_components") {
            return Some(Self::Component);
        }
        let begins = |words: &[&str]| text.lines().any(|l| words.iter().any(|w| l.starts_with(w)));
        if stem == "agent" || stem.ends_with(".agent") || begins(&["workflow:"]) {
            return Some(Self::Agent);
        }
        (stem == "run" || begins(&["execution:", "agents:"])).then_some(Self::Run)
    }

    /// The table of its keys.
    pub const fn table(self) -> &'static Mapping {
        match self {
            Self::Agent => &AGENT,
            Self::Component => &COMPONENT,
            Self::Run => &RUN,
        }
    }
}
