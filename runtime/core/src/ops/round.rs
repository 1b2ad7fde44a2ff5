//! Python's `round`: halves go to the even neighbour, decided on the exact value.

use super::float::trunc;
use super::to_int;
use crate::machine::Fault;
use core::fmt::Write;

/// `round(x)`: the nearest Int.
///
/// # Errors
/// NaN, infinity, or a result out of range.
pub fn round(x: f64) -> Result<i64, Fault> {
    let whole = to_int(x)?;
    let rest = (x - trunc(x)).abs();
    if rest > 0.5 || rest == 0.5 && whole % 2 != 0 {
        // Only doubles below 2^52 have a fraction, so the sum cannot overflow.
        return Ok(if x < 0.0 { whole - 1 } else { whole + 1 });
    }
    Ok(whole)
}

/// `round(i, digits)` of an Int. Only negative `digits` change it.
///
/// # Errors
/// Overflow.
pub fn round_int(i: i64, digits: i64) -> Result<i64, Fault> {
    if digits >= 0 {
        return Ok(i);
    }
    // Half of 10^20 is greater than every Int.
    if digits < -19 {
        return Ok(0);
    }
    // 10^19 exceeds an i64, and doubling the remainder needs another bit.
    let unit = 10i128.pow(digits.unsigned_abs() as u32);
    let i = i128::from(i);
    let (quotient, rest) = (i.div_euclid(unit), i.rem_euclid(unit));
    let up = 2 * rest > unit || 2 * rest == unit && quotient % 2 != 0;
    i64::try_from((quotient + i128::from(up)) * unit).map_err(|_| Fault)
}

/// `round(x, digits)` of a Float: the double nearest to the decimal that is nearest to `x`.
///
/// # Errors
/// The rounded value is out of range.
pub fn round_to(x: f64, digits: i64) -> Result<f64, Fault> {
    // Every double has fewer than 324 decimals, and none reaches half of 10^309.
    if !x.is_finite() || x == 0.0 || digits > 323 {
        return Ok(x);
    }
    if digits < -308 {
        return Ok(0f64.copysign(x));
    }
    // Through decimal text, because scaling by a power of ten would round twice.
    let mut text = Digits { bytes: [0; 800], len: 0 };
    if digits >= 0 {
        write!(text, "{x:.0$}", digits as usize).map_err(|_| Fault)?;
    } else {
        let fraction = x != trunc(x);
        write!(text, "{:.0}", trunc(x.abs())).map_err(|_| Fault)?;
        text.round_whole(digits.unsigned_abs() as usize, fraction)?;
    }
    let rounded: f64 = text.as_str().parse().map_err(|_| Fault)?;
    if rounded.is_infinite() { Err(Fault) } else { Ok(rounded.copysign(x)) }
}

/// A decimal number in a fixed buffer, which holds the longest double: a sign, 309 digits, a point and 323 decimals.
struct Digits {
    bytes: [u8; 800],
    len: usize,
}

impl Digits {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("0")
    }

    /// Rounds a whole number to `zeros` trailing zeros. `fraction` tells that the exact value is a little greater than the digits.
    fn round_whole(&mut self, zeros: usize, fraction: bool) -> Result<(), Fault> {
        let kept = self.len.checked_sub(zeros);
        let dropped = &self.bytes[kept.unwrap_or(0)..self.len];
        let half = kept.is_some()
            && match dropped.split_first() {
                Some((b'5', rest)) => {
                    let exact = !fraction && rest.iter().all(|d| *d == b'0');
                    let odd = kept.is_some_and(|k| k > 0 && self.bytes[k - 1] % 2 == 1);
                    !exact || odd
                }
                Some((first, _)) => *first > b'5',
                None => false,
            };
        let kept = kept.unwrap_or(0);
        let unit = self.len - kept;
        if kept + usize::from(half) == 0 {
            self.len = 0;
            return self.write_str("0").map_err(|_| Fault);
        }
        // The kept digits, one carried digit and the exponent take no more room than the number had.
        let mut i = kept;
        let mut carry = half;
        while carry && i > 0 {
            i -= 1;
            carry = self.bytes[i] == b'9';
            self.bytes[i] = if carry { b'0' } else { self.bytes[i] + 1 };
        }
        self.len = kept;
        if carry {
            self.bytes.copy_within(0..kept, 1);
            self.bytes[0] = b'1';
            self.len += 1;
        }
        write!(self, "e{unit}").map_err(|_| Fault)
    }
}

impl Write for Digits {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        let end = self.len + s.len();
        self.bytes.get_mut(self.len..end).ok_or(core::fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}
