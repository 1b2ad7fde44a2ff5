//! Arithmetic on the edges of its types.

use super::*;

#[test]
fn overflow_is_a_fault() {
    assert_eq!(add(i64::MAX, 1), Err(Fault));
    assert_eq!(sub(i64::MIN, 1), Err(Fault));
    assert_eq!(mul(i64::MAX, 2), Err(Fault));
    assert_eq!(neg(i64::MIN), Err(Fault));
    assert_eq!(abs(i64::MIN), Err(Fault));
    assert_eq!(floor_div(i64::MIN, -1), Err(Fault));
    assert_eq!(modulo(i64::MIN, -1), Ok(0));
    assert_eq!(power(3, 40), Err(Fault));
    assert_eq!(power_float(10.0, 400.0), Err(Fault));
    assert_eq!(to_int(9_223_372_036_854_775_808.0), Err(Fault));
    assert_eq!(to_int(f64::NAN), Err(Fault));
}

#[test]
fn division_by_zero_is_a_fault() {
    assert_eq!(div(0, 0), Err(Fault));
    assert_eq!(div_float(1.0, -0.0), Err(Fault));
    assert_eq!(floor_div(1, 0), Err(Fault));
    assert_eq!(floor_div_float(1.0, 0.0), Err(Fault));
    assert_eq!(modulo(1, 0), Err(Fault));
    assert_eq!(modulo_float(1.0, 0.0), Err(Fault));
    assert_eq!(power_float(0.0, -1.0), Err(Fault));
    assert_eq!(power(2, -1), Err(Fault), "half is no Int");
}

#[test]
fn division_rounds_towards_minus_infinity() {
    assert_eq!(floor_div(-7, 2), Ok(-4));
    assert_eq!(modulo(-7, 2), Ok(1));
    assert_eq!(floor_div_float(-7.5, 2.0), Ok(-4.0));
    assert_eq!(modulo_float(7.5, -2.0), Ok(-0.5));
}

#[test]
fn halves_go_to_even() {
    assert_eq!([0.5, 1.5, 2.5, -0.5, -1.5].map(round), [0, 2, 2, 0, -2].map(Ok));
    assert_eq!(round_to(0.125, 2), Ok(0.12));
    assert_eq!(round_to(2.675, 2), Ok(2.67), "the double is below the decimal");
    assert_eq!(round_to(250.0, -2), Ok(200.0));
    assert_eq!(round_to(250.000_1, -2), Ok(300.0));
    assert_eq!(round_int(-250, -2), Ok(-200));
    assert_eq!(round_to(f64::MAX, -308), Err(Fault));
}

#[test]
fn an_int_is_compared_without_rounding_it() {
    let odd = (1 << 53) + 1;
    assert_eq!(compare(odd, 9_007_199_254_740_992.0), Some(Ordering::Greater));
    assert_eq!(compare(i64::MAX, 9_223_372_036_854_775_808.0), Some(Ordering::Less));
    assert_eq!(compare(-1, -1.5), Some(Ordering::Greater));
    assert_eq!(compare(0, -0.0), Some(Ordering::Equal));
    assert_eq!(compare(0, f64::NAN), None);
}
