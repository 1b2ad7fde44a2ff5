//! Emacs, without a window: `editors/emacs`, and the server under Eglot.

use crate::client::folder;
use std::path::Path;
use std::process::Command;

const DOOR: &str = "// A note.
chart Door {
  event open
      initial closed
  state closed { on opne -> ajar  after 30s -> ajar }
  state ajar
}
";

#[test]
fn emacs_colours_finds_and_formats() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = folder("emacs");
    std::fs::write(here.join("door.chart"), DOOR).expect("written");
    std::fs::write(here.join("chartc.toml"), "").expect("written");
    let done = Command::new("emacs")
        .args(["--batch", "--no-init-file", "--directory"])
        .arg(root.join("editors/emacs"))
        .arg("--load")
        .arg(root.join("tests/editor/emacs/server.el"))
        .env("CHARTC", env!("CARGO_BIN_EXE_chartc"))
        .env("FOLDER", &here)
        .env("HOME", &here)
        .output();
    let Ok(done) = done else {
        eprintln!("skipped, not found: emacs");
        return;
    };
    let said = String::from_utf8_lossy(&done.stdout);
    let all = format!("{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{all}");
    if said.starts_with("no eglot") {
        eprintln!("skipped, not found: Eglot");
        return;
    }
    for line in [
        "mode chart-mode",
        "face chart font-lock-keyword-face",
        "face Door font-lock-type-face",
        "face // A note font-lock-comment-delimiter-face",
        "face 30s font-lock-constant-face",
        "finding 5 chartc [C0102]: no event `opne`",
        "  initial closed",
    ] {
        assert!(said.lines().any(|one| one == line), "no {line:?} in\n{all}");
    }
}
