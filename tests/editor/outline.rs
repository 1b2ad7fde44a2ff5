//! Outlines of files, and the search for symbols.

use crate::desk::{FIRST, alone, broken, charts, compiled, shipped};
use chartc::ide::outline::{Symbol, SymbolKind, outline, search};

fn listing(symbols: &[Symbol], depth: usize, out: &mut String) {
    for symbol in symbols {
        let indent = "  ".repeat(depth);
        out.push_str(&format!("{indent}{:?} {} {}", symbol.kind, symbol.name, symbol.detail));
        out.truncate(out.trim_end().len());
        out.push('\n');
        listing(&symbol.children, depth + 1, out);
    }
}

fn shown(name: &str) -> String {
    let text = text_of(name);
    let mut out = String::new();
    listing(&outline(&compiled(name, &text), FIRST), 0, &mut out);
    out
}

fn text_of(name: &str) -> String {
    let all = [shipped("charts", ""), shipped("examples", "")].concat();
    all.into_iter().find(|(known, _)| known == name).expect("a shipped file").1
}

#[test]
fn a_chart() {
    let tree = shown("charts/support.chart");
    insta::assert_snapshot!(tree);
}

#[test]
fn an_agent() {
    let tree = shown("charts/builder.agent.yaml");
    insta::assert_snapshot!(tree);
}

#[test]
fn a_document() {
    let tree = shown("charts/orders.scxml");
    insta::assert_snapshot!(tree);
}

fn check(symbols: &[Symbol], text: &str) {
    for symbol in symbols {
        let (whole, name) = (symbol.whole, symbol.name_span);
        assert!(whole.start <= name.start && name.end <= whole.end, "{symbol:?}");
        assert!(whole.end as usize <= text.len(), "{symbol:?}");
        for child in &symbol.children {
            assert!(whole.start <= child.whole.start && child.whole.end <= whole.end, "{symbol:?}");
        }
        check(&symbol.children, text);
    }
}

#[test]
fn symbols_contain_their_names_and_children_in_broken_files_too() {
    let all = [charts(), shipped("charts", ".scxml"), shipped("charts", "agent.yaml")].concat();
    for (seed, (name, text)) in all.iter().enumerate() {
        for text in broken(text, seed as u64 + 3).iter().take(4).chain([text]) {
            let done = alone(name, text);
            check(&outline(&done, FIRST), text);
        }
    }
}

#[test]
fn symbols_are_found_by_their_letters() {
    let text = "chart Door {\n  event open\n  initial shut\n  state shut { on open -> opened }\n  state opened\n}\n";
    let done = alone("a.chart", text);
    let found: Vec<_> =
        search(&done, "OPE").into_iter().map(|f| (f.symbol.name, f.container)).collect();
    assert_eq!(
        found,
        [("open".to_owned(), "Door".to_owned()), ("opened".to_owned(), "Door".to_owned())]
    );
    assert_eq!(search(&done, "opd")[0].symbol.name, "opened");
    assert_eq!(search(&done, "open")[0].symbol.kind, SymbolKind::Event);
    assert!(search(&done, "xyz").is_empty());
}
