//! Runs that are run again from their traces, from the command line.

#[path = "../../../runtime/run/replay/charts.rs"]
mod charts;
mod command;
#[path = "../../../runtime/run/replay/world.rs"]
#[allow(dead_code, reason = "the tests of the library use all of it")]
pub(super) mod world;
