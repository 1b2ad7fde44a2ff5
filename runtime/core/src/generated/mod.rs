//! Functions that generated code calls, besides the step algorithm and [`ops`]. They are not meant for code written by hand.
//!
//! Code that is the same for all charts is here, so that a generated file contains only what differs. For example, an assignment in a
//! `code` step becomes a few calls, and a failure becomes a note for the trace:
//!
//! ```text
//! chart       code rate { success_rate = successes / max(total, 1) }
//! generated   self.data.success_rate =
//!                 generated::explained::div_float(self.data.successes as f64, core::cmp::max(self.data.total, 1) as f64)?;
//! on failure  `?` returns a `Failure` with the reason; `note` adds the reason to the notes, and the step algorithm gets a `Fault`
//! ```
//!
//! Charts that need no allocator use [`ops`] instead, whose errors have no text.

#[cfg(feature = "serde")]
mod by_name;
#[cfg(feature = "alloc")]
mod by_value;
mod chart;
#[cfg(feature = "alloc")]
mod data;
pub mod direct;
#[cfg(feature = "alloc")]
pub mod explained;
mod machine;
mod names;
pub mod prelude;
mod ring;
pub mod rows;
#[cfg(feature = "alloc")]
mod values;
#[cfg(feature = "alloc")]
mod work;

pub use crate::duration::Duration;
#[cfg(feature = "alloc")]
pub use crate::wording::*;
/// The items that the expansion of `serde_by_name` refers to.
#[cfg(feature = "serde")]
pub use by_name::{read_name, serde};
#[cfg(feature = "alloc")]
pub use by_value::event;
#[cfg(feature = "alloc")]
pub use chart::{Arguments, Field, FieldVisitor, Late, Named, Posts, Steps, Words};
pub use chart::{Chart, Code, Part, Payload, PayloadOf, Place, Reason};
#[cfg(feature = "alloc")]
pub use data::*;
pub use machine::Machine;
pub use names::{Absent, Answers, Item, Name, count, named};
pub use ring::{Held, Ring, Slots};
#[cfg(feature = "alloc")]
pub use values::*;
#[cfg(feature = "alloc")]
pub use work::*;

use crate::machine::Fault;
use core::fmt;

/// The tool calls of models.
#[cfg(feature = "alloc")]
pub mod calls {
    pub use crate::calls::*;
}

/// Arithmetic with Python's semantics.
pub mod ops {
    pub use crate::ops::*;
}

/// Includes the code that `chartc::build` generated for a chart: `chartc_core::include_chart!(pub mod builder);` for `builder.chart`.
#[macro_export]
macro_rules! include_chart {
    ($visibility:vis mod $name:ident) => {
        #[doc = concat!("The code of the chart `", stringify!($name), "`.")]
        #[allow(
            dead_code,
            unreachable_pub,
            clippy::pedantic,
            clippy::restriction,
            reason = "it offers more than one host needs; what a crate asks for beyond the usual lints is its own"
        )]
        $visibility mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}

/// Expands to its items with the feature `alloc` of chartc-core, otherwise to nothing.
#[cfg(feature = "alloc")]
#[macro_export]
macro_rules! when_alloc {
    ($($item:tt)*) => { $($item)* };
}

/// Expands to its items with the feature `alloc` of chartc-core, otherwise to nothing.
#[cfg(not(feature = "alloc"))]
#[macro_export]
macro_rules! when_alloc {
    ($($item:tt)*) => {};
}

/// Serializes an enum by the name of its variant, with the feature `serde` of chartc-core; otherwise expands to nothing.
#[cfg(feature = "serde")]
#[macro_export]
macro_rules! serde_by_name {
    ($name:ident) => {
        impl $crate::generated::serde::Serialize for $name {
            fn serialize<S: $crate::generated::serde::Serializer>(
                &self,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> $crate::generated::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::generated::serde::Deserializer<'de>>(
                from: D,
            ) -> Result<Self, D::Error> {
                $crate::generated::read_name(from)
            }
        }
    };
}

/// Serializes an enum by the name of its variant, with the feature `serde` of chartc-core; otherwise expands to nothing.
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! serde_by_name {
    ($name:ident) => {};
}

/// The error for a text that is not a name of the given kind, such as `state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName(pub &'static str);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such {}", self.0)
    }
}

impl core::error::Error for UnknownName {}

/// The error for a value of a param that an instance does not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadParam {
    /// The name of the param in the chart.
    pub name: &'static str,
    /// The reason, which continues a sentence that begins with the name.
    pub why: &'static str,
}

impl fmt::Display for BadParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.name, self.why)
    }
}

impl core::error::Error for BadParam {}

/// Checks that the value of a param is within its range, as `holds` says. Otherwise `why` continues a sentence about the param.
///
/// # Errors
/// The value is out of range.
pub const fn check(name: &'static str, holds: bool, why: &'static str) -> Result<(), BadParam> {
    if holds { Ok(()) } else { Err(BadParam { name, why }) }
}

/// The value of an optional; a fault if there is none.
///
/// # Errors
/// The optional is `None`.
pub fn set<T>(value: Option<T>) -> Result<T, Fault> {
    value.ok_or(Fault)
}

/// `min(a, b)`: `b` if it is less than `a`, otherwise `a`, also for NaN.
pub fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// `max(a, b)`: `b` if it is greater than `a`, otherwise `a`, also for NaN.
pub fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// `a ** b` as a Float. For a non-negative `b` it is computed as an Int, which must not overflow.
///
/// # Errors
/// As [`ops::power`] and [`ops::power_float`].
pub fn power(a: i64, b: i64) -> Result<f64, Fault> {
    if b >= 0 { ops::power(a, b).map(|n| n as f64) } else { ops::power_float(a as f64, b as f64) }
}

/// `a + b`.
///
/// # Errors
/// The result is too long.
pub fn add_duration(a: Duration, b: Duration) -> Result<Duration, Fault> {
    a.0.checked_add(b.0).map(Duration).ok_or(Fault)
}

/// `a - b`.
///
/// # Errors
/// The result is negative.
pub fn sub_duration(a: Duration, b: Duration) -> Result<Duration, Fault> {
    a.0.checked_sub(b.0).map(Duration).ok_or(Fault)
}

/// `a * times`.
///
/// # Errors
/// The result is negative or too long.
pub fn mul_duration(a: Duration, times: i64) -> Result<Duration, Fault> {
    u64::try_from(times).ok().and_then(|n| a.0.checked_mul(n)).map(Duration).ok_or(Fault)
}

/// `a / b`.
///
/// # Errors
/// Division by zero.
pub fn div_duration(a: Duration, b: Duration) -> Result<f64, Fault> {
    if b.0 == 0 { Err(Fault) } else { Ok(a.0 as f64 / b.0 as f64) }
}

/// The number of turns that an `after n turns` waits for.
///
/// # Errors
/// The number is negative.
pub fn turns(n: i64) -> Result<u64, Fault> {
    u64::try_from(n).map_err(|_| Fault)
}
