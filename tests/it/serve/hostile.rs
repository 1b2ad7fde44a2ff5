//! Requests that no friend sends, and what becomes of each.

use super::client::{cut, raw, read, rest};
use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

/// The status of a reply as it came, or 0 if the server hung up without one.
fn status(reply: &str) -> u16 {
    reply.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}

/// The server is there, and the run of the table is as it was.
fn is_well(server: &Server, what: &str) {
    let read = server.client().get("/runs/a");
    assert_eq!(read.status, 200, "after {what}");
    let read = read.json();
    assert_eq!(
        (&read["status"], &read["variables"]["sum"]),
        (&json!("running"), &json!(0)),
        "after {what}: {read}"
    );
}

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

#[test]
fn bodies_that_are_no_request_are_refused() {
    let server = Server::new(&charts("bodies"), &[]);
    let client = server.client();
    begin(&client, "a");
    let deep = |depth: usize, open: &str, close: &str| {
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    let (lists, deeper) = (deep(129, "[", "]"), deep(40_000, "[", "]"));
    let (deepest, records) = (deep(100_000, "[", "]"), deep(100_000, "{\"a\":", "}"));
    let hidden = format!(r#"{{"event": "note", "data": {{"what": {lists}}}}}"#);
    let table: Vec<(&str, &str, &str, u16, &str)> = vec![
        ("no kind", "", r#"{"event": "ask"}"#, 415, "content_type"),
        (
            "another kind",
            "Content-Type: text/plain\r\n",
            r#"{"event": "ask"}"#,
            415,
            "content_type",
        ),
        (
            "a form",
            "Content-Type: application/x-www-form-urlencoded\r\n",
            "event=ask",
            415,
            "content_type",
        ),
        (
            "nearly the kind",
            "Content-Type: application/jsonp\r\n",
            r#"{"event": "ask"}"#,
            415,
            "content_type",
        ),
        ("nothing", JSON, "", 400, "json"),
        ("no JSON", JSON, "event=ask", 400, "json"),
        ("half of JSON", JSON, r#"{"event": "ask""#, 400, "json"),
        ("more than JSON", JSON, r#"{"event": "ask"} {}"#, 400, "json"),
        ("a list", JSON, "[]", 400, "json"),
        ("a text", JSON, r#""ask""#, 400, "json"),
        ("the same field twice", JSON, r#"{"event": "ask", "event": "finish"}"#, 400, "json"),
        ("an unknown field", JSON, r#"{"event": "ask", "run": "b"}"#, 400, "json"),
        ("no number", JSON, r#"{"event": "add", "data": {"by": NaN}}"#, 400, "json"),
        ("a number without end", JSON, r#"{"event": "add", "data": {"by": 1e400}}"#, 400, "json"),
        ("half a letter", JSON, r#"{"event": "\ud800"}"#, 400, "json"),
        ("deep lists", JSON, &lists, 400, "json"),
        ("deeper lists", JSON, &deeper, 400, "json"),
        ("lists 100,000 deep", JSON, &deepest, 413, "too_many_values"),
        ("records 100,000 deep", JSON, &records, 413, "too_many_values"),
        ("deep data", JSON, &hidden, 400, "json"),
    ];
    for (what, headers, body, expected, kind) in table {
        let reply = client.send("POST", "/runs/a/events", headers, body);
        assert_eq!(
            (reply.status, reply.kind().as_str()),
            (expected, kind),
            "{what}: {}",
            reply.body
        );
        assert!(reply.body.len() < 1000, "{what}: {}", reply.body.len());
        let reply = client.send("POST", "/runs", headers, body);
        assert!((400..500).contains(&reply.status), "{what}: {}", reply.body);
        let accept = format!("{headers}Accept: application/json, text/event-stream\r\n");
        let reply = client.send("POST", "/mcp", &accept, body);
        assert!(
            (400..500).contains(&reply.status),
            "{what}, spoken: {} {}",
            reply.status,
            reply.body
        );
        is_well(&server, what);
    }
    let wide = r#"{"event": "add", "data": {"by": 99999999999999999999}}"#;
    let reply = client.send("POST", "/runs/a/events", JSON, wide);
    assert!((400..=422).contains(&reply.status), "{}", reply.body);
    is_well(&server, "a wide number");
}

#[test]
fn addresses_that_are_none_are_not_there() {
    let server = Server::new(&charts("addresses"), &[]);
    let client = server.client();
    begin(&client, "a");
    for path in [
        "/",
        "//",
        "/charts/",
        "/Charts",
        "/runs/",
        "/runs//",
        "/runs/a/",
        "/runs/a/trace/x",
        "/runs/../../etc/passwd",
        "/../etc/passwd",
        "/runs/%2e%2e/%2e%2e/etc/passwd",
        "/runs/a%00",
        "/runs/..",
        "/runs/a/b",
        "/mcp/",
        "/docs/serve.md",
        "/runs/%1b%5b31m",
        "*",
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.body);
        assert!(!reply.body.contains('\u{1b}') && !reply.body.contains("root:"), "{path}");
    }
    for (method, path, allowed) in [
        ("DELETE", "/runs/a", "get"),
        ("PUT", "/runs", "get, post"),
        ("POST", "/charts", "get"),
        ("GET", "/runs/a/events", "post"),
        ("GET", "/runs/a/answers", "post"),
        ("POST", "/runs/a/stream", "get"),
        ("PATCH", "/runs/a/trace", "get"),
        ("BREW", "/runs", "get, post"),
    ] {
        let reply = client.send(method, path, JSON, "{}");
        assert_eq!((reply.status, reply.kind().as_str()), (405, "method"), "{method} {path}");
        assert!(reply.head.contains(&format!("allow: {allowed}")), "{}", reply.head);
    }
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(
            client.send(method, "/mcp", "Accept: text/event-stream\r\n", "").status,
            405,
            "{method}"
        );
    }
    // Longer than any head may be.
    for length in [300_000, 1_000_000] {
        let text = client.request("GET", &format!("/runs/{}", "x".repeat(length)), "", "");
        let reply = raw(server.address, text.as_bytes());
        assert!([0, 400, 404, 414, 431].contains(&status(&reply)), "{length}: {reply}");
        let text =
            client.request("GET", "/charts", &format!("X-Long: {}\r\n", "x".repeat(length)), "");
        let reply = raw(server.address, text.as_bytes());
        assert!([0, 400, 431].contains(&status(&reply)), "{length}: {reply}");
    }
    let many: String = (0..5000).map(|nth| format!("X-{nth}: y\r\n")).collect();
    let reply = raw(server.address, client.request("GET", "/charts", &many, "").as_bytes());
    assert!([0, 400, 431].contains(&status(&reply)), "{reply}");
    is_well(&server, "addresses");
}

#[test]
fn what_is_no_http_is_hung_up_on() {
    let server = Server::new(&charts("garbage"), &[]);
    let client = server.client();
    begin(&client, "a");
    let mut noise = Vec::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..100_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.push(state as u8);
    }
    let good = client.head("GET", "/charts", "\r\n");
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec()),
        ("TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec()),
        ("noise", noise.clone()),
        ("zeros", vec![0; 100_000]),
        ("line ends", b"\r\n".repeat(50_000)),
        ("HTTP/0.9", b"GET /charts\r\n".to_vec()),
        ("HTTP/1.1 without a host", b"GET /charts HTTP/1.1\r\n\r\n".to_vec()),
        ("a fold", format!("{}X: y\r\n z\r\n\r\n", client.head("GET", "/charts", "")).into_bytes()),
        (
            "two lengths",
            format!(
                "{}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                client.head("POST", "/runs", JSON)
            )
            .into_bytes(),
        ),
        (
            "a negative length",
            format!("{}Content-Length: -1\r\n\r\n", client.head("POST", "/runs", JSON))
                .into_bytes(),
        ),
        (
            "a length that is none",
            format!(
                "{}Content-Length: 99999999999999999999999\r\n\r\n",
                client.head("POST", "/runs", JSON)
            )
            .into_bytes(),
        ),
        (
            "a chunk that is none",
            format!(
                "{}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                client.head("POST", "/runs", JSON)
            )
            .into_bytes(),
        ),
        (
            "a chunk without end",
            format!(
                "{}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                client.head("POST", "/runs", JSON)
            )
            .into_bytes(),
        ),
        (
            "an unknown coding",
            format!("{}Transfer-Encoding: gzip\r\n\r\nzz", client.head("POST", "/runs", JSON))
                .into_bytes(),
        ),
        (
            "half a body",
            format!("{}Content-Length: 100\r\n\r\n{{", client.head("POST", "/runs", JSON))
                .into_bytes(),
        ),
        ("half a head", client.head("GET", "/charts", "").into_bytes()),
        ("a request, and noise behind it", [good.as_bytes(), &noise].concat()),
        (
            "control characters",
            format!("GET /runs/\u{1b}[31m HTTP/1.1\r\nHost: {}\r\n\r\n", server.address)
                .into_bytes(),
        ),
    ];
    for (what, bytes) in &table {
        let reply = cut(server.address, bytes);
        let expected =
            if what.starts_with("a request") { vec![0, 200] } else { vec![0, 400, 403, 413, 431] };
        assert!(expected.contains(&status(&reply)), "{what}: {reply}");
        assert!(!reply.contains('\u{1b}'), "{what}: {reply}");
        is_well(&server, what);
    }
    // A length and chunks at once: one of them would smuggle a request.
    let smuggled = client.request("GET", "/runs", "", "");
    let body = format!("0\r\n\r\n{smuggled}");
    let text = format!(
        "{}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n{body}",
        client.head("POST", "/runs", JSON),
        body.len()
    );
    let reply = raw(server.address, text.as_bytes());
    assert_eq!(status(&reply), 400, "{reply}");
    is_well(&server, "smuggling");
    // An upgrade, and a continuation that is wished for.
    let text = client.request(
        "GET",
        "/charts",
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "",
    );
    assert_eq!(status(&raw(server.address, text.as_bytes())), 200);
    let text = client.request("CONNECT", "evil.example:80", "", "");
    assert_eq!(status(&raw(server.address, text.as_bytes())), 403);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn requests_in_one_go_are_answered_in_their_order() {
    let server = Server::new(&charts("pipeline"), &[]);
    let client = server.client();
    begin(&client, "a");
    let mut text = String::new();
    for nth in 0..50 {
        let body = format!(r#"{{"event": "add", "data": {{"by": 1}}, "id": "p{nth}"}}"#);
        text += &format!(
            "{}Content-Length: {}\r\n\r\n{body}",
            client.head("POST", "/runs/a/events", JSON),
            body.len()
        );
        text += &client.head("GET", "/runs/a", "\r\n");
    }
    let mut stream = server.connect();
    let mut from = BufReader::new(stream.try_clone().expect("a socket"));
    let writing = std::thread::spawn(move || stream.write_all(text.as_bytes()).map(|()| stream));
    for nth in 0..50 {
        assert_eq!(read(&mut from).map(|reply| reply.status), Some(200), "{nth}");
        let sum = read(&mut from).map(|reply| reply.json()["variables"]["sum"].clone());
        assert_eq!(sum, Some(json!(nth + 1)));
    }
    drop(writing.join().expect("it wrote"));
}

#[test]
fn control_characters_never_reach_a_terminal() {
    let folder = charts("control");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "a");
    let rude = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}";
    let data = json!({"what": {"text": rude, "weight": 1}});
    let reply = client.post("/runs/a/events", &json!({"event": "note", "data": data, "id": rude}));
    assert_eq!(reply.status, 200, "{}", reply.body);
    for event in [rude, "add\u{1b}[31m"] {
        let reply = client.post("/runs/a/events", &json!({"event": event}));
        assert_eq!(reply.status, 422);
    }
    for path in ["/runs/a", "/runs/a/trace", "/runs"] {
        let reply = client.get(path);
        assert!(
            !reply.body.contains('\u{1b}') && !reply.body.contains('\u{7}'),
            "{path}: {:?}",
            reply.body
        );
    }
    assert_eq!(client.get("/runs/a").json()["variables"]["said"], rude);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    for arguments in [
        vec!["store", "s.db", "list"],
        vec!["store", "s.db", "show", "a"],
        vec!["store", "s.db", "log", "a"],
        vec!["replay", "--store", "s.db", "a"],
    ] {
        let (_, out, err) = crate::run::command::chartc(&folder, &arguments);
        for text in [&out, &err, &said] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{arguments:?}: {text:?}");
        }
    }
}

#[test]
fn slow_clients_are_left_behind() {
    let server = Server::new(&charts("slow"), &[]);
    let client = server.client();
    begin(&client, "a");
    // Half a head, a letter at a time, and then nothing: none of them stays.
    let mut dripping = server.connect();
    dripping.write_all(b"GET /charts HTTP/1.1\r\nX: ").expect("it is taken");
    let mut silent = server.connect();
    let mut used = server.connect();
    used.write_all(client.head("GET", "/charts", "\r\n").as_bytes()).expect("it is taken");
    let mut body = server.connect();
    let begun = format!("{}Content-Length: 50\r\n\r\n{{", client.head("POST", "/runs", JSON));
    body.write_all(begun.as_bytes()).expect("it is taken");
    let mut chunks = server.connect();
    let begun = format!(
        "{}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n",
        client.head("POST", "/runs", JSON)
    );
    chunks.write_all(begun.as_bytes()).expect("it is taken");
    let dripped = dripping.try_clone().expect("a socket");
    let drips = std::thread::spawn(move || {
        let mut to = dripped;
        // Until the server hangs up.
        while to.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    // Meanwhile others are served.
    is_well(&server, "slow clients");
    assert!([0, 408].contains(&status(&rest(&mut dripping))), "a slow head");
    assert!([0, 408].contains(&status(&rest(&mut silent))), "no head");
    assert_eq!(status(&rest(&mut used)), 200, "no second head");
    assert_eq!(status(&rest(&mut body)), 408, "a slow body");
    assert_eq!(status(&rest(&mut chunks)), 408, "slow chunks");
    drips.join().expect("it was hung up on");
    is_well(&server, "slow clients");
}
