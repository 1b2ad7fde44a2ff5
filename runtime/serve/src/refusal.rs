//! The reasons for refusing a request, independent of HTTP and MCP.

use chartc_runtime::agents::EngineError;
use chartc_store::StoreError;

/// The reason for refusing a request. A refused request has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No chart of this name is served.
    #[error("no chart `{name}` is served; there are {known}")]
    NoChart {
        /// The requested name.
        name: String,
        /// The names of the charts that are served.
        known: String,
    },
    /// There is no run of this name.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// A run of this name exists, with another chart or other values.
    #[error("run `{0}` was begun with another chart or other values")]
    Taken(String),
    /// The values do not fit the chart, or the request is malformed.
    #[error("{0}")]
    Misfit(String),
    /// The run cannot take the request in its present state, for example because it has ended.
    #[error("{0}")]
    NotNow(String),
    /// The answer names a question that is not open.
    #[error("{0}")]
    NotOpen(String),
    /// The maximum number of unfinished runs is reached.
    #[error("{0} runs have not ended, which is the most that this server takes")]
    TooMany(u64),
    /// The store cannot be read or written, or its engine has stopped.
    #[error("{0}")]
    Store(String),
}

impl Refusal {
    /// The error code for programs, which is stable.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoChart { .. } => "no_chart",
            Self::NoRun(_) => "no_run",
            Self::Taken(_) => "taken",
            Self::Misfit(_) => "misfit",
            Self::NotNow(_) => "not_now",
            Self::NotOpen(_) => "not_open",
            Self::TooMany(_) => "too_many",
            Self::Store(_) => "store",
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(why: StoreError) -> Self {
        if let StoreError::Run { why, .. } = why {
            Self::NotNow(why)
        } else if let StoreError::NotOpen { why, .. } = why {
            Self::NotOpen(why.to_string())
        } else {
            Self::Store(why.to_string())
        }
    }
}

impl From<EngineError> for Refusal {
    fn from(why: EngineError) -> Self {
        match why {
            EngineError::Event { why, .. } => Self::Misfit(why.to_string()),
            EngineError::Stopped { .. } => Self::NotNow(why.to_string()),
            EngineError::Away { .. } => Self::Store(why.to_string()),
        }
    }
}
