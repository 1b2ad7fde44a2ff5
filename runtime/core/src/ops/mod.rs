//! Arithmetic with Python's semantics over 64-bit integers and doubles, which the evaluator and generated code share.
//!
//! It needs neither an allocator nor `libm`, so that a generated guard means the same on every target. Overflow of an Int, division by zero
//! and results outside the wanted type are a [`Fault`]. Operations that cannot fail (`+ - *` of two Floats, comparison of two Ints) use
//! Rust's own operators. For example, `-7 // 2` and `-7 % 2`:
//!
//! ```text
//! floor_div(-7, 2)   Rust's quotient is -3; it is not exact and the signs differ, so the result is -4
//! modulo(-7, 2)      Rust's remainder is -1; its sign is not that of 2, so 2 is added: 1
//!                    (-4) * 2 + 1 = -7, as in Python
//! ```

mod float;
mod power;
mod round;

pub use float::{ceil, floor, remainder, trunc};
pub use power::{power, power_float};
pub use round::{round, round_int, round_to};

use crate::machine::Fault;
use core::cmp::Ordering;

/// `a + b`.
pub fn add(a: i64, b: i64) -> Result<i64, Fault> {
    a.checked_add(b).ok_or(Fault)
}

/// `a - b`.
pub fn sub(a: i64, b: i64) -> Result<i64, Fault> {
    a.checked_sub(b).ok_or(Fault)
}

/// `a * b`.
pub fn mul(a: i64, b: i64) -> Result<i64, Fault> {
    a.checked_mul(b).ok_or(Fault)
}

/// `-a`.
pub fn neg(a: i64) -> Result<i64, Fault> {
    a.checked_neg().ok_or(Fault)
}

/// `abs(a)`.
pub fn abs(a: i64) -> Result<i64, Fault> {
    a.checked_abs().ok_or(Fault)
}

/// `a / b`: the Float nearest to the exact quotient, also for operands of more than 53 bits.
pub fn div(a: i64, b: i64) -> Result<f64, Fault> {
    if b == 0 {
        return Err(Fault);
    }
    // Up to 2^53 both operands are exact as doubles, so their quotient is rounded only once.
    let exact = 1u64 << 53;
    if a.unsigned_abs() <= exact && b.unsigned_abs() <= exact {
        return Ok(a as f64 / b as f64);
    }
    if a == 0 {
        return Ok(0.0 / b as f64);
    }
    let wide = u128::from(a.unsigned_abs());
    let shift = wide.leading_zeros();
    let (dividend, divisor) = (wide << shift, u128::from(b.unsigned_abs()));
    // The quotient has at least 64 bits. Its last bit is set if there is a remainder: it is far below the rounding bit and only breaks
    // ties.
    let quotient = (dividend / divisor) | u128::from(dividend % divisor != 0);
    let size = quotient as f64 * float::exp2(-(shift as i32));
    Ok(if (a < 0) == (b < 0) { size } else { -size })
}

/// `a / b`.
pub fn div_float(a: f64, b: f64) -> Result<f64, Fault> {
    if b == 0.0 { Err(Fault) } else { Ok(a / b) }
}

/// `a // b`: rounded towards minus infinity.
pub fn floor_div(a: i64, b: i64) -> Result<i64, Fault> {
    let quotient = a.checked_div(b).ok_or(Fault)?;
    let inexact = quotient.wrapping_mul(b) != a;
    Ok(if inexact && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// `a // b`: a whole number, as a Float.
pub fn floor_div_float(a: f64, b: f64) -> Result<f64, Fault> {
    divide_floored(a, b).map(|(quotient, _)| quotient)
}

/// `a % b`: the result has the sign of `b`.
pub fn modulo(a: i64, b: i64) -> Result<i64, Fault> {
    if b == 0 {
        return Err(Fault);
    }
    let rest = a.wrapping_rem(b);
    Ok(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
}

/// `a % b`: the result has the sign of `b`.
pub fn modulo_float(a: f64, b: f64) -> Result<f64, Fault> {
    divide_floored(a, b).map(|(_, rest)| rest)
}

fn divide_floored(a: f64, b: f64) -> Result<(f64, f64), Fault> {
    if b == 0.0 {
        return Err(Fault);
    }
    // The algorithm of CPython's `float_divmod`, so that signs of zeros and roundings are the same.
    let mut rest = remainder(a, b);
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0f64.copysign(b);
    } else if (b < 0.0) != (rest < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return Ok((0f64.copysign(a / b), rest));
    }
    let whole = floor(quotient);
    Ok((if quotient - whole > 0.5 { whole + 1.0 } else { whole }, rest))
}

/// `int(x)`: the whole part of `x`.
pub fn to_int(x: f64) -> Result<i64, Fault> {
    let limit = 9_223_372_036_854_775_808.0; // 2^63; its negation is an Int, itself is not
    if x >= -limit && x < limit { Ok(x as i64) } else { Err(Fault) }
}

/// Compares an Int with a Float exactly, without rounding the Int; `None` for NaN.
pub fn compare(a: i64, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    // Beyond the range of Int, the sign of the Float decides.
    let Ok(whole) = to_int(b) else {
        return Some(if b > 0.0 { Ordering::Less } else { Ordering::Greater });
    };
    let fraction = b - trunc(b);
    Some(a.cmp(&whole).then(0.0.partial_cmp(&fraction).unwrap_or(Ordering::Equal)))
}

#[cfg(test)]
mod tests;
