//! Run-time values, in the representation that the interpreter, prompts and JSON share.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A run-time value. A record is a [`Map`] of its fields; an enum value is the Text of its name.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `none`; JSON null.
    #[default]
    None,
    /// JSON `true` or `false`.
    Bool(bool),
    /// A JSON number without a fraction.
    Int(i64),
    /// Any other JSON number.
    Float(f64),
    /// A JSON string.
    Text(String),
    /// A duration in milliseconds; a JSON string such as `250ms`.
    Duration(u64),
    /// A JSON array.
    List(Vec<Value>),
    /// A JSON object.
    Map(Map),
}

/// A map with text keys in insertion order, as Python's `dict`. Equality ignores the order.
#[derive(Debug, Clone)]
pub struct Map<T = Value> {
    entries: Vec<(String, T)>,
    /// The index of each key in `entries`; empty while there are at most [`SMALL`] entries.
    places: BTreeMap<String, usize>,
}

/// The maximum number of entries that are searched linearly, which is as fast as an index.
const SMALL: usize = 8;

impl<T> Map<T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), places: BTreeMap::new() }
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.entries.len() > SMALL {
            self.places.get(key).copied()
        } else {
            self.entries.iter().position(|(k, _)| k == key)
        }
    }

    /// The value under `key`. Logarithmic in the number of entries.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.place(key).map(|i| &self.entries[i].1)
    }

    /// The value under `key`, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.place(key).map(|i| &mut self.entries[i].1)
    }

    /// The values in insertion order, mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Sets the value under `key`, in place if the key exists.
    pub fn insert(&mut self, key: String, value: T) {
        // A key keeps the place of its first insertion.
        if let Some(i) = self.place(&key) {
            self.entries[i].1 = value;
            return;
        }
        self.entries.push((key, value));
        match self.entries.len() {
            0..=SMALL => {}
            // The first insert beyond `SMALL` builds the whole index; later ones extend it.
            len if len == SMALL + 1 => {
                let keys = self.entries.iter().enumerate();
                self.places = keys.map(|(i, (key, _))| (key.clone(), i)).collect();
            }
            len => {
                self.places.insert(self.entries[len - 1].0.clone(), len - 1);
            }
        }
    }

    /// The entries in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: PartialEq> PartialEq for Map<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(k, v)| other.get(k) == Some(v))
    }
}

impl<T> FromIterator<(String, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<T> IntoIterator for Map<T> {
    type Item = (String, T);
    type IntoIter = alloc::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// The error for a value that does not fit its type or place. The text names both and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl core::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Mismatch {}

impl Value {
    /// The approximate number of bytes that the value takes on the heap.
    pub fn bytes(&self) -> usize {
        const PLACE: usize = size_of::<Value>();
        match self {
            Self::None | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Duration(_) => 0,
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(|item| PLACE + item.bytes()).sum(),
            Self::Map(map) => {
                map.iter().map(|(key, value)| key.len() + 2 * PLACE + value.bytes()).sum()
            }
        }
    }

    /// The word with which messages name the kind of the value.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bool(_) => "Bool",
            Self::Int(_) => "Int",
            Self::Float(_) => "Float",
            Self::Text(_) => "Text",
            Self::Duration(_) => "Duration",
            Self::List(_) => "List",
            Self::Map(_) => "Map",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn keys_are_found_on_both_sides_of_the_index() {
        let mut map = Map::new();
        for i in 0..100 {
            map.insert(format!("k{i}"), Value::Int(i));
            map.insert(format!("k{}", i / 2), Value::Int(-i));
            assert_eq!(map.get(&format!("k{}", i / 2)), Some(&Value::Int(-i)));
            assert_eq!(map.get(&format!("k{}", i + 1)), None);
        }
        assert_eq!(map.len(), 100);
        assert_eq!(map.iter().next(), Some(("k0", &Value::Int(-1))));
    }

    #[test]
    fn equality_ignores_the_order() {
        let of = |keys: [&str; 2]| {
            keys.map(|k| (String::from(k), Value::None)).into_iter().collect::<Map>()
        };
        assert_eq!(of(["a", "b"]), of(["b", "a"]));
        assert_ne!(of(["a", "b"]), of(["a", "c"]));
    }
}
