//! Records, enums and payloads from values and back.

use super::data::{String, Vec};
use crate::expr::{self, FromValue, Map, Value, inside, mismatch, short};
use crate::host::Mismatch;
use alloc::vec;
use core::str::FromStr;

/// A value of an enum.
pub fn text(name: &str) -> Value {
    Value::Text(name.into())
}

/// Reads a value of an enum with these names.
///
/// # Errors
/// Not one of them.
pub fn parsed<T: FromValue + FromStr>(value: Value, names: &[&str]) -> Result<T, Mismatch> {
    let Value::Text(text) = value else { return Err(mismatch::<T>(&value)) };
    text.parse().map_err(|_| {
        let names: Vec<String> = names.iter().map(|name| alloc::format!("`{name}`")).collect();
        Mismatch(alloc::format!("`{}` is none of {}", short(&text), names.join(" ")))
    })
}

/// A record.
pub fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// The fields of a record that is being read.
#[derive(Debug)]
pub struct Fields {
    fields: Map,
    taken: usize,
}

impl Fields {
    /// Of a value that should be a `T`.
    ///
    /// # Errors
    /// It is no record.
    pub fn of<T: FromValue>(value: Value) -> Result<Self, Mismatch> {
        let Value::Map(fields) = value else { return Err(mismatch::<T>(&value)) };
        Ok(Self { fields, taken: 0 })
    }

    /// A field that must be there.
    ///
    /// # Errors
    /// It is absent, or does not fit.
    pub fn need<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        if self.fields.get(name).is_none() {
            return Err(Mismatch(alloc::format!("no field `{name}`")));
        }
        self.take(name)
    }

    /// A field; an absent one is `none`.
    ///
    /// # Errors
    /// It does not fit.
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

    /// Makes sure that nothing but the `declared` fields was given.
    ///
    /// # Errors
    /// Something was.
    pub fn end(self, declared: &[&str]) -> Result<(), Mismatch> {
        if self.taken < self.fields.len()
            && let Some((extra, _)) = self.fields.iter().find(|(key, _)| !declared.contains(key))
        {
            return Err(Mismatch(alloc::format!("no field `{}` is declared", short(extra))));
        }
        Ok(())
    }
}

/// The values of an event, option or answer in declared order.
#[derive(Debug)]
pub struct Values {
    what: &'static str,
    values: vec::IntoIter<Value>,
}

impl Values {
    /// Of a list that should have `wanted` values; `what` begins the message of what does not fit.
    ///
    /// # Errors
    /// It has another number of them.
    pub fn of(what: &'static str, values: Vec<Value>, wanted: usize) -> Result<Self, Mismatch> {
        if values.len() == wanted {
            return Ok(Self { what, values: values.into_iter() });
        }
        let found = values.len();
        Err(Mismatch(alloc::format!("{what}{wanted} fields are declared, not {found}")))
    }

    /// The next one, of the field `name`.
    ///
    /// # Errors
    /// It does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let value = self.values.next().unwrap_or_default();
        T::from_value(value)
            .map_err(|Mismatch(why)| Mismatch(alloc::format!("{}`{name}`: {why}", self.what)))
    }
}

/// A host that is called by name, as the interpreter calls it, for all charts of a family.
#[derive(Debug, Clone)]
pub struct ByName<H>(pub H);

/// The params that a `run` step gives, by name.
#[derive(Debug)]
pub struct Given(Vec<(&'static str, Value)>);

impl Given {
    /// All of them.
    pub const fn of(given: Vec<(&'static str, Value)>) -> Self {
        Self(given)
    }

    /// One that may be left out.
    ///
    /// # Errors
    /// It does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<Option<T>, Mismatch> {
        let Some(place) = self.0.iter().position(|(given, _)| *given == name) else {
            return Ok(None);
        };
        let (_, value) = self.0.swap_remove(place);
        T::from_value(value)
            .map(Some)
            .map_err(|Mismatch(why)| Mismatch(alloc::format!("param `{name}`: {why}")))
    }

    /// One that must be there.
    ///
    /// # Errors
    /// It is missing, or does not fit.
    pub fn need<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let missing = || Mismatch(alloc::format!("param `{name}` is missing"));
        self.take(name)?.ok_or_else(missing)
    }
}

/// Whether the value of a param is in its range.
///
/// # Errors
/// It is not; says so.
pub fn within(name: &str, value: &Value, low: &Value, high: &Value) -> Result<(), Mismatch> {
    expr::within(name, value, low, high).map_err(Mismatch)
}

/// A child's machine, or why it cannot be made.
///
/// # Errors
/// A param that it cannot be made with.
pub fn made<T>(machine: Result<T, super::BadParam>) -> Result<T, Mismatch> {
    machine.map_err(|why| Mismatch(alloc::format!("param {why}")))
}

/// The params of a chart cannot be computed.
pub fn no_params(chart: &str) -> Mismatch {
    Mismatch(alloc::format!("the params of `{chart}` cannot be computed"))
}
