//! Writes the rows of a commit.

use crate::command::Old;
use crate::error::StoreError;
use crate::file::{Store, wall};
use chartc_core::expr::{Map, Value};
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::Reply;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{
    Connection, OptionalExtension, Row, ToSql, Transaction, TransactionBehavior, params,
    params_from_iter,
};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

/// The columns of a run's row other than its name and the time of the change.
pub(crate) struct Head<'r> {
    pub(crate) chart: &'r str,
    pub(crate) given: &'r str,
    pub(crate) status: &'r str,
    pub(crate) stopped: Option<&'r str>,
    pub(crate) state: &'r str,
    pub(crate) turns: u32,
    pub(crate) calls: u32,
    pub(crate) cost: u64,
    pub(crate) waits_for: &'r str,
    pub(crate) wake: Option<u64>,
    pub(crate) now: u64,
    pub(crate) made_ms: i64,
    pub(crate) saved: &'r str,
}

/// A stamp that is greater than all earlier ones, also of earlier processes: microseconds since 1970, incremented if necessary.
fn stamp() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = wall().saturating_mul(1000);
    let before =
        LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
    now.max(before.unwrap_or(0) + 1)
}

/// Executes an insertion, with the checksum of the columns as the last parameter.
///
/// # Errors
/// SQLite cannot execute it.
pub fn put(connection: &Connection, sql: &str, columns: &[&dyn ToSql]) -> rusqlite::Result<()> {
    let values: Vec<ToSqlOutput<'_>> =
        columns.iter().map(|column| column.to_sql()).collect::<Result<_, _>>()?;
    let plain = values.iter().map(|value| match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        // No column here has another kind of value.
        _ => ValueRef::Null,
    });
    let sum = checksum(plain);
    let all = values.iter().map(|value| value as &dyn ToSql).chain([&sum as &dyn ToSql]);
    connection.prepare_cached(sql)?.execute(params_from_iter(all)).map(drop)
}

/// Inserts or replaces the row of a run.
pub(crate) const PUT_RUN: &str = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (name) DO UPDATE SET chart = ?2, given = ?3, status = ?4, stopped = ?5, state = ?6, turns = ?7, calls = ?8,
    cost = ?9, waits_for = ?10, wake = ?11, now = ?12, made_ms = ?13, updated_ms = ?14, saved = ?15, sum = ?16";

/// Inserts or replaces the row of a run, with the present time as the time of the change.
pub(crate) fn put_run(tx: &Transaction<'_>, run: &str, head: &Head<'_>) -> rusqlite::Result<()> {
    put(
        tx,
        PUT_RUN,
        params![
            run,
            head.chart,
            head.given,
            head.status,
            head.stopped,
            head.state,
            head.turns,
            head.calls,
            head.cost as i64,
            head.waits_for,
            head.wake.map(|at| at as i64),
            head.now as i64,
            head.made_ms,
            wall(),
            head.saved,
        ],
    )
}

/// Inserts a line of a trace. Returns false if a row has this number already, which means that a row is damaged.
pub(crate) fn put_line(
    tx: &Transaction<'_>,
    run: &str,
    seq: u64,
    text: &str,
) -> rusqlite::Result<bool> {
    put(tx, "INSERT OR IGNORE INTO line VALUES (?1, ?2, ?3, ?4)", params![run, seq as i64, text])?;
    Ok(tx.changes() == 1)
}

/// Inserts an event that was taken in: the run, its id, the reply, the time, and the number of the last trace line before it.
pub(crate) const PUT_EVENT: &str = "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(crate) const PUT_CALL: &str = "INSERT INTO call VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (run, id) DO UPDATE SET stage = ?3, call = ?4, outcome = ?5, planned = ?6, sum = ?7";

/// Inserts a call in the stage `planned`, or moves it back there.
pub(crate) fn put_call(
    tx: &Transaction<'_>,
    run: &str,
    id: &str,
    call: &str,
) -> rusqlite::Result<()> {
    let stage = Stage::Planned.word();
    put(tx, PUT_CALL, params![run, id, stage, call, None::<&str>, stamp()])
}

/// Moves a call to another stage if its present stage is one of `from`. Returns whether it was.
pub(crate) fn move_call(
    tx: &Transaction<'_>,
    (run, id): (&str, &str),
    from: &[Stage],
    to: Stage,
    outcome: Option<&str>,
) -> rusqlite::Result<bool> {
    let read = "SELECT stage, call, planned FROM call WHERE run = ?1 AND id = ?2";
    let row: Option<(String, String, i64)> = tx
        .prepare_cached(read)?
        .query_row([run, id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((stage, call, planned)) = row else { return Ok(false) };
    if !from.iter().any(|from| from.word() == stage) {
        return Ok(false);
    }
    put(tx, PUT_CALL, params![run, id, to.word(), call, outcome, planned])?;
    Ok(true)
}

// The stages of calls, and the checksums of rows.

/// The progress of a call, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The call is to be made.
    Planned,
    /// The call is about to be made, or under way.
    Started,
    /// The result of the call is stored.
    Done,
    /// The step that made the call does not wait for it any more.
    Cancelled,
    /// It is unknown whether the call was made.
    Doubt,
    /// The run from which this one was forked has made and paid for the call.
    Copied,
}

impl Stage {
    /// The name in the database.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Started => "started",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Doubt => "doubt",
            Self::Copied => "copied",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        let all =
            [Self::Planned, Self::Started, Self::Done, Self::Cancelled, Self::Doubt, Self::Copied];
        all.into_iter().find(|stage| stage.word() == word)
    }
}

