//! Answers as models give them, and what each means: an option with its arguments, `several` (more than one thing may be meant), or
//! `none`. Either of these is asked again.

use super::option;
use crate::oracle::Alternative;
use chartc_core::arena::ChoiceId;
use chartc_core::host::Offer;

/// Name, description, arguments.
type OptionRow = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const OPTIONS: &[OptionRow] = &[
    ("continue", "keep working, but not for ever", &[]),
    ("pivot", "try something different", &[]),
    ("ship", "good enough", &[]),
    ("ship_it", "good enough", &[]),
    ("finish", "give the answer", &[("answer", "Text")]),
    ("wait", "", &[("why", "Text?")]),
    ("stop", "", &[]),
    ("no", "", &[]),
    ("true", "", &[]),
    ("null", "", &[]),
    ("web.search", "", &[("query", "Text")]),
];

/// What it shows, the answer, what it means.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    // The name
    ("plain", "ship", "ship"),
    ("blanks and a full stop", "  ship.\n", "ship"),
    ("other case", "SHIP", "ship"),
    ("quoted", "\"ship\"", "ship"),
    ("in single quotes", "'ship'", "ship"),
    ("in curly quotes", "“ship”", "ship"),
    ("bold", "**Ship**", "ship"),
    ("code", "`ship`", "ship"),
    ("a heading", "## Ship", "ship"),
    ("a list item", "- ship", "ship"),
    ("fenced", "```\nship\n```", "ship"),
    ("fenced with a language", "```text\nship\n```", "ship"),
    ("the language of a fence", "```ship\n\n```", "several"),
    ("the longer of two names", "ship_it", "ship_it"),
    ("its words apart", "Ship it!", "ship_it"),
    ("joined as a class is", "ShipIt", "ship_it"),
    ("a common word alone", "Stop.", "stop"),
    ("`no` alone", "No.", "no"),
    ("`true` alone", "True", "true"),
    ("`null` alone", "null", "null"),
    ("asked", "ship?", "several"),
    ("struck out", "~~ship~~", "several"),
    ("negated by a mark", "!ship", "several"),
    ("crossed by an emoji", "❌ ship", "several"),
    ("approved by an emoji", "✅ ship", "several"),
    ("misspelt", "shipp", "none"),
    ("half", "shi", "none"),
    ("inflected", "shipping", "none"),
    ("part of a longer name", "ship_it_all", "several"),
    ("with a prefix", "non-ship", "several"),
    ("a Cyrillic letter in it", "\u{455}hip", "none"),
    ("full-width letters", "\u{ff53}\u{ff48}\u{ff49}\u{ff50}", "none"),
    ("a zero-width blank in it", "sh\u{200b}ip", "none"),
    ("letters apart", "s h i p", "none"),
    ("an argument is missing", "finish", "none"),
    ("an optional argument is missing", "wait", "wait null"),
    ("a tool without its argument", "web.search", "none"),
    // Prose
    ("a sentence", "I will ship this.", "ship"),
    ("a label", "Final answer: ship", "ship"),
    ("bold in a sentence", "I choose **ship**, as the work is done.", "ship"),
    ("with its description", "ship: good enough", "ship"),
    ("with a description that negates", "continue: keep working, but not for ever", "continue"),
    ("with another's description", "ship, and try something different", "several"),
    ("named twice", "Ship. Yes, ship.", "ship"),
    ("two options", "ship or pivot", "several"),
    ("a majority", "ship, ship, pivot, ship", "several"),
    ("a draft before it", "Draft: continue. Final answer: ship", "several"),
    ("two names in one", "Let's just ship it now, friends", "several"),
    ("negated", "I am not shipping", "none"),
    ("negated by its name", "I will not ship", "several"),
    ("negated with an apostrophe", "I won't ship", "several"),
    ("negated without one", "I wont ship", "several"),
    ("negated behind it", "ship? never", "several"),
    ("negated with a letter of another script", "I will n\u{43e}t ship", "several"),
    ("negated with a zero-width blank", "I will n\u{200b}ot ship", "several"),
    ("negated in German", "Ich werde nicht ship nehmen", "several"),
    ("negated in French", "je ne veux pas ship", "several"),
    ("in another language", "我选择 ship", "several"),
    ("a quoted negation", "They told me \"ship\" is bad", "several"),
    ("a question", "Should I ship?", "several"),
    ("a condition", "if tests pass, ship", "several"),
    ("a condition behind it", "ship once the tests pass", "several"),
    ("the past", "I wanted to ship yesterday", "several"),
    ("what was considered", "Earlier I considered ship", "several"),
    ("later", "First fix the tests, then ship", "several"),
    ("a polite answer", "Good enough, I would say: **ship**", "ship"),
    ("an answer with its reason", "They say thanks, so: ship", "ship"),
    ("nothing against it", "Nothing is missing: I ship.", "ship"),
    ("a wish", "I would ship", "several"),
    ("pros and cons", "Pros of ship: fast. Cons: buggy.", "several"),
    ("refused", "I'm sorry, I can't help with that.", "none"),
    ("refused by name", "I am unable to ship", "several"),
    ("a common word in prose", "There is no doubt about it.", "several"),
    ("`true` in prose", "It is true, the work is done", "several"),
    ("a verb that is an option", "I will stop here", "stop"),
    ("a call in code", "```python\nship()\n```", "several"),
    ("code", "```python\nif done:\n    ship()\n```", "several"),
    ("a comparison", "ship != good", "several"),
    ("a quotation", "> ship", "several"),
    ("a value", "ship = false", "several"),
    ("nothing that is offered", "launch", "none"),
    ("empty", "", "none"),
    ("blanks", " \n\t", "none"),
    // Reasoning
    ("thought of and said", "<think>pivot? no</think>ship", "ship"),
    ("thought of only", "<think>ship</think>", "none"),
    ("thought that does not end", "<think>ship", "none"),
    ("thought that did not begin", "weighing pivot</think> ship", "ship"),
    ("thought in capitals", "<THINK>pivot</THINK>ship", "ship"),
    ("thought twice", "<think>a</think><think>pivot</think> ship", "ship"),
    ("tags that are not known", "<scratchpad>pivot</scratchpad> ship", "several"),
    ("one tag that is not known", "<final>ship</final>", "several"),
    // JSON
    ("an object", r#"{"choice":"ship"}"#, "ship"),
    ("with reasoning", r#"{"reasoning":"not pivot","choice":"ship"}"#, "ship"),
    ("with another key", r#"{"decision":"Ship"}"#, "ship"),
    ("with a key that nobody knows", r#"{"verdict":"ship"}"#, "none"),
    ("with a key in capitals", r#"{"Choice":"ship"}"#, "none"),
    ("with more keys", r#"{"choice":"ship","confidence":0.9}"#, "ship"),
    ("as the only key", r#"{"ship":{}}"#, "ship"),
    ("as a key that is false", r#"{"ship":false}"#, "none"),
    ("chosen and false", r#"{"choice":"ship","ship":false}"#, "several"),
    ("chosen, with another as key", r#"{"choice":"ship","pivot":{}}"#, "several"),
    ("chosen and decided otherwise", r#"{"choice":"ship","action":"pivot"}"#, "several"),
    ("chosen and decided in words", r#"{"choice":"ship","decision":"do not ship"}"#, "several"),
    ("negated in the string", r#"{"choice":"not ship"}"#, "none"),
    ("asked in the string", r#"{"choice":"ship?"}"#, "none"),
    ("nested", r#"{"choice":{"name":"ship"}}"#, "none"),
    ("nested under a word", r#"{"result":{"choice":"ship"}}"#, "none"),
    ("a list", r#"["ship"]"#, "none"),
    ("a list under the key", r#"{"choice":["ship","pivot"]}"#, "none"),
    ("a number", "7", "none"),
    ("a number under the key", r#"{"choice":2}"#, "none"),
    ("null under the key", r#"{"choice":null}"#, "none"),
    ("true under the key", r#"{"choice":true}"#, "true"),
    ("an empty object", "{}", "none"),
    ("no option", r#"{"choice":"launch"}"#, "none"),
    ("escapes", r#"{"choice":"\u0073hip"}"#, "ship"),
    ("an escaped look-alike", r#"{"choice":"\u0455hip"}"#, "none"),
    ("one key twice, alike", r#"{"choice":"ship","choice":"ship"}"#, "ship"),
    ("one key twice", r#"{"choice":"ship","choice":"pivot"}"#, "several"),
    ("one key twice, and a nested choice", r#"{"choice":"no","choice":"stop","data":{"choice":"ship"}}"#, "several"),
    ("a trailing comma", r#"{"choice":"ship",}"#, "ship"),
    ("single quotes", "{'choice': 'ship'}", "ship"),
    ("keys without quotes", r#"{choice: "ship"}"#, "ship"),
    ("a comment", "{\"choice\": \"ship\" /* or pivot */}", "several"),
    ("a comment before", "{ // the answer\n\"choice\": \"ship\"}", "several"),
    ("fenced JSON in prose", "Here you are:\n```json\n{\"choice\": \"ship\"}\n```\nGood luck!", "ship"),
    ("JSON that prose turns down", r#"I will not answer {"choice":"ship"}"#, "several"),
    ("JSON that prose takes back", r#"{"choice":"ship"} - or rather not"#, "several"),
    ("JSON as an example", r#"For example {"choice":"ship"}"#, "several"),
    ("JSON beside another option", r#"I thought of pivot. {"choice":"ship"}"#, "several"),
    ("two objects alike", r#"{"choice":"ship"} {"choice":"ship"}"#, "ship"),
    ("two objects", r#"first {"choice":"continue"} and {"choice":"ship"}"#, "several"),
    ("two objects, one strange", r#"{"choice":"launch"} {"choice":"ship"}"#, "several"),
    ("two objects, one of which says nothing", r#"{"mood":"good"} {"choice":"ship"}"#, "several"),
    ("a list behind reasoning", r#"<think>x</think>[{"choice":"ship"}]"#, "several"),
    ("two objects, one cut off", r#"{"choice":"ship"} {"choice":"no"#, "several"),
    ("a key outside of the object", r#""decision": "a". {"choice":"ship"}"#, "several"),
    ("cut off in the name", r#"{"choice":"shi"#, "none"),
    ("cut off behind it", r#"{"choice":"ship","reasoning":"I thi"#, "ship"),
    ("a quote that swallows the rest", r#"{"choice":"ship", '} but no"#, "several"),
    ("JSON in a string", r#""{\"choice\":\"ship\"}""#, "none"),
    // Arguments
    ("an argument", r#"{"choice":"finish","arguments":{"answer":"42"}}"#, r#"finish "42""#),
    ("an argument beside it", r#"{"choice":"finish","answer":"42"}"#, r#"finish "42""#),
    ("an argument under the name", r#"{"finish":{"answer":"42"}}"#, r#"finish "42""#),
    ("an argument that names an option", r#"{"choice":"finish","answer":"ship"}"#, r#"finish "ship""#),
    ("an argument that is a list", r#"{"choice":"finish","answer":[1]}"#, "finish [1]"),
    ("an argument that nobody asked for", r#"{"choice":"wait","arguments":{"how":1}}"#, "wait null"),
    ("an argument that is cut off", r#"{"choice":"finish","answer":"cut of"#, "none"),
    ("a tool", r#"{"tool":"web.search","arguments":{"query":"owls"}}"#, r#"web.search "owls""#),
];

fn alternatives() -> Vec<Alternative> {
    let texts = |(a, b): &(&'static str, &'static str)| ((*a).into(), (*b).into());
    let row = |(i, (name, text, arguments)): (usize, &OptionRow)| Alternative {
        offer: Offer {
            choice: ChoiceId::at(i),
            tool: None,
            name: (*name).into(),
            text: (*text).into(),
            arguments: arguments.iter().map(texts).collect(),
        },
        schema: String::new(),
    };
    OPTIONS.iter().enumerate().map(row).collect()
}

/// What an answer means, as the rows say it.
fn meaning(text: &str, options: &[Alternative]) -> String {
    match option(text, options) {
        Ok(reading) => {
            let (index, arguments) = reading.meant;
            let json = |v| serde_json::to_string(v).expect("a value is JSON");
            let words = arguments.iter().map(json);
            std::iter::once(OPTIONS[index].0.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
        }
        Err(why) if why.ambiguous => "several".to_owned(),
        Err(_) => "none".to_owned(),
    }
}

#[test]
fn every_answer_means_what_its_row_says() {
    let options = alternatives();
    let mut wrong = String::new();
    for (what, text, wanted) in ROWS {
        let got = meaning(text, &options);
        if got != *wanted {
            wrong += &format!("{what}: {text:?} means {got}, not {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(ROWS.len() >= 100);
}

#[test]
fn a_huge_answer_is_read_in_no_time_or_not_at_all() {
    let options = alternatives();
    assert_eq!(meaning(&"ship ".repeat(300_000), &options), "none");
    assert_eq!(meaning(&"ship ".repeat(200_000), &options), "ship");
}
