//! What typing costs: a server is driven over its standard input through edits of charts of some size, and each keystroke is timed until its
//! findings come back. Beside it, what `chartc check` of the same file takes as a process of its own.

use crate::scale::{median, ms, timed};
use crate::shape::SHAPES;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Keystrokes for a chart of so many states: a tenth where each takes long.
const fn strokes(states: usize) -> usize {
    if states > 2_000 { 100 } else { 1_000 }
}

/// Drives `program` through charts of these sizes.
pub(crate) fn run(program: &str, sizes: &[usize]) {
    println!(
        "{:>8} {:>8} {:>9} | {:>10} {:>10} {:>10} | {:>10} {:>10} | {:>9} {:>9} | {:>9} {:>9} {:>9}",
        "shape",
        "states",
        "bytes",
        "median ms",
        "p99 ms",
        "max ms",
        "check ms",
        "ratio",
        "hover 1st",
        "hover ms",
        "start MB",
        "end MB",
        "most MB"
    );
    for (shape, make) in SHAPES {
        for states in sizes {
            measure(program, shape, *states, &make(*states));
        }
    }
}

fn measure(program: &str, shape: &str, states: usize, text: &str) {
    let folder = std::env::temp_dir().join(format!("chartc-editor-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("synthetic.chart");
    std::fs::write(&path, text).expect("written");
    let mut server = Server::start(program, &folder);
    let uri = format!("file://{}", path.display());
    let document = json!({ "uri": uri, "languageId": "chart", "version": 0, "text": text });
    server.tell("textDocument/didOpen", json!({ "textDocument": document }));
    server.findings(0);
    let start = server.memory("VmRSS:");
    // A name in the middle of the text is typed over, letter by letter, and put back.
    let lines: Vec<&str> = text.lines().collect();
    let line = lines.len() / 2;
    let end = lines[line].chars().count();
    let mut times = Vec::new();
    let mut long = 0;
    for version in 1..=strokes(states) {
        let (from, to, letter) =
            if long < 8 { (end + long, end + long, "x") } else { (end, end + long, "") };
        let letter = if long == 0 { " " } else { letter };
        let range = json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
        let change = json!([{ "range": range, "text": letter }]);
        let params =
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": change });
        let (time, ()) = timed(|| {
            server.tell("textDocument/didChange", params);
            server.findings(version);
        });
        times.push(time);
        long = if long < 8 { long + 1 } else { 0 };
    }
    // Over the name of the state around: the first time after an edit, and again.
    let named = (0..=line).rev().find(|nth| lines[*nth].trim_start().starts_with("state "));
    let named = named.unwrap_or_default();
    let column = lines[named].find("state ").map_or(0, |at| at + "state ".len());
    let mut hovers = Vec::new();
    for _ in 0..100 {
        let position = json!({ "line": named, "character": column });
        let params = json!({ "textDocument": { "uri": uri }, "position": position });
        let (time, answer) = timed(|| server.ask("textDocument/hover", params));
        assert!(answer["result"].is_object(), "nothing is known of line {}", named + 1);
        hovers.push(time);
    }
    let first = hovers[0];
    let (end, most) = (server.memory("VmRSS:"), server.memory("VmHWM:"));
    let check = |_| {
        let done =
            || Command::new(program).args(["check", "--format", "short"]).arg(&path).output();
        timed(done).0
    };
    let check = median((0..11).map(check).collect());
    times.sort_unstable();
    let at = |share: usize| ms(times[(times.len() - 1) * share / 100]);
    println!(
        "{shape:>8} {states:>8} {:>9} | {:>10.1} {:>10.1} {:>10.1} | {:>10.1} {:>10.2} | {:>9.2} {:>9.2} | {:>9.1} {:>9.1} {:>9.1}",
        text.len(),
        at(50),
        at(99),
        at(100),
        ms(check),
        at(50) / ms(check),
        ms(first),
        ms(median(hovers)),
        start as f64 / 1e6,
        end as f64 / 1e6,
        most as f64 / 1e6,
    );
    drop(server);
    drop(std::fs::remove_dir_all(&folder));
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(program: &str, folder: &std::path::Path) -> Self {
        let mut child = Command::new(program)
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut server = Self { child, input, output, asked: 0 };
        let root = format!("file://{}", folder.display());
        server.ask("initialize", json!({ "processId": null, "rootUri": root, "capabilities": {} }));
        server.tell("initialized", json!({}));
        server
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    /// Waits for the findings of a version.
    fn findings(&mut self, version: usize) {
        loop {
            let message = self.next();
            let is_shown = message["method"] == "textDocument/publishDiagnostics";
            if is_shown && message["params"]["version"] == json!(version) {
                return;
            }
        }
    }

    fn next(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the server has ended");
            if line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().expect("a number");
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Bytes that it has in memory, by a row of its status; 0 where the system does not say.
    fn memory(&self, row: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(row));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        kilobytes.unwrap_or(0_u64) * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
