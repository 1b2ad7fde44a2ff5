use super::*;

fn check(text: &str, json: &str, repairs: &[&str]) {
    let read = read(text, 0).unwrap_or_else(|| panic!("no value in {text}"));
    assert_eq!(serde_json::to_string(&read.value).expect("a value is JSON"), json, "{text}");
    assert_eq!(read.repairs, repairs, "{text}");
}

#[test]
fn json_as_it_should_be() {
    check(
        r#"{"a":[1,-2.5,true,null,"x\n\u00e9\ud83d\ude00"]}"#,
        r#"{"a":[1,-2.5,true,null,"x\né😀"]}"#,
        &[],
    );
    check("{}", "{}", &[]);
    check("42", "42", &[]);
}

#[test]
fn what_models_do_to_json() {
    check("{'a': 'it\\'s'}", r#"{"a":"it's"}"#, &["single quotes", "escaped single quote"]);
    check("{a: 1,}", r#"{"a":1}"#, &["key without quotes", "trailing comma"]);
    check("[True, None,]", "[true,null]", &["Python's words", "trailing comma"]);
    check(r#"{"a": "say "b" now"}"#, r#"{"a":"say \"b\" now"}"#, &["quotes in a text"]);
    check("{a: b}", r#"{"a":"b"}"#, &["key without quotes", "text without quotes"]);
    check("{\"a\": \"x\ny\"}", r#"{"a":"x\ny"}"#, &["line break in a string"]);
}

#[test]
fn where_the_text_is_cut_off_incomplete_scalars_are_left_out() {
    check(r#"{"a":"x","b":"shi"#, r#"{"a":"x"}"#, &["cut off"]);
    check(r#"{"a":"x","b":12"#, r#"{"a":"x"}"#, &["cut off"]);
    check(r#"{"a":"x","b":[1,{"c":2"#, r#"{"a":"x","b":[1,{}]}"#, &["cut off"]);
    check(r#"{"a":"x","b"#, r#"{"a":"x"}"#, &["cut off"]);
}

#[test]
fn what_is_no_json_however_much_is_forgiven() {
    for text in [
        "{options}",
        "{a: 1, a: 2}",
        r#"{"a" 1}"#,
        "nope",
        "{1: 2}",
        r#"{"a":"\q"}"#,
        r#"{"a":b c}"#,
        r#"{"a":"\ud800x"}"#,
    ] {
        assert_eq!(read(text, 0), None, "{text}");
    }
}

#[test]
fn objects_in_prose_are_found_outermost_first() {
    let found = find(r#"use {name}: {"a":{"b":1}} or {"c":2}."#, '{');
    assert_eq!(found.len(), 2);
}

#[test]
fn hostile_text_takes_no_time() {
    for unit in ["{", "[", "{\"a\":", "{\"a\":[", "'", "{a"] {
        let text = unit.repeat(200_000);
        find(&text, '{');
        find(&text, '[');
    }
}
