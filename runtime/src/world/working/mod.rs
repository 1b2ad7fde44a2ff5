//! Working memory: what an agent keeps in mind from turn to turn. It stands under `working_memory` in the agent's own record in its
//! world, goes into the input of that name and, where that is wanted, into prompts as a section of their own.

use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};

/// Bytes that it may have unless the agent says otherwise.
const MOST: u64 = 2000;
/// The words before it in a prompt.
const HEAD: &str = "=== WORKING MEMORY ===";
/// What comes first in a section, where it is there.
const FIRST: [&str; 6] = [
    "current_goal",
    "strategic_goal",
    "current_subgoal",
    "progress",
    "subgoal_progress",
    "lessons",
];

/// What an agent says of its working memory, under `memory.working_memory` or `working_memory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingMemory {
    /// Whether there is any.
    pub enabled: bool,
    /// Prompts have it as a section.
    pub auto_inject: bool,
    /// Bytes of it, in the input as JSON, in a section as written there.
    pub max_size_bytes: u64,
    /// Long-term memory is searched for it, too.
    pub include_in_rag: bool,
    /// A section has a line a key, rather than JSON.
    pub structured_format: bool,
    /// The trace tells where there is none.
    pub warn_on_missing: bool,
}

/// Its keys.
pub const KEYS: [&str; 6] = [
    "enabled",
    "auto_inject",
    "max_size_bytes",
    "include_in_rag",
    "structured_format",
    "warn_on_missing",
];

impl Default for WorkingMemory {
    /// Of an agent that says nothing of it: it is there for those that read it, and no prompt grows by it.
    fn default() -> Self {
        Self {
            enabled: true,
            auto_inject: false,
            max_size_bytes: MOST,
            include_in_rag: false,
            structured_format: false,
            warn_on_missing: false,
        }
    }
}

/// What an agent says of its working memory cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` {why}")]
pub struct ConfigError {
    /// The key.
    pub place: String,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl WorkingMemory {
    /// From what a chart carries as `meta`.
    ///
    /// # Errors
    /// A key that there is not, or a value that it cannot have.
    pub fn of(meta: &[(String, Value)]) -> Result<Self, ConfigError> {
        let top = |name: &str| meta.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let within = match top("memory") {
            Some(Value::Map(memory)) => memory.get("working_memory"),
            Some(_) | None => None,
        };
        let (place, said) = match (within, top("working_memory")) {
            (Some(said), _) => ("memory.working_memory", said),
            (None, Some(said)) => ("working_memory", said),
            (None, None) => return Ok(Self::default()),
        };
        let Value::Map(said) = said else {
            let why = format!("is a mapping of {}", KEYS.join(", "));
            return Err(ConfigError { place: place.into(), why });
        };
        // Who speaks of it wants it.
        let mut config = Self { auto_inject: true, structured_format: true, ..Self::default() };
        for (key, value) in said.iter() {
            let fault = |why: String| Err(ConfigError { place: format!("{place}.{key}"), why });
            let flag = match key {
                "enabled" => &mut config.enabled,
                "auto_inject" => &mut config.auto_inject,
                "include_in_rag" => &mut config.include_in_rag,
                "structured_format" => &mut config.structured_format,
                "warn_on_missing" => &mut config.warn_on_missing,
                "max_size_bytes" => {
                    let Value::Int(most @ 0..) = value else {
                        return fault("is a whole number of bytes".into());
                    };
                    config.max_size_bytes = *most as u64;
                    continue;
                }
                _ => return fault(format!("is unknown; there are {}", KEYS.join(", "))),
            };
            let Value::Bool(said) = value else { return fault("is `true` or `false`".into()) };
            *flag = *said;
        }
        Ok(config)
    }

    /// What goes into the input: all of it, or what there is room for as JSON.
    pub fn bounded(&self, memory: &Map) -> Map {
        match fit(&Value::Map(memory.clone()), self.room()) {
            Some(Value::Map(kept)) => kept,
            Some(_) | None => Map::new(),
        }
    }

    /// What goes into prompts, and whether that is not all of it; nothing where there is nothing.
    pub fn section(&self, memory: &Map) -> (String, bool) {
        if !self.enabled || !self.auto_inject || memory.is_empty() {
            return (String::new(), false);
        }
        let (text, is_cut) = self.text(memory);
        (format!("{HEAD}\n{text}"), is_cut)
    }

    /// All of it in words, or what there is room for.
    fn text(&self, memory: &Map) -> (String, bool) {
        let whole = if self.structured_format {
            structured(memory)
        } else {
            json(&Value::Map(memory.clone()))
        };
        let kept = cut(&whole, self.room());
        (kept.to_owned(), kept.len() < whole.len())
    }

    fn room(&self) -> usize {
        usize::try_from(self.max_size_bytes).unwrap_or(usize::MAX)
    }
}

/// The working memory in an agent's record: `working_memory` of a mapping, or of a text that is one in JSON or YAML.
///
/// # Errors
/// Why there is none.
pub fn extract(record: &Value) -> Result<Map, &'static str> {
    let Some(record) = mapping(record) else { return Err("the agent's record is no mapping") };
    match record.get("working_memory") {
        None | Some(Value::None) => Err("the agent's record has no `working_memory`"),
        Some(memory) => {
            mapping(memory).ok_or("`working_memory` of the agent's record is no mapping")
        }
    }
}

