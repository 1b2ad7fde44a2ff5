//! Exploring charts: what `check` lines come to, and runs that show it.

mod bounded;
pub(crate) mod brute;
mod budget;
mod called;
mod finite;
mod open;
mod order;
mod point;
mod proofs;
mod sure;
mod ways;
mod witness;
