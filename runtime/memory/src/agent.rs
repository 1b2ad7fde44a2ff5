//! The memory of one agent.

use crate::Shared;
use chartc_core::expr::Value;
use chartc_runtime::memory::{Memo, Memory, MemoryError, MemoryKind, query_words, words};
use rusqlite::{OptionalExtension, Row, TransactionBehavior};
use std::sync::Arc;

/// The memory of one agent in a [`Store`](crate::Store).
#[derive(Debug, Clone)]
pub struct AgentMemory {
    shared: Arc<Shared>,
    id: i64,
}

/// A row of `memory`.
struct MemoryRow {
    tick: i64,
    kind: String,
    text: String,
    data: String,
}

impl AgentMemory {
    pub(crate) fn of(shared: Arc<Shared>, name: &str) -> Result<Self, MemoryError> {
        let id = {
            let fault = |error| shared.place.fault(&error);
            let mut connection = shared.connection();
            let all = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(fault)?;
            let known: Option<i64> = all
                .query_row("SELECT id FROM agent WHERE name = ?1", [name], |row| row.get(0))
                .optional()
                .map_err(fault)?;
            let id = if let Some(id) = known {
                id
            } else {
                all.execute("INSERT INTO agent (name) VALUES (?1)", [name]).map_err(fault)?;
                let id = all.last_insert_rowid();
                // The words are cut before they get here; this tokenizer only parts them at spaces. The texts are in `memory`.
                let table = format!(
                    "CREATE VIRTUAL TABLE words_{id} USING fts5(text, content = '', tokenize = 'ascii')"
                );
                all.execute_batch(&table).map_err(fault)?;
                id
            };
            all.commit().map_err(fault)?;
            id
        };
        Ok(Self { shared, id })
    }

    /// Keeps a memory, with a name only if there was none of this name.
    fn keep(&self, name: Option<&str>, memo: &Memo) -> Result<bool, MemoryError> {
        let place = &self.shared.place;
        let fault = |error| place.fault(&error);
        let tick = i64::try_from(memo.tick).unwrap_or(i64::MAX);
        let data = serde_json::to_string(&memo.data).map_err(|error| MemoryError::Failed {
            place: place.0.clone(),
            why: error.to_string(),
        })?;
        let cut: Vec<String> = words(&memo.text).collect();
        let mut connection = self.shared.connection();
        if name.is_some() {
            // The run goes on behind it, and must not have been further after a crash of the computer.
            connection.execute_batch("PRAGMA synchronous = FULL").map_err(fault)?;
        }
        let all =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        if let Some(name) = name {
            let put = "INSERT INTO once (agent, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            if all.execute(put, (self.id, name)).map_err(fault)? == 0 {
                return Ok(false);
            }
        }
        all.prepare(
            "INSERT INTO memory (agent, tick, kind, text, data) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .and_then(|mut row| row.execute((self.id, tick, memo.kind.word(), &memo.text, &data)))
        .map_err(fault)?;
        let index = format!("INSERT INTO words_{} (rowid, text) VALUES (?1, ?2)", self.id);
        all.prepare(&index)
            .and_then(|mut row| row.execute((all.last_insert_rowid(), cut.join(" "))))
            .map_err(fault)?;
        all.commit().map_err(fault)?;
        Ok(true)
    }

    fn memo(&self, row: MemoryRow) -> Result<Memo, MemoryError> {
        let damaged = |what: &str| {
            let why = format!("is damaged ({what}): put a copy of it back, or take it away");
            self.shared.place.refused(why)
        };
        let Some(kind) = MemoryKind::of(&row.kind) else {
            return Err(damaged(&format!("a memory of the kind `{}`", row.kind)));
        };
        let data: Value =
            serde_json::from_str(&row.data).map_err(|_| damaged("data that is no JSON"))?;
        Ok(Memo { kind, tick: u64::try_from(row.tick).unwrap_or(0), text: row.text, data })
    }
}

impl Memory for AgentMemory {
    fn record(&self, memo: Memo) -> Result<(), MemoryError> {
        self.keep(None, &memo).map(drop)
    }

    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError> {
        self.keep(Some(name), &memo)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError> {
        let fault = |error| self.shared.place.fault(&error);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let kept = |row: &Row<'_>| {
            let (tick, kind, text, data) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(MemoryRow { tick, kind, text, data })
        };
        let words = query_words(query);
        let rows: Vec<MemoryRow> = {
            let connection = self.shared.connection();
            if words.is_empty() {
                let newest = "SELECT tick, kind, text, data FROM memory WHERE agent = ?1 ORDER BY id DESC LIMIT ?2";
                let mut rows = connection.prepare(newest).map_err(fault)?;
                let rows = rows.query_map((self.id, limit), kept).map_err(fault)?;
                rows.collect::<Result<_, _>>().map_err(fault)?
            } else {
                // Letters and digits only: nothing of it is syntax between quotes.
                let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                let id = self.id;
                let nearest = format!(
                    "SELECT m.tick, m.kind, m.text, m.data FROM words_{id} AS w JOIN memory AS m ON m.id = w.rowid
                     WHERE w.words_{id} MATCH ?1 ORDER BY bm25(words_{id}), m.id DESC LIMIT ?2"
                );
                let mut rows = connection.prepare(&nearest).map_err(fault)?;
                let rows = rows.query_map((any.join(" OR "), limit), kept).map_err(fault)?;
                rows.collect::<Result<_, _>>().map_err(fault)?
            }
        };
        rows.into_iter().map(|row| self.memo(row)).collect()
    }
}
