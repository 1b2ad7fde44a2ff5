//! Values as the interpreter, prompts and the wire know them.

use alloc::string::String;
use alloc::vec::Vec;

/// A run-time value. A record is a [`Map`] of its fields; an enum value is the Text of its name.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `none`; JSON null.
    #[default]
    None,
    /// JSON true, false.
    Bool(bool),
    /// JSON number without fraction.
    Int(i64),
    /// Any other JSON number.
    Float(f64),
    /// JSON string.
    Text(String),
    /// Milliseconds; JSON string such as `250ms`.
    Duration(u64),
    /// JSON array.
    List(Vec<Value>),
    /// JSON object.
    Map(Map),
}

/// Text keys in the order first inserted, as Python's `dict`. Equality ignores the order.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Vec<(String, Value)>,
}

impl Map {
    /// Without entries.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The value under `key`. Linear in the number of entries.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Sets the value under `key`, in place if it is there.
    pub fn insert(&mut self, key: String, value: Value) {
        match self.entries.iter_mut().find(|(k, _)| *k == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }

    /// In insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(k, v)| other.get(k) == Some(v))
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = alloc::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
