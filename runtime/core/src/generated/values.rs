//! Converts records, enums and payloads from and to values.

use super::data::{String, Vec};
use super::{Failure, Name};
use crate::expr::{self, FromValue, IntoValue, Map, Value, inside, mismatch, short};
use crate::generated::BadParam;
use crate::host::Mismatch;
use crate::saved::{Saved, Unfit};
use crate::tables::{Tables, Text};
use alloc::vec;

/// The value for a variant of an enum.
pub fn text(name: &str) -> Value {
    Value::Text(name.into())
}

/// Reads an enum of the chart from a value.
///
/// # Errors
/// The value is not a text, or not one of the names.
pub fn parsed<T: FromValue + Name>(value: Value) -> Result<T, Mismatch> {
    let Value::Text(text) = value else { return Err(mismatch::<T>(&value)) };
    super::named(&text).map_err(|_| {
        let names = T::NAMES.iter().map(|name| alloc::format!("`{}`", name.spelled()));
        let names: Vec<String> = names.collect();
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

    /// Takes a field. If its type is optional it may be absent, which reads as `none`.
    ///
    /// # Errors
    /// The field is absent, or its value does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let value = match self.fields.get_mut(name) {
            Some(value) => {
                self.taken += 1;
                core::mem::take(value)
            }
            None if T::MAY_BE_ABSENT => Value::None,
            None => return Err(Mismatch(alloc::format!("no field `{name}`"))),
        };
        T::from_value(value).map_err(|why| inside(&alloc::format!(".{name}"), why))
    }

    /// Checks that the value of a field is within its range.
    ///
    /// # Errors
    /// The value is out of range.
    pub fn within<T: Number>(name: &str, value: T, low: T, high: T) -> Result<(), Mismatch> {
        in_range(value, low, high).map(drop).map_err(|why| inside(&alloc::format!(".{name}"), why))
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

/// The payload of an event, option or tool that is being read, in declared order.
#[derive(Debug)]
pub struct Values {
    event: Option<&'static str>,
    names: core::slice::Iter<'static, Text>,
    /// The name of the value that was taken last.
    last: &'static str,
    rest: vec::IntoIter<Value>,
}

impl Values {
    /// The payload with these fields. The error message names the event, if it is one.
    ///
    /// # Errors
    /// The payload has another number of values.
    pub fn new(
        event: Option<&'static str>,
        names: &'static [Text],
        values: Vec<Value>,
    ) -> Result<Self, Mismatch> {
        let (wanted, found) = (names.len(), values.len());
        let read = Self { event, names: names.iter(), last: "", rest: values.into_iter() };
        if found == wanted {
            return Ok(read);
        }
        let what = read.what();
        Err(Mismatch(alloc::format!("{what}{wanted} fields are declared, not {found}")))
    }

    fn what(&self) -> String {
        self.event.map_or_else(String::new, |event| alloc::format!("event `{event}`: "))
    }

    /// Takes the next value.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn take<T: FromValue>(&mut self) -> Result<T, Mismatch> {
        let value = self.rest.next().unwrap_or_default();
        self.last = self.names.next().map_or("", |name| &**name);
        T::from_value(value).map_err(|why| self.of_last(why))
    }

    fn of_last(&self, Mismatch(why): Mismatch) -> Mismatch {
        Mismatch(alloc::format!("{}`{}`: {why}", self.what(), self.last))
    }

    /// Checks that the value that was taken last is within its range.
    ///
    /// # Errors
    /// The value is out of range.
    pub fn within<T: Number>(&self, value: T, low: T, high: T) -> Result<T, Mismatch> {
        in_range(value, low, high).map_err(|why| self.of_last(why))
    }

    /// Takes the next value, and checks its type and its range.
    ///
    /// # Errors
    /// The value does not fit, or it is out of range.
    pub fn ranged<T: FromValue + Number>(&mut self, low: T, high: T) -> Result<Value, Mismatch> {
        let value = self.take()?;
        self.within(value, low, high).map(IntoValue::into_value)
    }

    /// Takes the next value, and converts it to its declared type and back.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn checked<T: FromValue + IntoValue>(&mut self) -> Result<Value, Mismatch> {
        self.take::<T>().map(IntoValue::into_value)
    }
}

/// A host whose functions are called by name, so that one host can serve all charts of a family.
#[derive(Debug, Clone)]
pub struct ByName<H>(pub H);

/// The params with which a machine is made by name: those that a `run` step gives, or those of a saved machine.
#[derive(Debug)]
pub struct Given<'g> {
    values: Vec<(&'static str, Value)>,
    saved: Option<&'g Saved>,
    tables: Option<&'static Tables>,
}

