//! The errors of calls to models, people and tools.

/// The reason why a call brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OracleError {
    /// No model may be asked in this run.
    #[error("no model may be asked: {0}")]
    Denied(String),
    /// The script has no answer, or no further one, for the step, or the host is misconfigured.
    #[error("{0}")]
    Script(String),
    /// No answer arrived in time; the timeout in milliseconds.
    #[error("no answer after {0} ms")]
    Timeout(u64),
    /// The model declined to answer; its reason.
    #[error("the model refused: {0}")]
    Refusal(String),
    /// The provider has received too many requests (HTTP status 429).
    #[error("too many requests")]
    RateLimited {
        /// The time to wait, in milliseconds, if the provider named one.
        retry_after: Option<u64>,
    },
    /// The provider failed (HTTP status 5xx).
    #[error("the provider failed with status {status}{}", after_colon(.why))]
    Server {
        /// The HTTP status.
        status: u16,
        /// The provider's message; may be empty.
        why: String,
        /// The time to wait, in milliseconds, if the provider named one.
        retry_after: Option<u64>,
    },
    /// The connection was lost after the request may have been sent.
    #[error("connection lost: {0}")]
    Connection(String),
    /// No connection was made, so nothing was sent. The text names the address and a remedy.
    #[error("{0}")]
    Unreachable(String),
    /// The server refuses the call and would refuse it again (HTTP status 400, 401, 403, 404, …). The text names a remedy.
    #[error("{0}")]
    Rejected(String),
    /// The answer has no content.
    #[error("an empty answer")]
    Empty,
    /// The answer does not end.
    #[error("an answer without end")]
    Endless,
    /// The call was made, and its answer broke off or cannot be read.
    #[error("{0}")]
    Aborted(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
    /// An error from a recording or a script.
    #[error("{why}")]
    Recorded {
        /// The kind of the recorded error.
        kind: OracleErrorKind,
        /// The message of the recorded error.
        why: String,
        /// The time to wait, in milliseconds, if the provider named one.
        retry_after: Option<u64>,
        /// What the trace says of the call beside the error; `None` for a recording, in which the kind of the error decides.
        trace: Option<Traced>,
    },
}

/// What a trace says of a failed call. Earlier versions had no doubts of failed calls, and did not wait before they called a tool again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced {
    /// Whether the call was in doubt.
    pub doubt: bool,
    /// Whether the next attempt waited.
    pub waits: bool,
}

/// The kind of an [`OracleError`], as it is named in traces and recordings.
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
    /// [`OracleError::Unreachable`]
    Unreachable,
    /// [`OracleError::Rejected`]
    Rejected,
    /// [`OracleError::Empty`]
    Empty,
    /// [`OracleError::Endless`]
    Endless,
    /// [`OracleError::Aborted`]
    Aborted,
    /// [`OracleError::Other`]
    Other,
}

impl OracleErrorKind {
    const ALL: [Self; 13] = [
        Self::Denied,
        Self::Script,
        Self::Timeout,
        Self::Refusal,
        Self::RateLimited,
        Self::Server,
        Self::Connection,
        Self::Unreachable,
        Self::Rejected,
        Self::Empty,
        Self::Endless,
        Self::Aborted,
        Self::Other,
    ];

    /// The name of the kind in traces and recordings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Script => "script",
            Self::Timeout => "timeout",
            Self::Refusal => "refusal",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Connection => "connection",
            Self::Unreachable => "unreachable",
            Self::Rejected => "rejected",
            Self::Empty => "empty",
            Self::Endless => "endless",
            Self::Aborted => "aborted",
            Self::Other => "other",
        }
    }

    /// The kind with a name; `Other` if there is none.
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(Self::Other)
    }
}

