//! Reads response bodies up to a maximum size.

/// The maximum size of an answer, in bytes: far more than a model writes in an hour.
pub(crate) const MOST: usize = 8 << 20;
/// The maximum size of a refusal that is read, in bytes. Messages show one line of it.
pub(crate) const MOST_OF_REFUSAL: usize = 64 << 10;

pub(crate) enum Body {
    Whole(Vec<u8>),
    /// The beginning of a body that is longer than the maximum.
    Long(Vec<u8>),
}

/// Reads at most `most` bytes of a body.
pub(crate) async fn read(mut response: reqwest::Response, most: usize) -> reqwest::Result<Body> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            return Ok(Body::Long(body));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Body::Whole(body))
}
