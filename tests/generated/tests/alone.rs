//! Generated code under the compiler alone: without `std` and an allocator where a chart needs none, and without a single
//! warning everywhere.
#![allow(clippy::disallowed_methods, reason = "starts the compiler and what it made")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) {
    let done = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?} ended with {}:\n{said}", done.status);
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    command.args(["--edition", "2024", "-D", "warnings"]);
    command.env("OUT_DIR", env!("OUT_DIR"));
    command
}

/// Where a test puts what it makes.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for what is made");
    folder
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles chartc-core with these flags.
fn core(folder: &Path, flags: &[&str]) -> String {
    let library = folder.join("libchartc_core.rlib");
    run(rustc()
        .args(["--crate-name", "chartc_core", "--crate-type", "rlib"])
        .args(flags)
        .arg("-o")
        .arg(&library)
        .arg(source("../../runtime/core/src/lib.rs")));
    format!("chartc_core={}", library.display())
}

#[test]
fn a_host_without_an_allocator() {
    let folder = folder("nostd");
    let abort = ["-C", "panic=abort"];
    let core = core(&folder, &abort);
    let program = folder.join("host");
    run(rustc()
        .args(abort)
        .args(["-C", "link-arg=-lc", "--extern", &core, "-o"])
        .arg(&program)
        .arg(source("nostd/main.rs")));
    run(&mut Command::new(&program));
}

#[test]
fn nothing_to_warn_of() {
    let folder = folder("strict");
    let core = core(&folder, &["--cfg", "feature=\"alloc\"", "--emit", "metadata,link"]);
    let mut modules = String::from("//! Generated charts.\n#![deny(missing_docs)]\n");
    let files = std::fs::read_dir(source("charts")).expect("the charts can be read");
    for file in files {
        let path = file.expect("as before").path();
        let name = path.file_name().expect("a chart has a name").to_string_lossy().into_owned();
        let name = name.split('.').next().unwrap_or_default();
        modules += &format!(
            "/// A chart.\npub mod {name} {{ include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\")); }}\n"
        );
    }
    let library = folder.join("charts.rs");
    std::fs::write(&library, modules).expect("the folder can be written");
    run(rustc()
        .args(["--crate-type", "lib", "--emit", "metadata", "--extern", &core, "--out-dir"])
        .arg(&folder)
        .arg(&library));
}
