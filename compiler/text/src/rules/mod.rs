//! The catalogue of rules: code, name, stage, level and page of each, and messages.
//!
//! To add a rule, add its page, `<name>.md`. Its front matter has the code, name, stage and level, and the table follows from it. A rule
//! that needs an analysis has its check in `lint`; messages of the others are in `messages`.

mod messages;
pub mod precedence;
pub mod prose;

use crate::diagnostic::{Rule, Severity, Stage, nearest};
pub use messages::*;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Finds a rule by code or name; case, `-` and `_` do not count.
///
/// # Errors
/// The nearest code or name, if there is one.
pub fn named(word: &str) -> Result<&'static Rule, Option<&'static str>> {
    let name = word.replace('_', "-").to_lowercase();
    let found = RULES.iter().find(|r| r.code.eq_ignore_ascii_case(word) || r.name == name);
    found.copied().ok_or_else(|| nearest(&name, RULES.iter().flat_map(|r| [r.code, r.name])))
}
