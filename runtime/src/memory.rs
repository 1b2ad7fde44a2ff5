//! Long-term memory: what an agent keeps beyond a turn and a run, and how it is found again.
//!
//! A [`Memory`] belongs to one agent. [`InProcess`] lasts as long as the process; `chartc-store` has one in a file. Both rank memories
//! in the same way (BM25): a memory that shares rarer [`words`] with the query is nearer, and of equally near ones the newest comes
//! first.
//!
//! ```text
//! record   turn 3, action       "write_artifact(note) -> SUCCESS: ok"
//! record   turn 5, observation  "step think failed"
//! search   "what about the note?", limit 2   finds turn 3: only it shares a word (`note`) with the query
//! search   "", limit 2                       finds turn 5, turn 3: without words, the newest
//! ```

#[cfg(test)]
mod tests;

use chartc_core::expr::format::{self, parse, str};
use chartc_core::expr::{EvalError, Map, Value, field, index};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The subject of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// The agent did something.
    Action,
    /// Something happened to the agent.
    Observation,
}

impl MemoryKind {
    /// The name of the kind in prompts and files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
        }
    }

    /// The kind with this name.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Action, Self::Observation].into_iter().find(|kind| kind.word() == word)
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memo {
    /// The subject of the memory.
    pub kind: MemoryKind,
    /// The number of the turn.
    pub tick: u64,
    /// The memory in words. Searches read only this.
    pub text: String,
    /// The same as data for programs. Searches ignore it.
    pub data: Value,
}

/// The keys of every memory in the input `memories`, which `data` cannot replace.
const OWN: [&str; 3] = ["text", "kind", "tick"];

impl Memo {
    /// The memory as an item of the input `memories`: `text`, `kind`, `tick`, and the fields of `data` (or `data` itself if it is no
    /// map).
    pub fn value(&self) -> Value {
        let mut map = Map::new();
        map.insert("text".to_owned(), Value::Text(self.text.clone()));
        map.insert("kind".to_owned(), Value::Text(self.kind.word().to_owned()));
        map.insert("tick".to_owned(), Value::Int(i64::try_from(self.tick).unwrap_or(i64::MAX)));
        if let Value::Map(data) = &self.data {
            for (name, value) in data.iter().filter(|(name, _)| !OWN.contains(name)) {
                map.insert(name.to_owned(), value.clone());
            }
        } else if self.data != Value::None {
            map.insert("data".to_owned(), self.data.clone());
        }
        Value::Map(map)
    }
}

/// The reason why a memory cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Another process holds the store, and did not release it in time.
    #[error(
        "{place} is in use by another process ({why}): wait until it has ended, or give another file"
    )]
    Busy {
        /// The path of the store.
        place: String,
        /// The store's own message.
        why: String,
    },
    /// The file is no memory, or has another version.
    #[error("{place} {why}")]
    Refused {
        /// The path of the store.
        place: String,
        /// The problem, with a remedy.
        why: String,
    },
    /// Any other failure, for example a full disk.
    #[error("{place}: {why}")]
    Failed {
        /// The path of the store.
        place: String,
        /// The store's own message.
        why: String,
    },
}

/// The long-term memory of one agent.
pub trait Memory: Send + Sync {
    /// Stores a memory.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record(&self, memo: Memo) -> Result<(), MemoryError>;

    /// Stores a memory under a key, unless one with this key is stored already, by this process or another. So a run that continues after
    /// a crash stores nothing twice. Returns whether the memory was stored now.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError>;

    /// Stores an action of the agent in a turn.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_action(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Action, tick, text: text.to_owned(), data })
    }

    /// Stores an event that happened to the agent in a turn.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_observation(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Observation, tick, text: text.to_owned(), data })
    }

    /// Finds the memories that share [`query_words`] with the query, nearest first, at most `limit`. A query without words finds the
    /// newest.
    ///
    /// # Errors
    /// The store cannot be read. Any text is a valid query.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError>;
}

// An in-memory implementation of long-term memory.

/// The BM25 parameter for saturation: how quickly further occurrences of a word stop to count. The usual value, as in SQLite's FTS5.
const K1: f64 = 1.2;

/// The BM25 parameter for length: how much longer texts are discounted. The usual value.
const B: f64 = 0.75;

/// The weight of a word that more than half of the memories contain. BM25's formula would make it zero or negative.
const LEAST: f64 = 1e-6;

