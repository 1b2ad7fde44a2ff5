//! `table.txt`: answers as models and people give them, and what each means.

use super::outcome;
use crate::oracle::{Alternative, Kind, Question};
use chartc_core::arena::ChoiceId;
use chartc_core::expr::Value;
use chartc_core::host::Offer;
use chartc_core::machine::Outcome;

/// The rows.
const TABLE: &str = include_str!("table.txt");

/// Name, description, arguments.
type OptionRow = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const OPT: &[OptionRow] = &[
    ("ship", "it is good enough", &[]),
    ("pivot", "try something different", &[]),
    ("hand_over", "a person has to look", &[]),
    ("finish", "give the final answer", &[("answer", "Text")]),
];
const GATE: &[OptionRow] = &[
    ("approve", "the work can be published", &[]),
    ("revise", "the author has to change something", &[]),
    ("reject", "it is not worth more work", &[]),
];
/// Names within names, and names that are common words.
const MANY: &[OptionRow] = &[
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

/// The types of questions, as JSON Schemas.
const TYPES: &[(&str, &str)] = &[
    ("kind", KIND),
    (
        "mood",
        r##"{"$defs":{"Mood":{"enum":["positive","neutral","negative"]}},"$ref":"#/$defs/Mood"}"##,
    ),
    ("level", r##"{"$defs":{"Level":{"enum":["low","medium","high"]}},"$ref":"#/$defs/Level"}"##),
    ("mail", r#"{"enum":["spam","not_spam","unsure"]}"#),
    ("gate", r#"{"enum":["approve","decline","later"]}"#),
    ("bool", r#"{"type":"boolean"}"#),
    ("int", r#"{"type":"integer"}"#),
    ("float", r#"{"type":"number"}"#),
    ("text", r#"{"type":"string"}"#),
    ("texts", r#"{"type":"array","items":{"type":"string"}}"#),
    ("ints", r#"{"type":"array","items":{"type":"integer"}}"#),
    (
        "kinds",
        r##"{"$defs":{"Kind":{"enum":["billing","technical","complaint","spam"]}},"type":"array","items":{"$ref":"#/$defs/Kind"}}"##,
    ),
    (
        "grade",
        r##"{"$defs":{"Grade":{"type":"object","properties":{"useful":{"type":"boolean"},"why":{"type":"string"}},"required":["useful","why"],"additionalProperties":false}},"$ref":"#/$defs/Grade"}"##,
    ),
    (
        "full",
        r#"{"type":"object","properties":{"name":{"type":"string"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","tags"],"additionalProperties":false}"#,
    ),
    (
        "own",
        r#"{"type":"object","properties":{"value":{"type":"integer"},"unit":{"type":"string"}},"required":["value","unit"],"additionalProperties":false}"#,
    ),
    ("act", ""),
];
const KIND: &str = r##"{"$defs":{"Kind":{"enum":["billing","technical","complaint","spam"]}},"$ref":"#/$defs/Kind"}"##;

pub(super) fn alternatives(rows: &[OptionRow]) -> Vec<Alternative> {
    let texts = |(a, b): &(&'static str, &'static str)| ((*a).into(), (*b).into());
    let row = |(i, (name, text, arguments)): (usize, &OptionRow)| {
        let fields = arguments.iter().map(|(name, ty)| match ty.strip_suffix('?') {
            Some(_) => format!(r#""{name}":{{"anyOf":[{{"type":"string"}},{{"type":"null"}}]}}"#),
            None => format!(r#""{name}":{{"type":"string"}}"#),
        });
        let fields: Vec<String> = fields.collect();
        Alternative {
            offer: Offer {
                choice: ChoiceId::at(i),
                tool: None,
                name: (*name).into(),
                text: (*text).into(),
                arguments: arguments.iter().map(texts).collect(),
            },
            schema: format!(r#"{{"type":"object","properties":{{{}}}}}"#, fields.join(",")),
        }
    };
    rows.iter().enumerate().map(row).collect()
}

/// The question of that name. A `p` before the name of a type puts it to a person.
pub(super) fn question(name: &str) -> Question {
    let options = match name {
        "opt" => OPT,
        "gate" => GATE,
        "many" => MANY,
        _ => &[],
    };
    if !options.is_empty() {
        return Question { kind: Kind::Ask, options: alternatives(options), ..Question::default() };
    }
    let of = |name: &str| TYPES.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema);
    let (kind, schema) = match (of(name), name.strip_prefix('p').and_then(of)) {
        (Some(schema), _) => (Kind::Llm, schema),
        (None, Some(schema)) => (Kind::Human, schema),
        (None, None) => panic!("no question is called `{name}`"),
    };
    Question { kind, schema: schema.to_owned(), ..Question::default() }
}

/// What an answer means, as the rows say it; `-` for nothing.
fn meaning(question: &Question, text: &str) -> String {
    let json = |value: &Value| serde_json::to_string(value).expect("a value is JSON");
    let Ok(understood) = outcome(question, text) else { return "-".to_owned() };
    match &understood.outcome {
        Outcome::Choice(choice, arguments) => {
            let name = question.options[choice.index()].offer.name.to_string();
            std::iter::once(name).chain(arguments.iter().map(json)).collect::<Vec<_>>().join(" ")
        }
        Outcome::Done(values) => match values.as_slice() {
            [Value::Text(name)] if question.schema.contains("enum") => name.clone(),
            values => values.iter().map(json).collect(),
        },
        outcome @ (Outcome::Call(..) | Outcome::Forbidden(_) | Outcome::Unusable) => {
            panic!("{outcome:?}")
        }
        outcome @ (Outcome::Failed(_) | Outcome::Final(_) | Outcome::Doubt(_)) => {
            panic!("{outcome:?}")
        }
    }
}

/// Whether two meanings are the same: `1` is `1.0`, and fields have no order.
fn same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let number = |text: &str| text.parse::<f64>().ok();
    one == other
        || number(one).is_some() && number(one) == number(other)
        || read(one).is_some() && read(one) == read(other)
}

/// A row.
pub(super) struct Row {
    pub(super) question: String,
    pub(super) text: String,
    pub(super) wanted: String,
}

pub(super) fn rows() -> Vec<Row> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let row = |line: &str| {
        let (question, rest) = line.split_once(" | ").expect(line);
        let (text, wanted) = rest.rsplit_once(" | ").expect(line);
        let text = text.replace("\\\\", "\u{0}").replace("\\n", "\n").replace('\u{0}', "\\");
        Row { question: question.to_owned(), text, wanted: wanted.to_owned() }
    };
    lines.map(row).collect()
}

/// Accepted wrongly, refused though clear, clear rows, rows; and which.
fn figures() -> ([usize; 4], String) {
    let mut sums = [0; 4];
    let mut told = String::new();
    for row in rows() {
        let question = question(&row.question);
        let got = meaning(&question, &row.text);
        sums[3] += 1;
        sums[2] += usize::from(row.wanted != "-");
        if same(&got, &row.wanted) {
            continue;
        }
        let is_refused = got == "-";
        sums[usize::from(is_refused)] += 1;
        let (what, wanted) = (&row.question, &row.wanted);
        told += &format!("{what}: {:?} means {got}, not {wanted}\n", row.text);
    }
    (sums, told)
}

#[test]
fn no_answer_means_what_its_row_does_not_say() {
    let (sums, told) = figures();
    let [wrong, refused, clear, all] = sums;
    assert!(all >= 600, "{all} rows");
    assert_eq!(wrong, 0, "{told}");
    assert!(refused * 10 <= clear, "{refused} of {clear} clear answers are refused\n{told}");
}

#[test]
fn a_huge_answer_is_read_in_no_time_or_not_at_all() {
    let many = question("many");
    assert_eq!(meaning(&many, &"ship ".repeat(300_000)), "-");
    assert_eq!(meaning(&many, &"ship ".repeat(200_000)), "ship");
}
