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
}

impl OracleError {
    /// The error in one word, for the trace.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Denied(_) => "denied",
            Self::Script(_) => "script",
            Self::Timeout(_) => "timeout",
            Self::Refusal(_) => "refusal",
            Self::RateLimited { .. } => "rate_limited",
            Self::Server { .. } => "server",
            Self::Connection(_) => "connection",
            Self::Empty => "empty",
            Self::Endless => "endless",
            Self::Other(_) => "other",
        }
    }

    /// Whether the provider may have billed for the call: the request was sent, and no status says that it went unanswered.
    pub const fn may_be_billed(&self) -> bool {
        match self {
            Self::Denied(_) | Self::Script(_) | Self::RateLimited { .. } | Self::Server { .. } => {
                false
            }
            Self::Timeout(_)
            | Self::Refusal(_)
            | Self::Connection(_)
            | Self::Empty
            | Self::Endless
            | Self::Other(_) => true,
        }
    }

    /// Milliseconds to wait before the next call, as the provider asks.
    pub const fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after } | Self::Server { retry_after, .. } => *retry_after,
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
        matches!(self, Self::Script(_))
    }

    /// Restores an error from its [`OracleError::kind`] and its message.
    pub fn told(kind: &str, why: &str, retry_after: Option<u64>) -> Self {
        let after = |start: &str| why.strip_prefix(start).map(str::to_owned);
        let read = match kind {
            "denied" => after("no model may be asked: ").map(Self::Denied),
            "script" => Some(Self::Script(why.to_owned())),
            "timeout" => after("no answer after ")
                .and_then(|rest| rest.strip_suffix(" ms")?.parse().ok())
                .map(Self::Timeout),
            "refusal" => after("the model refused: ").map(Self::Refusal),
            "rate_limited" => Some(Self::RateLimited { retry_after }),
            "server" => after("the provider failed with status ")
                .and_then(|status| status.parse().ok())
                .map(|status| Self::Server { status, retry_after }),
            "connection" => after("connection lost: ").map(Self::Connection),
            "empty" => Some(Self::Empty),
            "endless" => Some(Self::Endless),
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other(why.to_owned()))
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
            let told = OracleError::told(error.kind(), &error.to_string(), error.retry_after());
            assert_eq!(told, error);
        }
    }
}
