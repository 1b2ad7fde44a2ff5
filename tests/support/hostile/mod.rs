//! Input that is meant to hurt, as files with the message that they deserve.

pub mod cases;
pub mod growing;
pub mod scxml;

use cases::Case;

/// Every case.
pub fn both() -> Vec<Case> {
    cases::all().into_iter().chain(growing::all()).chain(scxml::all()).collect()
}

/// All texts of the cases, each with the case's name.
pub fn texts() -> Vec<(&'static str, String)> {
    let of = |case: Case| {
        let name = case.name;
        case.files
            .into_iter()
            .filter_map(move |(_, text)| Some((name, String::from_utf8(text).ok()?)))
    };
    both().into_iter().flat_map(of).collect()
}
