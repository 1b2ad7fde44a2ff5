//! Reads the bodies of requests: JSON up to a maximum size and a time limit.

use super::reply::Refused;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The maximum size of a body, in bytes.
pub(crate) const LONGEST: usize = 1024 * 1024;
/// The maximum number of values in a body. A parsed value takes far more memory than its text, such as the `0,` of a list.
const VALUES: usize = 50_000;
/// The time within which a body must arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads and parses the JSON body of a request.
pub(crate) async fn json<T: DeserializeOwned>(head: &Parts, body: Incoming) -> Result<T, Refused> {
    let bytes = read(head, body).await?;
    serde_json::from_slice(&bytes)
        .map_err(|why| Refused::new(StatusCode::BAD_REQUEST, "json", why.to_string()))
}

/// Reads the body of a request with the content type `application/json`, unparsed.
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
    // The announced length is checked first, so that a long body is refused before it arrives.
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(long());
    }
    match tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST).collect()).await {
        Ok(Ok(body)) => {
            let bytes = body.to_bytes();
            if values(&bytes) > VALUES {
                let why = format!("the body has more than {VALUES} values");
                return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_values", why));
            }
            Ok(bytes)
        }
        Ok(Err(why)) if why.is::<LengthLimitError>() => Err(long()),
        Ok(Err(why)) => Err(Refused::new(StatusCode::BAD_REQUEST, "body", why.to_string())),
        Err(_) => {
            let why = format!("the body took longer than {} s", PATIENCE.as_secs());
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "too_slow", why))
        }
    }
}

/// An estimate of the number of values and keys in a JSON text, without parsing it: nearly each is preceded by one of `,`, `:`, `[` and
/// `{`.
fn values(text: &[u8]) -> usize {
    let (mut values, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b',' | b':' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        let table = [
            ("", 0),
            ("1", 0),
            ("[]", 1),
            ("[1, 2, 3]", 3),
            (r#"{"a": [1, {"b": 2}], "c": null}"#, 8),
            (r#"["a, b: [c] {d}", "e"]"#, 2),
            (r#"["a\", b", "c\\", "d"]"#, 3),
            (r"\,\,", 2),
        ];
        for (text, expected) in table {
            assert_eq!(values(text.as_bytes()), expected, "{text}");
        }
    }
}
