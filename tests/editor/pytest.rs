//! The server driven by pytest-lsp, as three editors present themselves to it.

use std::path::Path;
use std::process::Command;

#[test]
fn three_clients_find_what_they_ask_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/pytest-lsp/bin/python");
    if !python.exists() {
        eprintln!("skipped, not found: {}", python.display());
        return;
    }
    let done = Command::new(python)
        .args(["-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_server.py"])
        .args(["-o", "asyncio_default_fixture_loop_scope=function", "-rs"])
        .current_dir(root.join("tests/editor/pytest"))
        .env("CHARTC", env!("CARGO_BIN_EXE_chartc"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{said}");
}
