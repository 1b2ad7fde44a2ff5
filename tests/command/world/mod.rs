//! Many agents in one world, by the command.

mod announced;
mod drawn;
mod examples;
mod hostile;
#[cfg(feature = "sqlite")]
mod killed;
mod making;
#[cfg(all(feature = "providers", target_os = "linux"))]
mod provider;
mod running;
mod seeing;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("world-{name}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
    }
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// The command in a folder.
fn chartc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(folder).args(args);
    command
}
