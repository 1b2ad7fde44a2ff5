//! With `smlang`: a list of transitions with guards and actions. States above others it has none: their lines are written for each leaf.
//! Regions neither: three machines get each event.
#![allow(
    missing_docs,
    clippy::pedantic,
    unreachable_pub,
    dead_code,
    unused_variables,
    reason = "what the macro makes is its own"
)]

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod ring;
pub(crate) mod table;
