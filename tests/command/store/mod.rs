//! Runs in a store, from the command line: over hours, killed, read by people, and in files that are damaged.

mod broken;
mod changed;
mod damage;
mod fork;
#[cfg(unix)]
mod kill;
mod later;
mod people;
mod remembers;
mod replayed;
mod row;
mod snapshots;
#[cfg(unix)]
mod stopped;
#[path = "../../runtime/store/support.rs"]
#[allow(dead_code, reason = "the tests of the library use all of it")]
mod support;
pub(crate) mod waits;

use crate::run::command::folder;
use support::*;

/// The id of the only question of a run to a person.
fn open_question(file: &Path, run: &str) -> String {
    let asked = Store::open(file).and_then(|store| store.asked(run)).expect("a store");
    let [question] = asked.as_slice() else { panic!("not one question: {asked:?}") };
    question.id.clone()
}
