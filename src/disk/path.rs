//! Paths as they are compared and shown.

use std::path::{Component, Path, PathBuf};

/// Without `.` parts and with `x/..` taken away, so that a file has one name.
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
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => {
                tidied.push(part);
            }
        }
    }
    tidied
}

/// As shown to the user: with `/` everywhere.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
