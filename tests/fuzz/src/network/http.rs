//! Requests over HTTP.

use super::reply::assert_sound;
use super::serving::{PEOPLE, TOKEN, replies};

/// Requests, with a zero byte between two: a line with method and address, more headers, an empty line, the body. What they lack of host,
/// token, type and length is added; `As: people` stands for the token of people. Each answer is whole and has a status that `docs/serve.md`
/// lists, JSON is JSON, no header comes from a request, and the runs that were there still are.
pub fn http(data: &[u8]) {
    let requests: Vec<Vec<u8>> = data.split(|byte| *byte == 0).take(8).map(request).collect();
    for (request, reply) in requests.iter().zip(replies(&requests)) {
        assert_sound(&reply, request);
    }
}

/// A request as it is sent.
pub(super) fn request(text: &[u8]) -> Vec<u8> {
    let cut = text.windows(2).position(|two| two == b"\n\n").unwrap_or(text.len());
    let body = text.get(cut + 2..).unwrap_or_default();
    let mut lines = text[..cut].split(|byte| *byte == b'\n');
    let mut bytes = [lines.next().unwrap_or_default(), b" HTTP/1.1\r\n"].concat();
    let mut token = TOKEN;
    let mut own = String::new();
    for line in lines {
        if line == b"As: people" {
            token = PEOPLE;
        } else {
            own += &format!("\n{}", String::from_utf8_lossy(line).to_lowercase());
            bytes.extend([line, b"\r\n"].concat());
        }
    }
    for (name, value) in [
        ("Host", "localhost"),
        ("Authorization", &format!("Bearer {token}")),
        ("Content-Type", "application/json"),
        ("Connection", "close"),
        ("Content-Length", &body.len().to_string()),
    ] {
        let is_given = own.contains(&format!("\n{}:", name.to_lowercase()));
        let is_chunked = name == "Content-Length" && own.contains("\ntransfer-encoding:");
        if !(is_given || is_chunked) {
            bytes.extend(format!("{name}: {value}\r\n").as_bytes());
        }
    }
    [&bytes, &b"\r\n"[..], body].concat()
}
