//! With `rust-fsm`: transitions with outputs, which the caller acts on. Guards it has none, so not the ring; states above others neither,
//! so their lines are written for each leaf; nor regions: three machines get the events of their own lines.
#![allow(
    missing_docs,
    clippy::pedantic,
    unreachable_pub,
    dead_code,
    reason = "what the macro makes is its own"
)]

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod table;
