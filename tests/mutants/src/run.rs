//! Builds the copy and runs its tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Tests that take longer hang.
const LIMIT: Duration = Duration::from_mins(1);

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passes,
    /// One of its own assertions failed.
    Fails,
    /// Something else panicked.
    Panics,
    Hangs,
    /// There is no such test.
    Missing,
}

impl Verdict {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Passes => "passes",
            Self::Fails => "fails",
            Self::Panics => "panics elsewhere",
            Self::Hangs => "hangs, or was never reached",
            Self::Missing => "does not exist",
        }
    }
}

/// Builds the tests of the copy; gives the program that runs them.
///
/// # Errors
/// They do not build.
pub(crate) fn build(root: &Path) -> Result<PathBuf, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.args(["test", "--quiet", "-p", "chartc", "--no-default-features", "--test", "mutants"]);
    cargo.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    for profile in ["DEV", "TEST"] {
        cargo.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "0");
    }
    cargo
        .env("RUSTFLAGS", "-Awarnings")
        .env("CARGO_TARGET_DIR", root.join("../target"))
        .current_dir(root);
    let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        return Err("the copy does not build: a fault does not compile".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text
        .lines()
        .find(|l| l.contains("\"name\":\"mutants\"") && l.contains("\"executable\":\""));
    let path = line.and_then(|l| l.split("\"executable\":\"").nth(1)?.split('"').next());
    path.map(PathBuf::from).ok_or_else(|| "cargo names no test program".to_owned())
}

/// Runs tests by name, all of them where none is named, with one fault switched on or none.
///
/// # Errors
/// The program cannot be run.
pub(crate) fn tests(
    program: &Path,
    fault: Option<&str>,
    names: &[&str],
) -> Result<Vec<(String, Verdict)>, String> {
    let log = program.with_extension("log");
    let file = std::fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut command = Command::new(program);
    command.args(names).stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
    if !names.is_empty() {
        command.arg("--exact");
    }
    command.env("CHARTC_SHARED", "/nowhere").env("RUST_BACKTRACE", "0").env_remove("CHARTC_MUTANT");
    if let Some(fault) = fault {
        command.env("CHARTC_MUTANT", fault);
    }
    let mut child = command.spawn().map_err(|e| format!("{}: {e}", program.display()))?;
    let begun = Instant::now();
    let hangs = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(_) => break false,
            None if begun.elapsed() > LIMIT => {
                child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
                break true;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let output = std::fs::read_to_string(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let known = output.lines().filter_map(|l| l.strip_prefix("test ")?.split_once(" ... "));
    let known: Vec<(&str, &str)> = known.collect();
    let named: Vec<&str> = if names.is_empty() {
        known.iter().map(|(name, _)| *name).collect()
    } else {
        names.to_vec()
    };
    let verdict = |name: &str| match known.iter().find(|(known, _)| *known == name) {
        Some((_, "ok")) => Verdict::Passes,
        Some(_) if asserts(&output, name) => Verdict::Fails,
        Some(_) if hangs => Verdict::Hangs,
        Some(_) => Verdict::Panics,
        None if hangs => Verdict::Hangs,
        None => Verdict::Missing,
    };
    Ok(named.into_iter().map(|name| (name.to_owned(), verdict(name))).collect())
}

/// What the tests of the semantics share: it drives machines and reads `.cases`.
const SHARED: &[&str] = &["mod.rs", "cases.rs", "inputs.rs", "holds.rs", "words.rs"];

/// Whether a test failed by itself: in its own file, or by an assertion of what all tests share, as when a line of a case does not hold.
fn asserts(output: &str, name: &str) -> bool {
    let head = format!("---- {name} stdout ----");
    let Some((_, rest)) = output.split_once(&head) else { return false };
    let told = rest.split("\n---- ").next().unwrap_or(rest);
    let Some((_, place)) = told.split_once("panicked at tests/language/semantics/") else {
        return false;
    };
    !SHARED.iter().any(|file| place.starts_with(file)) || told.contains("assertion")
}
