//! Why an intake cannot go on.

use redis::{ErrorKind, RedisError};

/// An intake has ended before it was told to. None of these texts holds a password.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The address is none of a Redis server.
    #[error(
        "this is not the address of a Redis server: write redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] (TLS is not built in)"
    )]
    Address,
    /// An option has no meaning.
    #[error("{0}")]
    Option(&'static str),
    /// The server refuses, and will refuse again.
    #[error("the Redis server at {address} refuses: {why}")]
    Refused {
        /// Where it is.
        address: String,
        /// Its words.
        why: String,
    },
    /// Another process with the same name has begun.
    #[error("another process takes events in as `{0}`: give each a name of its own")]
    Taken(String),
}

/// Codes of errors that no waiting cures.
const LASTING: [&str; 4] = ["NOAUTH", "NOPERM", "WRONGPASS", "WRONGTYPE"];

/// Whether the same command would be refused again.
pub(crate) fn lasts(error: &RedisError) -> bool {
    let is_ours =
        matches!(error.kind(), ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig);
    is_ours || error.code().is_some_and(|code| LASTING.contains(&code))
}
