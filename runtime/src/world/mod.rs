//! Where agents act: the actions that there are, who has the artifacts, what an agent has done and what it keeps in mind.

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
