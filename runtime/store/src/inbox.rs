//! What others put into the inbox of a run, for the process that goes on with it.

use crate::error::StoreError;
use crate::file::Store;
use crate::row::checksum;
use crate::rows::put;
use chartc_core::expr::{Map, Value};
use rusqlite::params;
use rusqlite::types::ValueRef;

/// Something for a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Letter {
    /// An event of its chart, or `turn`, with its data.
    Event(String, Map),
    /// The answer to an open step, as a person writes it.
    Reply(String, String),
}

impl Store {
    /// Puts a letter into the inbox of a run.
    ///
    /// # Errors
    /// There is no such run, it has ended, it does not wait for this step, or the file cannot be written.
    pub fn post(&self, run: &str, letter: &Letter) -> Result<(), StoreError> {
        let refused = |why: String| StoreError::Run { run: run.to_owned(), why };
        let Some(row) = self.list()?.into_iter().find(|row| row.run == run) else {
            return Err(refused("there is no such run".into()));
        };
        match (row.status.as_str(), &row.stopped) {
            ("running", _) => {}
            (_, Some(why)) => return Err(refused(format!("it cannot go on: {why}"))),
            (ended, None) => return Err(refused(format!("it has ended: {ended}"))),
        }
        let (kind, name, data) = match letter {
            Letter::Event(name, data) => {
                let data = serde_json::to_string(&Value::Map(data.clone())).unwrap_or_default();
                ("event", name, data)
            }
            Letter::Reply(step, text) => {
                if !row.waits_for.contains(step) {
                    let open = row.waits_for.join(", ");
                    let open = if open.is_empty() { "nothing" } else { &open };
                    return Err(refused(format!("it does not wait for `{step}`, but for {open}")));
                }
                ("reply", step, text.clone())
            }
        };
        let sql = "INSERT INTO inbox (run, kind, name, data, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
        put(&self.connection, sql, params![run, kind, name, data])
            .map_err(|error| self.fault(error))
    }

    /// The letters of these runs, in the order in which they came.
    pub(crate) fn letters(
        &self,
        is_mine: impl Fn(&str) -> bool,
    ) -> Result<Vec<(i64, String, Letter)>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self
            .connection
            .prepare_cached("SELECT run, kind, name, data, sum, number FROM inbox ORDER BY number")
            .map_err(fault)?;
        let rows = rows
            .query_map([], |row| {
                let sum =
                    checksum([0, 1, 2, 3].map(|nth| row.get_ref(nth).unwrap_or(ValueRef::Null)));
                // A damaged letter stays where it is, for a check to find, and holds no other up.
                if row.get_ref(4)? != ValueRef::Integer(sum) {
                    return Ok(None);
                }
                let text = |nth: usize| row.get::<_, String>(nth);
                Ok(Some((row.get::<_, i64>(5)?, text(0)?, text(1)?, text(2)?, text(3)?)))
            })
            .map_err(fault)?;
        let mut letters = Vec::new();
        for row in rows {
            let Some((number, run, kind, name, data)) = row.map_err(fault)? else { continue };
            if !is_mine(&run) {
                continue;
            }
            let letter = match (kind.as_str(), serde_json::from_str(&data)) {
                ("reply", _) => Letter::Reply(name, data),
                (_, Ok(Value::Map(data))) => Letter::Event(name, data),
                (_, Ok(_) | Err(_)) => continue,
            };
            letters.push((number, run, letter));
        }
        Ok(letters)
    }
}
