//! Format specs, and what Python does not know.

//! Formats compared with stored results of Python.

use super::value;
use chartc_core::expr::format::{MAX_WIDTH, format};
use chartc_core::expr::{Value, format};
use serde_json::Value as Json;

#[test]
fn values_under_format_specs() {
    let mut wrong = Vec::new();
    for line in include_str!("../data/format.jsonl").lines() {
        let (shown, spec, expected): (Json, String, Option<String>) =
            serde_json::from_str(line).expect("a row");
        let found = format(&value(&shown), &spec);
        if found.as_ref().ok() != expected.as_ref() {
            wrong.push(format!("{line}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_width_beyond_the_bound_is_an_error() {
    assert!(format(&Value::Int(1), &MAX_WIDTH.to_string()).is_ok());
    for spec in ["10001", "99999999999999999999", ".10001f", "0100000,.2f"] {
        assert!(format(&Value::Float(1.0), spec).is_err(), "{spec}");
    }
}

#[test]
fn a_duration_is_shown_as_written_or_in_seconds() {
    let duration = Value::Duration(90_500);
    assert_eq!(format::str(&duration).as_deref(), Ok("90500ms"));
    assert_eq!(format(&duration, ".1f").as_deref(), Ok("90.5"));
    assert_eq!(format(&Value::Duration(60_000), ">4").as_deref(), Ok("  1m"));
}
