//! The errors of calls to models, people and tools.

pub use chartc_core::tables::FailureKind;

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
        kind: FailureKind,
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

impl OracleError {
    /// The kind, which decides how the run goes on.
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::Denied(_) => FailureKind::Denied,
            Self::Script(_) => FailureKind::Script,
            Self::Timeout(_) => FailureKind::Timeout,
            Self::Refusal(_) => FailureKind::Refusal,
            Self::RateLimited { .. } => FailureKind::RateLimited,
            Self::Server { .. } => FailureKind::Server,
            Self::Connection(_) => FailureKind::Connection,
            Self::Unreachable(_) => FailureKind::Unreachable,
            Self::Rejected(_) => FailureKind::Rejected,
            Self::Empty => FailureKind::Empty,
            Self::Endless => FailureKind::Endless,
            Self::Aborted(_) => FailureKind::Aborted,
            Self::Other(_) => FailureKind::Other,
            Self::Recorded { kind, .. } => *kind,
        }
    }

    /// Whether the provider may charge for the call: the request was sent, and no status says that it was not processed.
    pub const fn may_be_billed(&self) -> bool {
        !matches!(
            self.kind(),
            FailureKind::Denied
                | FailureKind::Script
                | FailureKind::RateLimited
                | FailureKind::Server
                | FailureKind::Unreachable
                | FailureKind::Rejected
        )
    }

    /// Whether the call may have taken effect, although no usable answer arrived: the request may have been sent, and nobody says that it
    /// failed. Another attempt might repeat the effect.
    pub const fn leaves_doubt(&self) -> bool {
        matches!(
            self.kind(),
            FailureKind::Timeout
                | FailureKind::Connection
                | FailureKind::Endless
                | FailureKind::Aborted
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
        matches!(self.kind(), FailureKind::Script)
    }

    /// Whether no model is available: the server cannot be reached, or refuses such calls for good. If no model has answered in the run
    /// yet, the run ends with [`RunError::NoModel`](crate::RunError::NoModel).
    pub const fn is_unavailable(&self) -> bool {
        matches!(self.kind(), FailureKind::Unreachable | FailureKind::Rejected)
    }

    /// Creates an error from a recording: the name of its kind, its message, and the time to wait in milliseconds.
    pub fn recorded(word: &str, why: &str, retry_after: Option<u64>) -> Self {
        Self::Recorded {
            kind: FailureKind::of(word),
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