fn mapping(value: &Value) -> Option<Map> {
    match value {
        Value::Map(map) => Some(map.clone()),
        Value::Text(text) => {
            let json = serde_json::from_str(text).ok();
            match json.or_else(|| serde_yaml::from_str(text).ok())? {
                Value::Map(map) => Some(map),
                Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::Duration(_)
                | Value::List(_) => None,
            }
        }
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Duration(_)
        | Value::List(_) => None,
    }
}

/// The beginning of a text, at most so many bytes, whole characters only.
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// A line for each key, what matters most first; lists and mappings below it.
fn structured(memory: &Map) -> String {
    let first = FIRST.iter().filter_map(|key| memory.get(key).map(|value| (*key, value)));
    let rest = memory.iter().filter(|(key, _)| !FIRST.contains(key));
    let mut out = String::new();
    for (key, value) in first.chain(rest) {
        let mut title = key.replace('_', " ");
        if let Some(letter) = title.get_mut(..1) {
            letter.make_ascii_uppercase();
        }
        out.push_str(&title);
        out.push(':');
        let lines: Vec<String> = match value {
            Value::List(items) => items.iter().map(plain).collect(),
            Value::Map(map) => {
                map.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect()
            }
            Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Duration(_) => {
                out.push(' ');
                out.push_str(&plain(value));
                Vec::new()
            }
        };
        for line in lines {
            out.push_str("\n- ");
            out.push_str(&line);
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => json(value),
    }
}

/// Bytes of it as JSON.
pub(crate) fn size(memory: &Map) -> usize {
    json(&Value::Map(memory.clone())).len()
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// As much of a value, from its beginning, as has room as JSON: whole entries, and of the first that has none what fits of it.
fn fit(value: &Value, room: usize) -> Option<Value> {
    if json(value).len() <= room {
        return Some(value.clone());
    }
    match value {
        Value::Text(text) => {
            let mut left = room.checked_sub(2)?;
            let fits = |c: &char| {
                let size = json(&Value::Text(c.to_string())).len() - 2;
                left.checked_sub(size).map(|rest| left = rest).is_some()
            };
            let kept: String = text
                .chars()
                .take_while({
                    let mut fits = fits;
                    move |c| fits(c)
                })
                .collect();
            (!kept.is_empty()).then_some(Value::Text(kept))
        }
        Value::List(items) => {
            let mut left = room.checked_sub(2)?;
            let mut kept = Vec::new();
            for item in items {
                let comma = usize::from(!kept.is_empty());
                let Some(part) = left.checked_sub(comma).and_then(|room| fit(item, room)) else {
                    break;
                };
                left -= comma + json(&part).len();
                let is_whole = part == *item;
                kept.push(part);
                if !is_whole {
                    break;
                }
            }
            Some(Value::List(kept))
        }
        Value::Map(map) => {
            let mut left = room.checked_sub(2)?;
            let mut kept = Map::new();
            for (key, value) in map.iter() {
                let before =
                    usize::from(!kept.is_empty()) + json(&Value::Text(key.to_owned())).len() + 1;
                let Some(part) = left.checked_sub(before).and_then(|room| fit(value, room)) else {
                    break;
                };
                left -= before + json(&part).len();
                let is_whole = part == *value;
                kept.insert(key.to_owned(), part);
                if !is_whole {
                    break;
                }
            }
            Some(Value::Map(kept))
        }
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Duration(_) => None,
    }
}

#[cfg(test)]
mod tests;
