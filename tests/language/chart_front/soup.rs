//! Pieces of charts in any order: nothing panics, every span lies in the text, and what reads without a fault prints stably.

use super::parse;
use chartc::source::Source;
use chartc_compiler::syntax::print::print;
use proptest::prelude::*;

const PIECES: &[&str] = &[
    "chart C {",
    "chart",
    "state a {",
    "state a",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "on e",
    "on e(x) -> a",
    "-> a",
    "->",
    "if x",
    "x",
    "=",
    "==",
    "x = 1",
    "\"t {x}\"",
    "\"",
    "\"\"\"",
    "\"\"\"a {x:.2f}\n b\"\"\"",
    "`q`",
    "`",
    "//",
    "// c",
    "/// d",
    "\n",
    "\n\n",
    " ",
    "when x > 1 -> a",
    "after 3s",
    "each after 2 turns -> a",
    "may m(x: Int) \"t\" -> a",
    "may call s into v",
    "llm l {",
    "prompt \"p\"",
    "done if x -> a",
    "ask q on turn else stay",
    "code c {",
    "if x { x = 1 } else if y { } else { }",
    "for x in xs {",
    "from * except a {",
    "from a | b {",
    "enter {",
    "f(x)",
    "raise e(1)",
    "send e after 1s as i",
    "send e to c[x + 1] after 1s",
    "cancel i",
    "log \"l\"",
    "var v: Int = 1",
    "param p: Float in 0.0..1.0",
    "event e(x: Int)",
    "type T {",
    "x: Int",
    "enum E { a b }",
    "tool a.b(x: Int) -> Json",
    "tools s = a | b - c.*",
    "client c {",
    "model \"m\"",
    "component c into a, b if x at start \"t\"",
    "check reaches(a)",
    "check never(a before b)",
    "defaults { retry 3 then skip }",
    "limits { calls 1 per turn }",
    "trace all",
    "meta { a: 1 }",
    "test \"t\" for C {",
    "import \"f\"",
    "final f(x: Int) : ok",
    "history h deep -> a",
    "parallel p {",
    "initial a",
    "allow * -> a",
    "advice \"a\"",
    "not",
    "-",
    "**",
    "??",
    "div",
    "1.5",
    "99999999999999999999",
    "3s",
    "none",
    "in",
    "in(a.b)",
    "[x for x in y if z]",
    "{\"k\": 1}",
    "P { a: 1 }",
    ",",
    ":",
    "?",
    "|",
    "..",
    ".",
    "*",
    "é",
    "\u{0}",
    "\\",
    "\r\n",
    "#",
    "'",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(PIECES);
    let glue = proptest::sample::select(&[" ", " ", "\n", ""][..]);
    proptest::collection::vec((piece, glue), 0..40).prop_map(|all| {
        let inner: String = all.into_iter().flat_map(|(piece, glue)| [piece, glue]).collect();
        format!("chart C {{\n{inner}")
    })
}

/// Every span in the debug form of a tree.
fn spans(tree: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    tree.split("Span { file: FileId(0), start: ").skip(1).filter_map(|rest| {
        let (start, rest) = rest.split_once(", end: ")?;
        let (end, _) = rest.split_once(' ')?;
        Some((start.parse().ok()?, end.parse().ok()?))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces(text in soup()) {
        let (file, found) = parse(&text);
        let source = Source::new("a.chart", text.as_str());
        let all = format!("{file:?} {found:?}");
        for (start, end) in spans(&all) {
            prop_assert!(start <= end && source.text.get(start..end).is_some(), "{start}..{end} of\n{text}");
        }
        if found.is_empty() {
            let printed = print(&file);
            let (again, found) = parse(&printed);
            prop_assert!(found.is_empty(), "{:?} in\n{printed}", found.first().map(|d| &d.message));
            prop_assert_eq!(print(&again), printed);
        }
    }
}
