//! The requests in `docs/serve.md` get the replies that stand below them. `TOUR=write cargo test serve::page` writes what they get now.
//!
//! An ```` ```http ```` block is a request, and behind an empty line the reply: its status and its body. `As: people` shows the token of people.
//! Times are the same in each reply.

use super::*;
use crate::tour::timeless;
use std::fmt::Write as _;
use test_support::project::{read, root};

const PAGE: &str = "docs/serve.md";

/// The chart of the page.
fn chart(text: &str) -> String {
    let (_, rest) = text.split_once("cat > refund.chart <<END\n").expect("the page has a chart");
    rest.split_once("\nEND\n").expect("it ends").0.to_owned() + "\n"
}

/// What a request gets.
fn reply(server: &Server, request: &str) -> String {
    let (line, rest) = request.split_once('\n').unwrap_or((request, ""));
    let (method, path) = line.split_once(' ').expect("a method and an address");
    let (mut client, mut headers, mut body) = (server.client(), String::new(), String::new());
    for line in rest.lines() {
        match line.split_once(": ") {
            Some(("As", "people")) => client = server.person(),
            Some((name, _)) if name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') => {
                let _ = write!(headers, "{line}\r\n");
            }
            _ => body.push_str(line),
        }
    }
    if !body.is_empty() {
        headers.push_str("Content-Type: application/json\r\n");
    }
    let reply = client.send(method, path, &headers, &body);
    let text = format!("{}\n{}", reply.status, reply.body);
    timeless(text.trim_end())
}

#[test]
fn requests_of_the_page_get_their_replies() {
    let text = read(PAGE);
    let folder = folder("serve-page");
    std::fs::write(folder.join("refund.chart"), chart(&text)).expect("a file");
    let server = Server::of(
        &folder,
        &["refund.chart", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"],
    );
    let (mut now, mut seen) = (String::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(now, "{line}");
        if line != "```http" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let request: Vec<&str> =
            block.iter().copied().take_while(|line| !line.is_empty()).collect();
        let request = request.join("\n");
        let expected =
            block.join("\n").split_once("\n\n").map(|(_, reply)| reply.trim_end().to_owned());
        let mut got = reply(&server, &request);
        // What happens by itself, or when the inbox is looked into, may take a moment.
        if request.starts_with("GET") {
            let begun = Instant::now();
            while Some(&got) != expected.as_ref() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(20));
                got = reply(&server, &request);
            }
        }
        speech::rested(&server.client(), "r-17");
        let _ = writeln!(now, "{request}\n\n{got}\n```");
        seen += 1;
    }
    assert!(seen > 8, "only {seen} requests");
    if std::env::var_os("TOUR").is_some_and(|v| v == "write") {
        std::fs::write(root().join(PAGE), &now).expect("the page can be written");
    }
    let text = read(PAGE);
    let differs = text.lines().zip(now.lines()).enumerate().find(|(_, (a, b))| a != b);
    if let Some((nth, (is, should))) = differs {
        panic!("{PAGE}:{}: the server now replies\n  {should}\ninstead of\n  {is}", nth + 1);
    }
    assert_eq!(text, now);
}
