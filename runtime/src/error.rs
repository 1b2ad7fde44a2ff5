//! The errors that stop a run. An error that a chart can handle is an `error.*` event instead.

use crate::call::OracleError;
use crate::memory::MemoryError;

/// The reason why a run cannot continue, or why an input or event does not fit the chart.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The chart declares no event of this name.
    #[error("no event `{name}`; {}", listed(.known))]
    UnknownEvent {
        /// The given name.
        name: String,
        /// The names of the declared events.
        known: Vec<String>,
    },
    /// The data does not fit the declaration of the event.
    #[error("event `{name}`: {why}")]
    Event {
        /// The name of the event.
        name: String,
        /// The reason.
        why: String,
    },
    /// The input does not exist, or the value does not fit its type.
    #[error("input `{name}`: {why}")]
    Input {
        /// The given name.
        name: String,
        /// The reason.
        why: String,
    },
    /// The run cannot start, for example because an input is missing.
    #[error("cannot start: {0}")]
    Start(String),
    /// The host's oracle failed, for example because its script has no further answer. The chart cannot handle this.
    #[error("step `{step}`: {error}")]
    Oracle {
        /// The step that asked.
        step: String,
        /// The error of the oracle.
        error: OracleError,
    },
    /// No model has answered yet, and neither the step's client nor its fallbacks are available. The run has used nothing, so it can be
    /// started again, or continued from its last saved state.
    #[error("step `{step}`: {why}")]
    NoModel {
        /// The step that asked.
        step: String,
        /// For each client, the reason and a remedy.
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
    /// Whether the host's event or input is at fault, not the run.
    pub fn is_about_input(&self) -> bool {
        matches!(self, Self::UnknownEvent { .. } | Self::Event { .. } | Self::Input { .. })
    }

    /// Creates the error for a refused input. Removes the input's name from the machine's message, as this error adds it.
    pub(crate) fn input(name: &str, why: &str) -> Self {
        let why = why.strip_prefix(&format!("input `{name}`: ")).unwrap_or(why).to_owned();
        Self::Input { name: name.to_owned(), why }
    }

    /// Creates the error for a refused event. Removes the event's name from the machine's message, as this error adds it.
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
