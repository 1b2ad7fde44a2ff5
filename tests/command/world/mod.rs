//! Many agents in one world, by the command.

mod announced;
mod drawn;
mod examples;
mod hostile;
mod idle;
#[cfg(feature = "sqlite")]
mod killed;
mod making;
#[cfg(all(feature = "providers", target_os = "linux"))]
mod provider;
mod record;
mod running;
mod seeing;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    test_support::project::folder(&format!("world-{name}"))
}

/// The command in a folder.
fn chartc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(folder).args(args);
    command
}
