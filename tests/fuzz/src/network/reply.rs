//! A strict reader of the server's answers.

use super::serving::Read;
use serde_json::Value;
use std::collections::BTreeMap;

/// The kinds of error of each status, as in the table of `docs/serve.md`.
const REFUSALS: [(u16, &[&str]); 11] = [
    (400, &["json", "body"]),
    (401, &["token"]),
    (403, &["host", "origin", "person"]),
    (404, &["no_chart", "no_run", "nowhere"]),
    (405, &["method"]),
    (408, &["too_slow"]),
    (409, &["taken", "not_now", "not_open"]),
    (413, &["too_long", "too_many_values"]),
    (415, &["content_type"]),
    (422, &["misfit"]),
    (429, &["too_many", "too_fast"]),
];

/// The headers that an answer may have.
const HEADERS: [&str; 10] = [
    "allow",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "date",
    "link",
    "transfer-encoding",
    "www-authenticate",
    "x-accel-buffering",
];

/// An answer.
pub(super) struct Reply {
    pub(super) status: u16,
    headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Parses the answers on a connection. Returns also whether the last one is complete.
pub(super) fn parsed((bytes, is_closed): &Read, is_head: bool) -> (Vec<Reply>, bool) {
    let (mut replies, mut rest) = (Vec::new(), &bytes[..]);
    while !rest.is_empty() {
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").expect("the end of a head");
        let head = std::str::from_utf8(&rest[..end]).expect("a head is text");
        rest = &rest[end + 4..];
        let mut lines = head.split("\r\n");
        let status =
            lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")).expect("a status");
        let status = status.split(' ').next().and_then(|status| status.parse().ok());
        let status: u16 = status.expect("a number");
        let mut headers = BTreeMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?}"));
            assert!(HEADERS.contains(&name), "the header {line:?}");
            assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line:?}");
            assert!(headers.insert(name.to_owned(), value.to_owned()).is_none(), "{line:?} twice");
        }
        let mut body = Vec::new();
        if is_head || status < 200 || status == 204 {
        } else if let Some(length) = headers.get("content-length") {
            let length: usize = length.parse().expect("a number");
            assert!(rest.len() >= length, "a body without its end");
            body.extend(&rest[..length]);
            rest = &rest[length..];
        } else {
            assert_eq!(headers.get("transfer-encoding").map(String::as_str), Some("chunked"));
            loop {
                let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else {
                    assert!(!is_closed && rest.is_empty(), "a body without its end");
                    replies.push(Reply { status, headers, body });
                    return (replies, false);
                };
                let length = std::str::from_utf8(&rest[..line]).expect("a number");
                let length = usize::from_str_radix(length, 16).expect("a number");
                body.extend(&rest[line + 2..line + 2 + length]);
                rest = &rest[line + 4 + length..];
                if length == 0 {
                    break;
                }
            }
        }
        replies.push(Reply { status, headers, body });
    }
    (replies, true)
}

/// Checks that each answer has a documented status and kind, and valid JSON where its type says so.
pub(super) fn assert_sound(read: &Read, request: &[u8]) {
    let is_head = request.starts_with(b"HEAD ");
    // A body may contain another request, which has an answer of its own. The answer to HEAD has no body.
    if request.windows(5).skip(1).any(|five| five == b"HEAD ") {
        return;
    }
    let (replies, is_whole) = parsed(read, is_head);
    for (nth, Reply { status, headers, body }) in replies.iter().enumerate() {
        assert!(*status < 500, "{status}: {}", String::from_utf8_lossy(body));
        let is_whole = is_whole || nth + 1 < replies.len();
        let text = std::str::from_utf8(body).expect("text");
        let json = |text: &str| -> Value {
            serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text:?}"))
        };
        match headers.get("content-type").map(String::as_str) {
            Some("application/json") if !is_head => {
                let value = json(text);
                // What the tools answer has another form.
                if *status >= 400 && value.get("jsonrpc").is_none() {
                    let kind = value["error"]["kind"].as_str().unwrap_or("receipt");
                    let kinds = REFUSALS.iter().find(|(known, _)| known == status);
                    let is_busy = *status == 409 && value["receipt"].is_string();
                    let is_known = kinds.is_some_and(|(_, kinds)| kinds.contains(&kind));
                    assert!(is_known || is_busy, "{status} {value}");
                }
            }
            Some("application/jsonl") => text.lines().for_each(|line| drop(json(line))),
            Some("text/event-stream") => {
                assert!(!is_whole || text.is_empty() || text.ends_with("\n\n"), "{text:?}");
                for line in text.lines().filter(|line| !line.is_empty()) {
                    match line.split_once(": ") {
                        Some(("data", data)) => drop(json(data)),
                        Some(("id", id)) => assert!(id.parse::<u64>().is_ok(), "{line}"),
                        Some(("", "")) => {}
                        _ => panic!("{line:?} in a stream"),
                    }
                }
            }
            kind => assert!(*status >= 200 || kind.is_none(), "{kind:?}"),
        }
    }
}
