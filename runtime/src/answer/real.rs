//! What two small real models answered, read as their questions wanted it.

use super::fit::plain;
use crate::executor;
use crate::oracle::{Alternative, Kind, Question};
use chartc_core::arena::ChoiceId;
use chartc_core::expr::Value;
use chartc_core::host::Offer;
use chartc_core::machine::Outcome;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The question that a row was an answer to, as far as the row has it.
fn question(row: &Json) -> Question {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let (system, user) = (text("system"), text("user"));
    if system.starts_with("Choose exactly one") {
        let asked = user.split("\n\nYour last answer").next().unwrap_or_default();
        let lines = asked.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
        let options = lines.enumerate().map(|(nth, (name, about))| {
            let (name, arguments) = name.split_once('(').unwrap_or((name, ""));
            let arguments = arguments.trim_end_matches(')').split(", ");
            let arguments = arguments.filter_map(|one| one.split_once(": "));
            Alternative {
                offer: Offer {
                    choice: ChoiceId::at(nth),
                    tool: None,
                    name: name.to_owned().into(),
                    text: about.to_owned().into(),
                    arguments: arguments
                        .map(|(name, ty)| (name.to_owned().into(), ty.to_owned().into()))
                        .collect(),
                },
                schema: String::new(),
            }
        });
        return Question { kind: Kind::Ask, options: options.collect(), ..Question::default() };
    }
    let sent = system.split_once("schema, and nothing else: ").map(|(_, schema)| schema);
    let Some(outer) = sent.and_then(|sent| serde_json::from_str::<Json>(sent).ok()) else {
        return Question::default();
    };
    let mut schema = outer["properties"]["value"].clone();
    if let Some(definitions) = outer.get("$defs") {
        schema["$defs"] = definitions.clone();
    }
    Question { schema: schema.to_string(), ..Question::default() }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a file of test data, where there is one")]
fn no_cut_answer_and_no_copied_action_is_accepted() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(shared.join("cases/model/answers.jsonl")) else {
        println!("skipped, not found: answers.jsonl");
        return;
    };
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in text.lines() {
        let row: Json = serde_json::from_str(line).expect("a row is JSON");
        let said = row["answer"].as_str().unwrap_or_default();
        let question = question(&row);
        let is_cut = row["finish_reason"] == "length";
        let read = if is_cut {
            executor::cut(&question, said, false)
        } else {
            executor::outcome(&question, said)
        };
        let what = format!(
            "{} {}",
            row["mode"].as_str().unwrap_or_default(),
            if is_cut { "cut" } else { "whole" }
        );
        counts.entry(what).or_default()[usize::from(read.is_ok())] += 1;
        let Ok(understood) = read else { continue };
        assert!(!is_cut, "{said}");
        if let (true, Outcome::Done(values)) =
            (question.kind == Kind::Llm && question.schema.is_empty(), &understood.outcome)
        {
            let Value::Map(action) = &values[0] else { panic!("{said}") };
            let Some(Value::Text(name)) = action.get("action") else { panic!("{said}") };
            assert!(!matches!(&*plain(name), "" | "itsname" | "name" | "why"), "{said}");
        }
    }
    println!("refused, accepted: {counts:?}");
    assert_eq!(counts.values().flatten().sum::<usize>(), 260);
}
