//! Errors of the client.

/// The reason why the server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RestateError {
    /// The server cannot be reached, or does not answer in time.
    #[error("the Restate server at {address} cannot be reached: {why}")]
    Unreachable {
        /// The address of the request.
        address: String,
        /// The error of the connection.
        why: String,
    },
    /// The server or a handler answered with an error.
    #[error("the Restate server says {status}: {text}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The body of the answer.
        text: String,
    },
    /// The answer is not the JSON of this version: the service that the server calls is probably another version of chartc.
    #[error("the service says something else than this version of chartc does: {0}")]
    Foreign(#[from] serde_json::Error),
}