/// The memory of one agent, for tests, trials and builds without a database.
#[derive(Debug, Default)]
pub struct InProcess(Mutex<MemoryIndex>);

/// An inverted index of the memories.
#[derive(Debug, Default)]
struct MemoryIndex {
    memos: Vec<Memo>,
    /// The keys of the memories that were stored once only.
    names: BTreeSet<String>,
    /// The number of words of each memory; `total` is their sum.
    lengths: Vec<usize>,
    total: usize,
    /// For each word, the memories that contain it in ascending order, with the number of occurrences.
    having: BTreeMap<String, Vec<(usize, usize)>>,
}

impl InProcess {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, MemoryIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory for InProcess {
    fn record(&self, memo: Memo) -> Result<(), MemoryError> {
        self.kept().put(memo);
        Ok(())
    }

    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError> {
        let mut kept = self.kept();
        let is_new = kept.names.insert(name.to_owned());
        if is_new {
            kept.put(memo);
        }
        Ok(is_new)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError> {
        let kept = self.kept();
        let words = query_words(query);
        let newest = kept.memos.iter().rev();
        if words.is_empty() {
            return Ok(newest.take(limit).cloned().collect());
        }
        let found = kept.nearest(&words).into_iter().take(limit);
        Ok(found.map(|(_, at)| kept.memos[at].clone()).collect())
    }
}

impl MemoryIndex {
    fn put(&mut self, memo: Memo) {
        let at = self.memos.len();
        let mut length = 0;
        for word in words(&memo.text) {
            length += 1;
            let places = self.having.entry(word).or_default();
            match places.last_mut() {
                Some((last, times)) if *last == at => *times += 1,
                Some(_) | None => places.push((at, 1)),
            }
        }
        self.lengths.push(length);
        self.total += length;
        self.memos.push(memo);
    }

    /// The memories that contain any of the words, with their scores, nearest first.
    fn nearest(&self, words: &[String]) -> Vec<(f64, usize)> {
        let count = self.memos.len() as f64;
        let average = self.total as f64 / count;
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for places in words.iter().filter_map(|word| self.having.get(word)) {
            let having = places.len() as f64;
            let rare = ((count - having + 0.5) / (having + 0.5)).ln();
            let rare = if rare <= 0.0 { LEAST } else { rare };
            for (at, times) in places {
                let times = *times as f64;
                let length = self.lengths[*at] as f64;
                let weight = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average));
                *scores.entry(*at).or_default() += rare * weight;
            }
        }
        let mut found: Vec<(f64, usize)> = scores.into_iter().map(|(at, s)| (s, at)).collect();
        // Of equal scores, the higher index is newer and comes first.
        found.sort_by(|(one, at), (other, then)| other.total_cmp(one).then(then.cmp(at)));
        found
    }
}

// Recall before a turn, as the metadata `rag` of a chart configures it.

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

// Query templates: Python's `str.format` over the context of a turn.

/// The reason why a template is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: {why}")]
pub struct Unreadable {
    /// The position of the fault, in characters from 1.
    pub at: usize,
    /// The fault.
    pub why: String,
}

/// A template: a text with placeholders `{name.attribute[index]:spec}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Hole { name: String, path: Vec<Access>, spec: String },
}

#[derive(Debug, Clone, PartialEq)]
enum Access {
    Attribute(String),
    Key(Value),
}

impl Query {
    /// Parses a template.
    ///
    /// # Errors
    /// The first brace or placeholder that `str.format` would not accept, or that has no name.
    pub fn parse(template: &str) -> Result<Self, Unreadable> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = template[at..].find(['{', '}']) {
            let brace = at + found;
            let fault = |why: String| Unreadable { at: template[..brace].chars().count() + 1, why };
            plain.push_str(&template[at..brace]);
            let mark = &template[brace..=brace];
            // `{{` and `}}` stand for single braces.
            if template[brace + 1..].starts_with(mark) {
                plain.push_str(mark);
                at = brace + 2;
                continue;
            }
            if mark == "}" {
                return Err(fault("this `}` closes no placeholder: write `}}`".to_owned()));
            }
            let Some(len) = template[brace..].find('}') else {
                return Err(fault(
                    "this `{` is not closed: a brace of the text is `{{`".to_owned(),
                ));
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(hole(&template[brace + 1..brace + len]).map_err(fault)?);
            at = brace + len + 1;
        }
        plain.push_str(&template[at..]);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The names of the placeholders.
    pub fn names(&self) -> BTreeSet<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Hole { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Replaces the placeholders by values. A name without a value is replaced by nothing, as it has no words to search for.
    ///
    /// # Errors
    /// A placeholder's path or format does not fit the value.
    pub fn render(&self, value_of: &dyn Fn(&str) -> Option<Value>) -> Result<String, EvalError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Hole { name, path, spec } => {
                    let Some(mut value) = value_of(name) else { continue };
                    for access in path {
                        value = match access {
                            Access::Attribute(name) => field(&value, name)?.clone(),
                            Access::Key(key) => index(&value, key)?,
                        };
                    }
                    text.push_str(&format::format(&value, spec)?);
                }
            }
        }
        Ok(text)
    }
}

