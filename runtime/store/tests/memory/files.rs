//! Files: made, opened again, refused, in use.

use super::Scratch;
use chartc_core::expr::Value;
use chartc_runtime::memory::{Memory, MemoryError};
use chartc_store::memory::{Store, VERSION};
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(60);

fn why(path: &Path) -> String {
    Store::open_within(path, SHORT).expect_err("it is refused").to_string()
}

fn write(path: &Path, sql: &str) {
    Connection::open(path).and_then(|file| file.execute_batch(sql)).expect("it is written");
}

#[test]
fn what_was_kept_is_there_when_the_file_is_opened_again() {
    let scratch = Scratch::new();
    for tick in 1..=3 {
        let store = Store::open(&scratch.file()).expect("it opens");
        let ada = store.agent("ada").expect("it is made");
        ada.record_action(tick, &format!("lamp {tick}"), Value::Int(1)).expect("it is kept");
        let found = ada.search("lamp", 9).expect("it is read");
        let ticks: Vec<u64> = found.iter().map(|memo| memo.tick).collect();
        assert_eq!(ticks, (1..=tick).rev().collect::<Vec<_>>());
    }
    let file = Connection::open(scratch.file()).expect("it opens");
    let said: i64 = file
        .query_row("SELECT value FROM meta WHERE key = 'version'", [], |row| row.get(0))
        .expect("it says its version");
    assert_eq!(said, VERSION);
    let mode: String =
        file.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("it says it");
    assert_eq!(mode, "wal");
}

#[test]
fn what_is_no_memory_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new();
    let path = scratch.file();
    let shown = path.display();
    assert_eq!(
        why(&scratch.0),
        format!("{} is a folder: give the path of a file", scratch.0.display())
    );

    // SQLite itself takes the shortest ones for empty.
    let text = "chart Door { initial shut state shut }".repeat(99);
    for length in [1, 2, 15, 16, 17, 99, 100, 511, 512, 600, text.len()] {
        std::fs::write(&path, &text[..length]).expect("it is written");
        let refused = format!("{shown} is no SQLite file: give another path, or take it away");
        assert_eq!(why(&path), refused, "{length} bytes");
        let after = std::fs::read(&path).expect("it is read");
        assert_eq!(after, text.as_bytes()[..length], "{length} bytes");
    }

    for other in [
        "CREATE TABLE songs (title)",
        "CREATE TABLE meta (a, b)",
        "CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('version', 1)",
    ] {
        std::fs::remove_file(&path).expect("it is there");
        write(&path, other);
        let before = std::fs::read(&path).expect("it is read");
        assert_eq!(
            why(&path),
            format!("{shown} is an SQLite file of something else: give another path")
        );
        assert_eq!(std::fs::read(&path).expect("it is read"), before, "{other}");
    }
}

#[test]
fn another_version_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.file();
    drop(Store::open(&path).expect("it opens"));
    write(&path, "UPDATE meta SET value = 7 WHERE key = 'version'");
    let shown = path.display();
    assert_eq!(
        why(&path),
        format!(
            "{shown} has memories of version 7, and this chartc reads 1: use the chartc that wrote it, or give another path"
        )
    );
    write(&path, "DELETE FROM meta WHERE key = 'version'");
    assert_eq!(
        why(&path),
        format!("{shown} does not say its version: put a copy of it back, or give another path")
    );
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let scratch = Scratch::new();
    let why = why(&scratch.0.join("none").join("memory.db"));
    assert!(why.ends_with("is there such a folder, and may it be written?"), "{why}");
}

#[test]
fn an_empty_file_and_a_name_like_an_address_are_files() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file(), "").expect("it is written");
    Store::open(&scratch.file()).expect("it opens").agent("ada").expect("it is made");
    let odd = scratch.0.join("file:x?mode=memory");
    Store::open(&odd).expect("it opens").agent("ada").expect("it is made");
    assert!(odd.exists());
}

#[test]
fn a_damaged_row_is_said() {
    let scratch = Scratch::new();
    let path = scratch.file();
    let ada = Store::open(&path).expect("it opens").agent("ada").expect("it is made");
    ada.record_action(1, "lamp", Value::None).expect("it is kept");
    write(&path, "UPDATE memory SET data = '{'");
    let damaged = |what: &str| {
        let shown = path.display();
        format!("{shown} is damaged ({what}): put a copy of it back, or take it away")
    };
    let why = |query| ada.search(query, 9).expect_err("it is damaged").to_string();
    assert_eq!(why("lamp"), damaged("data that is no JSON"));
    write(&path, "UPDATE memory SET data = 'null', kind = 'dream'");
    assert_eq!(why(""), damaged("a memory of the kind `dream`"));
}

#[test]
fn a_file_in_use_is_waited_for_and_then_said() {
    let scratch = Scratch::new();
    let path = scratch.file();
    let patience = Duration::from_millis(300);
    let ada =
        Store::open_within(&path, patience).expect("it opens").agent("ada").expect("it is made");
    let other = Connection::open(&path).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("it has the file");
    let start = Instant::now();
    let refused = ada.record_action(1, "lamp", Value::None).expect_err("the other one has it");
    assert!(start.elapsed() >= patience, "{:?}", start.elapsed());
    assert!(matches!(refused, MemoryError::Busy { .. }), "{refused:?}");
    let words = refused.to_string();
    let shown = path.display().to_string();
    assert!(words.starts_with(&shown) && words.contains("is in use by another process"), "{words}");
    assert!(words.ends_with("wait until it has ended, or give another file"), "{words}");
    // To read there is no need to wait, and nothing of what failed is there.
    assert_eq!(ada.search("", 9), Ok(Vec::new()));
    other.execute_batch("ROLLBACK").expect("it lets go");
    ada.record_action(1, "lamp", Value::None).expect("it is kept");
    assert_eq!(ada.search("lamp", 9).map(|found| found.len()), Ok(1));

    // A program that has it for itself alone.
    drop(ada);
    other
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .expect("it has the file");
    let whole = why(&path);
    assert!(whole.contains("is in use by another process"), "{whole}");
}

#[test]
fn many_may_write_at_once() {
    let scratch = Scratch::new();
    let path = scratch.file();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let path = path.clone();
            std::thread::spawn(move || {
                // Two have a connection of their own, as processes do.
                let store = Store::open(&path).expect("it opens");
                let agent = store.agent(&format!("agent {}", writer % 2)).expect("it is made");
                for tick in 0..25 {
                    agent.record_action(tick, "lamp", Value::None).expect("it is kept");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("it ends well");
    }
    let store = Store::open(&path).expect("it opens");
    for agent in ["agent 0", "agent 1"] {
        let found =
            store.agent(agent).expect("it is known").search("lamp", 999).expect("it is read");
        assert_eq!(found.len(), 50);
    }
}
