//! Bytes that are no requests, and many requests in one go.

use super::client::{cut, raw, read};
use super::hostile::{is_well, status};
use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

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
