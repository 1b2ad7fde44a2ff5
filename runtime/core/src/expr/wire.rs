//! The JSON form of values, for `serde`.

use super::{Map, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => to.serialize_unit(),
            Self::Bool(b) => to.serialize_bool(*b),
            Self::Int(i) => to.serialize_i64(*i),
            Self::Float(x) => to.serialize_f64(*x),
            Self::Text(t) => to.serialize_str(t),
            Self::Duration(ms) => to.serialize_str(&format!("{ms}ms")),
            Self::List(items) => {
                let mut seq = to.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Map(entries) => entries.serialize(to),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Map(map) => Ok(map),
            _ => Err(serde::de::Error::custom("a JSON object is wanted")),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match Level::<String, Self>::deserialize(from)? {
            Level::Null => Self::None,
            Level::Bool(b) => Self::Bool(b),
            Level::Int(i) => Self::Int(i),
            Level::Float(x) => Self::Float(x),
            Level::Text(text) => Self::Text(text),
            Level::List(items) => Self::List(items),
            Level::Map(entries) => {
                let mut map = Map::new();
                for (key, value) in entries {
                    map.insert(key, value);
                }
                Self::Map(map)
            }
        })
    }
}

// One level of a value, for readers that want to know more of keys and values than their content, such as their places.

/// A value as JSON, YAML or the like have it. What keys and the values in it are is up to the reader.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the kinds of JSON")]
pub enum Level<K, V, T = String> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(T),
    List(Vec<V>),
    /// The entries, in the order of the text, which may have a key twice.
    Map(Vec<(K, V)>),
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Level<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Levels(PhantomData))
    }
}

struct Levels<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Levels<K, V> {
    type Value = Level<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Level::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Level::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Self::Value, E> {
        Ok(Level::Bool(b))
    }

    fn visit_i64<E>(self, i: i64) -> Result<Self::Value, E> {
        Ok(Level::Int(i))
    }

    // Numbers beyond an Int become Floats, as in JavaScript.
    fn visit_u64<E>(self, i: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(i).map_or(Level::Float(i as f64), Level::Int))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Self::Value, E> {
        Ok(Level::Float(x))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Level::Text(text.to_string()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Level::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Level::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Level::Map(entries))
    }
}
