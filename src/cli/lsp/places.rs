//! Converts between the names of files in the compiler and the addresses that a client has for them.

use crate::disk::{shown, tidy};
use gen_lsp_types::Uri;
use std::path::{Path, PathBuf};

/// The folder that a client has open. Names of files below it are relative to it.
#[derive(Debug, Clone)]
pub(super) struct Places {
    folder: PathBuf,
}

/// The prefix of the name of a text that is in no file.
const UNTITLED: &str = "untitled:";

impl Places {
    /// Creates the mapping for a client with this open folder.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder: tidy(&folder) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the file at an address. A text that is in no file gets a name that is not a path, with an extension for its language.
    pub(super) fn name(&self, uri: &Uri, language: &str) -> String {
        match (uri.scheme(), uri.to_file_path()) {
            ("file", Ok(path)) => {
                let path = tidy(&path);
                shown(path.strip_prefix(&self.folder).unwrap_or(&path))
            }
            _ => {
                let end = match language {
                    "yaml" | "agent-yaml" => "/agent.yaml",
                    "xml" | "scxml" => ".scxml",
                    _ => ".chart",
                };
                format!("{UNTITLED}{}{end}", uri.path().trim_start_matches('/'))
            }
        }
    }

    /// The address of a file that is not open; `None` for a text that is in no file.
    pub(super) fn uri(&self, name: &str) -> Option<Uri> {
        if name.starts_with(UNTITLED) {
            return None;
        }
        Uri::from_file_path(tidy(&self.folder.join(name))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses() {
        let places = Places::new(PathBuf::from("/home/an na/p"));
        for (uri, name) in [
            ("file:///home/an%20na/p/a/b.chart", "a/b.chart"),
            ("file:///home/an na/p/ü.chart", "ü.chart"),
            ("file:///home/c.chart", "/home/c.chart"),
        ] {
            let uri: Uri = uri.parse().expect("an address");
            assert_eq!(places.name(&uri, "chart"), name);
            assert_eq!(places.uri(name).expect("an address"), uri);
        }
        let untitled: Uri = "untitled:Untitled-1".parse().expect("an address");
        assert_eq!(places.name(&untitled, "chart"), "untitled:Untitled-1.chart");
        assert_eq!(places.name(&untitled, "yaml"), "untitled:Untitled-1/agent.yaml");
        assert_eq!(places.uri("untitled:Untitled-1.chart"), None);
    }
}
