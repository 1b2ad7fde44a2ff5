//! The inbox: messages that any process can store for a run, and that the owner of the store delivers.

use crate::error::StoreError;
use crate::file::{Store, wall};
use crate::row::checksum;
use crate::rows::put;
use chartc_core::expr::{Map, Value};
use chartc_core::machine::Instant;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

/// A message for a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Letter {
    /// An event of the chart, or `turn`, with its data.
    Event(String, Map),
    /// The [id](chartc_runtime::oracle::Question::id) of an open question, and a person's answer as text.
    Reply(String, String),
}

impl Store {
    /// Puts a letter into the inbox of a run. An answer is delivered before anything that happens to the run later, and the question
    /// takes no second answer.
    ///
    /// # Errors
    /// There is no such run, it has ended, the question is not open or already has an answer in the inbox, or the file cannot be written.
    pub fn post(&self, run: &str, letter: &Letter) -> Result<(), StoreError> {
        // An immediate transaction: no process commits between the checks and the insertion.
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let tx = begun.map_err(|error| self.fault(error))?;
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
                ("event", name.clone(), data)
            }
            Letter::Reply(question, text) => {
                self.question(run, question)?;
                ("reply", format!("{question} {}", wall()), text.clone())
            }
        };
        let sql = "INSERT INTO inbox (run, kind, name, data, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
        put(&tx, sql, params![run, kind, name, data]).map_err(|error| self.fault(error))?;
        tx.commit().map_err(|error| self.fault(error))
    }
}

/// A stored letter.
pub(crate) struct Mail {
    pub(crate) number: i64,
    pub(crate) run: String,
    pub(crate) letter: Letter,
    /// The time at which an answer came, in milliseconds since 1970; `None` for events.
    pub(crate) came_ms: Option<i64>,
}

impl Mail {
    /// The time of the letter on the clock of the runs. Without real time, that is `now`.
    pub(crate) fn came(&self, now: Instant, is_real: bool) -> Instant {
        match self.came_ms {
            Some(came) if is_real => {
                let ago = u64::try_from(wall().saturating_sub(came)).unwrap_or(0);
                now.saturating_sub(ago)
            }
            Some(_) | None => now,
        }
    }
}

/// The letters to the runs for which `is_mine` holds, in the order in which they came.
pub(crate) fn letters(
    connection: &Connection,
    is_mine: impl Fn(&str) -> bool,
) -> rusqlite::Result<Vec<Mail>> {
    let read = "SELECT run, kind, name, data, sum, number FROM inbox ORDER BY number";
    let mut rows = connection.prepare_cached(read)?;
    let rows = rows.query_map([], |row| {
        let sum = checksum([0, 1, 2, 3].map(|nth| row.get_ref(nth).unwrap_or(ValueRef::Null)));
        // A damaged letter is skipped, so that it does not block the others. It stays in the table for `check` to find.
        if row.get_ref(4)? != ValueRef::Integer(sum) {
            return Ok(None);
        }
        let text = |nth: usize| row.get::<_, String>(nth);
        Ok(Some((row.get::<_, i64>(5)?, text(0)?, text(1)?, text(2)?, text(3)?)))
    })?;
    let mut letters = Vec::new();
    for row in rows {
        let Some((number, run, kind, name, data)) = row? else { continue };
        if !is_mine(&run) {
            continue;
        }
        let (letter, came_ms) = match (kind.as_str(), serde_json::from_str(&data)) {
            ("reply", _) => {
                // Earlier versions stored the name of a step here, without a time.
                let (question, came) = name.split_once(' ').unwrap_or((&name, ""));
                (Letter::Reply(question.to_owned(), data), came.parse().ok())
            }
            (_, Ok(Value::Map(data))) => (Letter::Event(name, data), None),
            (_, Ok(_) | Err(_)) => continue,
        };
        letters.push(Mail { number, run, letter, came_ms });
    }
    Ok(letters)
}
