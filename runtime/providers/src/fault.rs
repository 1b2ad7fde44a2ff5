//! Turns failed HTTP calls into the errors of the runtime.

use crate::date;
use chartc_runtime::oracle::OracleError;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// The maximum length of a server's own message in ours, in characters.
const SHOWN: usize = 300;

/// Turns a response with a status other than 2xx into an error. The kind of the error decides whether the runtime tries again.
pub(crate) fn refused(
    status: reqwest::StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    timeout: Duration,
) -> OracleError {
    let retry_after = wait(&|name| headers.get(name)?.to_str().ok().map(str::trim), &now);
    let said = said(&String::from_utf8_lossy(body));
    match status.as_u16() {
        429 => OracleError::RateLimited { retry_after },
        408 => OracleError::Timeout(timeout.as_millis() as u64),
        // Following a redirection would send the key to another server.
        300..=399 => OracleError::Rejected(format!("{status}: a redirection is not followed")),
        // 409 (conflict) and 425 (too early) may succeed when they are tried again, unlike the other 4xx.
        409 | 425 => OracleError::Other(after(status, &said)),
        status @ 500.. => OracleError::Server { status, why: said, retry_after },
        _ => OracleError::Rejected(after(status, &said)),
    }
}

fn after(status: reqwest::StatusCode, said: &str) -> String {
    if said.is_empty() { status.to_string() } else { format!("{status}: {said}") }
}

/// The time to wait before the next attempt, in milliseconds, from `retry-after-ms` or from `retry-after` (seconds or a date).
/// A date is compared with the server's own `date` header if there is one, as the two clocks may differ. A date in the past gives 0.
fn wait<'h>(
    header: &dyn Fn(&str) -> Option<&'h str>,
    now: &dyn Fn() -> Option<i64>,
) -> Option<u64> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n >= 0.0);
    if let Some(wait) = header("retry-after-ms").and_then(number) {
        return Some(wait as u64);
    }
    let said = header("retry-after")?;
    if let Some(wait) = number(said) {
        return Some((wait * 1000.0) as u64);
    }
    let until = date::seconds(said)?;
    let from = header("date").and_then(date::seconds).or_else(now)?;
    Some(u64::try_from(until - from).unwrap_or(0).saturating_mul(1000))
}

#[allow(
    clippy::disallowed_methods,
    reason = "only where a server names a date and not its own time"
)]
fn now() -> Option<i64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// Turns a connection that failed, or was never made, into an error.
// A timeout while connecting means that nobody listens there: it is reported as unreachable, with what to start.
pub(crate) fn transport(error: &reqwest::Error, timeout: Duration) -> OracleError {
    if error.is_timeout() && !error.is_connect() {
        return OracleError::Timeout(timeout.as_millis() as u64);
    }
    // The innermost cause says what happened; the outer ones repeat the address.
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let why = cause.to_string();
    let why = short(why.split(" (os error").next().unwrap_or_default());
    if error.is_connect() { OracleError::Unreachable(why) } else { OracleError::Connection(why) }
}

/// The server's own message: `error.message` or `error` of its JSON, or the beginning of the body.
fn said(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = json.as_ref().and_then(|json| {
        let error = json.get("error")?;
        error.get("message").or(Some(error))?.as_str()
    });
    short(message.unwrap_or(body))
}

/// Folds foreign text into one line of at most [`SHOWN`] characters.
pub(crate) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Removes the key from an error, as some servers repeat it in their messages.
pub(crate) fn without(error: OracleError, key: Option<&str>) -> OracleError {
    let Some(key) = key else { return error };
    let clean = |text: String| text.replace(key, "…");
    match error {
        OracleError::Denied(why) => OracleError::Denied(clean(why)),
        OracleError::Refusal(why) => OracleError::Refusal(clean(why)),
        OracleError::Connection(why) => OracleError::Connection(clean(why)),
        OracleError::Unreachable(why) => OracleError::Unreachable(clean(why)),
        OracleError::Rejected(why) => OracleError::Rejected(clean(why)),
        OracleError::Server { status, why, retry_after } => {
            OracleError::Server { status, why: clean(why), retry_after }
        }
        OracleError::Other(why) => OracleError::Other(clean(why)),
        OracleError::Script(why) => OracleError::Script(clean(why)),
        OracleError::Recorded { kind, why, retry_after } => {
            OracleError::Recorded { kind, why: clean(why), retry_after }
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::wait;

    #[test]
    fn how_long_to_wait() {
        let waited = |headers: &[(&str, &'static str)]| {
            let header =
                |name: &str| headers.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
            wait(&header, &|| Some(784_111_770))
        };
        let date = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(waited(&[("retry-after", "1.5")]), Some(1500));
        assert_eq!(waited(&[("retry-after-ms", "20"), date]), Some(20));
        assert_eq!(waited(&[date, ("date", "Sun, 06 Nov 1994 08:49:07 GMT")]), Some(30_000));
        assert_eq!(waited(&[date, ("date", "Sun, 06 Nov 1994 09:49:07 GMT")]), Some(0));
        assert_eq!(waited(&[date]), Some(7000));
        assert_eq!(waited(&[date, ("date", "today")]), Some(7000));
        for none in [
            &[][..],
            &[("retry-after", "soon")],
            &[("retry-after", "-1")],
            &[("retry-after", "NaN")],
        ] {
            assert_eq!(waited(none), None);
        }
    }
}
