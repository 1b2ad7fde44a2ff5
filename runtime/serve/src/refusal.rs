//! Why a request is not done.

use chartc_runtime::agents::EngineError;
use chartc_store::StoreError;

/// Why a request is not done. Nothing has happened then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such chart.
    #[error("no chart `{name}` is served; there are {known}")]
    NoChart {
        /// What was asked for.
        name: String,
        /// Those that are served.
        known: String,
    },
    /// There is no such run.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// The name of a new run belongs to another one.
    #[error("run `{0}` was begun with another chart or other values")]
    Taken(String),
    /// Something does not fit the chart, or is no request.
    #[error("{0}")]
    Misfit(String),
    /// The run cannot take it now.
    #[error("{0}")]
    NotNow(String),
    /// An answer names a question that is not open.
    #[error("{0}")]
    NotOpen(String),
    /// Too many runs have not ended.
    #[error("{0} runs have not ended, which is the most that this server takes")]
    TooMany(u64),
    /// The store cannot be read or written.
    #[error("{0}")]
    Store(String),
}

impl Refusal {
    /// For programs.
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
