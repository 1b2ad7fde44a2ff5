//! Two books, compared.

use chartc_store::Store;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Prints what the books say. Returns whether all is right.
pub(crate) fn audit(folder: &Path, calls: u64, was_killed: bool) -> bool {
    let book = std::fs::read_to_string(folder.join("paid")).expect("the book");
    let mut paid: BTreeMap<&str, u32> = BTreeMap::new();
    for line in book.lines() {
        *paid.entry(line.trim_end()).or_default() += 1;
    }
    let twice = paid.values().filter(|count| **count > 1).count();
    let file = folder.join("runs.db");
    let db = Connection::open(&file).expect("the store");
    let of = |stage: &str| -> BTreeSet<String> {
        let mut rows = db.prepare("SELECT id FROM call WHERE stage = ?1").expect("its calls");
        let rows = rows.query_map([stage], |row| row.get(0)).expect("its calls");
        rows.collect::<Result<_, _>>().expect("its calls")
    };
    let (answers, doubts) = (of("done"), of("doubt"));
    let is_known = |id: &&&str| answers.contains(**id) || doubts.contains(**id);
    let lost = paid.keys().filter(|id| !is_known(id)).count();
    let unpaid = answers.iter().filter(|id| !paid.contains_key(id.as_str())).count();
    let all: i64 = db.query_row("SELECT count(*) FROM call", [], |row| row.get(0)).expect("calls");
    let all = all as u64;
    let faults = Store::open(&file).and_then(|store| store.check()).expect("the store");
    println!(
        "paid twice {twice}, lost {lost}, answers {} + doubts {} = calls {all}",
        answers.len(),
        doubts.len()
    );
    let balances = (answers.len() + doubts.len()) as u64 == all && all == calls;
    let mut is_right = true;
    let mut say = |holds: bool, what: String| {
        if !holds {
            println!("wrong: {what}");
            is_right = false;
        }
    };
    say(twice == 0, format!("{twice} calls were paid twice"));
    say(lost == 0, format!("{lost} calls were paid, and the store does not know of them"));
    say(unpaid == 0, format!("{unpaid} answers were never paid"));
    say(balances, format!("answers and doubts are not {calls} calls"));
    say(faults.is_empty(), format!("the store is damaged: {faults:?}"));
    say(was_killed, "the work was done before all kills".to_owned());
    is_right
}
