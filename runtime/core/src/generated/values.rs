//! Records, enums and payloads from values and back.

use super::data::{String, Vec};
use crate::drive::Mismatch;
use crate::expr::{FromValue, Map, Value, inside, mismatch, short};
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
