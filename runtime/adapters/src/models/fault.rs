//! Turns failed HTTP calls into the errors of the runtime.

use super::Provider;
use chartc_runtime::oracle::OracleError;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// The maximum length of a server's own message in ours, in characters.
const SHOWN: usize = 300;

/// Turns a response with a status other than 2xx into an error. The kind of the error decides whether the runtime tries again.
pub(super) fn refused(
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
    let until = seconds(said)?;
    let from = header("date").and_then(seconds).or_else(now)?;
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
pub(super) fn transport(error: &reqwest::Error, timeout: Duration) -> OracleError {
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
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Removes the key from an error, as some servers repeat it in their messages.
pub(super) fn without(error: OracleError, key: Option<&str>) -> OracleError {
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
        OracleError::Aborted(why) => OracleError::Aborted(clean(why)),
        OracleError::Recorded { kind, why, retry_after, trace } => {
            OracleError::Recorded { kind, why: clean(why), retry_after, trace }
        }
        _ => error,
    }
}

// Messages that tell the user what to start or set after a server could not be reached or refused a call.

/// The address of a server, with what messages say about it.
pub(super) struct ServerAddress<'a> {
    /// The address without a trailing slash.
    pub(super) address: &'a str,
    pub(super) is_local: bool,
    pub(super) has_key: bool,
    pub(super) known: Option<&'static Provider>,
    /// The names of the settings (such as environment variables) for the address and for the key.
    pub(super) set_by: Option<&'a (String, String)>,
}

/// The message for a server that does not accept connections.
pub(super) fn unreachable(place: &ServerAddress<'_>, why: &str) -> String {
    let ServerAddress { address, is_local, known, set_by, .. } = place;
    let start = match (is_local, known.map_or("", |known| known.start)) {
        (true, "") => "start the server".to_owned(),
        (false, "") => "check the network".to_owned(),
        (_, command) => format!("start it with `{command}`"),
    };
    let other = match set_by {
        Some((address, _)) => format!("set another address with {address}"),
        None => "correct the address".to_owned(),
    };
    format!("no server answers at {address} ({why}): {start}, or {other}")
}

/// The message for a call that the server refuses and would refuse again. `why` begins with the status.
pub(super) fn rejected(place: &ServerAddress<'_>, status: Option<u16>, why: &str) -> String {
    let ServerAddress { address, has_key, set_by, .. } = place;
    let key = set_by.map_or("its key", |(_, key)| key);
    let cure = match status {
        Some(401 | 403) if *has_key => format!("check {key}"),
        Some(401 | 403) => format!("set {key}"),
        Some(402) => "the account has no credit left".to_owned(),
        Some(404) => "check the address and the name of the model".to_owned(),
        Some(300..=399 | 405) => "check the address".to_owned(),
        Some(_) | None => {
            "change the prompt, the client or the model: the same request will not be taken"
                .to_owned()
        }
    };
    format!("{address}: {why}; {cure}")
}

/// The message for a model that the server does not have. `has` lists the models that it has.
pub(super) fn without_model(place: &ServerAddress<'_>, model: &str, has: &str) -> String {
    let fetch = match place.known {
        Some(known) if known.name == "ollama" => format!("; `ollama pull {model}` fetches it"),
        Some(_) | None => String::new(),
    };
    format!("{} has no model `{model}`: it has {has}{fetch}", place.address)
}

// Parses dates of HTTP headers into seconds since 1970.

/// Parses one of the three date formats of HTTP into seconds since 1970: `Sun, 06 Nov 1994 08:49:37 GMT`,
/// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. Source: RFC 9110, section 5.6.7.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split([' ', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, time) = match words.as_slice() {
        [weekday, day, month, year, time, "GMT"] if weekday.ends_with(',') => {
            (*day, *month, *year, *time)
        }
        [_, month, day, time, year] => (*day, *month, *year, *time),
        _ => return None,
    };
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as i64;
    let day: i64 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: i64 = match (year.len(), year.parse::<i64>().ok()?) {
        (4, year) => year,
        // RFC 9110 reads a two-digit year that seems more than fifty years ahead as one of the past. A fixed bound needs no clock.
        (2, year) if year < 70 => 2000 + year,
        (2, year) => 1900 + year,
        _ => return None,
    };
    let clock: Vec<i64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hours, minutes, seconds] = clock[..] else { return None };
    // A leap second is the second 60 of its minute.
    let is_time =
        (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    is_time.then(|| ((days(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The days since 1970-01-01 of a date. Years begin in March here, so that a leap day is the last day of its year.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
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

#[cfg(test)]
mod date_tests {
    use super::seconds;

    #[test]
    fn the_three_forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(seconds(text), Some(784_111_777), "{text}");
        }
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Thu, 29 Feb 2024 23:59:60 GMT"), Some(1_709_251_200));
        assert_eq!(seconds("Fri, 01 Mar 2024 00:00:00 GMT"), Some(1_709_251_200));
        assert_eq!(seconds("Wed, 31 Dec 2036 12:00:00 GMT"), Some(2_114_337_600));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "7",
            "soon",
            "Sun, 06 Now 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 199 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
