//! Normalises paths, and formats them for users.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and resolves `x/..` without looking at the file system, so that a file has one name.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidied.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidied.pop();
            }
            _ => {
                tidied.push(part);
            }
        }
    }
    tidied
}

/// Formats a path for users, with `/` as the separator on every system.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
