//! Damages the file of a store.

use chartc_store::put;
use chartc_store::rusqlite::types::Value;
use chartc_store::rusqlite::{Connection, ToSql, params_from_iter};
use std::collections::BTreeSet;
use std::path::Path;

const TABLES: [&str; 6] = ["run", "line", "call", "event", "inbox", "meta"];
const NUMBERS: [i64; 8] = [0, 1, -1, 2, i64::MAX, i64::MIN, i64::MAX - 1, 1 << 53];

/// The input, byte by byte; zeros behind its end.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn wide(&mut self) -> usize {
        self.next() << 8 | self.next()
    }

    fn piece(&mut self) -> &'b [u8] {
        let length = self.next().min(self.0.len());
        let (piece, rest) = self.0.split_at(length);
        self.0 = rest;
        piece
    }
}

/// Returns the file with some bytes changed or its end cut off.
pub(super) fn damaged(mut file: Vec<u8>, bytes: &mut Bytes<'_>) -> Vec<u8> {
    while !bytes.0.is_empty() && !file.is_empty() {
        // Half of the pages are nearly empty, and each begins with what says how it is built.
        let at = match bytes.next() % 4 {
            0 => bytes.next() * 4096 + bytes.next(),
            1 => bytes.next(),
            2 => bytes.wide() * 2,
            _ => {
                file.truncate(file.len().saturating_sub(bytes.wide()));
                continue;
            }
        };
        let at = at % file.len();
        file[at] = bytes.next() as u8;
    }
    file
}

/// Changes cells. Returns the runs whose rows were changed, or `None` if a cell that belongs to no run was changed. With `is_right`, the
/// checksum of a changed row is computed anew.
pub(super) fn changed(
    file: &Path,
    bytes: &mut Bytes<'_>,
    is_right: bool,
) -> Option<BTreeSet<String>> {
    let connection = Connection::open(file).expect("a store");
    let (mut touched, mut is_of_all) = (BTreeSet::new(), false);
    while !bytes.0.is_empty() {
        let table = TABLES[bytes.next() % TABLES.len()];
        let mut rows = rows(&connection, table);
        let count = rows.len();
        let Some(row) = rows.get_mut(bytes.next() % count.max(1)) else { continue };
        let name = usize::from(table == "inbox");
        let mut touch = |row: &[Value]| {
            if let (Value::Text(run), true) = (&row[name], table != "meta") {
                touched.insert(run.clone());
            }
        };
        touch(row);
        let column = bytes.next() % row.len();
        row[column] = value(&row[column], bytes);
        touch(row);
        is_of_all |= table == "meta";
        connection.execute(&format!("DELETE FROM {table}"), []).expect("a table");
        for row in rows {
            // A row with a type that the table does not take is lost.
            drop(write(&connection, table, &row, is_right));
        }
    }
    (!is_of_all).then_some(touched)
}

fn rows(connection: &Connection, table: &str) -> Vec<Vec<Value>> {
    let mut read = connection.prepare(&format!("SELECT * FROM {table}")).expect("a table");
    let columns = read.column_count();
    let rows = read.query_map([], |row| (0..columns).map(|nth| row.get(nth)).collect());
    rows.expect("a table").collect::<Result<_, _>>().expect("rows")
}

fn write(
    connection: &Connection,
    table: &str,
    row: &[Value],
    is_right: bool,
) -> chartc_store::rusqlite::Result<()> {
    let marks: Vec<String> = (1..=row.len()).map(|nth| format!("?{nth}")).collect();
    let sql = format!("INSERT OR REPLACE INTO {table} VALUES ({})", marks.join(", "));
    let columns: Vec<&dyn ToSql> = row.iter().map(|cell| cell as &dyn ToSql).collect();
    match table {
        "inbox" if is_right => {
            let sql = "INSERT INTO inbox (run, kind, name, data, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
            put(connection, sql, &columns[1..columns.len() - 1])
        }
        "meta" => connection.execute(&sql, params_from_iter(row)).map(drop),
        _ if is_right => put(connection, &sql, &columns[..columns.len() - 1]),
        _ => connection.execute(&sql, params_from_iter(row)).map(drop),
    }
}

/// Another value of a cell.
fn value(old: &Value, bytes: &mut Bytes<'_>) -> Value {
    let text = |piece: &[u8]| String::from_utf8_lossy(piece).into_owned();
    match (bytes.next() % 7, old) {
        (0, _) => Value::Null,
        (1, _) => Value::Integer(NUMBERS[bytes.next() % NUMBERS.len()]),
        (2, Value::Integer(old)) => Value::Integer(old.wrapping_add(bytes.wide() as i64 - 5000)),
        (3, _) => Value::Blob(bytes.piece().to_vec()),
        (4, _) => Value::Real(bytes.wide() as f64 / 7.0),
        (5 | 6, Value::Text(old)) => {
            let old = old.as_bytes();
            let from = bytes.wide() % (old.len() + 1);
            let to = (from + bytes.next()).min(old.len());
            Value::Text(text(&[&old[..from], bytes.piece(), &old[to..]].concat()))
        }
        _ => Value::Text(text(bytes.piece())),
    }
}
