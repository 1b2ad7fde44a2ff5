//! Working memory: what an agent keeps in mind from turn to turn. It is the key `working_memory` of the agent's record in its world. It
//! is given to the chart as the input `working_memory` and, if configured, added to prompts as a section:
//!
//! ```text
//! record   {"working_memory": {"current_goal": "sell gold", "lessons": ["ask bob first"]}}
//! section  === WORKING MEMORY ===
//!          Current goal: sell gold
//!          Lessons:
//!          - ask bob first
//! ```

#[cfg(test)]
mod tests;

use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};

/// The key of an agent's record under which its working memory is.
pub const WORKING_MEMORY: &str = "working_memory";
/// The default maximum size, in bytes.
const MOST: u64 = 2000;
/// The heading of the section in prompts.
const HEAD: &str = "=== WORKING MEMORY ===";
/// The keys that come first in a section, in this order.
const FIRST: [&str; 6] = [
    "current_goal",
    "strategic_goal",
    "current_subgoal",
    "progress",
    "subgoal_progress",
    "lessons",
];

/// The configuration of the working memory, from the metadata `memory.working_memory` or `working_memory` of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingMemory {
    /// Whether the agent has a working memory.
    pub enabled: bool,
    /// Whether prompts contain it as a section.
    pub auto_inject: bool,
    /// The maximum size, in bytes: of the JSON in the input, and of the text in a section.
    pub max_size_bytes: u64,
    /// Whether it is added to the query of long-term memory.
    pub include_in_rag: bool,
    /// Whether a section has one line per key, instead of JSON.
    pub structured_format: bool,
    /// Whether the trace notes a missing working memory.
    pub warn_on_missing: bool,
}

/// The keys of the configuration.
pub const KEYS: [&str; 6] = [
    "enabled",
    "auto_inject",
    "max_size_bytes",
    "include_in_rag",
    "structured_format",
    "warn_on_missing",
];

impl Default for WorkingMemory {
    /// The configuration of an agent that mentions no working memory: charts can read it, but prompts do not contain it.
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

/// The error of an invalid configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` {why}")]
pub struct ConfigError {
    /// The path of the key.
    pub place: String,
    /// The reason, with what is allowed.
    pub why: String,
}

impl WorkingMemory {
    /// Reads the configuration from the metadata of a chart.
    ///
    /// # Errors
    /// A key is unknown, or a value has the wrong type.
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
        // An agent that configures its working memory gets it in its prompts by default.
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

    /// The part of the working memory that fits into the input.
    pub fn bounded(&self, memory: &Map) -> Map {
        match fit(&Value::Map(memory.clone()), self.room()) {
            Some(Value::Map(kept)) => kept,
            Some(_) | None => Map::new(),
        }
    }

    /// The section for prompts, and whether it was cut; empty if there is nothing to show.
    pub fn section(&self, memory: &Map) -> (String, bool) {
        if !self.enabled || !self.auto_inject || memory.is_empty() {
            return (String::new(), false);
        }
        let (text, is_cut) = self.text(memory);
        (format!("{HEAD}\n{text}"), is_cut)
    }

    /// The text of the section, and whether it was cut.
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

/// Finds the working memory in an agent's record. Record and memory may be mappings, or texts with a mapping in JSON or YAML.
///
/// # Errors
/// The reason why there is none.
pub fn extract(record: &Value) -> Result<Map, &'static str> {
    let Some(record) = mapping(record) else { return Err("the agent's record is no mapping") };
    match record.get("working_memory") {
        None | Some(Value::None) => Err("the agent's record has no `working_memory`"),
        Some(memory) => {
            mapping(memory).ok_or("`working_memory` of the agent's record is no mapping")
        }
    }
}

/// A record or memory as a mapping; `None` if it is neither a mapping nor a text with one in JSON or YAML.
pub fn mapping(value: &Value) -> Option<Map> {
    match value {
        Value::Map(map) => Some(map.clone()),
        Value::Text(text) => {
            let json = serde_json::from_str(text).ok();
            match json.or_else(|| serde_yaml::from_str(text).ok())? {
                Value::Map(map) => Some(map),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The beginning of a text: at most `most` bytes, cut at a character boundary.
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// One line per key, the most important keys first. The items of lists and mappings follow on lines of their own.
fn structured(memory: &Map) -> String {
    let first = FIRST.iter().filter_map(|key| memory.get(key).map(|value| (*key, value)));
    let rest = memory.iter().filter(|(key, _)| !FIRST.contains(key));
    let mut out = String::new();
    for (key, value) in first.chain(rest) {
        let mut title = key.replace('_', " ");
        // Only a letter of one byte can be changed in place.
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
            _ => {
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
        _ => json(value),
    }
}

/// The size of the working memory as JSON, in bytes.
pub(crate) fn size(memory: &Map) -> usize {
    json(&Value::Map(memory.clone())).len()
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The beginning of a value, such that its JSON has at most `room` bytes: complete entries, and as much as fits of the first that does
/// not.
fn fit(value: &Value, room: usize) -> Option<Value> {
    if json(value).len() <= room {
        return Some(value.clone());
    }
    match value {
        Value::Text(text) => {
            // Two bytes for the quotes. Characters are measured as JSON, as some are escaped.
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
                // Nothing may follow an entry that was cut.
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
        _ => None,
    }
}
