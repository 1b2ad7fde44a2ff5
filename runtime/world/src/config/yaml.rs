//! A YAML text as a tree with line numbers, and readers for the values in it.

use super::RunFileError;
use chartc_core::expr::{Duration, Level, Map, Value};
use serde::de::{Deserialize, Deserializer};
use std::collections::BTreeMap;

pub(crate) type Read<T> = Result<T, RunFileError>;

/// The maximum depth of nested values.
const DEPTH: usize = 40;

/// A value with its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    line: u64,
    kind: Kind,
}

type Kind = Level<Key, Node>;

#[derive(Debug, Clone, PartialEq)]
struct Key {
    line: u64,
    name: String,
}

impl Node {
    /// Parses a text.
    pub(crate) fn parse(text: &str) -> Read<Self> {
        // `strict_booleans`: an agent may be called `no`, which is not a boolean then.
        // `max_depth`: each level of nesting takes a part of the stack.
        let options = serde_yaml::options! {
            strict_booleans: true,
            budget: serde_yaml::budget! { max_depth: DEPTH },
        };
        serde_yaml::from_str_with_options(text, options).map_err(|why| RunFileError {
            line: None,
            place: String::new(),
            why: why.to_string(),
            stranger: None,
        })
    }

    fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::None,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Int(n) => Value::Int(*n),
            Kind::Float(x) => Value::Float(*x),
            Kind::Text(text) => Value::Text(text.clone()),
            Kind::List(items) => Value::List(items.iter().map(Self::value).collect()),
            Kind::Map(rows) => {
                let mut map = Map::new();
                for (key, node) in rows {
                    map.insert(key.name.clone(), node.value());
                }
                Value::Map(map)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = serde_yaml::Spanned::<Kind>::deserialize(from)?;
        Ok(Self { line: spanned.referenced.line(), kind: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = serde_yaml::Spanned::<String>::deserialize(from)?;
        Ok(Self { line: spanned.referenced.line(), name: spanned.value })
    }
}

/// A value with the dotted keys that lead to it, for errors.
#[derive(Debug, Clone)]
pub(crate) struct At<'n> {
    place: String,
    node: &'n Node,
}

impl<'n> At<'n> {
    /// The root of the file.
    pub(crate) const fn top(node: &'n Node) -> Self {
        Self { place: String::new(), node }
    }

    pub(crate) fn fault<T>(&self, why: impl Into<String>) -> Read<T> {
        let (line, why) = (Some(self.node.line), why.into());
        Err(RunFileError { line, place: self.place.clone(), why, stranger: None })
    }

