//! The checked arguments of a method of a genesis artifact.

use super::Method;
use crate::state::{Tried, fail};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// The arguments with which a caller invokes a method.
pub(crate) struct Arguments<'a> {
    pub(crate) caller: &'a str,
    /// The method and the artifact, as messages name them.
    what: String,
    method: &'a Method,
    values: Vec<Value>,
}

impl<'a> Arguments<'a> {
    /// Assigns the given values to the method's parameters: by position, or by name if the only value is a mapping with names of
    /// parameters.
    ///
    /// # Errors
    /// There are too few or too many values.
    pub(super) fn new(
        artifact: &str,
        method: &'a Method,
        caller: &'a str,
        given: &[Value],
    ) -> Tried<Self> {
        let what = format!("`{}` of `{artifact}`", method.name);
        let names = || method.params.iter().map(|param| param.trim_end_matches('?'));
        let by_name = match given {
            [Value::Map(map)] if !map.is_empty() => {
                map.iter().all(|(key, _)| names().any(|name| name == key)).then_some(map)
            }
            _ => None,
        };
        // By name, parameters that are absent are `none`, and the method itself reports those that it needs.
        let values: Vec<Value> = match by_name {
            Some(map) => names().map(|name| map.get(name).cloned().unwrap_or_default()).collect(),
            None => given.to_vec(),
        };
        let needed = method.params.iter().filter(|param| !param.ends_with('?')).count();
        let is_short = by_name.is_none() && values.len() < needed;
        if is_short || values.len() > method.params.len() {
            let params = method.params.join(", ");
            let why = format!("{what} takes ({params}), and {} arguments are given", given.len());
            return fail(FailureKind::IntentRejected, why);
        }
        Ok(Self { caller, what, method, values })
    }

    /// Fails with a message that names the argument.
    pub(crate) fn wrong<T>(&self, at: usize, why: &str) -> Tried<T> {
        let name = self.method.params.get(at).map_or("", |param| param.trim_end_matches('?'));
        fail(FailureKind::IntentRejected, format!("`{name}` of {} {why}", self.what))
    }

    /// The value of an argument; `None` if it is absent or `none`.
    pub(crate) fn get(&self, at: usize) -> Option<&Value> {
        self.values.get(at).filter(|value| **value != Value::None)
    }

    /// A name or an id.
    pub(crate) fn name(&self, at: usize) -> Tried<&str> {
        match self.get(at) {
            Some(Value::Text(name)) if !name.is_empty() => Ok(name),
            Some(_) | None => self.wrong(at, "is a name, a text"),
        }
    }

    /// A name or an id, if the argument is present.
    pub(crate) fn name_or_none(&self, at: usize) -> Tried<Option<&str>> {
        self.get(at).map(|_| self.name(at)).transpose()
    }

    /// An amount of at least 1.
    pub(crate) fn amount(&self, at: usize) -> Tried<i64> {
        match self.get(at) {
            Some(Value::Int(n @ 1..)) => Ok(*n),
            Some(_) | None => self.wrong(at, "is a whole number, 1 or more"),
        }
    }

    /// A number of at least 0, if the argument is present.
    pub(crate) fn number_or_none(&self, at: usize) -> Tried<Option<u64>> {
        match self.get(at) {
            None => Ok(None),
            Some(Value::Int(n @ 0..)) => Ok(Some(n.unsigned_abs())),
            Some(_) => self.wrong(at, "is a whole number, 0 or more"),
        }
    }

    /// A mapping; an empty one if the argument is absent.
    pub(crate) fn map(&self, at: usize) -> Tried<Map> {
        match self.get(at) {
            None => Ok(Map::new()),
            Some(Value::Map(map)) => Ok(map.clone()),
            Some(_) => self.wrong(at, "is a mapping"),
        }
    }
}
