//! The saved form of a session.

use super::begin::ElementPlace;
use super::history::SavedHistory;
use super::named::{CallSite, NamedPath, Spent};
use super::retry::Failure;
use super::{SavedAgent, TurnOutcome};
use crate::executor::Used;
use crate::oracle::Question;
use crate::trace::Line;
use chartc_core::host::ToolCall;
use chartc_core::machine::{Instant, LimitKind, Status};
use chartc_core::saved::{self, Comparison};
use chartc_core::tables::Tables;
use serde::{Deserialize, Serialize};

/// The version of the format of [`Saved`].
pub(super) const FORMAT: u32 = 3;

/// A run between two inputs, as data: the state of the machine and of its session, with each open question as it was asked. The state of
/// oracles is not included: a script starts from its beginning. On resuming, the driver may know the outcome of calls that were under
/// way; if it does not, the chart decides.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    pub(super) format: u32,
    pub(super) machine: saved::Saved,
    pub(super) now: Instant,
    pub(super) seq: u64,
    pub(super) turns: u32,
    pub(super) calls: u32,
    /// Whether a model has answered a question in this run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) answered: bool,
    /// The numbers of calls since the last event or turn, by the element for which they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) recent_calls: Vec<(ElementPlace, u32)>,
    pub(super) status: Option<Status>,
    pub(super) limit: Option<LimitKind>,
    pub(super) failed: Option<String>,
    pub(super) open: Vec<Open>,
    pub(super) spent: Spent,
    pub(super) heard: TurnOutcome,
    pub(super) section: String,
    /// The agent of the run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<SavedAgent>,
    pub(super) used: Vec<(CallSite, (u32, Vec<Used>))>,
    pub(super) failures: Vec<(CallSite, Failure)>,
    pub(super) complaints: Vec<(CallSite, (u32, String))>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<(NamedPath, SavedHistory)>,
}

/// A call under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) at: CallSite,
    pub(super) what: PendingCall,
    /// The name of the step when the call was made, if the step has another name now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) named: Option<CallSite>,
}

/// The state of a call that is under way, with its data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PendingCall {
    /// The question waits for the time of its next attempt.
    Wait { question: Box<Question>, until: Instant },
    /// The question waits for room under the limits.
    Room { question: Box<Question> },
    /// The question was asked at this time.
    Question { question: Box<Question>, since: Instant },
    /// The tool was called.
    Tool { call: ToolCall },
}

impl Saved {
    /// The saved machine. [`Interpreter::resume`](chartc_core::interpreter::Interpreter::resume) restores an interpreted one,
    /// [`Session::resume`](super::Session::resume) any other.
    pub fn machine(&self) -> &saved::Saved {
        &self.machine
    }

    /// Compares the saved run with a version of its chart and child charts. `tables` finds the tables of a chart by its name.
    pub fn compare<'t>(&self, tables: impl Fn(&str) -> Option<Tables<'t>>) -> Comparison {
        self.machine.compare_all(&tables)
    }

    /// The last transitions, as the `taken` lines of a trace: those of the run's own chart, then those of its child charts; each oldest
    /// first.
    pub fn history(&self) -> impl Iterator<Item = Line> {
        self.history.iter().flat_map(|(_, told)| told.lines())
    }

    /// The agent of the run, if there is one.
    pub fn agent(&self) -> Option<&SavedAgent> {
        self.agent.as_ref()
    }

    pub(crate) fn with_agent(self, kept: SavedAgent) -> Self {
        Self { agent: Some(kept), ..self }
    }

    /// The time of the snapshot on the run's clock. The clock of a session that continues the run must start there.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The number of turns so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The status with which the run has ended; `None` if it has not.
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// The run as JSON text with a checksum, for [`Saved::read`].
    ///
    /// # Errors
    /// A value cannot be serialised.
    pub fn text(&self) -> serde_json::Result<String> {
        let run = serde_json::to_string(self)?;
        let sum = checksum(run.as_bytes());
        Ok(format!("{{\"format\":{FORMAT},\"sum\":\"{sum:016x}\",\"run\":{run}}}"))
    }

    /// Parses the result of [`Saved::text`].
    ///
    /// # Errors
    /// The text is no snapshot of a run, has another version, or is damaged.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            sum: Option<String>,
            run: Option<serde_json::Value>,
        }
        let none = |why: serde_json::Error| format!("it is no snapshot of a run: {why}");
        let Head { format, sum, run } = serde_json::from_str(text).map_err(none)?;
        if format != FORMAT {
            return Err(format!("it has format version {format}, not {FORMAT}"));
        }
        let (Some(sum), Some(run)) = (sum, run) else {
            return Err("it is no snapshot of a run: `sum` or `run` is missing".into());
        };
        // The version is checked first, because other versions may have other fields.
        let version = run.get("agent").and_then(|agent| agent.get("version"));
        let version =
            version.and_then(serde_json::Value::as_u64).unwrap_or(SavedAgent::VERSION.into());
        if version != u64::from(SavedAgent::VERSION) {
            return Err(format!("its agent has version {version}, not {}", SavedAgent::VERSION));
        }
        let saved: Self = serde_json::from_value(run).map_err(none)?;
        // The checksum is computed from a new serialisation, so that a text which was only reformatted stays valid.
        let again = serde_json::to_string(&saved).map_err(none)?;
        if sum != format!("{:016x}", checksum(again.as_bytes())) {
            return Err("it is damaged: it does not have the checksum that it says".into());
        }
        Ok(saved)
    }
}

/// A checksum (FNV-1a, 64 bits). It detects damage, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
