//! Errors that stop a run. An error that the chart can handle is an `error.*` event instead.

use crate::call::OracleError;
use crate::memory::MemoryError;

/// The run cannot go on, or an input or event does not fit the chart.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The chart declares no such event.
    #[error("no event `{name}`; {}", listed(.known))]
    UnknownEvent {
        /// The name as given.
        name: String,
        /// The declared events.
        known: Vec<String>,
    },
    /// The data of an event does not fit what it declares.
    #[error("event `{name}`: {why}")]
    Event {
        /// The event.
        name: String,
        /// What does not fit.
        why: String,
    },
    /// An input does not exist, or the value does not fit.
    #[error("input `{name}`: {why}")]
    Input {
        /// The name as given.
        name: String,
        /// What does not fit.
        why: String,
    },
    /// The run cannot start: an input is missing, for example.
    #[error("cannot start: {0}")]
    Start(String),
    /// The oracle itself failed, for example because its script is used up. The chart cannot handle this.
    #[error("step `{step}`: {error}")]
    Oracle {
        /// The step that asked.
        step: String,
        /// What happened.
        error: OracleError,
    },
    /// No model has answered yet, and none of the step's client and its fallbacks can be reached or takes such calls. The run has used nothing:
    /// it can begin again, or continue from where it was saved.
    #[error("step `{step}`: {why}")]
    NoModel {
        /// The step that asked.
        step: String,
        /// For each client what is wrong, and what to start or set.
        why: String,
    },
    /// One event caused more calls than a session allows.
    #[error("more than {0} model calls for one event: the chart asks in a cycle")]
    TooManyCalls(u32),
    /// Deadlines come due again and again at the same moment.
    #[error("a deadline is due again and again at {0} ms")]
    NoProgress(u64),
    /// The agent's memory cannot be read or written.
    #[error("the memory: {0}")]
    Memory(#[from] MemoryError),
    /// The trace could not be written.
    #[error("the trace cannot be written: {0}")]
    Trace(#[from] std::io::Error),
}

impl RunError {
    /// Whether the error is in what the host sent, not in the run.
    pub fn is_about_input(&self) -> bool {
        match self {
            Self::UnknownEvent { .. } | Self::Event { .. } | Self::Input { .. } => true,
            Self::Start(_)
            | Self::Oracle { .. }
            | Self::NoModel { .. }
            | Self::TooManyCalls(_)
            | Self::NoProgress(_)
            | Self::Memory(_)
            | Self::Trace(_) => false,
        }
    }

    /// A refused input. The machine's message may already begin with the input's name.
    pub(crate) fn input(name: &str, why: &str) -> Self {
        let why = why.strip_prefix(&format!("input `{name}`: ")).unwrap_or(why).to_owned();
        Self::Input { name: name.to_owned(), why }
    }

    /// A refused event. The machine's message may already begin with the event's name.
    pub(crate) fn event(name: &str, why: &str) -> Self {
        let why = why.strip_prefix(&format!("event `{name}`: ")).unwrap_or(why).to_owned();
        Self::Event { name: name.to_owned(), why }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none is declared".into();
    }
    let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    format!("declared: {}", list.join(", "))
}
