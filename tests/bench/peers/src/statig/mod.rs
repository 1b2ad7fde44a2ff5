//! With `statig`: states and superstates are methods. Regions it has none: three machines get each event.
#![allow(
    missing_docs,
    clippy::pedantic,
    unreachable_pub,
    reason = "what the macros make is theirs"
)]

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod ring;
pub(crate) mod table;
