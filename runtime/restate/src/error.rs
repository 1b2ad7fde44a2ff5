//! Why a server cannot be used.

/// The server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RestateError {
    /// It cannot be reached, or does not answer in time.
    #[error("the Restate server at {address} cannot be reached: {why}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why not.
        why: String,
    },
    /// It refuses.
    #[error("the Restate server says {status}: {text}")]
    Refused {
        /// HTTP's number.
        status: u16,
        /// Its words.
        text: String,
    },
    /// What it says is not what the service of this version says.
    #[error("the service says something else than this version of chartc does: {0}")]
    Foreign(#[from] serde_json::Error),
}
