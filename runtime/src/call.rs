//! Why a call of a model, a person or a tool fails.

/// Why a call brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OracleError {
    /// Nobody is allowed to answer.
    #[error("no model may be asked: {0}")]
    Denied(String),
    /// The script has no answer, or no further one, for this step.
    #[error("{0}")]
    Script(String),
    /// No answer in time.
    #[error("no answer after {0} ms")]
    Timeout(u64),
    /// The model refused.
    #[error("the model refused: {0}")]
    Refusal(String),
    /// Too many requests (429).
    #[error("too many requests")]
    RateLimited {
        /// Milliseconds, if the provider named a time.
        retry_after: Option<u64>,
    },
    /// The provider failed (5xx).
    #[error("the provider failed with status {status}")]
    Server {
        /// HTTP status.
        status: u16,
        /// Milliseconds, if the provider named a time.
        retry_after: Option<u64>,
    },
    /// The connection was dropped or never made.
    #[error("connection lost: {0}")]
    Connection(String),
    /// An answer without content.
    #[error("an empty answer")]
    Empty,
    /// The answer does not end.
    #[error("an answer without end")]
    Endless,
    /// Anything else.
    #[error("{0}")]
    Other(String),
    /// An error that a record tells of, with its message.
    #[error("{why}")]
    Recorded {
        /// Its kind.
        kind: OracleErrorKind,
        /// Its message.
        why: String,
        /// Milliseconds, if the provider named a time.
        retry_after: Option<u64>,
    },
}

/// The kind of an [`OracleError`], as traces and recordings name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OracleErrorKind {
    /// [`OracleError::Denied`]
    Denied,
    /// [`OracleError::Script`]
    Script,
    /// [`OracleError::Timeout`]
    Timeout,
    /// [`OracleError::Refusal`]
    Refusal,
    /// [`OracleError::RateLimited`]
    RateLimited,
    /// [`OracleError::Server`]
    Server,
    /// [`OracleError::Connection`]
    Connection,
    /// [`OracleError::Empty`]
    Empty,
    /// [`OracleError::Endless`]
    Endless,
    /// [`OracleError::Other`]
    Other,
}

impl OracleErrorKind {
    const ALL: [Self; 10] = [
        Self::Denied,
        Self::Script,
        Self::Timeout,
        Self::Refusal,
        Self::RateLimited,
        Self::Server,
        Self::Connection,
        Self::Empty,
        Self::Endless,
        Self::Other,
    ];

    /// The kind in one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Script => "script",
            Self::Timeout => "timeout",
            Self::Refusal => "refusal",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Connection => "connection",
            Self::Empty => "empty",
            Self::Endless => "endless",
            Self::Other => "other",
        }
    }

    /// The kind with this word; `Other` if there is none.
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(Self::Other)
    }
}

impl OracleError {
    /// The kind, which decides what the error means for the run.
    pub const fn kind(&self) -> OracleErrorKind {
        match self {
            Self::Denied(_) => OracleErrorKind::Denied,
            Self::Script(_) => OracleErrorKind::Script,
            Self::Timeout(_) => OracleErrorKind::Timeout,
            Self::Refusal(_) => OracleErrorKind::Refusal,
            Self::RateLimited { .. } => OracleErrorKind::RateLimited,
            Self::Server { .. } => OracleErrorKind::Server,
            Self::Connection(_) => OracleErrorKind::Connection,
            Self::Empty => OracleErrorKind::Empty,
            Self::Endless => OracleErrorKind::Endless,
            Self::Other(_) => OracleErrorKind::Other,
            Self::Recorded { kind, .. } => *kind,
        }
    }

    /// Whether the provider may have billed for the call: the request was sent, and no status says that it went unanswered.
    pub const fn may_be_billed(&self) -> bool {
        match self.kind() {
            OracleErrorKind::Denied
            | OracleErrorKind::Script
            | OracleErrorKind::RateLimited
            | OracleErrorKind::Server => false,
            OracleErrorKind::Timeout
            | OracleErrorKind::Refusal
            | OracleErrorKind::Connection
            | OracleErrorKind::Empty
            | OracleErrorKind::Endless
            | OracleErrorKind::Other => true,
        }
    }

    /// Milliseconds to wait before the next call, as the provider asks.
    pub const fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after }
            | Self::Server { retry_after, .. }
            | Self::Recorded { retry_after, .. } => *retry_after,
            Self::Denied(_)
            | Self::Script(_)
            | Self::Timeout(_)
            | Self::Refusal(_)
            | Self::Connection(_)
            | Self::Empty
            | Self::Endless
            | Self::Other(_) => None,
        }
    }

    /// Whether the error ends the run: the host is at fault, so the chart must not handle it.
    pub const fn is_fatal(&self) -> bool {
        matches!(self.kind(), OracleErrorKind::Script)
    }

    /// The error that a record tells of: the word of its kind, and its message.
    pub fn recorded(word: &str, why: &str, retry_after: Option<u64>) -> Self {
        Self::Recorded { kind: OracleErrorKind::of(word), why: why.to_owned(), retry_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_known_again_by_its_kind_and_message() {
        for error in [
            OracleError::Denied("nobody".into()),
            OracleError::Script("used up".into()),
            OracleError::Timeout(30),
            OracleError::Refusal("no".into()),
            OracleError::RateLimited { retry_after: None },
            OracleError::RateLimited { retry_after: Some(7) },
            OracleError::Server { status: 503, retry_after: None },
            OracleError::Connection("reset".into()),
            OracleError::Empty,
            OracleError::Endless,
            OracleError::Other("odd".into()),
        ] {
            let read =
                OracleError::recorded(error.kind().word(), &error.to_string(), error.retry_after());
            assert_eq!(read.kind(), error.kind());
            assert_eq!(read.to_string(), error.to_string());
            assert_eq!(read.retry_after(), error.retry_after());
            assert_eq!(read.may_be_billed(), error.may_be_billed());
        }
    }
}
