//! What is sent to the server: read as far as it may be long, and only as JSON.

use super::reply::Refused;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The longest body, in bytes.
pub(crate) const LONGEST: usize = 1024 * 1024;
/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The body of a request as JSON.
pub(crate) async fn json<T: DeserializeOwned>(head: &Parts, body: Incoming) -> Result<T, Refused> {
    let bytes = read(head, body).await?;
    serde_json::from_slice(&bytes)
        .map_err(|why| Refused::new(StatusCode::BAD_REQUEST, "json", why.to_string()))
}

/// The body of a request that says that it is JSON.
pub(crate) async fn read(head: &Parts, body: Incoming) -> Result<Bytes, Refused> {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        let why = "send the header `Content-Type: application/json`";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", why));
    }
    let long = || {
        let why = format!("the body is longer than {LONGEST} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", why)
    };
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(long());
    }
    match tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(why)) if why.is::<LengthLimitError>() => Err(long()),
        Ok(Err(why)) => Err(Refused::new(StatusCode::BAD_REQUEST, "body", why.to_string())),
        Err(_) => {
            let why = format!("the body took longer than {} s", PATIENCE.as_secs());
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "too_slow", why))
        }
    }
}