/// A checksum of columns (FNV-1a over words of 64 bits, with a rotation). It detects damage, not forgery.
pub(crate) fn checksum<'v>(columns: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut word = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    };
    for column in columns {
        let bytes: &[u8] = match column {
            ValueRef::Null => {
                word(u64::MAX);
                continue;
            }
            ValueRef::Integer(number) => &number.to_le_bytes(),
            ValueRef::Real(number) => &number.to_le_bytes(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        };
        // The length separates columns: `("ab", "c")` and `("a", "bc")` must differ.
        word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            word(u64::from_le_bytes(eight));
        }
    }
    hash as i64
}

/// Whether the checksum in the last column matches the other columns.
///
/// # Errors
/// SQLite cannot read the row.
pub fn is_whole(row: &Row<'_>) -> rusqlite::Result<bool> {
    let last = row.as_ref().column_count().saturating_sub(1);
    let columns: Vec<_> = (0..last).map(|nth| row.get_ref(nth)).collect::<Result<_, _>>()?;
    // No column has these types, but a blob with the bytes of a text has the same checksum.
    if columns.iter().any(|column| matches!(column, ValueRef::Blob(_) | ValueRef::Real(_))) {
        return Ok(false);
    }
    Ok(row.get_ref(last)? == ValueRef::Integer(checksum(columns)))
}

/// Reads a row whose checksum matches; `None` for a damaged row. The checksum comes first, because any column of a damaged row may have
/// another type.
pub(crate) fn whole<T>(
    row: &Row<'_>,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    if is_whole(row)? { read(row).map(Some) } else { Ok(None) }
}

// The inbox: messages that any process can store for a run, and that the owner of the store delivers.

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
        let Some(row) = self.find(run)? else {
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
        let columns = [0, 1, 2, 3].map(|nth| row.get_ref(nth).unwrap_or(ValueRef::Null));
        let is_text = columns.iter().all(|column| matches!(column, ValueRef::Text(_)));
        // A damaged letter is skipped, so that it does not block the others. It stays in the table for `check` to find.
        if !is_text || row.get_ref(4)? != ValueRef::Integer(checksum(columns)) {
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

// The stored replies to events. An event with the id of an earlier one gets the earlier reply.

impl Store {
    /// Whether an event with this id was taken in before.
    pub(crate) fn has(&self, run: &str, event: &str) -> Result<bool, StoreError> {
        reply(&self.connection, &self.path, run, event).map(|found| found.is_some())
    }
}

/// The number of rows that one batch examines.
const PIECE: usize = 5_000;

/// Deletes the old events among a batch of rows. Returns their number and the key of the last row; `None` for the key if it was the last
/// batch.
pub(crate) fn forget(
    tx: &Transaction<'_>,
    old: &Old,
    now: u64,
) -> rusqlite::Result<(usize, Option<(String, String)>)> {
    let read =
        "SELECT run, id, at_ms FROM event WHERE (run, id) > (?1, ?2) ORDER BY run, id LIMIT ?3";
    let (run, id) = &old.after;
    let rows: Vec<(String, String, i64)> = tx
        .prepare_cached(read)?
        .query_map(params![run, id, PIECE as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    let Some(until) = now.checked_sub(old.age_ms) else { return Ok((0, None)) };
    let mut delete = tx.prepare_cached("DELETE FROM event WHERE run = ?1 AND id = ?2")?;
    let mut count = 0;
    for (run, id, at) in &rows {
        if id.starts_with(&old.prefix) && *at <= until as i64 {
            count += delete.execute([run, id])?;
        }
    }
    let is_last = rows.len() < PIECE;
    let next = rows.into_iter().next_back().map(|(run, id, _)| (run, id));
    Ok((count, next.filter(|_| !is_last)))
}

/// The stored reply to an event; `None` if the event was not taken in before.
pub(crate) fn reply(
    connection: &Connection,
    path: &Path,
    run: &str,
    event: &str,
) -> Result<Option<Reply>, StoreError> {
    let read = "SELECT * FROM event WHERE run = ?1 AND id = ?2";
    let found = connection.prepare_cached(read).and_then(|mut read| {
        let row = |row: &Row<'_>| whole(row, |row| row.get::<_, String>(2));
        read.query_row([run, event], row).optional()
    });
    match found.map_err(|error| StoreError::of(path, error))? {
        None => Ok(None),
        Some(Some(said)) => Ok(Some(repeated(&said))),
        Some(None) => Err(StoreError::damaged(path, &format!("its event `{event}`"), run)),
    }
}

/// A reply in its stored form: the receipt, the time, and the content of the event.
pub(crate) fn said(reply: Reply) -> String {
    let word = match reply.receipt {
        Receipt::Handled => "handled",
        Receipt::Unhandled => "unhandled",
        Receipt::Busy => "busy",
        Receipt::Closed => "closed",
        Receipt::Refused => "refused",
    };
    let content = reply.content.map_or_else(String::new, |content| format!(" {content:x}"));
    format!("{word} {}{content}", reply.at)
}

/// The reply to an event that comes again.
fn repeated(said: &str) -> Reply {
    let mut parts = said.split(' ');
    let receipt = match parts.next().unwrap_or_default() {
        "handled" => Receipt::Handled,
        "unhandled" => Receipt::Unhandled,
        "busy" => Receipt::Busy,
        "closed" => Receipt::Closed,
        _ => Receipt::Refused,
    };
    let at = parts.next().and_then(|at| at.parse().ok()).unwrap_or(0);
    // Earlier versions stored no content.
    let content = parts.next().and_then(|content| u64::from_str_radix(content, 16).ok());
    Reply { receipt, at, is_repeated: true, content }
}
