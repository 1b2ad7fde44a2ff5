//! Too much of everything: the server's memory stays bounded, and others are served.

use super::client::{raw, read, rest};
use super::*;

const JSON: &str = "Content-Type: application/json\r\n";
const SPOKEN: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// Kilobytes above what it used when it was idle.
const ROOM: u64 = 64 * 1024;

/// What the server uses when it has served something.
fn idle(server: &Server) -> u64 {
    assert_eq!(server.client().get("/charts").status, 200);
    server.memory("VmHWM:")
}

fn is_bounded(server: &Server, idle: u64, what: &str) {
    let most = server.memory("VmHWM:");
    println!("{what}: {idle} kB idle, {most} kB at most");
    assert!(most < idle + ROOM, "{what}: {idle} kB idle, {most} kB at most");
}

/// Writes until all is written or the server hangs up; returns how much it took.
fn pour(stream: &mut TcpStream, piece: &[u8], times: usize) -> usize {
    (0..times).take_while(|_| stream.write_all(piece).is_ok()).count() * piece.len()
}

#[test]
fn a_body_of_a_gigabyte_is_refused_before_it_is_read() {
    let server = Server::new(&charts("gigabyte"), &[]);
    let client = server.client();
    let idle = idle(&server);
    let piece = vec![b' '; 1 << 16];
    for path in ["/runs", "/mcp"] {
        for token in [TOKEN, "another-token-0123456789"] {
            let visitor = Client { token: token.into(), ..client.clone() };
            let mut stream = server.connect();
            let head = format!(
                "{}Content-Length: {}\r\n\r\n",
                visitor.head("POST", path, SPOKEN),
                1 << 30
            );
            stream.write_all(head.as_bytes()).expect("it is taken");
            let taken = pour(&mut stream, &piece, 1 << 14);
            assert!(taken < 1 << 26, "{path}: {taken} bytes were taken");
            is_bounded(&server, idle, path);
            let mut stream = server.connect();
            let head =
                format!("{}Transfer-Encoding: chunked\r\n\r\n", visitor.head("POST", path, SPOKEN));
            stream.write_all(head.as_bytes()).expect("it is taken");
            let chunk = [b"10000\r\n", piece.as_slice(), b"\r\n"].concat();
            let taken = pour(&mut stream, &chunk, 1 << 14);
            assert!(taken < 1 << 26, "{path}, chunked: {taken} bytes were taken");
            is_bounded(&server, idle, path);
        }
        // The reply comes although the body does not.
        let head =
            format!("{}Content-Length: {}\r\n\r\n", client.head("POST", path, SPOKEN), 1 << 30);
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).expect("it is taken");
        let reply = read(&mut BufReader::new(stream)).expect("a reply");
        assert_eq!((reply.status, reply.kind().as_str()), (413, "too_long"), "{path}");
    }
    // A little more than is taken, in both ways, and as much as is taken.
    let body = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    assert_eq!(client.send("POST", "/runs", JSON, &body((1 << 20) + 1)).status, 413);
    let long = body((1 << 20) + 1);
    let text = format!(
        "{}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        client.head("POST", "/runs", JSON),
        long.len()
    );
    assert!(raw(server.address, text.as_bytes()).starts_with("HTTP/1.1 413"));
    assert_eq!(client.send("POST", "/runs", JSON, &body(1 << 20)).status, 404);
}

#[test]
fn bodies_that_grow_when_they_are_read_stay_bounded() {
    let server = Server::new(&charts("growing"), &[]);
    let client = server.client();
    begin(&client, "a");
    let idle = idle(&server);
    let filled = |unit: &str| unit.repeat((1 << 20) / unit.len() - 100);
    let lists = format!("[{}0]", filled("0,"));
    let empty = format!("[{}[]]", filled("[],"));
    let texts = format!("[{}\"\"]", filled("\"\","));
    for value in [&lists, &empty, &texts] {
        let order = format!(r#"{{"chart": "Desk", "run": "b", "params": {{"owner": {value}}}}}"#);
        let reply = client.send("POST", "/runs", JSON, &order);
        assert!((400..500).contains(&reply.status), "{}", reply.status);
        assert!(reply.body.len() < 10_000, "{}", reply.body.len());
        let event = format!(r#"{{"event": "note", "data": {{"what": {value}}}}}"#);
        let reply = client.send("POST", "/runs/a/events", JSON, &event);
        assert!((400..500).contains(&reply.status), "{}", reply.status);
        assert!(reply.body.len() < 10_000, "{}", reply.body.len());
        for message in [
            format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "Desk", "arguments": {{"params": {{"owner": {value}}}}}}}}}"#
            ),
            format!(
                r#"{{"jsonrpc": "2.0", "id": 1, "method": "nonsense", "params": {{"x": {value}}}}}"#
            ),
            value.clone(),
        ] {
            let reply = client.send("POST", "/mcp", SPOKEN, &message);
            assert!(
                reply.status < 500 && reply.body.len() < 10_000,
                "{} {}",
                reply.status,
                reply.body.len()
            );
        }
        is_bounded(&server, idle, "a body that grows");
    }
}

