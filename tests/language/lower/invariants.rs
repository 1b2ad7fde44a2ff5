//! The three invariants of every model, over a corpus and over random nesting.

use super::check;
use crate::fuzzed::targets::assert_holds;
use chartc::load::Loaded;
use chartc::source::Source;
use chartc::span::FileId;
use chartc_compiler::lower::lower;
use chartc_compiler::{front, syntax};
use proptest::prelude::*;
use test_support::cases::texts;
use test_support::project::files;

/// Every chart of every file, faulty or not.
fn assert_all(text: &str) -> usize {
    let compilation = check(text);
    for lowered in &compilation.lowered {
        assert_holds(&lowered.chart);
    }
    compilation.lowered.len()
}

#[test]
fn faulty_charts_keep_them() {
    let mut lowered = 0;
    for path in files("tests/language/lower", ".cases") {
        // Each chart, whole and with a line left out.
        for chart in texts(&path) {
            lowered += assert_all(&chart);
            for skipped in 0..chart.lines().count() {
                let kept = chart.lines().enumerate().filter(|(i, _)| *i != skipped);
                let less: Vec<_> = kept.map(|(_, line)| line).collect();
                lowered += assert_all(&less.join("\n"));
            }
        }
    }
    assert!(lowered > 200, "only {lowered} charts");
}

#[test]
fn a_thousand_states_deep() {
    // The grammar allows less; the syntax is put together by hand.
    let depth = 1000;
    let mut found = Vec::new();
    let source = Source::new(
        "a.chart",
        "chart Deep { event e initial s state s { initial s on e -> s state s } }",
    );
    let mut file = front::parse(FileId(0), &source, &mut found);
    let syntax::Item::Chart(chart) = &mut file.items[0].node else { panic!("a chart was parsed") };
    let syntax::ChartItem::State(syntax::StateItem::State(outer)) = &mut chart.items[2].node else {
        panic!("its third item is a state");
    };
    let shell = outer.clone();
    let mut nested = shell.clone();
    for _ in 0..depth {
        let mut next = shell.clone();
        let body = next.body.as_mut().expect("it has a body");
        body.items[2].node = syntax::StateItem::State(nested);
        nested = next;
    }
    *outer = nested;
    let mut loaded = Loaded { files: vec![file], ..Loaded::default() };
    loaded.roots.insert(loaded.sources.add(source));
    let lowered = lower(&loaded, None, &mut found);
    let messages: Vec<_> = found.iter().map(|d| &d.message).collect();
    assert!(messages.is_empty(), "{messages:?}");
    assert_eq!(lowered.0[0].chart.states.len(), depth + 3);
    assert_holds(&lowered.0[0].chart);
}

/// A body: states, each with a kind and a body of its own.
#[derive(Debug, Clone)]
struct Nest(u8, Vec<Nest>);

fn nests() -> impl Strategy<Value = Nest> {
    let leaf = any::<u8>().prop_map(|kind| Nest(kind, Vec::new()));
    leaf.prop_recursive(6, 60, 5, |inner| {
        (any::<u8>(), prop::collection::vec(inner, 0..5))
            .prop_map(|(kind, below)| Nest(kind, below))
    })
}

fn write(nest: &Nest, name: &str, text: &mut String) {
    let words = ["state", "state", "parallel", "final", "history", "history deep"];
    let word = words[nest.0 as usize % words.len()];
    let other = nest.0 / 7 % 6;
    if word.starts_with("history") {
        let deep = if word.ends_with("deep") { " deep" } else { "" };
        text.push_str(&format!("history {name}{deep} -> s{other}\n"));
        return;
    }
    text.push_str(&format!("{word} {name} {{\n"));
    if nest.0.is_multiple_of(3) {
        text.push_str(&format!("initial s{other}\n"));
    }
    if nest.0.is_multiple_of(4) {
        text.push_str(&format!("on e -> s{other}, s{}\neach after 3s -> s{other}\n", nest.0 % 5));
    }
    if nest.0.is_multiple_of(5) {
        text.push_str(&format!(
            "llm step_{name} {{ prompt \"x\" retry 1 then -> s{other} }} -> s0\n"
        ));
    }
    if nest.0.is_multiple_of(6) {
        text.push_str(&format!("from * {{ on e -> s{other} }}\nmay x -> s{other}\n"));
    }
    for (index, inner) in nest.1.iter().enumerate() {
        write(inner, &format!("s{index}"), text);
    }
    text.push_str("}\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_nesting_keeps_them(roots in prop::collection::vec(nests(), 0..6)) {
        let mut text = String::from("chart Random {\nevent e\n");
        for (index, nest) in roots.iter().enumerate() {
            write(nest, &format!("s{index}"), &mut text);
        }
        text.push('}');
        let compilation = check(&text);
        prop_assert_eq!(compilation.lowered.len(), 1);
        assert_holds(&compilation.lowered[0].chart);
    }
}
