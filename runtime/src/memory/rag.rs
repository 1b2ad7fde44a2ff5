//! Recall before a turn, as the metadata `rag` of a chart configures it.

use super::template::Query;
use super::{Memo, Memory, MemoryError};
use chartc_core::expr::python::str;
use chartc_core::expr::{EvalError, Map, Value};

/// The number of recalled memories if `limit` is not set.
const LIMIT: usize = 5;

/// The maximum of `limit`. More memories would not fit into a prompt.
const MOST: i64 = 1000;

/// The reason why the metadata `rag` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {why}")]
pub struct RagError {
    /// The key with the fault, such as `rag.limit`.
    pub key: String,
    /// The fault.
    pub why: String,
}

/// The reason why memories cannot be recalled.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The query template cannot be evaluated, for example because a format does not fit a value.
    #[error("rag.query_template: {0}")]
    Query(EvalError),
    /// The memory cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// The configuration of recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Rag {
    /// Whether memories are recalled at all.
    pub enabled: bool,
    /// The maximum number of recalled memories.
    pub limit: usize,
    /// The template of the query.
    pub query: Query,
}

impl Rag {
    /// Reads the metadata of a chart; `None` if it has no `rag`. The default of `enabled` is true. Without a template, the newest
    /// memories are recalled.
    ///
    /// # Errors
    /// A value has the wrong type, a key is unknown, or the template is malformed.
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

    /// Recalls memories. Returns the query and the memories found. `value_of` gives the values of names in the template; `more` is added
    /// to the query.
    ///
    /// # Errors
    /// The query cannot be evaluated, or the memory cannot be read.
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
        // No memory shares a word with the query: the newest are still more useful than none.
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