#[test]
fn ten_thousand_runs_are_begun_as_far_as_there_is_room() {
    let server = Server::new(&charts("many"), &["--max-runs", "50"]);
    let client = server.client();
    let idle = idle(&server);
    let (mut begun, mut refused) = (0, 0);
    let mut stream = server.connect();
    let mut from = BufReader::new(stream.try_clone().expect("a socket"));
    let body = json!({"chart": "Desk", "params": {"owner": "Ada"}}).to_string();
    let one = format!(
        "{}Content-Length: {}\r\n\r\n{body}",
        client.head("POST", "/runs", JSON),
        body.len()
    );
    let all = one.repeat(100);
    for _ in 0..100 {
        stream.write_all(all.as_bytes()).expect("it is taken");
        for _ in 0..100 {
            match read(&mut from).map(|reply| reply.status) {
                Some(201) => begun += 1,
                Some(429) => refused += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((begun, refused), (50, 9950));
    is_bounded(&server, idle, "ten thousand runs");
    assert_eq!(client.get("/runs").json().as_array().map(Vec::len), Some(50));
}

#[test]
fn ten_thousand_greetings_leave_nothing_behind() {
    let server = Server::new(&charts("greetings"), &[]);
    let client = server.client();
    let idle = idle(&server);
    let hello = r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}}"#;
    let one = format!(
        "{}Content-Length: {}\r\n\r\n{hello}",
        client.head("POST", "/mcp", SPOKEN),
        hello.len()
    );
    let mut stream = server.connect();
    let mut from = BufReader::new(stream.try_clone().expect("a socket"));
    let all = one.repeat(100);
    for _ in 0..100 {
        stream.write_all(all.as_bytes()).expect("it is taken");
        for _ in 0..100 {
            assert_eq!(read(&mut from).map(|reply| reply.status), Some(200));
        }
    }
    is_bounded(&server, idle, "ten thousand greetings");
}

#[test]
fn many_connections_and_streams_leave_room_for_others() {
    let server = Server::new(&charts("crowd"), &[]);
    let client = server.client();
    begin(&client, "a");
    let idle = idle(&server);
    // As many as are followed at once; one more is refused and may come again.
    let mut streams: Vec<_> = (0..64).map(|_| client.follow("a", None)).collect();
    let reply = client.get("/runs/a/stream");
    assert_eq!((reply.status, reply.kind().as_str()), (503, "too_many"), "{}", reply.body);
    assert_eq!(add(&client, "a", "while they follow", 1).status, 200);
    for stream in &mut streams {
        assert!(stream.any(|(_, line)| line.to_string().contains("add")), "each is told");
    }
    // More connections than places. Those that say nothing lose theirs, so that the others get one.
    let open: Vec<TcpStream> = (0..300).map(|_| server.connect()).collect();
    assert_eq!(add(&client, "a", "while they wait", 1).status, 200);
    is_bounded(&server, idle, "a crowd");
    drop(open);
    drop(streams);
    until("there is a place to follow", || client.may_follow("a") == Some(200));
}

#[test]
fn readers_who_do_not_read_are_hung_up_on() {
    let server = Server::new(&charts("unread"), &[]);
    let client = server.client();
    begin(&client, "a");
    // Far more than the sockets hold.
    for nth in 0..40 {
        let data = json!({"what": {"text": "x".repeat(800_000), "weight": nth}});
        let reply = client.post("/runs/a/events", &json!({"event": "note", "data": data}));
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    let idle = idle(&server);
    let open: Vec<TcpStream> = ["/runs/a/stream", "/runs/a/trace"]
        .into_iter()
        .cycle()
        .take(12)
        .map(|path| {
            let mut stream = server.connect();
            stream.write_all(client.request("GET", path, "", "").as_bytes()).expect("it is taken");
            stream
        })
        .collect();
    until("the last is let in", || server.holds(&open[11]));
    // Each has an answer that begins, so that none is only let in when the others are gone. What is looked at is not read.
    for stream in &open {
        assert_eq!(stream.peek(&mut [0]).expect("an answer"), 1);
    }
    assert_eq!(client.get("/charts").status, 200);
    until("they are hung up on", || !open.iter().any(|stream| server.holds(stream)));
    is_bounded(&server, idle, "readers who do not read");
    for mut stream in open {
        assert!(!rest(&mut stream).ends_with("0\r\n\r\n"), "it did not get all");
    }
}
