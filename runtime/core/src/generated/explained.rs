//! Arithmetic whose errors name the reason, for charts whose hosts keep a trace.

use super::data::{Failure, fails};
use crate::duration::Duration;
use crate::ops;

fn divisor(is_zero: bool) -> Result<(), Failure> {
    if is_zero { fails("division by zero") } else { Ok(()) }
}

macro_rules! divisions {
    ($($(#[$doc:meta])* $name:ident($number:ty) -> $result:ty, $zero:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// Division by zero, and a result that is out of range.
        pub fn $name(a: $number, b: $number) -> Result<$result, Failure> {
            divisor(b == $zero)?;
            Ok(ops::$name(a, b)?)
        }
    )*};
}

divisions! {
    /// `a / b`.
    div(i64) -> f64, 0;
    /// `a / b`.
    div_float(f64) -> f64, 0.0;
    /// `a // b`.
    floor_div(i64) -> i64, 0;
    /// `a // b`.
    floor_div_float(f64) -> f64, 0.0;
    /// `a % b`.
    modulo(i64) -> i64, 0;
    /// `a % b`.
    modulo_float(f64) -> f64, 0.0;
}

/// `a ** b` of Ints, as a Float.
///
/// # Errors
/// As for [`power_float`].
pub fn power(a: i64, b: i64) -> Result<f64, Failure> {
    if b >= 0 { Ok(ops::power(a, b)? as f64) } else { power_float(a as f64, b as f64) }
}

/// `a ** b` of Floats.
///
/// # Errors
/// Zero to a negative power, a negative number to a fractional one, and a result that is out of range.
pub fn power_float(a: f64, b: f64) -> Result<f64, Failure> {
    if a == 0.0 && b < 0.0 {
        return fails("zero to a negative power");
    }
    if a < 0.0 && a.is_finite() && b.is_finite() && ops::trunc(b) != b {
        return fails("a negative number to a fractional power");
    }
    Ok(ops::power_float(a, b)?)
}

fn in_range<T, E>(result: Result<T, E>) -> Result<T, Failure> {
    result.or_else(|_| fails("a duration below zero or too long"))
}

/// `a + b`.
///
/// # Errors
/// The result is too long.
pub fn add_duration(a: Duration, b: Duration) -> Result<Duration, Failure> {
    in_range(super::add_duration(a, b))
}

/// `a - b`.
///
/// # Errors
/// The result is negative.
pub fn sub_duration(a: Duration, b: Duration) -> Result<Duration, Failure> {
    in_range(super::sub_duration(a, b))
}

/// `a * times`.
///
/// # Errors
/// The result is negative or too long.
pub fn mul_duration(a: Duration, times: i64) -> Result<Duration, Failure> {
    in_range(super::mul_duration(a, times))
}

/// `a / b`.
///
/// # Errors
/// Division by zero.
pub fn div_duration(a: Duration, b: Duration) -> Result<f64, Failure> {
    divisor(b.0 == 0)?;
    Ok(super::div_duration(a, b)?)
}
