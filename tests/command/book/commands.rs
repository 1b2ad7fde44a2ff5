//! A page for each command, from the definition of its arguments: `chartc man --format markdown`. What a person has written below
//! [`BY_HAND`] stays.

use super::{only, same};
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::project::{read, root};

const FOLDER: &str = "docs/commands";
/// From this line on, a page is written by a person.
pub(super) const BY_HAND: &str = "<!-- above: generated from the definition of the command -->";

/// The pages that `chartc man` writes, each with its file in the book.
fn written() -> Vec<(String, String)> {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book-commands");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["man", "--format", "markdown", "--out"])
        .arg(&folder)
        .output()
        .expect("chartc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let entries = std::fs::read_dir(&folder).expect("it was written");
    let mut pages: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("it can be listed").path();
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("it is a text");
            (format!("{FOLDER}/{name}"), text)
        })
        .collect();
    pages.sort();
    pages
}

#[test]
fn each_command_has_a_page_in_the_book() {
    let pages = written();
    assert!(pages.len() > 15, "{} pages", pages.len());
    for (file, generated) in &pages {
        let old = if root().join(file).exists() { read(file) } else { String::new() };
        let by_hand = old.split_once(BY_HAND).map_or("\n", |(_, by_hand)| by_hand);
        same(file, &format!("{generated}\n{BY_HAND}\n{}", by_hand.trim_start_matches('\n')));
    }
    only(FOLDER, &pages.into_iter().map(|(file, _)| file).collect::<Vec<_>>());
}
