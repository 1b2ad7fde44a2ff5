//! Who may not come in.

use super::client::raw;
use super::hostile::{is_well, status};
use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn who_may_not_come_in_stays_outside() {
    let server = Server::new(&charts("guard"), &["--host", "desk.example"]);
    begin(&server.client(), "a");
    let address = server.address;
    let port = address.port();
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let event = r#"{"event": "add", "data": {"by": 1}}"#;
    // The line, the headers but for those that each request has, the status, and the kind of error.
    let path = "/runs/a/events";
    let host = format!("Host: {address}\r\n");
    let with = |more: &str| format!("{host}{token}{more}");
    let table: Vec<(&str, String, String, u16, &str)> = vec![
        ("no token", path.into(), host.clone(), 401, "token"),
        (
            "another token",
            path.into(),
            format!("{host}Authorization: Bearer {TOKEN}x\r\n"),
            401,
            "token",
        ),
        (
            "half a token",
            path.into(),
            format!("{host}Authorization: Bearer {}\r\n", &TOKEN[..8]),
            401,
            "token",
        ),
        ("an empty token", path.into(), format!("{host}Authorization: Bearer \r\n"), 401, "token"),
        (
            "another scheme",
            path.into(),
            format!("{host}Authorization: Basic {TOKEN}\r\n"),
            401,
            "token",
        ),
        ("no scheme", path.into(), format!("{host}Authorization: {TOKEN}\r\n"), 401, "token"),
        (
            "a token that is no text",
            path.into(),
            format!("{host}Authorization: Bearer \u{fc}\u{fc}\r\n"),
            401,
            "token",
        ),
        ("two tokens", path.into(), with(&token), 401, "token"),
        ("a token in the address", format!("{path}?token={TOKEN}"), host.clone(), 401, "token"),
        (
            "a token in a cookie",
            path.into(),
            format!("{host}Cookie: token={TOKEN}\r\n"),
            401,
            "token",
        ),
        ("another origin", path.into(), with("Origin: http://evil.example\r\n"), 403, "origin"),
        ("no origin", path.into(), with("Origin: null\r\n"), 403, "origin"),
        (
            "an origin on another port",
            path.into(),
            with("Origin: http://127.0.0.1:1\r\n"),
            403,
            "origin",
        ),
        (
            "an origin that begins as the host",
            path.into(),
            with(&format!("Origin: http://{address}.evil.example\r\n")),
            403,
            "origin",
        ),
        ("an origin of a file", path.into(), with("Origin: file://\r\n"), 403, "origin"),
        (
            "two origins",
            path.into(),
            with(&format!("Origin: http://{address}\r\nOrigin: http://evil.example\r\n")),
            403,
            "origin",
        ),
        ("another host", path.into(), format!("Host: evil.example\r\n{token}"), 403, "host"),
        (
            "another host on the port",
            path.into(),
            format!("Host: evil.example:{port}\r\n{token}"),
            403,
            "host",
        ),
        (
            "a host that begins as a name",
            path.into(),
            format!("Host: localhost.evil.example\r\n{token}"),
            403,
            "host",
        ),
        (
            "a host that ends as a name",
            path.into(),
            format!("Host: evil.localhost\r\n{token}"),
            403,
            "host",
        ),
        (
            "a host with a user",
            path.into(),
            format!("Host: localhost@evil.example\r\n{token}"),
            403,
            "host",
        ),
        ("an empty host", path.into(), format!("Host: \r\n{token}"), 403, "host"),
        ("no host", path.into(), token.clone(), 403, "host"),
        ("two hosts", path.into(), with(&host), 403, "host"),
        (
            "two hosts, one of them another",
            path.into(),
            with("Host: evil.example\r\n"),
            403,
            "host",
        ),
        (
            "another host in the address",
            format!("http://evil.example{path}"),
            with(""),
            403,
            "host",
        ),
        (
            "another host in the address, and a user",
            format!("http://localhost@evil.example{path}"),
            with(""),
            403,
            "host",
        ),
    ];
    for (what, path, headers, expected, kind) in table {
        for (path, body) in [(path.clone(), event), (path.replace("/runs/a/events", "/mcp"), "{}")]
        {
            let text = format!(
                "POST {path} HTTP/1.1\r\n{headers}{JSON}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let reply = raw(address, text.as_bytes());
            assert_eq!(status(&reply), expected, "{what}, {path}: {reply}");
            assert!(reply.contains(&format!("\"kind\":\"{kind}\"")), "{what}, {path}: {reply}");
            assert!(!reply.contains(TOKEN), "{what}, {path}: {reply}");
            assert_eq!(
                reply.to_ascii_lowercase().contains("www-authenticate: bearer"),
                expected == 401,
                "{what}: {reply}"
            );
        }
        is_well(&server, what);
    }
    // Those who may come in by these names.
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "desk.example"] {
        for (host, origin) in [
            (host.to_owned(), String::new()),
            (format!("{host}:{port}"), format!("Origin: http://{host}:{port}\r\n")),
        ] {
            let text = format!(
                "GET /charts HTTP/1.1\r\nHost: {host}\r\n{token}{origin}Connection: close\r\n\r\n"
            );
            let reply = raw(address, text.as_bytes());
            assert_eq!(status(&reply), 200, "{host}: {reply}");
        }
    }
}
