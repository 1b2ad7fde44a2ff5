//! What can be folded.

use crate::desk::{FIRST, alone, broken, charts, shipped};
use chartc::Compilation;
use chartc::ide::folds::{FoldKind, folds};

/// The kind, the first and the last line of each fold.
fn lines(done: &Compilation) -> Vec<(FoldKind, usize, usize)> {
    let source = done.sources.get(FIRST);
    let line = |at: u32| source.line_of(at);
    folds(done, FIRST).iter().map(|f| (f.kind, line(f.span.start), line(f.span.end - 1))).collect()
}

#[test]
fn blocks_comments_imports_and_texts() {
    let text = "import \"a.chart\"\nimport \"b.chart\"\n\n/// One\n/// two.\nchart A {\n  state a { on b -> c }\n  state d {\n    llm s {\n      prompt \"\"\"\n        x\n        \"\"\"\n    }\n  }\n  var l: List(Int) = [\n    1,\n    2,\n  ]\n}\n";
    use chartc::ide::folds::FoldKind::{Comment, Imports, Region};
    assert_eq!(
        lines(&alone("x.chart", text)),
        [
            (Imports, 1, 2),
            (Comment, 4, 5),
            (Region, 6, 19),
            (Region, 8, 14),
            (Region, 9, 13),
            (Region, 10, 12),
            (Region, 15, 18),
        ]
    );
}

#[test]
fn a_missing_brace_costs_one_fold() {
    let text = "chart A {\n  state a {\n    on b -> c {\n    x = [\n      1,\n    ]\n  }\n  state d {\n  }\n}\n";
    let found = lines(&alone("x.chart", text));
    assert!(found.contains(&(FoldKind::Region, 4, 6)), "{found:?}");
    assert!(found.contains(&(FoldKind::Region, 8, 9)), "{found:?}");
}

#[test]
fn yaml_folds_by_its_indentation() {
    let text = "# An\n# agent\nid: a\nworkflow:\n  steps:\n  - name: one\n    prompt: |\n      Hello.\n\n      You.\n  - name: two\nvariables:\n  x: 1\n";
    use chartc::ide::folds::FoldKind::{Comment, Region};
    assert_eq!(
        lines(&alone("agent.yaml", text)),
        [
            (Comment, 1, 2),
            (Region, 4, 11),
            (Region, 5, 11),
            (Region, 6, 10),
            (Region, 7, 10),
            (Region, 12, 13),
        ]
    );
}

#[test]
fn xml_folds_by_its_elements() {
    let text = "<scxml>\n  <!-- one\n  two -->\n  <state id=\"a>b\">\n    <transition\n      event=\"e\"/>\n    <onentry>\n  </state>\n</scxml>\n";
    use chartc::ide::folds::FoldKind::{Comment, Region};
    assert_eq!(
        lines(&alone("a.scxml", text)),
        [(Region, 1, 9), (Comment, 2, 3), (Region, 4, 8), (Region, 5, 6)]
    );
}

#[test]
fn folds_lie_in_their_file_and_in_each_other() {
    let all = [charts(), shipped("charts", ".scxml"), shipped("charts", "agent.yaml")].concat();
    let mut many = 0;
    for (seed, (name, text)) in all.iter().enumerate() {
        for text in broken(text, seed as u64 + 1).iter().take(6).chain([text]) {
            let done = alone(name, text);
            let found = folds(&done, FIRST);
            many += found.len();
            for fold in &found {
                assert!(fold.span.start < fold.span.end && fold.span.end as usize <= text.len());
                assert!(text.is_char_boundary(fold.span.start as usize), "{name}");
                assert!(text.is_char_boundary(fold.span.end as usize), "{name}");
            }
        }
    }
    assert!(many > 1000, "{many}");
}
