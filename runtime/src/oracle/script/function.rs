//! Results of a function: in the order of the calls, or by the arguments.

use super::file::{entry, fault, results};
use super::{Entry, ScriptError, Series, Taken};
use chartc_core::expr::{Map, Value};
use std::sync::Arc;

/// The results of a function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Function {
    /// Results in the order of the calls.
    InOrder(Series),
    /// Results by the arguments: each call gets the result of the first case that fits.
    Cases(Arc<[Case]>),
}

/// A result for certain arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The values of the first arguments. The others may be anything.
    given: Vec<Value>,
    entry: Entry,
}

impl Function {
    /// The result of a call; `None` if the list is used up or no case fits.
    pub(super) fn next(&mut self, arguments: &[Value]) -> Option<Taken> {
        match self {
            Self::InOrder(series) => series.next(),
            Self::Cases(_) => self.case(arguments),
        }
    }

    /// Whether the results are returned in the order of the calls.
    pub(super) const fn is_list(&self) -> bool {
        matches!(self, Self::InOrder(_))
    }

    /// The result of the first case that fits; `None` for a list.
    pub(super) fn case(&self, arguments: &[Value]) -> Option<Taken> {
        match self {
            Self::InOrder(_) => None,
            Self::Cases(cases) => {
                let fits = |case: &&Case| {
                    case.given.len() <= arguments.len()
                        && case.given.iter().zip(arguments).all(|(a, b)| fits(a, b))
                };
                cases.iter().find(fits).map(|case| Taken::of(case.entry.clone()))
            }
        }
    }

    /// All entries, in the order of the file.
    pub(super) fn entries(&self) -> Box<dyn Iterator<Item = &Entry> + '_> {
        match self {
            Self::InOrder(series) => Box::new(series.entries.iter()),
            Self::Cases(cases) => Box::new(cases.iter().map(|case| &case.entry)),
        }
    }

    /// The number of entries of a list that were returned; 0 for cases.
    pub(super) fn used(&self) -> usize {
        match self {
            Self::InOrder(series) => series.used,
            Self::Cases(_) => 0,
        }
    }

    /// Sets the number of entries of a list that were returned.
    pub(super) fn skip(&mut self, used: usize) {
        match self {
            Self::InOrder(series) => series.used = used,
            Self::Cases(_) => {}
        }
    }
}

/// Whether a value matches. Of a mapping, only the wanted fields are compared; an `Int` equals a `Float` of the same number.
fn fits(wanted: &Value, value: &Value) -> bool {
    match (wanted, value) {
        (Value::Map(wanted), Value::Map(map)) => {
            wanted.iter().all(|(key, value)| map.get(key).is_some_and(|v| fits(value, v)))
        }
        (Value::List(wanted), Value::List(items)) => {
            wanted.len() == items.len() && wanted.iter().zip(items).all(|(a, b)| fits(a, b))
        }
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (a, b) => a == b,
    }
}

pub(super) fn function(place: &str, value: Value) -> Result<Function, ScriptError> {
    let mut map = match value {
        Value::Map(map) if map.get("cases").is_some() => map.into_iter(),
        _ => return Ok(Function::InOrder(results(place, value)?)),
    };
    match (map.next(), map.next()) {
        (Some((_, Value::List(rows))), None) => {
            let rows = rows.into_iter().enumerate();
            let rows = rows.map(|(i, row)| case(&format!("{place}, case {}", i + 1), row));
            Ok(Function::Cases(rows.collect::<Result<_, _>>()?))
        }
        (Some((key, _)), None) => fault(place, &format!("`{key}` is a list")),
        _ => fault(place, "has nothing beside `cases`; the last case may be without `given`"),
    }
}

fn case(place: &str, row: Value) -> Result<Case, ScriptError> {
    let Value::Map(row) = row else {
        return fault(place, "is a mapping with `given` and `result`");
    };
    let mut given = Vec::new();
    let mut rest = Map::new();
    let mut result = None;
    for (key, value) in row {
        match (key.as_str(), value) {
            ("given", Value::List(values)) => given = values,
            ("given", _) => return fault(place, "`given` is a list, the arguments in their order"),
            ("result", value) => result = Some(entry(place, value)?),
            ("fail", why) => {
                rest.insert("fail".into(), why);
            }
            (key, _) => {
                let why = format!("`{key}` is unknown; there are `given`, `result` and `fail`");
                return fault(place, &why);
            }
        }
    }
    match (result, rest.is_empty()) {
        (Some(entry), true) => Ok(Case { given, entry }),
        (None, false) => Ok(Case { given, entry: entry(place, Value::Map(rest))? }),
        _ => fault(place, "says one of `result` and `fail`"),
    }
}
