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

#[cfg(test)]
mod tests;

use crate::machine::Fault;
use core::cmp::Ordering;
use core::fmt::Write;

/// The number, if it is within the range.
pub fn within<T: PartialOrd>(value: T, low: T, high: T) -> Result<T, Fault> {
    if low <= value && value <= high { Ok(value) } else { Err(Fault) }
}

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
    let size = quotient as f64 * exp2(-(shift as i32));
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

// Functions on doubles that `core` lacks, computed on their bits.

const FRACTION_BITS: u32 = 52;
/// 2^52: every double from here on is a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Rounds towards zero; keeps the sign of a zero.
pub fn trunc(x: f64) -> f64 {
    if x.abs() < WHOLE { (x as i64 as f64).copysign(x) } else { x }
}

/// The greatest whole number that is at most `x`.
pub fn floor(x: f64) -> f64 {
    let whole = trunc(x);
    if whole > x { whole - 1.0 } else { whole }
}

/// The least whole number that is at least `x`.
pub fn ceil(x: f64) -> f64 {
    -floor(-x)
}

/// C's `fmod`: the exact remainder of truncated division, with the sign of `x`. NaN if `y` is 0 or `x` infinite.
pub fn remainder(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y.is_nan() || y == 0.0 {
        return f64::NAN;
    }
    // Includes an infinite `y`.
    if x.abs() < y.abs() {
        return x;
    }
    let (mut rest, mut exponent) = split(x.abs());
    let (divisor, last) = split(y.abs());
    rest %= divisor;
    while exponent > last && rest != 0 {
        // The remainder has at most 53 bits, so 11 more fit into the word.
        let bits = (exponent - last).min(11);
        rest = (rest << bits) % divisor;
        exponent -= bits;
    }
    scale(rest as f64, last).copysign(x)
}

/// A positive, finite double as `mantissa × 2^exponent`, the mantissa below 2^53.
fn split(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    match (bits >> FRACTION_BITS & 0x7ff) as i32 {
        0 => (fraction, -1074),
        biased => (fraction | 1 << FRACTION_BITS, biased - 1075),
    }
}

/// 2^n, for `n` from -1022 to 1023, where the result is normal.
fn exp2(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << FRACTION_BITS)
}

/// `x × 2^n` for `x` in 1..2^64. Rounded once, also if the result is subnormal; infinite if it is too large.
fn scale(x: f64, n: i32) -> f64 {
    if n > 1023 {
        x * exp2(1023) * exp2((n - 1023).min(1023))
    } else if n < -1022 {
        x * exp2(-1022) * exp2((n + 1022).max(-1022))
    } else {
        x * exp2(n)
    }
}

// Powers without `libm`. They are computed in pairs of doubles (about 106 bits), and rounded once at the end.

/// `a ** b` of Ints, as an Int.
///
/// # Errors
/// Overflow, or a negative `b`, whose power is no Int.
pub fn power(a: i64, b: i64) -> Result<i64, Fault> {
    if b < 0 {
        return Err(Fault);
    }
    match a {
        0 | 1 => Ok(if b == 0 { 1 } else { a }),
        -1 => Ok(if b % 2 == 0 { 1 } else { -1 }),
        _ => a.checked_pow(u32::try_from(b).map_err(|_| Fault)?).ok_or(Fault),
    }
}

/// `a ** b` of Floats.
///
/// # Errors
/// Zero to a negative power, a negative `a` to a fractional power, or an overflow of finite operands.
pub fn power_float(a: f64, b: f64) -> Result<f64, Fault> {
    if b == 0.0 || a == 1.0 {
        return Ok(1.0);
    }
    if a.is_nan() || b.is_nan() {
        return Ok(f64::NAN);
    }
    let whole = trunc(b) == b;
    // Doubles from 2^53 on are even, so only smaller ones can be odd.
    let odd = whole && b.abs() < 9_007_199_254_740_992.0 && b as i64 % 2 != 0;
    let size = a.abs();
    let positive = if b.is_infinite() {
        if size == 1.0 {
            1.0
        } else if (b > 0.0) == (size > 1.0) {
            f64::INFINITY
        } else {
            0.0
        }
    } else if a.is_infinite() {
        if b > 0.0 { f64::INFINITY } else { 0.0 }
    } else if a == 0.0 {
        if b < 0.0 {
            return Err(Fault);
        }
        0.0
    } else if a < 0.0 && !whole {
        return Err(Fault);
    } else {
        let power = finite(size, b);
        if power.is_infinite() {
            return Err(Fault);
        }
        power
    };
    Ok(if odd && a.is_sign_negative() { -positive } else { positive })
}

