use super::*;

fn map(json: &str) -> Map {
    serde_json::from_str(json).expect("a JSON object")
}

#[test]
fn a_cut_is_the_longest_beginning_of_whole_characters() {
    for text in ["", "abc", "é", "👍", "aé👍b", "ééé", "👍👍", "\u{301}e\u{200d}👩"]
    {
        for most in 0..=text.len() + 2 {
            let kept = cut(text, most);
            assert!(text.starts_with(kept) && kept.len() <= most, "{text:?} {most}");
            let next = text[kept.len()..].chars().next().map_or(0, char::len_utf8);
            assert!(next == 0 || kept.len() + next > most, "{text:?} {most}: more fits");
        }
    }
}

#[test]
fn what_goes_into_the_input_never_has_more_bytes() {
    let texts = [
        r#"{"goal":"sell é 👍","lessons":["a","éé","👍"],"n":12345,"deep":{"a":{"b":["x\n\"y\""]}}}"#,
        r#"{"a":"👍👍👍","b":null}"#,
        r#"{"é":"é"}"#,
        "{}",
    ];
    for text in texts {
        let memory = map(text);
        let whole = json(&Value::Map(memory.clone())).len();
        let mut last = 0;
        for most in 0..=whole + 2 {
            let config = WorkingMemory { max_size_bytes: most as u64, ..WorkingMemory::default() };
            let kept = config.bounded(&memory);
            let size = json(&Value::Map(kept.clone())).len();
            assert!(size <= most.max(2), "{text} in {most}: {kept:?}");
            assert!(size >= last, "{text}: {most} bytes keep less than fewer did");
            last = size;
            assert_eq!(kept == memory, most >= whole || memory.is_empty(), "{text} in {most}");
            for ((name, _), (wanted, _)) in kept.iter().zip(memory.iter()) {
                assert_eq!(name, wanted, "entries keep their order");
            }
        }
    }
}

#[test]
fn a_section_is_cut_between_characters() {
    let memory = map(r#"{"lessons":["é","👍👍"]}"#);
    for structured_format in [false, true] {
        let config = |max_size_bytes| WorkingMemory {
            auto_inject: true,
            structured_format,
            max_size_bytes,
            ..WorkingMemory::default()
        };
        let head = format!("{HEAD}\n");
        let whole = config(1000).section(&memory).0;
        for most in 0..whole.len() {
            let section = config(most as u64).section(&memory).0;
            assert!(whole.starts_with(&section), "{section}");
            assert!(section.len() <= head.len() + most && section.starts_with(&head));
        }
    }
}

#[test]
fn a_section_has_a_line_a_key() {
    let memory = map(
        r#"{"notes":"n","lessons":["a","b c"],"progress":{"stage":"two","left":[1]},"current_goal":"sell","x_y":1.5}"#,
    );
    let config =
        WorkingMemory { auto_inject: true, structured_format: true, ..WorkingMemory::default() };
    let wanted = "=== WORKING MEMORY ===\nCurrent goal: sell\nProgress:\n- stage: two\n- left: [1]\nLessons:\n- a\n- b c\nNotes: n\nX y: 1.5";
    assert_eq!(config.section(&memory).0, wanted);
    assert_eq!(config.section(&Map::new()).0, "");
    let off = WorkingMemory { enabled: false, ..config.clone() };
    assert_eq!(off.section(&memory).0, "");
    let plain = WorkingMemory { structured_format: false, ..config };
    assert!(plain.section(&memory).0.ends_with(&json(&Value::Map(memory))));
}

#[test]
fn it_is_found_in_json_and_yaml() {
    let memory = Ok(map(r#"{"goal":"g"}"#));
    let texts = [
        r#"{"working_memory":{"goal":"g"},"x":1}"#,
        "working_memory:\n  goal: g\n",
        r#"{"working_memory":"{\"goal\":\"g\"}"}"#,
    ];
    for text in texts {
        assert_eq!(extract(&Value::Text(text.into())), memory, "{text}");
    }
    assert_eq!(extract(&Value::Map(map(texts[0]))), memory);
    for (text, why) in [
        ("just words", "the agent's record is no mapping"),
        ("a: [", "the agent's record is no mapping"),
        ("a: 1", "the agent's record has no `working_memory`"),
        ("working_memory: null", "the agent's record has no `working_memory`"),
        ("working_memory: [1]", "`working_memory` of the agent's record is no mapping"),
    ] {
        assert_eq!(extract(&Value::Text(text.into())), Err(why), "{text}");
    }
}

#[test]
fn what_an_agent_says_of_it_is_read_and_checked() {
    let of = |json: &str| {
        let meta: Vec<(String, Value)> = map(json).into_iter().collect();
        WorkingMemory::of(&meta).map_err(|why| why.to_string())
    };
    assert_eq!(of("{}"), Ok(WorkingMemory::default()));
    let said =
        WorkingMemory { auto_inject: true, structured_format: true, ..WorkingMemory::default() };
    assert_eq!(of(r#"{"working_memory":{}}"#), Ok(said.clone()));
    let small = WorkingMemory { max_size_bytes: 7, warn_on_missing: true, ..said };
    let json = r#"{"memory":{"working_memory":{"max_size_bytes":7,"warn_on_missing":true}}}"#;
    assert_eq!(of(json), Ok(small));
    for (json, why) in [
        (r#"{"working_memory":3}"#, "`working_memory` is a mapping of enabled, auto_inject,"),
        (
            r#"{"memory":{"working_memory":{"enabeld":true}}}"#,
            "`memory.working_memory.enabeld` is unknown; there are enabled,",
        ),
        (r#"{"working_memory":{"enabled":1}}"#, "`working_memory.enabled` is `true` or `false`"),
        (r#"{"working_memory":{"max_size_bytes":-1}}"#, "is a whole number of bytes"),
    ] {
        let found = of(json).expect_err(json);
        assert!(found.contains(why), "{json}: {found}");
    }
}
