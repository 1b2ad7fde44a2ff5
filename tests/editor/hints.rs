//! What is shown between the words.

use crate::hover::{compiled, first, folder, shipped};
use chartc::Compilation;
use chartc::ide::actions::actions;
use chartc::ide::actions::lenses;
use chartc::ide::hints::{HintKind, hints};
use chartc::load::Memory;
use chartc::span::Span;

/// The lines of a file that have hints, with them.
fn shown(done: &Compilation, kinds: &[HintKind]) -> String {
    let file = first(done);
    let source = done.sources.get(file);
    let all = hints(done, file, 0..source.text.len(), kinds);
    let mut text = source.text.clone();
    for hint in all.iter().rev() {
        text.insert_str(hint.offset, &format!("«{}»", hint.text));
    }
    let lines = text.lines().filter(|line| line.contains('«')).map(str::trim_start);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn hints_of_a_chart() {
    let done = shipped("charts/support.chart");
    insta::assert_snapshot!(shown(&done, &HintKind::ALL));
}

#[test]
fn hints_of_an_agent() {
    let done = shipped("charts/builder.agent.yaml");
    insta::assert_snapshot!(shown(&done, &HintKind::ALL));
}

#[test]
fn hints_of_a_test() {
    let done = shipped("charts/support.test.chart");
    insta::assert_snapshot!(shown(&done, &HintKind::ALL));
}

#[test]
fn each_kind_can_be_asked_for_alone() {
    let text = "type Page { url: Text  size: Int }
do note(what: Text, size: Int)
fn rate(page: Page) -> Float
chart A {
  event came(page: Page, why: Text)
  var pages: List(Page) = []
  var sizes: List(Int) = []
  defaults { retry 3 then skip }
  initial a
  state a {
    llm grade each page in pages { prompt \"Grade {page.url}.\"  up to 3 }
    on came(one, why) -> b(why, 2) {
      sizes = [p.size for p in pages if rate(p) > 0.5]
      for size in sizes { note(why, size) note(\"all\", 1 + size) }
    }
  }
  final b(reason: Text, nth: Int)
}
";
    let done = compiled("a.chart", text);
    for kind in HintKind::ALL {
        insta::assert_snapshot!(format!("alone_{kind:?}"), shown(&done, &[kind]));
    }
    assert_eq!(shown(&done, &[]), "");
}

#[test]
fn names_of_unknown_events_have_no_type() {
    let text = "chart A {\n  event came(why: Text)\n  var last: Text = \"\"\n  initial a\n  state a {\n    on came(why) { last = why }\n    on gone(who) -> b\n  }\n  final b\n}\n";
    let done = compiled("a.chart", text);
    assert_eq!(shown(&done, &[HintKind::Type]), "on came(why«: Text») { last = why }");
}

#[test]
fn a_run_that_is_bounded_says_what_it_may_use() {
    let text = "client fast {\n  model \"a:b\"\n  max_tokens 100\n  input_price 1.0\n  output_price 2.0\n}\n\
                chart A {\n  LIMITS\n  initial a\n  state a { llm think with fast { prompt \"x\" } -> b }\n  final b\n}\n";
    let run = |text: &str| shown(&compiled("a.chart", text), &[HintKind::Calls]);
    assert_eq!(
        run(&text.replace("LIMITS", "limits { calls 5 }")),
        "chart A {«at most 5 model calls a run, answers of 500 tokens»"
    );
    assert_eq!(
        run(&text.replace("LIMITS", "limits { tokens 1000000 }").replace("  max_tokens 100\n", "")),
        "chart A {«model calls without a bound, a cost of 2»"
    );
}

#[test]
fn only_the_range_is_looked_at() {
    let done = shipped("charts/support.chart");
    let file = first(&done);
    let length = done.sources.get(file).text.len();
    let all = hints(&done, file, 0..length, &HintKind::ALL);
    let half = hints(&done, file, 0..length / 2, &HintKind::ALL);
    assert!(!half.is_empty() && half.len() < all.len());
    assert!(all.starts_with(&half));
}

#[test]
fn broken_charts_have_hints_too() {
    let mut files = folder("charts");
    let whole = files["charts/support.chart"].clone();
    let mut found = 0;
    for end in (0..whole.len()).step_by(211) {
        let end = whole.floor_char_boundary(end);
        files.insert("charts/support.chart".into(), whole[..end].to_owned());
        let names = ["charts/support.chart".to_owned()];
        let done = chartc_compiler::compile::check_indexed(&names, &Memory(files.clone()), 0);
        lenses(&done, first(&done));
        actions(&done, Span::new(first(&done), 0, end));
        found += hints(&done, first(&done), 0..end + 9, &HintKind::ALL).len();
    }
    assert!(found > 20, "{found} hints");
}
