//! The memory of one agent.

use crate::Shared;
use chartc_core::expr::Value;
use chartc_runtime::memory::{Memo, Memory, MemoryError, MemoryKind, query_words, words};
use rusqlite::{OptionalExtension, Row, TransactionBehavior};
use std::sync::Arc;

/// The memory of one agent in a [`Store`](crate::Store): it reads and writes only this agent's rows.
#[derive(Debug, Clone)]
pub struct AgentMemory {
    shared: Arc<Shared>,
    id: i64,
}

/// A row of the table `memory`.
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
            // Immediate, so that two processes cannot both find the name missing and insert it: SQLite locks the file before the SELECT.
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
                // The index holds words that `words` has already split, separated by spaces, so the simplest tokenizer suffices. With
                // `content = ''` it does not store the texts a second time: they are in `memory`.
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

    /// Stores a memory. With a `name`, it does so only the first time: if this agent has stored a memory under the name before, it returns
    /// `false`.
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
            // The caller assumes that a named memory is on disk once this returns, also after a power failure. SQLite syncs each commit
            // only with FULL.
            connection.execute_batch("PRAGMA synchronous = FULL").map_err(fault)?;
        }
        let all =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        if let Some(name) = name {
            // The name and the memory are inserted in one transaction: after a crash there are both or none.
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
                // Words consist of letters and digits, so between quotes none of them can be read as syntax of FTS5.
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