/// The power of a finite, positive base other than 0, with a finite exponent other than 0.
fn finite(base: f64, exponent: f64) -> f64 {
    if base == 1.0 {
        return 1.0;
    }
    // base = significand × 2^shift, the significand in 1..2
    let (mantissa, shift) = split(base);
    // The mantissa of a subnormal number has fewer than 53 bits.
    let up = mantissa.leading_zeros() as i32 - 11;
    let significand = Pair::from((mantissa << up) as f64 * exp2(-52));
    let shift = shift - up + 52;
    if trunc(exponent) == exponent && exponent.abs() <= 64.0 {
        let times = exponent.abs() as u32;
        let power = significand.power(times);
        let shift = shift * times as i32;
        return if exponent > 0.0 {
            power.round(shift)
        } else {
            Pair::from(1.0).over(power).round(-shift)
        };
    }
    if exponent.abs() > 1e25 {
        // The logarithm of a double other than 1 is at least 2^-53.
        return if (base > 1.0) == (exponent > 0.0) { f64::INFINITY } else { 0.0 };
    }
    let log = significand.log().plus(LN_2.times(Pair::from(f64::from(shift))));
    let log = log.times(Pair::from(exponent));
    // Beyond these bounds the result overflows or is zero; they also keep the integer part small.
    if log.high > 710.0 {
        return f64::INFINITY;
    }
    if log.high < -746.0 {
        return 0.0;
    }
    let whole = trunc(log.high / LN_2.high + 0.5f64.copysign(log.high));
    let rest = log.plus(LN_2.times(Pair::from(-whole)));
    rest.exp().round(whole as i32)
}

const LN_2: Pair = Pair { high: core::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// The unevaluated sum of two doubles, `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    const fn from(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// The exact sum of two doubles. Source: Knuth, TAOCP 2, 4.2.2.
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// The exact product of two doubles of moderate size. Source: Dekker 1971.
    fn product(a: f64, b: f64) -> Self {
        let halves = |x: f64| {
            let c = 134_217_729.0 * x; // 2^27 + 1
            let high = c - (c - x);
            (high, x - high)
        };
        let high = a * b;
        let ((ah, al), (bh, bl)) = (halves(a), halves(b));
        Self { high, low: ((ah * bh - high) + ah * bl + al * bh) + al * bl }
    }

    fn plus(self, other: Self) -> Self {
        let high = Self::sum(self.high, other.high);
        let low = Self::sum(self.low, other.low);
        let first = Self::sum(high.high, high.low + low.high);
        Self::sum(first.high, first.low + low.low)
    }

    fn times(self, other: Self) -> Self {
        let high = Self::product(self.high, other.high);
        Self::sum(high.high, high.low + (self.high * other.low + self.low * other.high))
    }

    fn over(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.plus(other.times(Self::from(-first)));
        let second = rest.high / other.high;
        let rest = rest.plus(other.times(Self::from(-second)));
        Self::sum(first, second).plus(Self::from(rest.high / other.high))
    }

    fn power(self, mut n: u32) -> Self {
        let (mut square, mut power) = (self, Self::from(1.0));
        loop {
            if n % 2 == 1 {
                power = power.times(square);
            }
            n /= 2;
            if n == 0 {
                return power;
            }
            square = square.times(square);
        }
    }

    /// The natural logarithm of a number in 1..2, by the series of the inverse hyperbolic tangent.
    fn log(self) -> Self {
        // A number near 1 makes the series converge faster. Halving is exact.
        let half = self.high > core::f64::consts::SQRT_2;
        let m = if half { Self { high: self.high / 2.0, low: self.low / 2.0 } } else { self };
        let s = m.plus(Self::from(-1.0)).over(m.plus(Self::from(1.0)));
        let square = s.times(s);
        let mut sum = Self::from(0.0);
        // s² is below 0.0295: 24 terms leave less than 2^-120.
        for n in (0..24).rev() {
            let term = Self::from(1.0).over(Self::from(f64::from(2 * n + 1)));
            sum = sum.times(square).plus(term);
        }
        let log = sum.times(s).times(Self::from(2.0));
        if half { log.plus(LN_2) } else { log }
    }

    /// The exponential function of a number between -0.35 and 0.35, by its Taylor series.
    fn exp(self) -> Self {
        let mut sum = Self::from(1.0);
        for n in (1..=26).rev() {
            sum = sum.times(self.over(Self::from(f64::from(n)))).plus(Self::from(1.0));
        }
        sum
    }

    /// The double nearest to `self × 2^exponent`, for a pair between 2^-64 and 2^64.
    fn round(self, exponent: i32) -> f64 {
        let (mut high, mut low, mut exponent) = (self.high, self.low, exponent);
        while high < 1.0 {
            (high, low, exponent) = (high * 2.0, low * 2.0, exponent - 1);
        }
        scale(high + low, exponent)
    }
}

// Python's `round`: halves go to the even neighbour, decided on the exact value.

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
