//! Runs in a store, from the library: as in memory, through crashes, with charts that have changed.

mod changed;
mod crash;
mod fuzzed;
mod outages;
mod same;
mod simulation;
pub(crate) mod support;
mod undone;

use support::*;
