//! Every page of a finding is its own test: each example marked `bad` trips the finding, each marked `good` does not.

use chartc::diagnostic::Rule;
use chartc::emit::{EMITTERS, Options};
use chartc::load::Memory;
use chartc::report::short;
#[cfg(feature = "run")]
use chartc_compiler::rules::RULES;
use std::collections::BTreeMap;

/// One example of a page. `beside` are the files around it: those that the page has shown before, by path.
struct Example {
    file: &'static str,
    bad: bool,
    text: String,
    beside: BTreeMap<String, String>,
}

/// The fenced examples of a page: ` ```chart bad `, ` ```yaml good ` and so on.
fn examples(page: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut beside = BTreeMap::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let text: String =
            lines.by_ref().take_while(|l| l.trim() != "```").map(|l| format!("{l}\n")).collect();
        let (file, verdict) = match info.split_once(' ') {
            Some(("chart", verdict)) => ("example.chart", verdict),
            Some(("yaml", verdict)) => ("agent.yaml", verdict),
            Some(("scxml", verdict)) => ("example.scxml", verdict),
            _ => continue,
        };
        if let Some(path) = verdict.strip_prefix("beside ") {
            beside.insert(path.to_owned(), text);
            continue;
        }
        let bad = match verdict {
            "bad" => true,
            "good" => false,
            other => panic!("an example is bad or good, not `{other}`"),
        };
        found.push(Example { file, bad, text, beside: beside.clone() });
    }
    found
}

fn check(rule: &Rule, example: &Example) -> Option<String> {
    if rule.name == "failed-test" {
        return played(example);
    }
    let mut files = Memory(example.beside.clone());
    // Agents beside it are checked with it, and are in one folder.
    let agents: Vec<&String> =
        example.beside.keys().filter(|path| path.ends_with("agent.yaml")).collect();
    let folder = agents.first().and_then(|path| path.split_once('/'));
    let file = folder.map_or(example.file.to_owned(), |(dir, _)| format!("{dir}/{}", example.file));
    files.0.insert(file.clone(), example.text.clone());
    let roots: Vec<String> = agents.into_iter().cloned().chain([file]).collect();
    let mut done = chartc::check(&roots, &files);
    #[cfg(feature = "run")]
    if rule.name == "used-up-budget" {
        let found = chartc::scenario::failed(&done);
        done.diagnostics.extend(found);
    }
    let emitted = done
        .charts
        .iter()
        .flat_map(|c| EMITTERS.iter().map(move |e| (e.emit)(c, &Options::default())));
    let refused: Vec<_> = emitted.filter_map(Result::err).flatten().collect();
    done.diagnostics.extend(refused);
    done.diagnostics.append(&mut done.silent);
    let trips = done.diagnostics.iter().any(|d| d.rule.code == rule.code);
    if trips == example.bad {
        return None;
    }
    let wanted = if example.bad { "is not found in" } else { "is found in" };
    let all = short(&done.diagnostics, &done.sources);
    Some(format!("{} {} {wanted}\n{}\nfindings:\n{all}\n", rule.code, rule.name, example.text))
}

/// What only `chartc test` finds.
#[cfg(feature = "run")]
fn played(example: &Example) -> Option<String> {
    let (told, code) = crate::scenario::play("page", &example.text);
    let fails = code == 1 && told.contains("C0601");
    (fails != example.bad).then_some(told)
}

#[cfg(not(feature = "run"))]
fn played(_: &Example) -> Option<String> {
    None
}

#[test]
fn examples_of_pages_do_what_they_say() {
    let mut wrong = String::new();
    for rule in RULES {
        for example in examples(rule.page) {
            wrong.extend(check(rule, &example));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn pages_have_examples_of_both_kinds() {
    let lacking: Vec<&str> = RULES
        .iter()
        .filter(|r| {
            let all = examples(r.page);
            !all.iter().any(|e| e.bad) || all.iter().all(|e| e.bad)
        })
        .map(|r| r.code)
        .collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn pages_begin_with_a_title_and_say_what_and_why() {
    for rule in RULES {
        let first = rule.page.lines().next().unwrap_or_default();
        assert!(first.starts_with("# "), "{} has no title", rule.code);
        assert!(rule.page.lines().count() > 6, "the page of {} is a stub", rule.code);
    }
}
