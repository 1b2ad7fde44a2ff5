//! Rows of a store, changed past the store.

use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};
use std::path::Path;

/// Does something to the file itself. Returns how many rows that has changed.
pub(super) fn changed(file: &Path, sql: &str) -> usize {
    let connection = Connection::open(file).expect("a database");
    connection.execute(sql, []).expect("it can be written")
}

/// Gives one row the checksum of its columns, as the store makes it.
pub(super) fn sealed(file: &Path, table: &str, which: &str) {
    let connection = Connection::open(file).expect("a database");
    let read = format!("SELECT * FROM {table} WHERE {which}");
    let columns: Vec<Value> = connection
        .query_row(&read, [], |row| {
            (0..row.as_ref().column_count() - 1).map(|nth| row.get(nth)).collect()
        })
        .expect("a row");
    let sum = checksum(columns.iter().map(ValueRef::from));
    let put = format!("UPDATE {table} SET sum = ?1 WHERE {which}");
    assert_eq!(connection.execute(&put, [sum]).expect("it can be written"), 1);
}

/// Puts a letter into an inbox, past the store.
pub(super) fn letter(file: &Path, [run, kind, name, data]: [&str; 4]) {
    let sum = checksum([run, kind, name, data].map(|text| ValueRef::Text(text.as_bytes())));
    let put = "INSERT INTO inbox (run, kind, name, data, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
    let connection = Connection::open(file).expect("a database");
    let put = connection.execute(put, rusqlite::params![run, kind, name, data, sum]);
    assert_eq!(put.expect("it can be written"), 1);
}

/// The only letter came earlier than it did, by so many milliseconds.
pub(super) fn letter_is_older(file: &Path, by: i64) {
    let connection = Connection::open(file).expect("a database");
    let read = "SELECT run, kind, name, data FROM inbox";
    let columns: [String; 4] = connection
        .query_row(read, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))
        .expect("a letter");
    let [run, kind, name, data] = columns;
    let (question, came) = name.split_once(' ').expect("a question and a time");
    let name = format!("{question} {}", came.parse::<i64>().expect("a time") - by);
    connection.execute("DELETE FROM inbox", []).expect("it can be written");
    letter(file, [&run, &kind, &name, &data]);
}

fn checksum<'v>(columns: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut word = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    };
    for column in columns {
        let bytes: Vec<u8> = match column {
            ValueRef::Null => {
                word(u64::MAX);
                continue;
            }
            ValueRef::Integer(number) => number.to_le_bytes().to_vec(),
            ValueRef::Real(number) => number.to_le_bytes().to_vec(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        };
        word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            word(u64::from_le_bytes(eight));
        }
    }
    hash as i64
}
