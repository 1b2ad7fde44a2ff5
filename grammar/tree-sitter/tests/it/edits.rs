//! Texts being typed: a tree that was changed with its text equals one that was read anew.

use crate::{files, nodes, parser};
use proptest::prelude::*;
use tree_sitter::{InputEdit, Node, Point, Tree};

/// What may be typed.
const TYPED: &[&str] = &[
    "",
    " ",
    "\n",
    "\"",
    "\"\"\"",
    "{",
    "}",
    "{{",
    "(",
    ")",
    "`",
    "//",
    "/// d\n",
    "\\",
    "x",
    "turn",
    "state a",
    "on e",
    "-> a",
    "if x",
    "P { a: 1 }",
    "= 1",
    "{x:.2f}",
    "\\\"",
    "prompt \"a {b}\"",
    "é",
    ",",
    ".",
    "*",
    "1.5",
    "30s",
    "\u{feff}",
];

fn point(text: &str, byte: usize) -> Point {
    let row = text[..byte].matches('\n').count();
    let line = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    Point::new(row, byte - line)
}

/// The place that is so far into the text, of 1000.
fn place(text: &str, share: usize) -> usize {
    let mut at = text.len() * share / 1000;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn told(node: Node<'_>) -> (&str, std::ops::Range<usize>, bool) {
    (node.kind(), node.byte_range(), node.is_missing())
}

fn same(changed: &Tree, anew: &Tree) -> Result<(), String> {
    let (changed, anew) = (nodes(changed), nodes(anew));
    for (a, b) in changed.iter().zip(&anew) {
        if told(*a) != told(*b) {
            return Err(format!("{:?} instead of {:?}", told(*a), told(*b)));
        }
    }
    if changed.len() == anew.len() { Ok(()) } else { Err("one has more nodes".to_owned()) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_lead_to_the_tree_of_the_new_text(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((0..=1000_usize, 0..12_usize, prop::sample::select(TYPED)), 1..8),
    ) {
        let charts = files::some();
        let mut text = charts[which.index(charts.len())].clone();
        let mut parser = parser();
        let mut tree = parser.parse(&text, None).expect("nothing stops it");
        for (share, length, typed) in edits {
            let start = place(&text, share);
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let old = point(&text, end);
            let from = point(&text, start);
            text.replace_range(start..end, typed);
            tree.edit(&InputEdit {
                start_byte: start,
                old_end_byte: end,
                new_end_byte: start + typed.len(),
                start_position: from,
                old_end_position: old,
                new_end_position: point(&text, start + typed.len()),
            });
            tree = parser.parse(&text, Some(&tree)).expect("nothing stops it");
            let anew = parser.parse(&text, None).expect("nothing stops it");
            // With faults around, tree-sitter may keep another reading of them; without, there is but one.
            if !anew.root_node().has_error()
                && let Err(why) = same(&tree, &anew)
            {
                return Err(TestCaseError::fail(format!("{why}\n{text}")));
            }
            prop_assert_eq!(tree.root_node().end_byte(), anew.root_node().end_byte());
        }
    }

    /// Nothing hangs or crashes, whatever the bytes.
    #[test]
    fn any_text_is_read(text in "(\\PC|[\\n\"{}`\\\\:/]){0,200}") {
        let tree = parser().parse(&text, None).expect("nothing stops it");
        prop_assert!(tree.root_node().end_byte() <= text.len());
    }
}

/// Each took seconds where a text was searched again for each of its braces.
#[test]
fn hostile_texts_take_no_time_to_speak_of() {
    for text in [
        format!("chart C {{ advice \"{}\" }}", "{".repeat(50_000)),
        format!("chart C {{ advice \"\"\"{}\"\"\" }}", "{a".repeat(20_000)),
        format!("chart C {{ advice \"{}\" }}", "\\".repeat(50_000)),
        format!("chart C {{ pred p = {}1 }}", "(".repeat(20_000)),
        format!("chart C {{ pred p = {} }}", "P {".repeat(20_000)),
        format!("chart C {{ pred p = {}1 }}", "\"{".repeat(20_000)),
        "state a {".repeat(20_000),
    ] {
        let tree = parser().parse(&text, None).expect("nothing stops it");
        assert!(tree.root_node().end_byte() <= text.len());
    }
}
