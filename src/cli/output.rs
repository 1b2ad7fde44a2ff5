//! Writing to the terminal.
#![allow(clippy::disallowed_methods, reason = "the environment says what the terminal can show")]

use crate::report::Paper;
use std::io::{ErrorKind, IsTerminal, Write};

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What standard output can show.
pub fn paper(colour: Colour) -> Paper {
    let terminal = std::io::stdout().is_terminal();
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let colour = match colour {
        Colour::Auto => terminal && !refused,
        Colour::Always => true,
        Colour::Never => false,
    };
    Paper { colour, width: columns() }
}

/// Columns of standard output: what `COLUMNS` says, else those of the terminal, else 100; at least 40 and at most 200.
pub fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let is = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.or_else(is).unwrap_or(100).clamp(40, 200)
}

/// Writes to standard output. A reader that went away (`chartc … | head`) is no error.
///
/// # Errors
/// When the output cannot be written, as on a full disk.
pub fn print(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => {
            Err(miette::miette!("cannot write to standard output: {fault}"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; if nobody can read it, there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
