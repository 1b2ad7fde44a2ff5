//! Arithmetic compared with stored results of Python.

use chartc_core::generated::ops;
use chartc_core::machine::Fault;

fn double(text: &str) -> f64 {
    if text == "nan" {
        f64::NAN
    } else {
        f64::from_bits(u64::from_str_radix(text, 16).expect("16 hexadecimal digits"))
    }
}

fn int(text: &str) -> i64 {
    text.parse().expect("an integer")
}

fn float_text(result: Result<f64, Fault>) -> String {
    match result {
        Ok(x) if x.is_nan() => "nan".to_owned(),
        Ok(x) => format!("{:016x}", x.to_bits()),
        Err(Fault) => "E".to_owned(),
    }
}

fn int_text(result: Result<i64, Fault>) -> String {
    result.map_or("E".to_owned(), |i| i.to_string())
}

#[test]
fn operations_on_numbers() {
    let mut wrong = Vec::new();
    for line in include_str!("../data/arithmetic.txt").lines() {
        let [name, a, b, expected] =
            line.split(' ').collect::<Vec<_>>().try_into().expect("four words");
        let found = match name {
            "power_float" => float_text(ops::power_float(double(a), double(b))),
            "modulo_float" => float_text(ops::modulo_float(double(a), double(b))),
            "floor_div_float" => float_text(ops::floor_div_float(double(a), double(b))),
            "div" => float_text(ops::div(int(a), int(b))),
            "floor_div" => int_text(ops::floor_div(int(a), int(b))),
            "modulo" => int_text(ops::modulo(int(a), int(b))),
            "power" => int_text(ops::power(int(a), int(b))),
            "round" => int_text(ops::round(double(a))),
            "round_to" => float_text(ops::round_to(double(a), int(b))),
            "round_int" => int_text(ops::round_int(int(a), int(b))),
            "compare" => ops::compare(int(a), double(b))
                .map_or("none".to_owned(), |o| format!("{o:?}").to_lowercase()),
            other => panic!("an operation this test does not know: {other}"),
        };
        if found != expected {
            wrong.push(format!("{line}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
