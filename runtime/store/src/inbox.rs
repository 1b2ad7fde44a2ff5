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
        if row.status != "running" {
            return Err(refused(format!("it has ended: {}", row.status)));
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
                let text = |nth: usize| row.get::<_, String>(nth);
                let sum =
                    checksum([0, 1, 2, 3].map(|nth| row.get_ref(nth).unwrap_or(ValueRef::Null)));
                let is_whole = row.get::<_, i64>(4)? == sum;
                Ok((row.get::<_, i64>(5)?, text(0)?, text(1)?, text(2)?, text(3)?, is_whole))
            })
            .map_err(fault)?;
        let mut letters = Vec::new();
        for row in rows {
            let (number, run, kind, name, data, is_whole) = row.map_err(fault)?;
            if !is_mine(&run) {
                continue;
            }
            if !is_whole {
                return Err(self.damaged("a letter in its inbox", &run));
            }
            let letter = if kind == "reply" {
                Letter::Reply(name, data)
            } else {
                match serde_json::from_str(&data) {
                    Ok(Value::Map(data)) => Letter::Event(name, data),
                    Ok(_) | Err(_) => return Err(self.damaged("a letter in its inbox", &run)),
                }
            };
            letters.push((number, run, letter));
        }
        Ok(letters)
    }
}
