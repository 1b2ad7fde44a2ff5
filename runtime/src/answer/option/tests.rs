use super::*;
use chartc_core::host::Offer;

fn options() -> Vec<Alternative> {
    [
        ("continue", "keep working, but not for ever", ""),
        ("pivot", "try something different", ""),
        ("ship", "good enough", ""),
        ("finish", "give the answer", "answer"),
        ("wait", "", "why?"),
    ]
    .into_iter()
    .enumerate()
    .map(|(i, (name, text, argument))| {
        let mut arguments = Vec::new();
        if let Some(name) = argument.strip_suffix('?') {
            arguments.push((name.to_owned().into(), "Text?".into()));
        } else if !argument.is_empty() {
            arguments.push((argument.to_owned().into(), "Text".into()));
        }
        Alternative {
            offer: Offer {
                choice: chartc_core::arena::ChoiceId::at(i),
                tool: None,
                name: name.into(),
                text: text.into(),
                arguments,
            },
            schema: String::new(),
        }
    })
    .collect()
}

fn means(text: &str, index: usize, rung: Rung) {
    match option(text, &options()) {
        Ok(reading) => assert_eq!((reading.meant.0, reading.rung), (index, rung), "{text}"),
        Err(why) => panic!("{text}: {why:?}"),
    }
}

fn unusable(text: &str, ambiguous: bool, why: &str) {
    let got = option(text, &options()).expect_err(text);
    assert!(got.ambiguous == ambiguous && got.why.contains(why), "{text}: {got:?}");
}

#[test]
fn an_exact_answer_is_the_bare_name_or_the_form_of_the_schema() {
    for (text, index) in [
        ("ship", 2),
        (" ship\n", 2),
        (r#"{"choice": "ship"}"#, 2),
        (r#"{"choice": {"name": "ship"}}"#, 2),
        (r#"{"choice": {"name": "finish", "arguments": {"answer": "42"}}}"#, 3),
        (r#"{"choice": "finish", "arguments": {"answer": "42"}}"#, 3),
        (r#"{"choice": "wait", "arguments": {}}"#, 4),
        ("wait", 4),
    ] {
        let found = exact_option(text, &options()).expect(text);
        assert_eq!((found.meant.0, found.rung), (index, Rung::Whole), "{text}");
    }
    for text in [
        "Ship",
        "ship.",
        "**ship**",
        "```\nship\n```",
        r#""ship""#,
        "I choose ship",
        r#"{"choice": "Ship"}"#,
        r#"{"decision": "ship"}"#,
        r#"{"choice": "ship", "reasoning": "good"}"#,
        r#"{"choice": "ship", "choice": "pivot"}"#,
        r#"{"choice": "ship",}"#,
        "{'choice': 'ship'}",
        r#"{"choice": ["ship"]}"#,
        r#"[{"choice": "ship"}]"#,
        r#"{"choice": "ship"} or pivot"#,
        r#"{"choice": "finish", "answer": "42"}"#,
        r#"{"choice": "finish"}"#,
        r#"{"choice": "ship", "arguments": {"answer": "42"}}"#,
        r#"{"choice": "finish", "arguments": {"Answer": "42"}}"#,
        "<think>ship</think>ship",
        "",
        "finish",
    ] {
        assert!(exact_option(text, &options()).is_err(), "{text}");
    }
}

#[test]
fn the_whole_answer_is_the_name_or_the_json() {
    for text in [
        "ship",
        " SHIP. ",
        "**Ship**",
        "```\nship\n```",
        r#""ship""#,
        r#"{"choice":"ship"}"#,
        r#"{"reasoning":"I am not sure about pivot","decision":"Ship"}"#,
        r#"{"ship":{}}"#,
    ] {
        means(text, 2, Rung::Whole);
    }
}

#[test]
fn reasoning_fences_and_prose_are_taken_away() {
    for text in [
        "<think>pivot? no</think>ship",
        "<think>x</think>```json\n{\"choice\": \"ship\"}\n```",
        "Here you are:\n```json\n{'choice': 'ship',}\n```\nGood luck!",
        "weighing pivot</think> ship",
        r#"{"choice":"ship"} {"choice":"ship"}"#,
    ] {
        means(text, 2, Rung::Cleaned);
    }
}

#[test]
fn the_one_option_that_prose_mentions() {
    means("I will ship this.", 2, Rung::Mention);
    means("continue: keep working, but not for ever", 0, Rung::Mention);
}

#[test]
fn negations_and_doubts_are_no_answer() {
    unusable("I am not going to ship", true, "`not`");
    unusable("I wouldn't ship", true, "`wouldn't`");
    unusable("Should I ship?", true, "`?`");
    unusable("I am not shipping", false, "no option is named");
}

#[test]
fn two_options_a_vote_and_a_draft_are_ambiguous() {
    unusable("ship or pivot", true, "both `pivot` and `ship`");
    unusable("ship, ship, pivot, ship", true, "both");
    unusable("Draft: continue. Or ship", true, "both");
    unusable(r#"first {"choice":"continue"} then {"choice":"ship"}"#, true, "differ");
    unusable(r#"{"choice":"ship","action":"pivot"}"#, true, "different options");
}

#[test]
fn nothing_that_is_offered() {
    unusable("", false, "empty");
    unusable("<think>ship", false, "nothing but reasoning");
    unusable("launch", false, "no option is named");
    unusable(r#"{"choice":"launch"}"#, false, "`launch` is no option");
    unusable(r#"{"choice":"shi"#, false, "cut off");
    unusable(r#"{"choice":"ship","reasoning":"I thi"#, false, "cut off");
    unusable("[1, 2]", false, "a list");
    unusable(r#"{"choice":"ship","choice":"pivot"}"#, true, "both");
}

#[test]
fn arguments_in_declared_order_nested_or_beside() {
    for text in [
        r#"{"choice":"finish","arguments":{"answer":"ship"}}"#,
        r#"{"choice":"finish","answer":"ship"}"#,
        r#"{"finish":{"answer":"ship"}}"#,
    ] {
        let reading = option(text, &options()).expect(text);
        assert_eq!(reading.meant, (3, vec![Value::Text("ship".into())]), "{text}");
    }
    unusable("finish", false, "lacks its argument `answer: Text`");
    unusable(r#"{"choice":"finish","answer":"cut of"#, false, "cut off");
    let reading =
        option(r#"{"choice":"wait","arguments":{"how":1}}"#, &options()).expect("an option");
    assert_eq!(reading.meant.1, [Value::None]);
    assert_eq!(reading.repairs, ["ignored argument `how`"]);
}
