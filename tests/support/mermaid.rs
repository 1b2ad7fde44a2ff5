//! Pictures, parsed by the parser that draws them on web pages.

use crate::project::root;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// What Mermaid's parser makes of pictures, in one process; `None`, with a message, where it is not installed.
pub fn parsed(pictures: &[(String, String)]) -> Option<Vec<Value>> {
    let folder = root().join("target/mermaid");
    if !folder.join("node_modules/mermaid").is_dir() {
        eprintln!("skipped, not found: Mermaid in target/mermaid; `.ci/run` installs it with npm");
        return None;
    }
    let node = Command::new("node")
        .arg(root().join("tests/mermaid/check.mjs"))
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut node) = node else {
        eprintln!("skipped, not found: node");
        return None;
    };
    let charts: Vec<Value> =
        pictures.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
    let mut stdin = node.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || {
        stdin.write_all(Value::Array(charts).to_string().as_bytes()).expect("node reads all of it");
    });
    let output = node.wait_with_output().expect("node ends");
    writer.join().expect("node reads all of it");
    assert!(output.status.success(), "node fails");
    let lines = String::from_utf8(output.stdout).expect("node prints text");
    let values = lines.lines().map(|l| serde_json::from_str(l).expect("a JSON object a line"));
    Some(values.collect())
}
