//! Servers that many use, over their pipes and over HTTP.
#![allow(clippy::disallowed_methods, reason = "a server for HTTP is started apart")]

use crate::support::{ANY, Declared, TEXT, call, chart, folder, has, installed, pool, runs, until};
use chartc_core::model::Type::{self, Float, Json, Text};
use chartc_runtime::oracle::OracleError;
use serde_json::json;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server of npm, if it is installed.
fn npm(name: &str) -> Option<PathBuf> {
    let path = installed().join("node_modules/@modelcontextprotocol").join(name);
    let path = path.join("dist/index.js");
    let is_there = has("node") && path.exists();
    if !is_there {
        eprintln!("skipped, not found: {}", path.display());
    }
    is_there.then_some(path)
}

fn node(name: &str, script: &std::path::Path, argument: &std::path::Path) -> String {
    format!("[servers.{name}]\ncommand = \"node\"\nargs = {}\n", json!([script, argument]))
}

#[tokio::test]
async fn the_file_system() {
    let Some(script) = npm("server-filesystem") else { return };
    let folder = folder("files");
    std::fs::write(folder.join("a.txt"), "one\ntwo\n").expect("a file");
    let (pool, lines) = pool(&node("files", &script, &folder), &folder).await;
    let list = |of: Type| Type::List(Box::new(of));
    let tools: &[Declared<'_>] = &[
        (
            "files.read_text_file",
            &[("path", Text), ("head", Type::Optional(Box::new(Float)))],
            Text,
        ),
        ("files.write_file", &[("path", Text), ("content", Text)], Text),
        ("files.read_multiple_files", &[("paths", list(Text))], Text),
        ("files.directory_tree", &[("path", Text)], Json),
    ];
    assert_eq!(pool.check(&[&chart(tools)]), []);
    let path = folder.join("a.txt");
    let read = call(&pool, "files.read_text_file", json!({"path": path, "head": 1}), TEXT).await;
    assert_eq!(read, Ok(json!("one")));
    let whole =
        call(&pool, "files.read_text_file", json!({"path": path, "head": null}), TEXT).await;
    assert_eq!(whole, Ok(json!("one\ntwo\n")));
    let content = "\u{1F600} \"quoted\" {{not}}";
    let written = json!({"path": folder.join("b.txt"), "content": content});
    assert!(call(&pool, "files.write_file", written, TEXT).await.is_ok());
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).expect("it was written"), content);
    let outside = call(&pool, "files.read_text_file", json!({"path": "/etc/passwd"}), TEXT).await;
    let outside = outside.expect_err("it is outside").to_string();
    assert!(outside.contains("Access denied"), "{outside}");
    pool.close().await;
    assert!(lines.lock().expect("whole").iter().any(|line| line.starts_with("files: Secure MCP")));
}

/// What every server that has all features can do.
async fn everything(text: &str, name: &str) {
    let folder = folder(name);
    let (pool, _) = pool(text, &folder).await;
    let tools: &[Declared<'_>] = &[
        ("every.echo", &[("message", Text)], Text),
        ("every.get-sum", &[("a", Float), ("b", Float)], Text),
        ("every.trigger-long-running-operation", &[("duration", Float), ("steps", Float)], Text),
    ];
    assert_eq!(pool.check(&[&chart(tools)]), []);
    let echo = call(&pool, "every.echo", json!({"message": "hi"}), TEXT).await;
    assert_eq!(echo, Ok(json!("Echo: hi")));
    let weather =
        call(&pool, "every.get-structured-content", json!({"location": "Chicago"}), ANY).await;
    assert!(weather.is_ok_and(|weather| weather["temperature"].is_number()));
    let image = call(&pool, "every.get-tiny-image", json!({}), TEXT).await.expect("an image");
    assert!(image.as_str().is_some_and(|text| text.contains("[image image/png")), "{image}");
    let wrong = call(&pool, "every.get-sum", json!({"a": "one"}), TEXT).await;
    assert!(matches!(wrong, Err(OracleError::Other(_))), "{wrong:?}");
    let long = json!({"duration": 1, "steps": 4});
    let long = call(&pool, "every.trigger-long-running-operation", long, TEXT).await;
    assert!(long.is_ok_and(|text| text.as_str().is_some_and(|text| text.contains("completed"))));
    pool.close().await;
}

#[tokio::test]
async fn all_features_over_pipes() {
    let Some(script) = npm("server-everything") else { return };
    let kind = std::path::Path::new("stdio");
    everything(&node("every", &script, kind), "everything").await;
}

/// Ends a server when the test ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn serving(script: &std::path::Path, port: u16) -> Ended {
    let mut command = Command::new("node");
    command.arg(script).arg("streamableHttp").env("PORT", port.to_string());
    Ended(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("node runs"))
}

#[tokio::test]
async fn all_features_over_http() {
    let Some(script) = npm("server-everything") else { return };
    let port = free_port();
    let server = serving(&script, port);
    until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
    let text = format!("[servers.every]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
    everything(&text, "http").await;
    // The one that is gone is told, and the one that comes back is found again.
    let folder = folder("http-again");
    let (pool, _) = pool(&text, &folder).await;
    let echo = || call(&pool, "every.echo", json!({"message": "hi"}), TEXT);
    assert_eq!(echo().await, Ok(json!("Echo: hi")));
    let pid = server.0.id();
    drop(server);
    assert!(!runs(pid));
    let gone = echo().await.expect_err("nobody is there");
    assert!(matches!(gone, OracleError::Connection(_)), "{gone:?}");
    let _again = serving(&script, port);
    until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok()).await;
    assert_eq!(echo().await, Ok(json!("Echo: hi")));
    pool.close().await;
}

#[tokio::test]
async fn the_time() {
    let program = installed().join("venv/bin/mcp-server-time");
    if !program.exists() {
        eprintln!("skipped, not found: {}", program.display());
        return;
    }
    let text = format!(
        "[servers.time]\ncommand = {}\nargs = [\"--local-timezone\", \"UTC\"]\n",
        json!(program)
    );
    let folder = folder("time");
    let (pool, _) = pool(&text, &folder).await;
    let tools: &[Declared<'_>] = &[("time.get_current_time", &[("timezone", Text)], Json)];
    assert_eq!(pool.check(&[&chart(tools)]), []);
    let now = call(&pool, "time.get_current_time", json!({"timezone": "Europe/Paris"}), ANY).await;
    assert_eq!(now.expect("a time")["timezone"], "Europe/Paris");
    let wrong = call(&pool, "time.get_current_time", json!({"timezone": "Mars"}), ANY).await;
    assert!(matches!(wrong, Err(OracleError::Other(_))), "{wrong:?}");
    pool.close().await;
}
