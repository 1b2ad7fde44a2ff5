//! The world in which agents act: the actions, the hosts of artifacts, the record of what an agent has done, and its working memory.
//!
//! `action` reads an answer as an action. `host` is the interface of a world, which `chartc-world` implements; `script` reads the file of
//! one. `record` keeps what came of the actions, `working` what the agent wants to keep in mind itself, and
//! `adapter` answers functions of a chart by methods of artifacts. The answer of an `llm` step, with `ada` as the agent:
//!
//! ```text
//! answer  {"action": "invoke_artifact", "artifact_id": "shop", "method": "buy", "args": [], "reasoning": "gold"}
//! action  Action::Invoke { artifact: "shop", method: "buy", arguments: [] }
//! host    the method `buy` has the result "sold"; ada pays 5 scrip to bob, the owner
//! record  history: "1. invoke_artifact(shop) -> SUCCESS: sold"
//! ```

mod record;
mod script;
mod working;

pub use crate::oracle::script::Results;
pub use record::{ACTIONS, Action, Entry, FAILURES, HISTORY, Record, SharedRecord};
pub(crate) use record::{REASONS, When, is_action, reason};
pub use script::{Declared, Disk, Price, Who, WorldError, WorldFile};
pub(crate) use working::size;
pub use working::{ConfigError, KEYS, WORKING_MEMORY, WorkingMemory, cut, extract, mapping};

use crate::settings::Models;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Host;
use chartc_core::model::{Chart, Function, FunctionKind, Method, Type};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

// The interface between agents and the world that has their artifacts.

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

    /// What an agent knows of its world at the beginning of a turn, for a chart that reads only the names of the context for which `reads`
    /// holds. Lists for other names may be left empty.
    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View;

    /// All that an agent knows of its world.
    fn view(&self, agent: &str) -> View {
        self.view_of(agent, &|_| true)
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
    /// The models that agents may choose, beside those of their own charts.
    pub models: Models,
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

// Events of a world, in the form in which agents see them: the same fields in every world.

/// The maximum number of events that an agent sees in a turn; the latest ones.
pub const EVENTS: usize = 20;

/// An event of a world. All fields are always present; a text that does not apply is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The position among all events, from 1. An action that causes no event has the number of the event before it.
    pub number: u64,
    /// The tick of the event; in a world without ticks, the agent's turn.
    pub tick: u64,
    /// The kind of event: `written`, `invoked`, `minted` and so on.
    pub event: &'a str,
    /// The name of the agent that caused it.
    pub by: &'a str,
    /// The action, such as `write_artifact`; empty for events that are no actions.
    pub action: &'a str,
    /// The id of the artifact that it concerns.
    pub artifact: &'a str,
    /// Whether it succeeded. Only actions can fail.
    pub success: bool,
}

impl Event<'_> {
    /// The event as a value, followed by the fields that only events of this kind have.
    pub fn value<'m>(&self, more: impl IntoIterator<Item = (&'m str, &'m Value)>) -> Value {
        let mut map = Map::new();
        let number = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        map.insert("number".into(), number(self.number));
        map.insert("tick".into(), number(self.tick));
        let texts = [
            ("event", self.event),
            ("by", self.by),
            ("action", self.action),
            ("artifact_id", self.artifact),
        ];
        for (name, text) in texts {
            map.insert(name.into(), Value::Text(text.to_owned()));
        }
        map.insert("success".into(), Value::Bool(self.success));
        for (name, value) in more {
            // Further fields never replace the common ones.
            if map.get(name).is_none() {
                map.insert(name.to_owned(), value.clone());
            }
        }
        Value::Map(map)
    }
}

/// The number of an event, and whether it is an action of this agent.
pub(crate) fn look(event: &Value, agent: &str) -> (u64, bool) {
    let Value::Map(event) = event else { return (0, false) };
    let number = match event.get("number") {
        Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
        Some(_) | None => 0,
    };
    let is = |name: &str, wanted: &dyn Fn(&str) -> bool| matches!(event.get(name), Some(Value::Text(text)) if wanted(text));
    (number, is("by", &|by| by == agent) && is("action", &|action| !action.is_empty()))
}

// Answers functions of a chart by methods of artifacts, as their `from` says.

/// The built-in function of an `agent.yaml` that the agent's record answers: whether its last three actions concerned the same artifact.
pub const REPEATS: &str = "repeats_one_artifact";

/// The error for two charts of a family that mean different methods by the same function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{function}` is the method `{}` of `{}` in one chart and another thing in another: give the functions names of their own",
    .method.name, .method.artifact
)]
pub struct TwoMethods {
    /// The name of the function.
    pub function: String,
    /// The method in the first chart that declares it.
    pub method: Method,
}

/// A host that answers functions with `from` by artifacts, and passes the others on to another host.
#[derive(Clone)]
pub struct Artifacts<H> {
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    methods: Arc<BTreeMap<String, Method>>,
    decides: bool,
    beside: H,
}

impl<H> Artifacts<H> {
    /// Creates the host for a chart and its child charts.
    ///
    /// # Errors
    /// A function means different methods in different charts.
    pub fn new(
        world: Arc<dyn ArtifactHost>,
        record: SharedRecord,
        charts: &[&Chart],
        beside: H,
    ) -> Result<Self, TwoMethods> {
        let functions = || charts.iter().flat_map(|chart| &chart.functions);
        let mut methods: BTreeMap<String, Method> = BTreeMap::new();
        for function in functions() {
            let Some(method) = method(function) else { continue };
            methods.entry(function.name.clone()).or_insert_with(|| method.clone());
        }
        // A function without `from` in one chart and with it in another is a conflict, too.
        for function in functions() {
            if let Some(known) = methods.get(&function.name)
                && method(function) != Some(known)
            {
                let (function, method) = (function.name.clone(), known.clone());
                return Err(TwoMethods { function, method });
            }
        }
        let decides = functions().any(is_of_the_record);
        Ok(Self { world, record, methods: Arc::new(methods), decides, beside })
    }

    /// The same host for another agent of these charts. Both share the world and the methods.
    #[must_use]
    pub fn another<B>(&self, record: SharedRecord, beside: B) -> Artifacts<B> {
        let Self { world, methods, decides, .. } = self;
        let (world, methods) = (world.clone(), methods.clone());
        Artifacts { world, record, methods, decides: *decides, beside }
    }
}

fn method(function: &Function) -> Option<&Method> {
    match &function.kind {
        FunctionKind::Pure { method, .. } => method.as_ref(),
        FunctionKind::Effect => None,
    }
}

/// Whether a function is the built-in one of the record, with the signature that the front end gives it.
fn is_of_the_record(function: &Function) -> bool {
    let is_text = matches!(function.params.as_slice(), [param] if param.ty == Type::Text);
    let is_yes =
        matches!(&function.kind, FunctionKind::Pure { result: Type::Bool, method: None, .. });
    function.name == REPEATS && is_text && is_yes
}

impl<H: Host> Host for Artifacts<H> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        if let Some(Method { artifact, name }) = self.methods.get(function) {
            let agent = self.record.with(|record| record.agent.clone());
            let result = self.world.invoke(&agent, artifact, name, arguments);
            return result.map_err(|failure| failure.to_string());
        }
        if self.decides && function == REPEATS {
            return Ok(Value::Bool(self.record.with(|record| record.repeats())));
        }
        self.beside.call(function, arguments)
    }
}
