//! Parses traces.

use super::{Line, VERSION};
use serde::Deserialize;

/// The reason why a trace cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The line is not one of a trace.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The error of the JSON parser.
        why: serde_json::Error,
    },
    /// The line has another version.
    #[error("line {line}: version {found} of the trace is not known; this is version {VERSION}")]
    Version {
        /// The number of the line, from 1.
        line: usize,
        /// The version of the line.
        found: u32,
    },
}

/// Parses the text of a trace. Empty lines are skipped.
///
/// # Errors
/// The first line that cannot be parsed.
pub fn read(text: &str) -> Result<Vec<Line>, ReadError> {
    lines(text).collect()
}

/// Parses the lines of a trace one by one, so that a malformed line does not hide the others. Empty lines are skipped.
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
