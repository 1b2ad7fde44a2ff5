//! Converts records, enums and payloads from and to values.

use super::data::{String, Vec};
use crate::expr::{self, FromValue, Map, Value, inside, mismatch, short};
use crate::generated::BadParam;
use crate::host::Mismatch;
use crate::saved::{Saved, Unfit};
use crate::tables::Tables;
use alloc::vec;
use core::str::FromStr;

/// The value for a variant of an enum.
pub fn text(name: &str) -> Value {
    Value::Text(name.into())
}

/// Reads an enum with these names from a value.
///
/// # Errors
/// The value is not a text, or not one of the names.
pub fn parsed<T: FromValue + FromStr>(value: Value, names: &[&str]) -> Result<T, Mismatch> {
    let Value::Text(text) = value else { return Err(mismatch::<T>(&value)) };
    text.parse().map_err(|_| {
        let names: Vec<String> = names.iter().map(|name| alloc::format!("`{name}`")).collect();
        Mismatch(alloc::format!("`{}` is none of {}", short(&text), names.join(" ")))
    })
}

/// The value for a record with these fields.
pub fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// A record that is being read: the fields that are still to be taken.
#[derive(Debug)]
pub struct Fields {
    fields: Map,
    taken: usize,
}

impl Fields {
    /// The fields of a value that has to be a `T`.
    ///
    /// # Errors
    /// The value is not a record.
    pub fn of<T: FromValue>(value: Value) -> Result<Self, Mismatch> {
        let Value::Map(fields) = value else { return Err(mismatch::<T>(&value)) };
        Ok(Self { fields, taken: 0 })
    }

    /// Takes a required field.
    ///
    /// # Errors
    /// The field is absent, or its value does not fit.
    pub fn need<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        if self.fields.get(name).is_none() {
            return Err(Mismatch(alloc::format!("no field `{name}`")));
        }
        self.take(name)
    }

    /// Takes a field that may be absent, which reads as `none`.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let value = match self.fields.get_mut(name) {
            Some(value) => {
                self.taken += 1;
                core::mem::take(value)
            }
            None => Value::None,
        };
        T::from_value(value).map_err(|why| inside(&alloc::format!(".{name}"), why))
    }

    /// Checks that no other than the declared fields were given.
    ///
    /// # Errors
    /// Another field was given.
    pub fn end(self, declared: &[&str]) -> Result<(), Mismatch> {
        // The names are compared only if a field is left over.
        if self.taken < self.fields.len()
            && let Some((extra, _)) = self.fields.iter().find(|(key, _)| !declared.contains(key))
        {
            return Err(Mismatch(alloc::format!("no field `{}` is declared", short(extra))));
        }
        Ok(())
    }
}

/// The payload of an event, option or answer that is being read, in declared order.
#[derive(Debug)]
pub struct Values {
    what: &'static str,
    values: vec::IntoIter<Value>,
}

impl Values {
    /// The payload that has to have `wanted` values. `what` begins the error message.
    ///
    /// # Errors
    /// The payload has another number of values.
    pub fn of(what: &'static str, values: Vec<Value>, wanted: usize) -> Result<Self, Mismatch> {
        if values.len() == wanted {
            return Ok(Self { what, values: values.into_iter() });
        }
        let found = values.len();
        Err(Mismatch(alloc::format!("{what}{wanted} fields are declared, not {found}")))
    }

    /// Takes the next value, which belongs to the field `name`.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let value = self.values.next().unwrap_or_default();
        T::from_value(value)
            .map_err(|Mismatch(why)| Mismatch(alloc::format!("{}`{name}`: {why}", self.what)))
    }
}

/// A host whose functions are called by name, so that one host can serve all charts of a family.
#[derive(Debug, Clone)]
pub struct ByName<H>(pub H);

/// The params that a `run` step gives to a child chart, by name.
#[derive(Debug)]
pub struct Given(Vec<(&'static str, Value)>);

impl Given {
    /// The params that were given.
    pub const fn of(given: Vec<(&'static str, Value)>) -> Self {
        Self(given)
    }

    /// Takes an optional param.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<Option<T>, Mismatch> {
        let Some(place) = self.0.iter().position(|(given, _)| *given == name) else {
            return Ok(None);
        };
        // The order of the params does not matter: they are taken by name.
        let (_, value) = self.0.swap_remove(place);
        T::from_value(value)
            .map(Some)
            .map_err(|Mismatch(why)| Mismatch(alloc::format!("param `{name}`: {why}")))
    }

    /// Takes a required param.
    ///
    /// # Errors
    /// The param is missing, or its value does not fit.
    pub fn need<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let missing = || Mismatch(alloc::format!("param `{name}` is missing"));
        self.take(name)?.ok_or_else(missing)
    }
}

impl From<BadParam> for Unfit {
    fn from(why: BadParam) -> Self {
        Self::Data(alloc::format!("{why}"))
    }
}

/// A variable with its value; `None` if it has none.
pub fn named(name: &str, value: Option<Value>) -> Option<(String, Value)> {
    Some((name.into(), value?))
}

/// Converts a saved value to its declared type.
///
/// # Errors
/// The value does not fit the type.
pub fn fitted<T: FromValue>(name: &str, value: Value) -> Result<T, Unfit> {
    T::from_value(value).map_err(|Mismatch(why)| Unfit::Data(alloc::format!("`{name}`: {why}")))
}

/// The saved value of a param; `None` if none was saved.
///
/// # Errors
/// The value does not fit the type.
pub fn take_saved<T: FromValue>(
    tables: &Tables,
    saved: &Saved,
    name: &str,
) -> Result<Option<T>, Unfit> {
    saved.variable(tables, name).map(|value| fitted(name, value.clone())).transpose()
}

/// The saved value of a param that must have one.
///
/// # Errors
/// It is missing, or its value does not fit.
pub fn need_saved<T: FromValue>(tables: &Tables, saved: &Saved, name: &str) -> Result<T, Unfit> {
    let missing = || Unfit::Data(alloc::format!("no value for `{name}`"));
    take_saved(tables, saved, name)?.ok_or_else(missing)
}

/// Checks that the value of a param is within its range.
///
/// # Errors
/// The value is out of range.
pub fn within(name: &str, value: &Value, low: &Value, high: &Value) -> Result<(), Mismatch> {
    expr::within(name, value, low, high).map_err(Mismatch)
}

/// The machine of a child chart.
///
/// # Errors
/// A param has a value that the machine does not accept.
pub fn made<T>(machine: Result<T, super::BadParam>) -> Result<T, Mismatch> {
    machine.map_err(|why| Mismatch(alloc::format!("param {why}")))
}

/// The error for a child chart whose params cannot be computed.
pub fn no_params(chart: &str) -> Mismatch {
    Mismatch(alloc::format!("the params of `{chart}` cannot be computed"))
}