    fn under(&self, key: &str, node: &'n Node) -> Self {
        let place =
            if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) };
        Self { place, node }
    }

    /// Reads a mapping with known keys, one by one.
    pub(crate) const fn fields(self) -> Fields<'n> {
        Fields { at: self, known: Vec::new() }
    }

    pub(crate) const fn is_map(&self) -> bool {
        matches!(self.node.kind, Kind::Map(_))
    }

    /// The values of a mapping whose keys are arbitrary names.
    pub(crate) fn named(&self, why: &str) -> Read<Vec<(&'n str, Self)>> {
        match &self.node.kind {
            Kind::Map(rows) => {
                Ok(rows.iter().map(|(k, n)| (k.name.as_str(), self.under(&k.name, n))).collect())
            }
            Kind::Null => Ok(Vec::new()),
            _ => self.fault(why),
        }
    }

    pub(crate) fn list(&self, why: &str) -> Read<Vec<Self>> {
        match &self.node.kind {
            Kind::List(items) => {
                let place = |i: usize| format!("{}[{}]", self.place, i + 1);
                Ok(items
                    .iter()
                    .enumerate()
                    .map(|(i, node)| Self { place: place(i), node })
                    .collect())
            }
            Kind::Null => Ok(Vec::new()),
            _ => self.fault(why),
        }
    }

    pub(crate) fn flag(&self) -> Read<bool> {
        match &self.node.kind {
            Kind::Bool(value) => Ok(*value),
            _ => self.fault("is true or false"),
        }
    }

    /// Reads a whole number of at least `least`.
    pub(crate) fn count(&self, least: u64, of: &str) -> Read<u64> {
        match &self.node.kind {
            Kind::Int(n) if u64::try_from(*n).is_ok_and(|n| n >= least) => Ok(*n as u64),
            _ => self.fault(format!("is a whole number of {of}, {least} or more")),
        }
    }

    /// Reads a whole number of at least `least` that fits into 32 bits.
    pub(crate) fn small(&self, least: u32, of: &str) -> Read<u32> {
        let n = self.count(least.into(), of)?;
        u32::try_from(n).or_else(|_| self.fault(format!("is at most {} {of}", u32::MAX)))
    }

    pub(crate) fn scrip(&self) -> Read<i64> {
        Ok(self.count(0, "scrip")? as i64)
    }

    /// Reads an amount of money, and returns it in millionths.
    pub(crate) fn money(&self) -> Read<u64> {
        let amount = match &self.node.kind {
            Kind::Int(n) => *n as f64,
            Kind::Float(x) => *x,
            _ => -1.0,
        };
        let millionths = (amount * 1_000_000.0).round();
        if !(0.0..9e15).contains(&millionths) {
            return self.fault("is an amount of money, 0 or more, such as 0.25");
        }
        Ok(millionths as u64)
    }

    /// Reads a time, as a number of seconds or a text such as `90s`, and returns it in milliseconds.
    pub(crate) fn time(&self) -> Read<u64> {
        let seconds = match &self.node.kind {
            Kind::Int(n) => *n as f64,
            Kind::Float(x) => *x,
            Kind::Text(text) => match text.parse::<Duration>() {
                Ok(Duration(millis)) => return Ok(millis),
                Err(_) => -1.0,
            },
            _ => -1.0,
        };
        let millis = (seconds * 1000.0).round();
        if !(0.0..9e15).contains(&millis) {
            return self
                .fault("is a number of seconds, 0 or more, or a duration such as 90s or 5m");
        }
        Ok(millis as u64)
    }

    /// Reads a time that is not 0.
    pub(crate) fn span(&self) -> Read<u64> {
        match self.time()? {
            0 => self.fault("is a time of more than 0 seconds"),
            millis => Ok(millis),
        }
    }

    /// Reads a text that is not empty. A number counts as a text.
    pub(crate) fn text(&self, what: &str) -> Read<String> {
        match &self.node.kind {
            Kind::Text(text) if !text.is_empty() => Ok(text.clone()),
            Kind::Int(n) => Ok(n.to_string()),
            _ => self.fault(format!("is {what}")),
        }
    }

    /// Reads a mapping of names to arbitrary values.
    pub(crate) fn values(&self, why: &str) -> Read<Map> {
        let mut map = Map::new();
        for (name, at) in self.named(why)? {
            map.insert(name.to_owned(), at.node.value());
        }
        Ok(map)
    }

    /// Reads one of several words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Read<T> {
        let said = match &self.node.kind {
            Kind::Text(text) => text.as_str(),
            _ => "",
        };
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == said) {
            return Ok(*meant);
        }
        let known: Vec<String> = words.iter().map(|(word, _)| (*word).to_owned()).collect();
        let why = format!("is one of {}", known.join(", "));
        let stranger = (!said.is_empty()).then(|| (said.to_owned(), known));
        Err(RunFileError { line: Some(self.node.line), place: self.place.clone(), why, stranger })
    }

    /// Reads a mapping of names to values that `each` reads.
    pub(crate) fn by_name<T>(
        &self,
        why: &str,
        each: impl Fn(&Self) -> Read<T>,
    ) -> Read<BTreeMap<String, T>> {
        let rows = self.named(why)?.into_iter();
        rows.map(|(name, at)| Ok((name.to_owned(), each(&at)?))).collect()
    }
}

/// A mapping that is being read. The keys that were requested are the known ones; [`Self::end`] reports all others.
pub(crate) struct Fields<'n> {
    at: At<'n>,
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Reads the value of a key with `each`. A key without a value counts as absent.
    pub(crate) fn get<T>(
        &mut self,
        key: &'static str,
        each: impl FnOnce(At<'n>) -> Read<T>,
    ) -> Read<Option<T>> {
        self.known.push(key);
        let Kind::Map(rows) = &self.at.node.kind else { return Ok(None) };
        let found = rows.iter().find(|(name, _)| name.name == key);
        match found.map(|(_, node)| self.at.under(key, node)) {
            Some(at) if at.node.kind != Kind::Null => each(at).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// Sets `to` to the value of the key, if it is present.
    pub(crate) fn set<T>(
        &mut self,
        to: &mut T,
        key: &'static str,
        each: impl FnOnce(At<'n>) -> Read<T>,
    ) -> Read<()> {
        if let Some(value) = self.get(key, each)? {
            *to = value;
        }
        Ok(())
    }

    /// Sets `to` to `Some` value of the key, if it is present.
    pub(crate) fn some<T>(
        &mut self,
        to: &mut Option<T>,
        key: &'static str,
        each: impl FnOnce(At<'n>) -> Read<T>,
    ) -> Read<()> {
        self.set(to, key, |at| each(at).map(Some))
    }

    /// The mapping itself, for errors.
    pub(crate) fn place(&self) -> At<'n> {
        self.at.clone()
    }

    /// Reports a key that was never requested. Call it after all known keys.
    pub(crate) fn end(self) -> Read<()> {
        let there = self.known.join(", ");
        match &self.at.node.kind {
            Kind::Null => Ok(()),
            Kind::Map(rows) => {
                let Some((key, node)) =
                    rows.iter().find(|(key, _)| !self.known.contains(&key.name.as_str()))
                else {
                    return Ok(());
                };
                let known = self.known.iter().map(|&key| key.to_owned()).collect();
                Err(RunFileError {
                    line: Some(key.line),
                    place: self.at.under(&key.name, node).place,
                    why: format!("is unknown; there are {there}"),
                    stranger: Some((key.name.clone(), known)),
                })
            }
            _ => self.at.fault(format!("is a mapping of {there}")),
        }
    }
}
