//! An editor that sends anything to the language server.

mod grown;
mod talk;

use grown::grown;
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::json;
use std::collections::BTreeMap;
use talk::{converse, written};

/// The first byte says what the server receives: the bytes that follow as they are, each line of them as a message, or messages made from
/// them. The server must answer each request once, and end when it is told to.
pub fn lsp(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let messages = match first % 3 {
        0 => {
            let (heard, ended) = converse([written(&hello()), rest.to_vec()].concat(), None);
            // The end of the bytes may be the end of any message.
            drop(ended);
            return heard.whole();
        }
        1 => lines(rest),
        _ => grown(rest),
    };
    let mut bytes = written(&hello());
    let mut asked = BTreeMap::from([(RequestId::from(0), 1)]);
    for message in &messages {
        bytes.extend(written(std::slice::from_ref(message)));
        if let Message::Request(request) = message {
            *asked.entry(request.id.clone()).or_default() += 1;
        }
    }
    let (heard, ended) = converse(bytes, Some(asked));
    if let Err(why) = ended {
        panic!("the session ended: {why}");
    }
    heard.whole();
    let open = heard.asked.iter().flatten().find(|(_, count)| **count != 0);
    assert!(open.is_none(), "answers that lack, or are too many: {open:?}");
}

/// The handshake, without a folder: all inputs share the working directory.
fn hello() -> [Message; 2] {
    let capabilities = json!({
        "experimental": { "chartcPictures": true },
        "textDocument": { "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } } },
        "workspace": { "workspaceEdit": { "documentChanges": true }, "inlayHint": { "refreshSupport": true } },
    });
    let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
    [
        Request { id: 0.into(), method: "initialize".into(), params }.into(),
        Notification { method: "initialized".into(), params: json!({}) }.into(),
    ]
}

/// The lines that are messages, up to an `exit`: the target itself ends the session.
fn lines(bytes: &[u8]) -> Vec<Message> {
    let all =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    all.take_while(|message| !matches!(message, Message::Notification(n) if n.method == "exit"))
        .collect()
}
