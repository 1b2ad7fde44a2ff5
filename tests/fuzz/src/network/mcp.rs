//! The Model Context Protocol, from both sides.

use super::http::request;
use super::reply::{assert_sound, parsed};
use super::serving::replies;
use super::tools::answers;
use serde_json::Value;

/// The first byte says who receives the messages that follow: the server of charts, or a client of a tool server.
pub fn mcp(data: &[u8]) {
    match data.split_first() {
        Some((first, rest)) if first % 2 == 0 => messages(rest),
        Some((_, rest)) => answers(rest),
        None => {}
    }
}

/// Sends messages to the server, separated by zero bytes. The answer to a request must be JSON-RPC with the id of the request.
fn messages(data: &[u8]) {
    let bodies: Vec<&[u8]> = data.split(|byte| *byte == 0).take(8).collect();
    let head = b"POST /mcp\nAccept: application/json, text/event-stream\n\n";
    let requests: Vec<Vec<u8>> =
        bodies.iter().map(|body| request(&[&head[..], body].concat())).collect();
    for ((body, request), reply) in bodies.iter().zip(&requests).zip(replies(&requests)) {
        assert_sound(&reply, request);
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let (replies, _) = parsed(&reply, false);
        let [answer] = replies.as_slice() else { panic!("{} answers", replies.len()) };
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match answer.status {
            200 => {
                assert_eq!(said["jsonrpc"], "2.0", "{said}");
                assert_eq!(said["id"], asked["id"], "{said}");
                assert!(said.get("result").is_some() != said.get("error").is_some(), "{said}");
            }
            202 => assert!(asked.get("id").is_none() || asked.get("method").is_none(), "{asked}"),
            status => assert!(status >= 400, "{status} for {asked}"),
        }
    }
}
