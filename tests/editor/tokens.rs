//! The kinds of words.

use crate::desk::{FIRST, alone, broken, charts, compiled, shipped};
use chartc::Compilation;
use chartc::ide::tokens::{TokenKind, tokens};
use chartc_compiler::front::chart::scan;
use proptest::prelude::*;

fn told(done: &Compilation) -> Vec<String> {
    let source = done.sources.get(FIRST);
    tokens(done, FIRST)
        .iter()
        .map(|token| {
            let mut out = format!("{:?} {}", token.kind, source.slice(token.span));
            let modifiers = token.modifiers;
            for (is, word) in [
                (modifiers.declaration, " declaration"),
                (modifiers.readonly, " readonly"),
                (modifiers.deprecated, " deprecated"),
            ] {
                out.push_str(if is { word } else { "" });
            }
            out
        })
        .collect()
}

#[test]
fn words_have_their_kinds() {
    let text = r#"enum K { x y }
tool web.read(url: Text) -> Text
chart A {
  param n: Int = 3
  var k renamed_from old: K = K.x
  event go(by: Text)
  state `a b` {
    on go(who) if n > 2 -> b.c { k = K.y  log "{who:>3} {{}} {turns}" }
    on limit.warn.calls { }
  }
}
"#;
    let words = told(&alone("a.chart", text)).join("\n");
    insta::assert_snapshot!(words);
}

#[test]
fn a_shipped_chart() {
    let (name, text) =
        charts().into_iter().find(|(n, _)| n == "charts/price_oracle.chart").expect("a chart");
    let words = told(&compiled(&name, &text)).join("\n");
    insta::assert_snapshot!(words);
}

#[test]
fn names_of_an_agent() {
    let (name, text) = shipped("charts", ".agent.yaml").swap_remove(0);
    let found = told(&compiled(&name, &text));
    assert!(found.len() > 50, "{found:#?}");
    assert!(
        found.iter().any(|t| t.starts_with("State ") && t.ends_with(" declaration")),
        "{found:#?}"
    );
    assert!(found.iter().any(|t| t == "Brace {"), "{found:#?}");
}

#[test]
fn tokens_are_in_order_and_on_one_line() {
    let all = [charts(), shipped("charts", ".scxml"), shipped("charts", "agent.yaml")].concat();
    let mut many = 0;
    for (seed, (name, text)) in all.iter().enumerate() {
        for text in broken(text, seed as u64 + 7).iter().take(6).chain([text]) {
            let done = alone(name, text);
            let mut end = 0;
            for token in tokens(&done, FIRST) {
                many += 1;
                let written = text.get(token.span.start as usize..token.span.end as usize);
                let written = written.expect("whole characters");
                assert!(token.span.start >= end && !written.is_empty(), "{name}: {token:?}");
                assert!(!written.contains(['\n', '\r']), "{name}: {written:?}");
                end = token.span.end;
            }
        }
    }
    assert!(many > 10_000, "{many}");
}

/// Every byte that is no blank belongs to exactly one token.
fn covers(text: &str) {
    let mut at = 0;
    for token in scan::tokens(text) {
        assert!(token.start >= at && token.end > token.start, "{text:?}: {token:?}");
        blank(&text[at..token.start], text);
        assert!(text.is_char_boundary(token.end), "{text:?}: {token:?}");
        at = token.end;
    }
    blank(&text[at..], text);
}

fn blank(part: &str, text: &str) {
    let is_blank = |c: char| matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{feff}');
    assert!(part.chars().all(is_blank), "{part:?} of {text:?}");
}

#[test]
fn every_byte_of_shipped_charts_and_broken_ones_has_a_token() {
    for (seed, (_, text)) in charts().iter().enumerate() {
        for text in broken(text, seed as u64).iter().chain([text]) {
            covers(text);
        }
    }
}

proptest! {
    #[test]
    fn every_byte_of_any_text_has_a_token(text in "\\PC{0,40}", parts in prop::collection::vec("[\"`\\\\{}()/ \\n\\ra-z0-9.\\-=é]{0,6}", 0..8)) {
        covers(&text);
        covers(&parts.concat());
    }

    #[test]
    fn any_text_has_tokens(parts in prop::collection::vec("[\"`\\\\{}() \\nA-Za-z0-9.:=é]{0,8}|chart A |state |on |-> ", 0..12)) {
        let done = alone("a.chart", &parts.concat());
        let kinds: Vec<TokenKind> = tokens(&done, FIRST).iter().map(|token| token.kind).collect();
        prop_assert!(kinds.len() <= parts.concat().len());
    }
}
