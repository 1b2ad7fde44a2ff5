//! Imports: what is seen, and what is wrong with them.

use super::{annotated, shown};
use chartc::Compilation;
use chartc::load::Memory;

/// Checks the first of several files.
fn check(files: &[(&str, &str)]) -> Compilation {
    let memory =
        Memory(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect());
    chartc::check(&[files[0].0.to_owned()], &memory)
}

#[test]
fn declarations_of_imported_files_are_seen_through() {
    let compilation = check(&[
        (
            "main.chart",
            "import \"host.chart\"\nchart A { initial a  var p: Post? = none  state a { on turn if score(p) > 0.5 -> a } }",
        ),
        (
            "host.chart",
            "import \"types.chart\"\nfn score(post: Post?) -> Float\nchart Other { initial x state x }",
        ),
        ("types.chart", "type Post { text: Text }"),
    ]);
    assert_eq!(compilation.diagnostics.len(), 0, "{}", annotated(&compilation));
    let names: Vec<_> = compilation.lowered.iter().map(|l| l.chart.name.as_str()).collect();
    assert_eq!(names, ["A"], "charts of imported files were not asked for");
    assert_eq!(compilation.files.len(), 3);
}

#[test]
fn a_file_imported_twice_is_read_once() {
    let compilation = check(&[
        (
            "a.chart",
            "import \"b.chart\"\nimport \"c.chart\"\nchart A { initial x state x { on turn { f() } } }",
        ),
        ("b.chart", "import \"d.chart\""),
        ("c.chart", "import \"d.chart\""),
        ("d.chart", "do f()"),
    ]);
    assert_eq!(compilation.sources.iter().count(), 4);
    assert_eq!(compilation.charts.len(), 1, "{}", annotated(&compilation));
}

#[test]
fn circles_clashes_and_missing_files() {
    shown!(annotated(&check(&[
        (
            "main.chart",
            "import \"b.chart\"\nimport \"gone.chart\"\nimport \"main.chart\"\ndo f()\nchart A { initial x state x }"
        ),
        ("b.chart", "import \"c.chart\"\ntype T { a: Nope }"),
        (
            "c.chart",
            "import \"main.chart\"\nimport \"b.chart\"\ndo f()\nchart B { this is never lowered }"
        ),
    ])));
}

#[test]
fn a_file_that_was_asked_for_and_is_not_there() {
    let compilation = chartc::check(&["nowhere.chart".to_owned()], &Memory::default());
    let messages: Vec<_> = compilation.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["`nowhere.chart` cannot be read: there is no such file"]);
}

#[test]
fn a_file_without_charts_is_checked_too() {
    shown!(annotated(&check(&[(
        "types.chart",
        "type A { b: Bee }\nfn f(a: A) -> Int else \"x\"\nclient c { temperature 1 }\ncomponent k into step \"\"\"x\"\"\"",
    )])));
}

#[test]
fn components_shared_by_charts() {
    shown!(annotated(&check(&[(
        "two.chart",
        "component both into think, plan \"\"\"{x}\"\"\"\ncomponent lost into thinkk \"\"\"x\"\"\"\nchart A { var x: Int = 1 initial a state a { llm think { prompt \"a\" } } }\nchart B { initial b state b { llm plan { prompt \"b\" } } }",
    )])));
}
