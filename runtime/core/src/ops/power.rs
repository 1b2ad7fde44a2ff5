//! Powers without `libm`. They are computed in pairs of doubles (about 106 bits), and rounded once at the end.

use super::float::{exp2, scale, split, trunc};
use crate::machine::Fault;

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
