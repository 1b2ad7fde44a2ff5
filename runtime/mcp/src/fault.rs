//! Errors of servers and of calls.

use chartc_core::expr::Duration as ChartDuration;
use chartc_runtime::oracle::OracleError;
use std::time::Duration;

/// The reason why a server cannot be used, or a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program cannot be started, or the address cannot be reached.
    #[error("cannot be started: {0}")]
    Start(String),
    /// The answer did not arrive in time.
    #[error("no answer to {what} after {}", ChartDuration(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))]
    Silent {
        /// The request.
        what: String,
        /// The time limit that it exceeded.
        after: Duration,
    },
    /// The connection ended. The call under way may have had effects.
    #[error("connection lost: {0}")]
    Gone(String),
    /// The server violates the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The server answered with an error.
    #[error("{0}")]
    Refused(String),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The server or endpoint answered with an HTTP error that may be temporary.
    #[error("status {status}{}", wait(*retry_after))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The waiting time that the server asked for, in milliseconds, if any.
        retry_after: Option<u64>,
    },
    /// The result exceeds `max_output`.
    #[error("the result has {bytes} bytes, and `max_output` is {limit}")]
    TooLong {
        /// The size of the result, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server has no such tool, or not the one that the chart was checked against.
    #[error("{0}")]
    Changed(String),
}

fn wait(retry_after: Option<u64>) -> String {
    retry_after
        .map(|ms| format!(", to be asked again after {}", ChartDuration(ms)))
        .unwrap_or_default()
}

impl Fault {
    /// Converts the error to one that a run handles. `by` names the tool in the message.
    pub(crate) fn told(self, by: &str) -> OracleError {
        let text = format!("{by}: {self}");
        match self {
            Self::Silent { after, .. } => {
                OracleError::Timeout(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
            }
            // The text of `OracleError::Connection` already says that the connection is lost.
            Self::Gone(why) => OracleError::Connection(format!("{by}: {why}")),
            Self::Start(_) | Self::Protocol(_) => OracleError::Connection(text),
            Self::Status { status: 429, retry_after } => OracleError::RateLimited { retry_after },
            Self::Status { status, retry_after } if status >= 500 => {
                OracleError::Server { status, why: String::new(), retry_after }
            }
            _ => OracleError::Other(text),
        }
    }

    /// The error without the values of secret variables, in the texts that other programs wrote.
    pub(crate) fn without(self, secrets: &[String]) -> Self {
        let hide = |text: String| hidden(&text, secrets);
        match self {
            Self::Start(why) => Self::Start(hide(why)),
            Self::Gone(why) => Self::Gone(hide(why)),
            Self::Protocol(why) => Self::Protocol(hide(why)),
            Self::Refused(why) => Self::Refused(hide(why)),
            Self::Failed(why) => Self::Failed(hide(why)),
            Self::Changed(why) => Self::Changed(hide(why)),
            // What the request was is followed by the last lines that the program wrote.
            Self::Silent { what, after } => Self::Silent { what: hide(what), after },
            other @ (Self::Status { .. } | Self::TooLong { .. }) => other,
        }
    }
}

/// The text with `…` in place of each secret. `secrets` must be ordered from the longest to the shortest, since one may contain another.
pub(crate) fn hidden(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), "…");
        }
    }
    text
}

/// The text, cut to at most `most` bytes and an ellipsis.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
