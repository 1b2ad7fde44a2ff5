//! What an agent recalls before a turn: the metadata `rag` of a chart.

use super::template::Query;
use super::{Memo, Memory, MemoryError};
use chartc_core::expr::python::str;
use chartc_core::expr::{EvalError, Map, Value};

/// Memories that are recalled unless `limit` says how many.
const LIMIT: usize = 5;

/// More than this no prompt can mean.
const MOST: i64 = 1000;

/// The metadata `rag` says what does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {why}")]
pub struct RagError {
    /// Which key, as `rag.limit`.
    pub key: String,
    /// What is wrong with its value.
    pub why: String,
}

/// A recall cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// A placeholder of the template does not fit its value.
    #[error("rag.query_template: {0}")]
    Query(EvalError),
    /// The store.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// How an agent recalls.
#[derive(Debug, Clone, PartialEq)]
pub struct Rag {
    /// Whether it does.
    pub enabled: bool,
    /// How many memories at most.
    pub limit: usize,
    /// What is looked for.
    pub query: Query,
}

impl Rag {
    /// Reads the metadata of a chart; `None` where it has no `rag`. Without `enabled` it is on; without a template the newest memories are recalled.
    ///
    /// # Errors
    /// A value that does not fit, a key that is not known, a template that cannot be read.
    pub fn of(meta: &[(String, Value)]) -> Result<Option<Self>, RagError> {
        let Some((_, value)) = meta.iter().find(|(key, _)| key == "rag") else { return Ok(None) };
        if *value == Value::None {
            return Ok(None);
        }
        let Value::Map(map) = value else { return Err(wrong("rag", "a mapping", value)) };
        const KNOWN: [&str; 3] = ["enabled", "limit", "query_template"];
        if let Some((key, _)) = map.iter().find(|(key, _)| !KNOWN.contains(key)) {
            let why = format!("no such key; there are `{}`", KNOWN.join("`, `"));
            return Err(RagError { key: format!("rag.{key}"), why });
        }
        Ok(Some(Self { enabled: enabled(map)?, limit: limit(map)?, query: query(map)? }))
    }

    /// The memories that are recalled now, and what was looked for; `value_of` gives the values of names, and `more` is looked for, too.
    ///
    /// # Errors
    /// The query cannot be written, or the store not be read.
    pub fn recall(
        &self,
        memory: &dyn Memory,
        value_of: &dyn Fn(&str) -> Option<Value>,
        more: Option<&Value>,
    ) -> Result<(String, Vec<Memo>), RecallError> {
        let mut query = self.query.render(value_of).map_err(RecallError::Query)?;
        if let Some(more) = more {
            query.push(' ');
            query.push_str(&str(more).map_err(RecallError::Query)?);
        }
        let found = memory.search(&query, self.limit)?;
        // Nothing has a word of the query: the newest are closer than nothing.
        let found = if found.is_empty() { memory.search("", self.limit)? } else { found };
        Ok((query, found))
    }
}

fn wrong(key: &str, wanted: &str, value: &Value) -> RagError {
    RagError { key: key.to_owned(), why: format!("{wanted} is expected, not {}", value.kind()) }
}

fn enabled(map: &Map) -> Result<bool, RagError> {
    match map.get("enabled") {
        None | Some(Value::None) => Ok(true),
        Some(Value::Bool(on)) => Ok(*on),
        Some(other) => Err(wrong("rag.enabled", "`true` or `false`", other)),
    }
}

fn limit(map: &Map) -> Result<usize, RagError> {
    match map.get("limit") {
        None | Some(Value::None) => Ok(LIMIT),
        Some(Value::Int(count)) => match usize::try_from(*count) {
            Ok(limit) if *count <= MOST => Ok(limit),
            Ok(_) | Err(_) => Err(RagError {
                key: "rag.limit".to_owned(),
                why: format!("{count} is not between 0 and {MOST}"),
            }),
        },
        Some(other) => Err(wrong("rag.limit", "a whole number", other)),
    }
}

fn query(map: &Map) -> Result<Query, RagError> {
    let template = match map.get("query_template") {
        None | Some(Value::None) => "",
        Some(Value::Text(template)) => template,
        Some(other) => return Err(wrong("rag.query_template", "a text", other)),
    };
    Query::parse(template)
        .map_err(|fault| RagError { key: "rag.query_template".to_owned(), why: fault.to_string() })
}
