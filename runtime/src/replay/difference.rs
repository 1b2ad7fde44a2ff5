//! Differences between a trace and its replay, as messages.

use chartc_core::visible;
use serde_json::Value;
use std::fmt;

/// The maximum length of a line in a message, in characters.
const SHOWN: usize = 600;

/// The number of equal characters that are shown before the first difference of two texts.
const NEAR: usize = 40;

/// The first line that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the line in the trace, from 1, not counting empty lines.
    pub line: usize,
    /// The line of the trace; `None` after its end.
    pub recorded: Option<String>,
    /// The line that the run writes now; `None` if it writes no further line.
    pub now: Option<String>,
}

impl Difference {
    /// The first field that differs: its path, its recorded value, and its value now.
    pub fn field(&self) -> Option<(String, String, String)> {
        let parsed = |text: &Option<String>| serde_json::from_str(text.as_ref()?).ok();
        let (a, b): (Value, Value) = (parsed(&self.recorded)?, parsed(&self.now)?);
        first(&a, &b, String::new())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {} differs", self.line)?;
        let or = |text: &Option<String>, none: &str| match text {
            Some(text) => short(text, SHOWN),
            None => none.to_owned(),
        };
        writeln!(f, "  trace: {}", or(&self.recorded, "(it ends here)"))?;
        write!(f, "  now:   {}", or(&self.now, "(nothing: the run waits for the host)"))?;
        if let Some((field, a, b)) = self.field() {
            write!(
                f,
                "\n  `{}` is {} in the trace and {} now",
                visible::line(&field),
                short(&a, 200),
                short(&b, 200)
            )?;
        }
        Ok(())
    }
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", visible::line(&text[..end])),
        None => visible::line(text).into_owned(),
    }
}

fn first(a: &Value, b: &Value, path: String) -> Option<(String, String, String)> {
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (a, b) {
        _ if a == b => None,
        (Value::Object(a), Value::Object(b)) => {
            // `kind` is compared first, because it says most about the difference.
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort_by_key(|name| (*name != "kind", (*name).clone()));
            let of = |map: &serde_json::Map<String, Value>, name: &String| {
                map.get(name).cloned().unwrap_or_default()
            };
            names.into_iter().find_map(|name| first(&of(a, name), &of(b, name), below(name)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| first(a, b, below(&i.to_string())))
        }
        (Value::String(a), Value::String(b)) => {
            let (a, b) = apart(a, b);
            Some((path, a, b))
        }
        _ => Some((path, a.to_string(), b.to_string())),
    }
}

/// Both texts, shortened to start a little before their first difference.
fn apart(a: &str, b: &str) -> (String, String) {
    let same = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b);
    let part = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
    let from = a[..part].char_indices().rev().nth(NEAR).map_or(0, |(at, _)| at);
    let quoted = |text: &str| {
        let text = Value::String(text[from..].to_owned()).to_string();
        if from > 0 { text.replacen('"', "\"…", 1) } else { text }
    };
    (quoted(a), quoted(b))
}
