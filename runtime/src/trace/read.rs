//! Reads traces.

use super::{Line, VERSION};
use serde::Deserialize;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line is not one of a trace.
    #[error("line {line}: {why}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        why: serde_json::Error,
    },
    /// A line has another version.
    #[error("line {line}: version {found} of the trace is not known; this is version {VERSION}")]
    Version {
        /// From 1.
        line: usize,
        /// What it says.
        found: u32,
    },
}

/// Reads the text of a trace. Empty lines are passed over.
///
/// # Errors
/// The first line that cannot be read.
pub fn read(text: &str) -> Result<Vec<Line>, ReadError> {
    lines(text).collect()
}

/// The lines of a trace, each by itself: one that cannot be read does not hide the others. Empty lines are passed over.
pub fn lines(text: &str) -> impl Iterator<Item = Result<Line, ReadError>> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines.map(|(i, text)| {
        #[derive(Deserialize)]
        struct Head {
            v: u32,
        }
        let line = i + 1;
        let fault = |why| ReadError::Line { line, why };
        let head: Head = serde_json::from_str(text).map_err(fault)?;
        if head.v != VERSION {
            return Err(ReadError::Version { line, found: head.v });
        }
        serde_json::from_str(text).map_err(fault)
    })
}
