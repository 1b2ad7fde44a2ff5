//! Calls of regions that are open at the same time, from the command line.

mod command;
#[path = "../../../runtime/run/together/pair.rs"]
mod pair;

use pair::{SCRIPT, pair};
