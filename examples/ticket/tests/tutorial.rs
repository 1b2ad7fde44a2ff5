//! The tutorial ends with this crate: its files are those that the page shows, and it prints what stands there.
#![allow(clippy::disallowed_methods, reason = "the test reads the page and starts the program")]

use std::path::Path;
use std::process::Command;

const PRINTED: &str = "\
known about the order: A17: lost in the post
solved after 2 model calls
";

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

#[test]
fn it_prints_what_the_tutorial_shows() {
    let output = Command::new(env!("CARGO_BIN_EXE_ticket-example")).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), PRINTED);
}

#[test]
fn its_files_are_those_of_the_tutorial() {
    let page = read("../../docs/tutorial.md");
    for file in ["build.rs", "src/main.rs"] {
        assert!(page.contains(&format!("```rust\n{}```", read(file))), "{file}");
    }
    assert!(page.contains(&format!("```text\n{PRINTED}```")), "what it prints");
    for file in ["ticket.chart", "ticket.script.yaml"] {
        let written = format!("$ cat > {file} <<'END'\n");
        let last = page.rsplit(&written).next().unwrap_or_default();
        let text = last.split("END\n").next().unwrap_or_default();
        assert_eq!(text, read(file));
    }
}
