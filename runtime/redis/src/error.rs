//! Errors that end an intake.

use redis::{ErrorKind, RedisError};

/// The reason why an intake ended before it was told to. The messages never contain a password.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The address is not that of a Redis server.
    #[error(
        "this is not the address of a Redis server: write redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] (TLS is not built in)"
    )]
    Address,
    /// An option has a value that cannot work. The text says which values can.
    #[error("{0}")]
    Option(&'static str),
    /// The server refuses a command, and would refuse it again.
    #[error("the Redis server at {address} refuses: {why}")]
    Refused {
        /// The address of the server, without a password.
        address: String,
        /// The server's message.
        why: String,
    },
    /// A later process has taken over the name of this one as a consumer.
    #[error("another process takes events in as `{0}`: give each a name of its own")]
    Taken(String),
}

/// The codes of errors that stay until a person changes the server or the options.
const LASTING: [&str; 4] = ["NOAUTH", "NOPERM", "WRONGPASS", "WRONGTYPE"];

/// Whether the server would refuse the same command again.
pub(crate) fn lasts(error: &RedisError) -> bool {
    let is_ours =
        matches!(error.kind(), ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig);
    is_ours || error.code().is_some_and(|code| LASTING.contains(&code))
}