/// Parses the text between two braces.
fn hole(inner: &str) -> Result<Part, String> {
    let head = head_len(inner);
    let (path, rest) = inner.split_at(head);
    let rest = rest.strip_prefix("!s").unwrap_or(rest);
    let spec = match rest.strip_prefix(':') {
        Some(spec) => spec,
        None if rest.is_empty() => "",
        None => return Err(format!("the conversion of `{{{inner}}}` is not available, only `!s`")),
    };
    if spec.contains('{') {
        return Err(format!("`{{{inner}}}`: a placeholder inside of a format is not available"));
    }
    parse(spec).map_err(|why| format!("`{{{inner}}}`: {why}"))?;
    let name_len = path.find(['.', '[']).unwrap_or(path.len());
    let name = &path[..name_len];
    if !is_name(name) {
        return Err(format!("`{{{inner}}}` is no name: a brace of the text is `{{{{`"));
    }
    let (name, path) = (name.to_owned(), accesses(&path[name_len..])?);
    Ok(Part::Hole { name, path, spec: spec.to_owned() })
}

/// The length of the part before `!` or `:`. Within `[…]`, these are part of the key.
fn head_len(inner: &str) -> usize {
    let mut inside = false;
    let end = inner.find(|c| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        !inside && (c == '!' || c == ':')
    });
    end.unwrap_or(inner.len())
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Parses a path such as `.a[b][0]`.
fn accesses(mut rest: &str) -> Result<Vec<Access>, String> {
    let mut path = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let len = after.find(['.', '[']).unwrap_or(after.len());
            if !is_name(&after[..len]) {
                return Err(format!("`.{}` names no attribute", &after[..len]));
            }
            path.push(Access::Attribute(after[..len].to_owned()));
            rest = &after[len..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let Some(len) = after.find(']') else { return Err("a `[` is not closed".to_owned()) };
            let key = &after[..len];
            path.push(Access::Key(match key.parse::<i64>() {
                _ if key.is_empty() => return Err("`[]` names no key".to_owned()),
                Ok(nth) if key.bytes().all(|b| b.is_ascii_digit()) => Value::Int(nth),
                Ok(_) | Err(_) => Value::Text(key.to_owned()),
            }));
            rest = &after[len + 1..];
        } else {
            return Err(format!("`{rest}` does not follow a name"));
        }
    }
    Ok(path)
}

// Splits texts into the words by which memories are indexed and searched.

/// The maximum number of different words of a query. The others are ignored, which bounds the time of a search.
pub const MOST_WORDS: usize = 256;

/// The maximum length of a word, in characters. The rest of a longer one, which is no word of a language, is ignored.
const LONGEST: usize = 64;

/// The words of a text in order, in lower case: runs of letters and digits. In scripts without spaces, each character is a word.
///
/// Words contain no other characters, so they have no special meaning in the query language of a database.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(Run::new).filter(|word| !word.is_empty())
}

/// The different words of a query in order, at most [`MOST_WORDS`].
pub fn query_words(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words(query).filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
}

/// An iterator that splits a run of letters and digits into words.
struct Run<'t> {
    rest: &'t str,
}

impl<'t> Run<'t> {
    const fn new(rest: &'t str) -> Self {
        Self { rest }
    }
}

impl Iterator for Run<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let first = self.rest.chars().next()?;
        let end = if is_word_by_itself(first) {
            first.len_utf8()
        } else {
            self.rest.find(is_word_by_itself).unwrap_or(self.rest.len())
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        // The lower case of some capitals has combining marks (`İ` becomes `i̇`), which are neither letters nor digits.
        let small = word.chars().take(LONGEST).flat_map(char::to_lowercase);
        Some(small.filter(|c| c.is_alphanumeric()).collect())
    }
}

/// Whether a character belongs to a script without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese.
const fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
