//! Charts that run, from the command line.

mod cassette;
pub(crate) mod command;
mod history;
mod knowing;
mod prompt;
mod recall;
mod replay;
mod resumed;
mod schema;
mod seeing;
mod shipped;
mod supplied;
mod together;
mod viable;
mod world;

use test_support::project::root;
