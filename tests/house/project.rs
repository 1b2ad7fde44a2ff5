//! The project's own files, as tests see them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's root folder.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file();
    package.ancestors().find(is_root).expect("the workspace has a lock file")
}

/// The text of a file of the project.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below `folder` whose name ends with `ending`, as paths from the root with `/`, sorted. `target` folders are left out.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path: PathBuf = entry.expect("a folder of the project is readable").path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(ending) {
                let below = path.strip_prefix(root()).expect("found below the root");
                found.push(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// What `cargo metadata` says of the workspace and the dependencies that this platform uses.
pub(crate) fn metadata() -> serde_json::Value {
    metadata_with(&[]).expect("cargo knows the packages that this was built from")
}

/// The same with more arguments for cargo; `None`, with a message, where a package is wanted that was never downloaded.
pub(crate) fn metadata_with(more: &[&str]) -> Option<serde_json::Value> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let rustc = String::from_utf8(rustc.stdout).expect("rustc prints text");
    let host = rustc.lines().find_map(|l| l.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", host])
        .args(more)
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains("--offline") {
        eprintln!("skipped, not found: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).expect("cargo prints JSON"))
}
