//! Completion and hover in an `agent.yaml`, a component or a run file.
//!
//! The keys of these files are in tables ([`crate::keys`]), and the text may be broken, so a reader that never fails makes a tree of it
//! first. With the cursor at `|` in
//!
//! ```yaml
//! workflow:
//!   steps:
//!     - name: look
//!       ty|
//! ```
//!
//! 1. `tree` reads a mapping with the entries `name` and `ty`, the second of which has no colon yet.
//! 2. `place` follows the tables from `workflow` to `steps`, and finds that `ty` is a key in the table of steps.
//! 3. `complete` offers the keys of that table that the mapping does not have yet, such as `type`.

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

/// The format of a YAML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An agent, such as `agent.yaml`.
    Agent,
    /// A component of agents, in a folder `_components`.
    Component,
    /// A run file.
    Run,
}

impl Format {
    /// Determines the format from the path of a file or, if that says nothing, from its text.
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

    /// The table of the format's keys.
    pub const fn table(self) -> &'static Mapping {
        match self {
            Self::Agent => &AGENT,
            Self::Component => &COMPONENT,
            Self::Run => &RUN,
        }
    }
}
