//! The interface between agents and the world that has their artifacts.

use super::action::Action;
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;

/// An action under way. Dropping it cancels the action.
pub type Acting = Pin<Box<dyn Future<Output = Result<Done, Failure>> + Send>>;

/// A world with artifacts. It decides what an agent may do with an artifact; the chart has already decided what the agent may do at all.
pub trait ArtifactHost: Send + Sync {
    /// Calls a method for a guard, a prompt or a decision. Nothing is paid, and nothing may change that anybody pays for, because guards
    /// are evaluated any number of times.
    ///
    /// # Errors
    /// The reason why there is no result.
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
    /// The reason why the action has failed.
    fn act(&self, agent: &str, action: &Action) -> Acting;

    /// What an agent knows of its world at the beginning of a turn.
    fn view(&self, agent: &str) -> View;

    /// Like [`ArtifactHost::view`], for a chart that reads only the names of the context for which `reads` holds. Lists for other names
    /// may be left empty.
    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        let _ = reads;
        self.view(agent)
    }

    /// The state of the world for a snapshot; `none` if the world outlives the process.
    fn save(&self) -> Value {
        Value::None
    }

    /// Restores the result of [`ArtifactHost::save`].
    ///
    /// # Errors
    /// The reason why the state cannot be restored, for example because it belongs to another world.
    fn load(&self, saved: &Value) -> Result<(), String> {
        match saved {
            Value::None => Ok(()),
            _ => Err("this world has nothing to take back".into()),
        }
    }
}

/// The result of a successful action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// The content that was read, or the result of a method; else `none`.
    pub value: Value,
    /// The changes in the world, in words, for the trace.
    pub changes: Vec<String>,
}

/// What an agent knows of its world at the beginning of a turn, in the form of the context's inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// The agent's scrip.
    pub balance: i64,
    /// The artifacts that the agent may see, each as `{id, type, created_by, executable}`.
    pub artifacts: Vec<Value>,
    /// The ids of the artifacts that the agent owns, without its own record.
    pub own: Vec<Value>,
    /// The names of the other agents.
    pub others: Vec<Value>,
    /// The bytes that the agent's artifacts take, and the maximum; `None` without a limit.
    pub disk: Option<(u64, u64)>,
    /// The agent's record in the world: the content of the artifact that has the agent's name.
    pub record: Option<Value>,
    /// The scrip of every agent, by name.
    pub balances: Map,
    /// What the agent may still use of other resources, by their names in prompts: `compute`, `llm_calls`, `llm_tokens`.
    pub quotas: Map,
    /// The number of the world's last event; 0 without events.
    pub event_number: u64,
    /// The latest events that the agent may know, oldest first; empty if the world keeps none.
    pub recent_events: Vec<Value>,
    /// The submissions that wait for the next auction, each as `{artifact_id, agent, bid}`.
    pub submissions: Vec<Value>,
    /// The state of the economy in words: scrip in circulation, the agent's rank, the next auction. Empty if there is none.
    pub economy: String,
    /// The scrip that the agent has earned from others and from the mint.
    pub earned: i64,
    /// The time of the run that has passed and its total, in milliseconds; `None` if the run has no set end.
    pub time: Option<(u64, u64)>,
    /// The number of the present tick; `None` in a world without ticks, which counts the agent's turns instead.
    pub tick: Option<u32>,
}

/// The failure of an action, or of the turn that should have chosen one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {why}", .kind.word())]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The reason.
    pub why: String,
}

impl Failure {
    /// Creates a failure.
    pub fn new(kind: FailureKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }
}

/// The kinds of failures, which have stable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no such artifact or method.
    NotFound,
    /// The agent is not permitted to do this.
    PermissionDenied,
    /// The agent does not have enough scrip.
    InsufficientScrip,
    /// The agent does not have enough disk.
    InsufficientDisk,
    /// The agent does not have enough compute left in this tick.
    InsufficientCompute,
    /// A chart that was to be written has errors. Nothing was written.
    Rejected,
    /// The method has failed.
    InvocationFailed,
    /// The call of the model has failed.
    LlmError,
    /// A limit on tokens or cost left no room for the call.
    InsufficientLlmTokens,
    /// The model's answer is no known action, or unusable.
    IntentRejected,
    /// A step that asks no model has failed.
    StepFailed,
}

impl FailureKind {
    /// The name of the kind in traces and prompts.
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
