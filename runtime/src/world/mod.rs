//! The world in which agents act: the actions, the hosts of artifacts, the record of what an agent has done, and its working memory.
//!
//! `action` reads an answer as an action. `host` is the interface of a world; `script` implements it in memory, from a file, and
//! `chartc-world` for many agents. `record` keeps what came of the actions, `working` what the agent wants to keep in mind itself, and
//! `adapter` answers functions of a chart by methods of artifacts. The answer of an `llm` step, with `ada` as the agent:
//!
//! ```text
//! answer  {"action": "invoke_artifact", "artifact_id": "shop", "method": "buy", "args": [], "reasoning": "gold"}
//! action  Action::Invoke { artifact: "shop", method: "buy", arguments: [] }
//! host    the method `buy` has the result "sold"; ada pays 5 scrip to bob, the owner
//! record  history: "1. invoke_artifact(shop) -> SUCCESS: sold"
//! ```

mod action;
mod adapter;
mod event;
mod host;
mod record;
mod script;
mod working;

pub use crate::oracle::script::Results;
pub use action::{ACTIONS, Action};
pub(crate) use action::{REASONS, is_action};
pub use adapter::{Artifacts, REPEATS, TwoMethods};
pub(crate) use event::look;
pub use event::{EVENTS, Event};
pub use host::{Acting, ArtifactHost, Done, Failure, FailureKind, View};
pub(crate) use record::When;
pub use record::{Entry, FAILURES, HISTORY, Record, SharedRecord};
pub use script::{Declared, Disk, Price, Who, World, WorldError, WorldFile};
pub(crate) use working::size;
pub use working::{ConfigError, KEYS, WorkingMemory, cut, extract};
