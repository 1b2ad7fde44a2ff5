//! Requests over HTTP.

use super::reply::assert_sound;
use super::serving::{PEOPLE, TOKEN, replies};

/// Sends requests, which are separated by zero bytes. A request is a line with method and address, headers, an empty line and the body.
/// Missing headers (host, token, type, length) are added; `As: people` stands for the token of people. Each answer must be complete and
/// have a status of `docs/serve.md`, JSON must be valid, no header may come from a request, and no run may be lost.
pub fn http(data: &[u8]) {
    let requests: Vec<Vec<u8>> = data.split(|byte| *byte == 0).take(8).map(request).collect();
    for (request, reply) in requests.iter().zip(replies(&requests)) {
        assert_sound(&reply, request);
    }
}

/// The bytes of a request, with the headers that it lacks.
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
