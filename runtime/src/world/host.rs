//! Who has the artifacts that an agent acts on.

use super::action::Action;
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;

/// An action under way. Dropping it gives it up.
pub type Acting = Pin<Box<dyn Future<Output = Result<Done, Failure>> + Send>>;

/// Somebody who has artifacts. What a chart permits is not its business: who may do what to an artifact is.
pub trait ArtifactHost: Send + Sync {
    /// Asks a method for a condition, a prompt or a decision. Guards may be tried any number of times, so nothing changes by it that
    /// anybody pays for.
    ///
    /// # Errors
    /// Why there is no result.
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure>;

    /// Performs an action.
    ///
    /// # Errors
    /// Why nothing has come of it.
    fn act(&self, agent: &str, action: &Action) -> Acting;

    /// What an agent knows of its world when a turn begins.
    fn view(&self, agent: &str) -> View;

    /// Like [`ArtifactHost::view`], for a chart that reads only the names of the context for which `reads` is true: lists behind other names may stay empty.
    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        let _ = reads;
        self.view(agent)
    }

    /// The state for a snapshot; nothing if the world outlives the process.
    fn save(&self) -> Value {
        Value::None
    }

    /// Restores what [`ArtifactHost::save`] returned.
    ///
    /// # Errors
    /// Why it cannot: it is another world's, say.
    fn load(&self, saved: &Value) -> Result<(), String> {
        match saved {
            Value::None => Ok(()),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Duration(_)
            | Value::List(_)
            | Value::Map(_) => Err("this world has nothing to take back".into()),
        }
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// What it brought: the content that was read, the result of a method.
    pub value: Value,
    /// What it has changed, in words, for the trace.
    pub changes: Vec<String>,
}

/// What an agent knows of its world. Lists are those of the context: artifacts as mappings, its own and other agents by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// Scrip.
    pub balance: i64,
    /// `{id, type, created_by, executable}` of each artifact that it may see.
    pub artifacts: Vec<Value>,
    /// Ids of those that it owns, its record left out.
    pub own: Vec<Value>,
    /// Names of other agents.
    pub others: Vec<Value>,
    /// Bytes that it has written, and may write.
    pub disk: Option<(u64, u64)>,
    /// The content of the artifact that has the agent's own name: its record in the world.
    pub record: Option<Value>,
    /// Scrip of every agent, by name.
    pub balances: Map,
    /// What the agent may still use of each resource in words that its prompts know, beside the disk: `compute`, `llm_calls`, `llm_tokens`.
    pub quotas: Map,
    /// What happened in the world so far: the number of the last event.
    pub event_number: u64,
    /// The last events of the world that the agent may know, the oldest first; empty where the world keeps none.
    pub recent_events: Vec<Value>,
    /// `{artifact_id, agent, bid}` of each submission that waits for the next auction.
    pub submissions: Vec<Value>,
    /// The state of the economy in words: scrip in circulation, the agent's rank, the next auction. Empty where there is none.
    pub economy: String,
    /// What was earned from others and from the mint.
    pub earned: i64,
    /// Milliseconds of the run that have passed, and all that it has; `None` where nobody has set an end.
    pub time: Option<(u64, u64)>,
    /// The number of the tick that is thought about; `None` where there are no ticks, so that the agent's own turns count.
    pub tick: Option<u32>,
}

/// Why an action, or the thinking before it, has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {why}", .kind.word())]
pub struct Failure {
    /// Which of the known failures.
    pub kind: FailureKind,
    /// What it was about.
    pub why: String,
}

impl Failure {
    /// A failure with its reason.
    pub fn new(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }
}

/// The failures that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no such artifact or method.
    NotFound,
    /// The agent may not do that.
    PermissionDenied,
    /// It costs more than there is.
    InsufficientScrip,
    /// It takes more room than there is.
    InsufficientDisk,
    /// It takes more compute than is left of this tick.
    InsufficientCompute,
    /// A chart that was to be written has errors: nothing is written.
    Rejected,
    /// The method itself has failed.
    InvocationFailed,
    /// The call of the model has failed.
    LlmError,
    /// A limit of tokens or cost left no room for the call.
    InsufficientLlmTokens,
    /// What the model said is no action that there is, or none that could be read.
    IntentRejected,
    /// A step that asks no model has failed.
    StepFailed,
}

impl FailureKind {
    /// Its name, as traces and prompts have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::PermissionDenied => "permission_denied",
            Self::InsufficientScrip => "insufficient_scrip",
            Self::InsufficientDisk => "insufficient_disk",
            Self::InsufficientCompute => "insufficient_compute",
            Self::Rejected => "does_not_compile",
            Self::InvocationFailed => "invocation_failed",
            Self::LlmError => "llm_error",
            Self::InsufficientLlmTokens => "insufficient_llm_tokens",
            Self::IntentRejected => "intent_rejected",
            Self::StepFailed => "step_failed",
        }
    }
}
