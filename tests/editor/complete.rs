//! What can be written at a place.

use crate::desk::{Changed, FIRST, alone, broken, charts, compiled};
use chartc::ide::complete::{Completion, CompletionKind, Insert, complete};
use chartc::ide::tokens::{TokenKind, tokens};
use chartc::load::Memory;
use chartc_compiler::front::chart::completion_context::spot;
use chartc_compiler::front::chart::scan;
use chartc_compiler::rules::RULES;
use std::collections::BTreeMap;

/// What is offered at `§`.
fn offers(text: &str) -> Vec<Completion> {
    let offset = text.find('§').expect("a place");
    let done = alone("a.chart", &text.replace('§', ""));
    complete(&done, FIRST, offset, None)
}

fn labels(text: &str) -> Vec<String> {
    offers(text).into_iter().map(|offer| offer.label).collect()
}

#[track_caller]
fn first(text: &str, wanted: &[&str]) {
    let found = labels(text);
    let head = &found[..found.len().min(wanted.len())];
    assert_eq!(head, wanted, "of {found:?}");
}

#[track_caller]
fn holds(text: &str, wanted: &[&str], absent: &[&str]) {
    let found = labels(text);
    for word in wanted {
        assert!(found.iter().any(|known| known == word), "{word} in {found:?}");
    }
    for word in absent {
        assert!(!found.iter().any(|known| known == word), "no {word} in {found:?}");
    }
}

const CHART: &str = "enum Kind { big small }\ntype Who { name: Text  age: Int }\ntool web.read(url: Text) -> Text\ntool web.find(query: Text) -> Text\ntools reading = web.*\nclient fast { model \"a:b\" }\ndo mail(to: Text)\nchart Child {\n  param depth: Int = 1\n  initial a\n  state a\n}\nchart Big {\n  param most: Int = 3\n  event order(id: Text, by: Who)\n  event stop\n  var kind: Kind = Kind.big\n  var who: Who? = none\n  pred many = most > 2\n  initial idle\n  state idle {\n    initial calm\n    state calm { on order(id, by) -> busy { who = by } }\n    state tense\n  }\n  state busy {\n    llm think { prompt \"x\"  returns Kind into kind }\n    HERE\n  }\n  final over(why: Text)\n}\n";

/// The chart, with something at a place in its state `busy`.
fn busy(line: &str) -> String {
    CHART.replace("HERE", line)
}

#[test]
fn keywords_are_those_of_the_place() {
    holds("§", &["chart", "import", "test"], &["state", "prompt"]);
    holds("chart A {\n  §\n}", &["state", "var", "check", "on", "llm"], &["chart", "prompt"]);
    holds(&busy("§"), &["on", "may", "state", "enter"], &["var", "event", "prompt"]);
    holds(&busy("llm s { § }"), &["prompt", "returns", "done"], &["on", "state"]);
    holds(&busy("on stop { § }"), &["raise", "kind", "mail"], &["on", "idle"]);
    holds(&busy("ask a on turn else §"), &["stay", "idle"], &["prompt"]);
    holds(&busy("on stop §"), &["if"], &["else"]);
    holds(&format!("{CHART}test \"t\" for Big {{\n  §\n}}"), &["expect", "send"], &["state"]);
}

#[test]
fn targets_have_the_paths_that_lead_to_them() {
    first(&busy("on stop -> §"), &["idle", "busy", "over"]);
    holds(&busy("on stop -> §"), &["idle.calm", "idle.tense"], &["calm", "Big", "order"]);
    assert_eq!(labels(&busy("on stop -> idle.§")), ["calm", "tense"]);
    first(&busy("on stop -> te§"), &["idle.tense"]);
    first(&CHART.replace("on order(id, by) -> busy", "on order(id, by) -> §"), &["calm", "tense"]);
    let over = offers(&busy("on stop -> ov§")).remove(0);
    assert_eq!(over.insert, Insert::Snippet("over(${1:why})".to_owned()));
}

#[test]
fn events_come_with_their_data() {
    let found = offers(&busy("on §"));
    assert_eq!((found[0].label.as_str(), found[1].label.as_str()), ("order", "stop"));
    assert_eq!(found[0].insert, Insert::Snippet("order(${1:id}, ${2:by})".to_owned()));
    holds(&busy("on §"), &["done", "turn", "limit.calls"], &["idle"]);
    first(&busy("on stop { raise §"), &["order", "stop"]);
    holds(&busy("on error.§"), &["execution", "stuck"], &[]);
}

