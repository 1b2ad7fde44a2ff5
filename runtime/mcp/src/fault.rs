//! Why a server cannot be used, or a call brought nothing.

use chartc_core::expr::Duration as ChartDuration;
use chartc_runtime::oracle::OracleError;
use std::time::Duration;

/// Why a server cannot be used, or a call brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program cannot be started, or the address not reached.
    #[error("cannot be started: {0}")]
    Start(String),
    /// No answer in time.
    #[error("no answer to {what} after {}", ChartDuration(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))]
    Silent {
        /// What it was asked.
        what: String,
        /// How long it had.
        after: Duration,
    },
    /// The connection ended. The call under way may have had effects.
    #[error("connection lost: {0}")]
    Gone(String),
    /// The server does not keep to the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The server answered with an error.
    #[error("{0}")]
    Refused(String),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// HTTP status.
    #[error("status {status}{}", wait(*retry_after))]
    Status {
        /// The status.
        status: u16,
        /// Milliseconds to wait, if the server named a time.
        retry_after: Option<u64>,
    },
    /// The result exceeds `max_output`.
    #[error("the result has {bytes} bytes, and `max_output` is {limit}")]
    TooLong {
        /// Its size.
        bytes: usize,
        /// What is allowed.
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
    /// The error as a run handles it.
    pub(crate) fn told(self, by: &str) -> OracleError {
        let text = format!("{by}: {self}");
        match self {
            Self::Silent { after, .. } => {
                OracleError::Timeout(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
            }
            // The error says itself that the connection is lost.
            Self::Gone(why) => OracleError::Connection(format!("{by}: {why}")),
            Self::Start(_) | Self::Protocol(_) => OracleError::Connection(text),
            Self::Status { status: 429, retry_after } => OracleError::RateLimited { retry_after },
            Self::Status { status, retry_after } if status >= 500 => {
                OracleError::Server { status, why: String::new(), retry_after }
            }
            Self::Status { .. }
            | Self::Refused(_)
            | Self::Failed(_)
            | Self::TooLong { .. }
            | Self::Changed(_) => OracleError::Other(text),
        }
    }

    /// With text that the world wrote without the values of secret variables.
    pub(crate) fn without(self, secrets: &[String]) -> Self {
        let hide = |text: String| hidden(&text, secrets);
        match self {
            Self::Start(why) => Self::Start(hide(why)),
            Self::Gone(why) => Self::Gone(hide(why)),
            Self::Protocol(why) => Self::Protocol(hide(why)),
            Self::Refused(why) => Self::Refused(hide(why)),
            Self::Failed(why) => Self::Failed(hide(why)),
            Self::Changed(why) => Self::Changed(hide(why)),
            other @ (Self::Silent { .. } | Self::Status { .. } | Self::TooLong { .. }) => other,
        }
    }
}

/// The text with `…` in place of secrets.
pub(crate) fn hidden(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), "…");
        }
    }
    text
}

/// The beginning of a long text.
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
