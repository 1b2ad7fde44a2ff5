//! What the compiler's parser reads, this one reads, and what it refuses, this one mostly marks.

use crate::{compiles, fault, files, tree};

#[test]
fn all_charts_that_compile_have_no_fault() {
    let charts = files::charts();
    assert!(charts.len() > 150, "only {} charts", charts.len());
    let (mut good, mut faults) = (0, Vec::new());
    for (name, text) in charts.into_iter().chain(files::shared()) {
        if compiles(&text) {
            good += 1;
            faults.extend(fault(&text).map(|fault| format!("{name}:{fault}")));
        }
    }
    assert!(faults.is_empty(), "{} of {good}:\n{}", faults.len(), faults.join("\n"));
}

/// Faults in the grammar, one each. Those that the compiler knows beyond the grammar are no part of it.
const BROKEN: &[&str] = &[
    "chart C { state a { on go => b } }",
    "chart C { state a { on go -> b ",
    "chart C { state a }}",
    "chart C { stat a }",
    "chart c { initial }",
    "chart { }",
    "chart C { on -> a }",
    "chart C { on e -> }",
    "chart C { when -> a }",
    "chart C { after -> a }",
    "chart C { may -> a }",
    "chart C { var x Int }",
    "chart C { var x: }",
    "chart C { var turn: Int }",
    "chart C { event turn }",
    "chart C { pred p = 1 + }",
    "chart C { pred p = (1 }",
    "chart C { pred p = [1 }",
    "chart C { pred p = a b }",
    "chart C { pred p = if a then b }",
    "chart C { pred p = 1 // 2\n + }",
    "chart C { pred p = \"open }",
    "chart C { pred p = \"\"\"open }",
    "chart C { llm s { promt \"x\" } }",
    "chart C { llm s { prompt } }",
    "chart C { llm s { retry then skip } }",
    "chart C { llm s { 4 at time } }",
    "chart C { ask s { } }",
    "chart C { ask s on turn else { } }",
    "chart C { code s }",
    "chart C { code s { x } }",
    "chart C { code s { x == 1 } }",
    "chart C { call s }",
    "chart C { human s { } }",
    "chart C { run s (1) }",
    "chart C { enter { f } }",
    "chart C { enter { raise } }",
    "chart C { enter { cancel } }",
    "chart C { enter { log x } }",
    "chart C { from { } }",
    "chart C { from a { state b } }",
    "chart C { allow a b }",
    "chart C { history h }",
    "chart C { limits { calls } }",
    "chart C { meta { a 1 } }",
    "chart C { defaults { } }",
    "chart C { trace some }",
    "type T { a }",
    "enum E { a: b }",
    "fn f() -> else 1",
    "fn f(a) -> Int",
    "tool t() Int",
    "tools t = ",
    "client c { model }",
    "component c into { }",
    "import x",
    "test for C { }",
    "test \"t\" for C { expect }",
    "test \"t\" for C { answers s }",
    "test \"t\" for C { given x }",
    "state a",
    "x",
    "chart C { pred p = `a\n` }",
];

#[test]
fn what_does_not_compile_is_mostly_marked() {
    let accepted: Vec<_> = BROKEN.iter().filter(|text| compiles(text)).collect();
    assert!(accepted.is_empty(), "these compile: {accepted:#?}");
    let unmarked: Vec<_> = BROKEN.iter().filter(|text| fault(text).is_none()).collect();
    assert!(unmarked.is_empty(), "these have no fault: {unmarked:#?}");
}

#[test]
fn comments_and_docs_are_told_apart() {
    let tree = tree("// a\n/// b\n//// c\n///\nchart C { }");
    let root = tree.root_node();
    let mut cursor = root.walk();
    let kinds: Vec<_> = root.children(&mut cursor).map(|n| n.kind()).collect();
    assert_eq!(kinds, ["comment", "doc_comment", "comment", "doc_comment", "chart"]);
}

/// What the compiler reports where it reads texts, and not where it reads the grammar.
#[test]
fn a_brace_that_opens_nothing_does_no_harm_around_it() {
    let text = "chart C { pred p = \"a { b } c } {{ }} {\" pred q = \"\"\"{\n\"\"\" }";
    assert_eq!(fault(text), None);
    let tree = tree(text);
    let kinds: Vec<_> = crate::nodes(&tree).iter().map(tree_sitter::Node::kind).collect();
    assert_eq!(kinds.iter().filter(|k| **k == "stray_brace").count(), 3);
    assert_eq!(kinds.iter().filter(|k| **k == "interpolation").count(), 1);
    assert_eq!(kinds.iter().filter(|k| **k == "brace_escape").count(), 2);
}

/// Texts in placeholders of texts: their quotes are escaped once more for each line text around them.
#[test]
fn texts_nest() {
    for (text, strings) in [
        (r#""a {f(\"b\")} c""#, 2),
        (r#""a {f(\"b {g(\\\"c\\\")}\")} d""#, 3),
        (r#""a {f(\"\\n\\\\\")} d""#, 2),
        (r#""""a {f("b {g(\"c\")}")} d""""#, 3),
        (r#""""a {x ?? "}"} {y ?? "{"} "q" d""""#, 3),
        (r#""a {m[\"{k}\"]:>3}""#, 2),
    ] {
        let chart = format!("chart C {{ pred p = {text} }}");
        assert!(compiles(&chart), "{chart}: {:?}", crate::compiler(&chart));
        assert_eq!(fault(&chart), None, "{chart}");
        let tree = tree(&chart);
        let found = crate::nodes(&tree).iter().filter(|n| n.kind() == "string").count();
        assert_eq!(found, strings, "{chart}\n{}", tree.root_node().to_sexp());
    }
}