impl OracleError {
    /// The kind, which decides how the run goes on.
    pub const fn kind(&self) -> OracleErrorKind {
        match self {
            Self::Denied(_) => OracleErrorKind::Denied,
            Self::Script(_) => OracleErrorKind::Script,
            Self::Timeout(_) => OracleErrorKind::Timeout,
            Self::Refusal(_) => OracleErrorKind::Refusal,
            Self::RateLimited { .. } => OracleErrorKind::RateLimited,
            Self::Server { .. } => OracleErrorKind::Server,
            Self::Connection(_) => OracleErrorKind::Connection,
            Self::Unreachable(_) => OracleErrorKind::Unreachable,
            Self::Rejected(_) => OracleErrorKind::Rejected,
            Self::Empty => OracleErrorKind::Empty,
            Self::Endless => OracleErrorKind::Endless,
            Self::Aborted(_) => OracleErrorKind::Aborted,
            Self::Other(_) => OracleErrorKind::Other,
            Self::Recorded { kind, .. } => *kind,
        }
    }

    /// Whether the provider may charge for the call: the request was sent, and no status says that it was not processed.
    pub const fn may_be_billed(&self) -> bool {
        !matches!(
            self.kind(),
            OracleErrorKind::Denied
                | OracleErrorKind::Script
                | OracleErrorKind::RateLimited
                | OracleErrorKind::Server
                | OracleErrorKind::Unreachable
                | OracleErrorKind::Rejected
        )
    }

    /// Whether the call may have taken effect, although no usable answer arrived: the request may have been sent, and nobody says that it
    /// failed. Another attempt might repeat the effect.
    pub const fn leaves_doubt(&self) -> bool {
        matches!(
            self.kind(),
            OracleErrorKind::Timeout
                | OracleErrorKind::Connection
                | OracleErrorKind::Endless
                | OracleErrorKind::Aborted
        )
    }

    /// Whether the next attempt was made at once, as a trace says.
    pub const fn is_unwaited(&self) -> bool {
        matches!(self, Self::Recorded { trace: Some(Traced { waits: false, .. }), .. })
    }

    /// The time to wait before the next attempt, in milliseconds, if the provider named one.
    pub const fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after }
            | Self::Server { retry_after, .. }
            | Self::Recorded { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the error ends the run. The host is at fault then, so the chart must not handle it.
    pub const fn is_fatal(&self) -> bool {
        matches!(self.kind(), OracleErrorKind::Script)
    }

    /// Whether no model is available: the server cannot be reached, or refuses such calls for good. If no model has answered in the run
    /// yet, the run ends with [`RunError::NoModel`](crate::RunError::NoModel).
    pub const fn is_unavailable(&self) -> bool {
        matches!(self.kind(), OracleErrorKind::Unreachable | OracleErrorKind::Rejected)
    }

    /// Creates an error from a recording: the name of its kind, its message, and the time to wait in milliseconds.
    pub fn recorded(word: &str, why: &str, retry_after: Option<u64>) -> Self {
        Self::Recorded {
            kind: OracleErrorKind::of(word),
            why: why.to_owned(),
            retry_after,
            trace: None,
        }
    }
}

fn after_colon(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
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
            OracleError::Server { status: 503, why: String::new(), retry_after: None },
            OracleError::Server { status: 500, why: "out of memory".into(), retry_after: Some(3) },
            OracleError::Connection("reset".into()),
            OracleError::Unreachable("no server answers".into()),
            OracleError::Rejected("404 Not Found: no such model".into()),
            OracleError::Empty,
            OracleError::Endless,
            OracleError::Aborted("not JSON".into()),
            OracleError::Other("odd".into()),
        ] {
            let read =
                OracleError::recorded(error.kind().word(), &error.to_string(), error.retry_after());
            assert_eq!(read.kind(), error.kind());
            assert_eq!(read.to_string(), error.to_string());
            assert_eq!(read.retry_after(), error.retry_after());
            assert_eq!(read.may_be_billed(), error.may_be_billed());
            assert_eq!(read.leaves_doubt(), error.leaves_doubt());
        }
    }
}
