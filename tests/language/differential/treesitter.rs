//! The grammar for tree-sitter has no fault in random charts, nor in what agents are printed as.

use super::spec::kin;
use super::{render, runner};
use chartc::load::Memory;
use chartc::source::Source;
use chartc::span::FileId;
use chartc_compiler::front;
use chartc_compiler::syntax::print::print;
use proptest::test_runner::TestCaseError;
use test_support::project::{cases, corpus};
use tree_sitter::{Parser, Tree};

fn tree(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_chart::LANGUAGE.into()).expect("the language fits");
    parser.parse(text, None).expect("nothing stops it")
}

fn has_fault(text: &str) -> bool {
    tree(text).root_node().has_error()
}

/// A text as the formatter writes it; `None` where it cannot be read.
fn printed(name: &str, text: &str) -> Option<String> {
    let mut found = Vec::new();
    let file = front::parse(FileId(0), &Source::new(name, text), &mut found);
    found.is_empty().then(|| print(&file))
}

fn has_stray_braces(text: &str) -> bool {
    let done = chartc::check(&["r.chart".to_owned()], &Memory::of("r.chart", text));
    done.diagnostics.iter().any(|d| d.rule.code == chartc_compiler::rules::UNESCAPED_BRACE.code)
}

#[test]
fn random_charts_are_read() {
    let result = runner(cases(300)).run(&kin(), |specs| {
        let text = render::family(&specs.iter().collect::<Vec<_>>());
        let again = printed("r.chart", &text).unwrap_or_default();
        for text in [text, again] {
            if has_fault(&text) {
                return Err(TestCaseError::fail(text));
            }
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.map_or_else(|e| e.to_string(), |()| String::new()));
    assert!(has_fault("chart R { state }"));
}

#[test]
fn agents_are_read_as_they_are_printed() {
    let mut seen = 0;
    for (name, text) in corpus() {
        // What was no placeholder in an agent is marked so that it is a fault in a chart.
        let again = printed(&name, &text).filter(|text| !has_stray_braces(text));
        if let Some(text) = again {
            seen += 1;
            assert!(!has_fault(&text), "{name}:\n{text}");
        }
    }
    assert!(seen > 200, "only {seen} files");
}
