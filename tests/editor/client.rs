//! An editor, as far as a server can tell: it starts `chartc lsp` and speaks with it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an answer may take before a test gives up. Nothing is concluded from how long it takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The editor.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The findings shown last, by address.
    pub(crate) shown: BTreeMap<String, Value>,
    /// Other notifications, in order.
    pub(crate) notes: Vec<Value>,
    /// Answers that nobody has waited for yet.
    answers: BTreeMap<u64, Value>,
    count: u64,
    versions: BTreeMap<String, i64>,
    /// What the server said of itself.
    pub(crate) hello: Value,
}

/// An empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("an old folder");
    }
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("a folder")
}

/// The address of a file in a folder.
pub(crate) fn uri(folder: &Path, name: &str) -> String {
    format!("file://{}", folder.join(name).display())
}

impl Client {
    /// Starts a server for a folder.
    pub(crate) fn start(folder: &Path, capabilities: Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
            .arg("lsp")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chartc runs");
        let out = child.stdout.take().expect("piped");
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            while let Some(message) = read(&mut out) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Self {
            child,
            input,
            messages,
            shown: BTreeMap::new(),
            notes: Vec::new(),
            answers: BTreeMap::new(),
            count: 0,
            versions: BTreeMap::new(),
            hello: Value::Null,
        };
        let root = format!("file://{}", folder.display());
        let hello = json!({ "processId": null, "rootUri": root, "capabilities": capabilities });
        client.hello = client.ask("initialize", hello);
        client.tell("initialized", json!({}));
        client
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        input.flush().expect("the server listens");
    }

    /// Sends bytes, whatever they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("open");
        input.write_all(bytes).expect("the server listens");
        input.flush().expect("the server listens");
    }

    /// Sends a request without waiting for the answer; its number.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.count += 1;
        let id = self.count;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to a request: its result, or its error. Answers may come in any order.
    pub(crate) fn wait(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                };
            }
            let message = self.next();
            self.take(message);
        }
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait(id).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server speaks")
    }

    fn take(&mut self, message: Value) {
        if message.get("method").is_none() {
            let id = message["id"].as_u64().expect("an answer to a request");
            self.answers.insert(id, message);
            return;
        }
        if message.get("id").is_some() {
            let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": null });
            self.send(&reply);
        } else if message["method"] == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().expect("an address").to_owned();
            self.shown.insert(uri, message["params"].clone());
        }
        self.notes.push(message);
    }

    /// Opens a text.
    pub(crate) fn open(&mut self, uri: &str, language: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a part of a text, or all of it.
    pub(crate) fn change(&mut self, uri: &str, changes: Value) {
        let version = self.versions.get_mut(uri).expect("open");
        *version += 1;
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    /// Waits until the findings of the text as it is now are shown: messages as `line:column code message`.
    pub(crate) fn findings(&mut self, uri: &str) -> Vec<String> {
        let version = self.versions.get(uri).map(|version| json!(version));
        loop {
            if let Some(shown) = self.shown.get(uri)
                && (version.is_none() || version.as_ref() == shown.get("version"))
            {
                return listed(shown);
            }
            let message = self.next();
            self.take(message);
        }
    }

    /// Waits for findings that satisfy a condition.
    pub(crate) fn findings_until(
        &mut self,
        uri: &str,
        holds: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        loop {
            if let Some(shown) = self.shown.get(uri).map(listed)
                && holds(&shown)
            {
                return shown;
            }
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => self.take(message),
                Err(why) => panic!("{why}, shown: {:#?}", self.shown.get(uri).map(listed)),
            }
        }
    }

    /// Asks about a place: line and column from 0.
    pub(crate) fn at(&mut self, method: &str, uri: &str, line: usize, character: usize) -> Value {
        let position = json!({ "line": line, "character": character });
        self.ask(method, json!({ "textDocument": { "uri": uri }, "position": position }))
    }

    /// Ends it in the agreed way; the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.child.wait().expect("it ends").code()
    }

    /// Goes away without a word; the exit code.
    pub(crate) fn vanish(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn read(out: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if out.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().ok()?;
        }
    }
    let mut bytes = vec![0; length];
    out.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn listed(shown: &Value) -> Vec<String> {
    let finding = |found: &Value| {
        let start = &found["range"]["start"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (code, message) = (text(&found["code"]), text(&found["message"]));
        let message = message.lines().next().unwrap_or_default().to_owned();
        format!("{}:{} {code} {message}", start["line"], start["character"])
    };
    shown["diagnostics"].as_array().map(|all| all.iter().map(finding).collect()).unwrap_or_default()
}
