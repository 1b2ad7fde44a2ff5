//! Reading what a server sends, up to a limit.

/// Bytes of an answer that are read. A model that writes for an hour stays far below it.
pub(crate) const MOST: usize = 8 << 20;
/// Bytes of a refusal that are read; a line of it is shown.
pub(crate) const MOST_OF_REFUSAL: usize = 64 << 10;

pub(crate) enum Body {
    Whole(Vec<u8>),
    /// It goes on; the beginning.
    Long(Vec<u8>),
}

/// Reads a body, and no more than `most` bytes of it.
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
