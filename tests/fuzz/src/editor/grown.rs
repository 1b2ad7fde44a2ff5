//! Sessions that grow from bytes.

use lsp_server::{Message, Notification, Request};
use serde_json::json;

/// The texts that a grown session opens: their addresses, and what stands in them.
const TEXTS: [(&str, &str); 4] = [
    ("file:///nowhere/a.chart", include_str!("../../../command/serve/desk.chart")),
    ("file:///nowhere/b.chart", "import \"a.chart\"\nchart B { initial a  state a {} }\n"),
    (
        "file:///nowhere/agent.yaml",
        include_str!("../../../language/fixtures/shop/seller/agent.yaml"),
    ),
    ("untitled:c.scxml", include_str!("../../../language/fixtures/scxml/door.scxml")),
];

/// What is typed into them.
const PIECES: [&str; 16] = [
    "",
    " ",
    "\n",
    "\r",
    "é",
    "𝄞",
    "{",
    "}",
    "\"",
    "#",
    "state s { ",
    "on go -> ",
    "n",
    "Int",
    "- ",
    "<state id='s'/>",
];

/// The requests that the server knows, and one that it does not.
const METHODS: [&str; 23] = [
    "chartc/explain",
    "chartc/picture",
    "chartc/runTests",
    "chartc/tests",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/prepareRename",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "workspace/executeCommand",
    "workspace/symbol",
    "textDocument/unknown",
    "initialize",
];

/// A session in which each byte picks what happens next.
pub(super) fn grown(bytes: &[u8]) -> Vec<Message> {
    let mut bytes = bytes.iter().map(|byte| usize::from(*byte));
    let mut messages: Vec<Message> = Vec::new();
    let tell = |method: &str, params| Notification { method: method.into(), params }.into();
    while let Some(what) = bytes.next() {
        let mut next = || bytes.next().unwrap_or(0);
        let (uri, text) = TEXTS[next() % TEXTS.len()];
        let version = messages.len();
        let id = json!({ "uri": uri, "version": version });
        let mut range = || {
            let mut place = || json!({ "line": next() % 40, "character": next() % 40 });
            json!({ "start": place(), "end": place() })
        };
        messages.push(match what % 8 {
            0 => tell(
                "textDocument/didOpen",
                json!({ "textDocument": {
                    "uri": uri, "version": version, "languageId": "chart", "text": text,
                }}),
            ),
            1 | 2 => {
                let range = range();
                let text = PIECES[next() % PIECES.len()];
                let change = json!({ "range": range, "text": text });
                tell(
                    "textDocument/didChange",
                    json!({ "textDocument": id, "contentChanges": [change] }),
                )
            }
            3 if what < 128 => tell("textDocument/didSave", json!({ "textDocument": id })),
            3 => tell("textDocument/didClose", json!({ "textDocument": id })),
            4 if what < 64 => tell("$/cancelRequest", json!({ "id": next() })),
            _ => {
                let range = range();
                let (method, word) =
                    (METHODS[next() % METHODS.len()], PIECES[next() % PIECES.len()]);
                let params = json!({
                    "textDocument": id, "uri": uri, "range": range, "position": range["start"],
                    "context": { "diagnostics": [], "includeDeclaration": true },
                    "options": { "tabSize": 2, "insertSpaces": true },
                    "newName": word, "query": word, "code": "C0301", "command": "chartc.runTests",
                    "arguments": [uri, 1],
                });
                Request { id: (version as i32 + 1).into(), method: method.into(), params }.into()
            }
        });
    }
    messages
}
