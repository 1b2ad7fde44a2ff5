//! A client that others wrote, the Python package `mcp`, drives the server.

use super::*;
use test_support::project::root;

/// The Python that has the package, where `.ci/run` has installed it.
fn python() -> Option<PathBuf> {
    let python = root().join("target/mcp-client/bin/python");
    if python.exists() {
        return Some(python);
    }
    eprintln!("skipped, not found: {}", python.display());
    None
}

fn drive(python: &Path, arguments: &[&str]) {
    let done = Command::new(python)
        .arg(root().join("tests/mcp_client/drive.py"))
        .args(arguments)
        .env("TOKEN", TOKEN)
        .env("PEOPLE", PEOPLE)
        .stdin(Stdio::null())
        .output()
        .expect("Python runs");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}{err}");
    assert!(out.ends_with("all as it should be\n"), "{out}{err}");
}

#[test]
fn over_http() {
    let Some(python) = python() else { return };
    let server = Server::new(&charts("python-http"), &[]);
    drive(&python, &["http", &format!("http://{}", server.address)]);
}

#[test]
fn over_standard_streams() {
    let Some(python) = python() else { return };
    let folder = charts("python-stdio");
    let charts = ["desk.chart", "turns.chart"].map(|name| folder.join(name).display().to_string());
    drive(&python, &["stdio", env!("CARGO_BIN_EXE_chartc"), &charts[0], &charts[1]]);
}