#[test]
fn expressions_have_names_fields_and_values() {
    holds(&busy("when §"), &["kind", "most", "many", "turns", "len", "not"], &["mail", "idle"]);
    first(&busy("when kind == §"), &["Kind.big", "Kind.small"]);
    assert_eq!(labels(&busy("when kind == Kind.§")), ["big", "small"]);
    assert_eq!(labels(&busy("when who.§")), ["name", "age"]);
    first(&busy("on order(id, who2) if §"), &["who2", "id"]);
    assert_eq!(labels(&busy("on order(id, by) if by.§")), ["name", "age"]);
    first(&busy("on stop { kind = §"), &["Kind.big", "Kind.small"]);
    holds(&busy("when in(§"), &["idle", "idle.calm"], &["kind"]);
}

#[test]
fn prompts_have_what_they_can_show() {
    let ask = |inner: &str| {
        busy(&format!("ask q on turn else stay {{ prompt \"\"\"\n  {inner}\n  \"\"\" }}"))
    };
    first(&ask("a {§}"), &["options"]);
    holds(&ask("a {§}"), &["kind", "most", "turns"], &["idle", "mail"]);
    first(&ask("a {ki§"), &["kind"]);
    holds(&ask("a {most:§}"), &[".2f"], &["kind"]);
    assert_eq!(labels(&ask("a {{§")), [""; 0]);
    assert_eq!(labels(&ask("a §")), [""; 0]);
}

#[test]
fn other_names_stand_where_they_are_meant() {
    holds(&busy("llm s with §"), &["fast"], &["kind"]);
    holds(&busy("may call §"), &["reading", "web.read", "any"], &["kind"]);
    holds(&busy("call c §"), &["web.read", "web.find"], &["reading", "kind"]);
    assert_eq!(labels(&busy("call c web.§")), ["read", "find"]);
    holds(&busy("run r §"), &["Child", "Big"], &["kind"]);
    first(&busy("run r Child(§"), &["depth"]);
    holds(&busy("llm s { returns §"), &["Kind", "Who", "Text"], &["kind"]);
    first(&busy("llm s { returns Kind into §"), &["kind"]);
    holds(&CHART.replace("var kind: Kind", "var kind: §"), &["Kind", "Int"], &["kind"]);
    holds("chart A {\n  limits { § }\n}", &["turns", "calls"], &["if"]);
    holds("client c {\n  §\n}", &["model", "fallback"], &["if"]);
    holds("chart A {\n  check §\n}", &["reaches", "never"], &["if"]);
    holds("chart A {\n  check reaches(§)\n  state s\n}", &["s"], &["reaches"]);
    let with = |line: &str| {
        format!("chart A {{\n  do pay()\n  event go\n  param n: Int = 1\n  {line}\n  state s\n}}")
    };
    holds(&with("check §"), &["never", "pay", "go", "s"], &["if"]);
    holds(&with("check never(§)"), &["pay", "go", "s"], &["reaches"]);
    holds(&with("check never(pay unless §)"), &["go", "s"], &["reaches"]);
    holds(&with("check pay §"), &["at", "before"], &["reaches"]);
    holds(&with("check pay before §"), &["go", "s"], &["reaches"]);
    holds(&with("check event §"), &["go"], &["reaches"]);
    holds(&with("check reaches(s) given §"), &["n"], &["reaches"]);
    holds("// chartc: allow(§)\n", &["C0301"], &[]);
    let test = |line: &str| format!("{CHART}test \"t\" for Big {{\n  {line}\n}}");
    holds(&test("expect at §"), &["idle", "idle.calm"], &["kind"]);
    holds(&test("answers §"), &["think"], &["kind"]);
    holds(&test("given §"), &["most", "kind"], &["idle"]);
    holds("chart A { initial a  state a }\ntest \"t\" for §", &["A"], &["a"]);
}

#[test]
fn imports_are_files_beside() {
    let mut files = Memory::of("x/a.chart", "import \"\"\nchart A { initial b  state b }");
    files.0.insert("x/tools.chart".to_owned(), String::new());
    files.0.insert("x/notes.txt".to_owned(), String::new());
    files.0.insert("x/sub/c.chart".to_owned(), String::new());
    let done = chartc::check(&["x/a.chart".to_owned()], &files);
    let found: Vec<String> =
        complete(&done, FIRST, 8, Some(&files)).into_iter().map(|o| o.label).collect();
    assert_eq!(found, ["tools.chart", "sub/"]);
    assert!(complete(&done, FIRST, 8, None).is_empty());
}

