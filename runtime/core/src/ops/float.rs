//! Functions on doubles that `core` lacks, computed on their bits.

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
pub(super) fn split(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    match (bits >> FRACTION_BITS & 0x7ff) as i32 {
        0 => (fraction, -1074),
        biased => (fraction | 1 << FRACTION_BITS, biased - 1075),
    }
}

/// 2^n, for `n` from -1022 to 1023, where the result is normal.
pub(super) fn exp2(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << FRACTION_BITS)
}

/// `x × 2^n` for `x` in 1..2^64. Rounded once, also if the result is subnormal; infinite if it is too large.
pub(super) fn scale(x: f64, n: i32) -> f64 {
    if n > 1023 {
        x * exp2(1023) * exp2((n - 1023).min(1023))
    } else if n < -1022 {
        x * exp2(-1022) * exp2((n + 1022).max(-1022))
    } else {
        x * exp2(n)
    }
}