impl<'g> Given<'g> {
    /// The params that a `run` step gives.
    pub const fn of(values: Vec<(&'static str, Value)>) -> Self {
        Self { values, saved: None, tables: None }
    }

    /// The params of a saved machine.
    pub const fn saved(saved: &'g Saved) -> Self {
        Self { values: Vec::new(), saved: Some(saved), tables: None }
    }

    /// These values under these names.
    ///
    /// # Errors
    /// There is another number of values.
    pub fn zip(names: &[&'static str], values: Vec<Value>) -> Result<Self, Mismatch> {
        if names.len() != values.len() {
            let (wanted, found) = (names.len(), values.len());
            return Err(Mismatch(alloc::format!("{wanted} fields are declared, not {found}")));
        }
        Ok(Self::of(names.iter().copied().zip(values).collect()))
    }

    /// Whether they are those of a saved machine.
    pub const fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Begins to read them for the chart with these tables.
    ///
    /// # Errors
    /// They are those of another chart.
    pub fn begin(&mut self, tables: &'static Tables) -> Result<(), Unfit> {
        self.tables = Some(tables);
        match self.saved {
            Some(saved) if !tables.is_named(saved.chart()) => {
                Err(Unfit::OtherChart(saved.chart().into()))
            }
            _ => Ok(()),
        }
    }

    /// Takes an optional param.
    ///
    /// # Errors
    /// The value does not fit.
    pub fn take<T: FromValue>(&mut self, name: &str) -> Result<Option<T>, Mismatch> {
        let (value, what) = match (self.saved, self.tables) {
            (Some(saved), Some(tables)) => (saved.variable(tables, name).cloned(), ""),
            _ => {
                // The order of the params does not matter: they are taken by name.
                let place = self.values.iter().position(|(given, _)| *given == name);
                (place.map(|place| self.values.swap_remove(place).1), "param ")
            }
        };
        let misfit = |Mismatch(why)| Mismatch(alloc::format!("{what}`{name}`: {why}"));
        value.map(|value| T::from_value(value).map_err(misfit)).transpose()
    }

    /// Takes a required param.
    ///
    /// # Errors
    /// The param is missing, or its value does not fit.
    pub fn need<T: FromValue>(&mut self, name: &str) -> Result<T, Mismatch> {
        let is_saved = self.is_saved();
        self.take(name)?.ok_or_else(|| {
            Mismatch(if is_saved {
                alloc::format!("no value for `{name}`")
            } else {
                alloc::format!("param `{name}` is missing")
            })
        })
    }

    /// The error for params that the chart does not accept.
    pub(super) fn refused(&self, why: BadParam) -> Unfit {
        let what = if self.is_saved() { "" } else { "param " };
        Unfit::Data(alloc::format!("{what}{why}"))
    }
}

impl From<BadParam> for Unfit {
    fn from(why: BadParam) -> Self {
        Self::Data(alloc::format!("{why}"))
    }
}

/// Converts a saved value to its declared type.
///
/// # Errors
/// The value does not fit the type.
pub fn fitted<T: FromValue>(name: &str, value: Value) -> Result<T, Unfit> {
    T::from_value(value).map_err(|Mismatch(why)| Unfit::Data(alloc::format!("`{name}`: {why}")))
}

/// The value of an expression for a field, if it is within the range of the field.
///
/// # Errors
/// The value is out of range.
pub fn ranged<T: Number>(name: &str, value: T, low: T, high: T) -> Result<T, Failure> {
    in_range(value, low, high).map_err(|Mismatch(why)| Failure(alloc::format!("`{name}`: {why}")))
}

/// A number within its range.
///
/// # Errors
/// The value is out of range.
pub fn in_range<T: Number>(value: T, low: T, high: T) -> Result<T, Mismatch> {
    if low <= value && value <= high {
        return Ok(value);
    }
    let (low, high) = (low.into_value(), high.into_value());
    expr::in_range(&value.into_value(), &low, &high).map_err(Mismatch)?;
    Ok(value)
}

/// A number that may have a range.
pub trait Number: IntoValue + PartialOrd + Copy {}

impl Number for i64 {}

impl Number for f64 {}

/// Checks that the value of a param is within its range.
///
/// # Errors
/// The value is out of range.
pub fn within(name: &str, value: &Value, low: &Value, high: &Value) -> Result<(), Mismatch> {
    expr::within(name, value, low, high).map_err(Mismatch)
}

/// The error for a child chart whose params cannot be computed.
pub fn no_params(chart: &str) -> Mismatch {
    Mismatch(alloc::format!("the params of `{chart}` cannot be computed"))
}