/// Places of names in a file that may be asked for: not those that are declared there.
fn names(name: &str, text: &str) -> Vec<(usize, usize, TokenKind)> {
    let done = compiled(name, text);
    let known = tokens(&done, FIRST).into_iter().filter(|token| {
        !token.modifiers.declaration
            && !token.modifiers.deprecated
            && !matches!(
                token.kind,
                TokenKind::Keyword
                    | TokenKind::Number
                    | TokenKind::Duration
                    | TokenKind::String
                    | TokenKind::Brace
                    | TokenKind::Comment
                    | TokenKind::Doc
                    | TokenKind::Operator
            )
    });
    known.map(|t| (t.span.start as usize, t.span.end as usize, t.kind)).collect()
}

/// The sound examples of the pages of rules.
fn good() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for rule in RULES {
        let parts = rule.page.split("```chart good\n").skip(1);
        let texts = parts.filter_map(|part| Some(part.split_once("```")?.0.to_owned()));
        // What is imported does not exist.
        let alone = texts.filter(|text| !text.contains("import"));
        found.extend(alone.map(|text| (format!("{}.chart", rule.name), text)));
    }
    assert!(found.len() > 100, "{}", found.len());
    found
}

/// Each name is offered where it stands, with none, one and two of its letters written.
#[test]
fn names_of_shipped_charts_are_offered_where_they_stand() {
    let (mut all, mut found, mut near) = (0, 0, 0);
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    let every = std::env::var("EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(37);
    for (name, text) in [charts(), good()].concat() {
        for (nth, (start, end, kind)) in names(&name, &text).into_iter().enumerate() {
            if nth % every != 0 {
                continue;
            }
            let written = &text[start..end];
            for keep in [0, 1, 2] {
                let kept = start + keep.min(written.len());
                if !text.is_char_boundary(kept) || keep > 0 && keep >= written.len() {
                    continue;
                }
                let changed = format!("{}{}", &text[..kept], &text[end..]);
                let done = compiled(&name, &changed);
                let loader = Changed { name: &name, text: &changed };
                let offers = complete(&done, FIRST, kept, Some(&loader));
                let bare = written.trim_matches('`');
                all += 1;
                match offers.iter().position(|offer| offer.label == bare) {
                    Some(at) => {
                        found += 1;
                        near += usize::from(at < 10);
                        if at >= 10 && keep == 0 {
                            *missed.entry(format!("late {kind:?}")).or_default() += 1;
                        }
                    }
                    None => {
                        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
                        let before = &text[line..start];
                        *missed
                            .entry(format!("{kind:?} {keep} `{before}` {written} {name}"))
                            .or_default() += 1;
                    }
                }
            }
        }
    }
    let shares = format!("{found} of {all} offered, {near} among the first ten");
    if std::env::var("SHOW").is_ok() {
        println!("{shares}\n{missed:#?}");
    }
    assert!(all > 300, "{all}");
    assert!(found * 100 >= all * 99, "{shares}\n{missed:#?}");
    assert!(near * 100 >= all * 94, "{shares}\n{missed:#?}");
}

/// A keyword that is offered is one that the parser takes: with it, the text is read at least as far as before.
#[test]
fn keywords_that_are_offered_are_taken() {
    let mut tried = 0;
    for (name, text) in charts() {
        for (nth, token) in scan::tokens(&text).into_iter().enumerate() {
            if nth % 97 != 0
                || matches!(
                    token.kind,
                    scan::TokenKind::Comment | scan::TokenKind::Doc | scan::TokenKind::Block
                )
            {
                continue;
            }
            let before = &text[..token.start];
            let done = alone(&name, before);
            let offers = complete(&done, FIRST, before.len(), None);
            for offer in offers.iter().filter(|offer| offer.kind == CompletionKind::Keyword) {
                tried += 1;
                let with = format!("{before} {} ", offer.label);
                let next = spot(&with, with.len()).is_some_and(|spot| spot.next.known);
                assert!(
                    next,
                    "{name}: `{}` behind …{}",
                    offer.label,
                    &before[before.len().saturating_sub(60)..]
                );
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn no_place_of_a_broken_text_panics() {
    for (seed, (name, text)) in charts().iter().enumerate() {
        for (nth, text) in broken(text, seed as u64 + 11).iter().enumerate().take(3) {
            let done = alone(name, text);
            let step = 29 + nth * 8;
            for (offset, _) in text.char_indices().step_by(step) {
                let found = complete(&done, FIRST, offset, None);
                for offer in found {
                    assert!(offer.replaces.start as usize <= offset, "{offer:?}");
                    assert!(offset <= offer.replaces.end as usize, "{offer:?}");
                }
            }
            assert!(complete(&done, FIRST, text.len() + 1, None).is_empty());
        }
    }
}
