//! Parses the arguments of the process.
#![allow(clippy::disallowed_methods, reason = "this is where the arguments are read")]

use super::output::{Stream, is_coloured};
use chartc_core::visible;
use clap::Parser;
use clap::error::Error;
use std::ffi::OsString;

/// Parses the arguments of the process.
///
/// # Errors
/// The message of clap, with hidden characters of the arguments escaped.
pub(super) fn parse<C: Parser>() -> Result<C, Error> {
    let given: Vec<OsString> = std::env::args_os().collect();
    C::try_parse_from(&given).map_err(|told| again::<C>(&given).unwrap_or(told))
}

/// Parses the same arguments once more with hidden characters escaped, because clap repeats arguments verbatim in its messages.
fn again<C: Parser>(given: &[OsString]) -> Option<Error> {
    let shown = given.iter().map(|word| visible::line(&word.to_string_lossy()).into_owned());
    C::try_parse_from(shown).err()
}

/// The message of clap, with colours if `stream` shows them.
pub(super) fn shown(told: &Error, stream: Stream) -> String {
    let text = told.render();
    if is_coloured(stream) { text.ansi().to_string() } else { text.to_string() }
}
