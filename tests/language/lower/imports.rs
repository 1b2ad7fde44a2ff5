//! Imports: what is seen, and what is wrong with them.

use chartc::Compilation;
use chartc::load::Memory;
use chartc::report::short;

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
    assert_eq!(
        compilation.diagnostics.len(),
        0,
        "{}",
        short(&compilation.diagnostics, &compilation.sources)
    );
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
    assert_eq!(
        compilation.charts.len(),
        1,
        "{}",
        short(&compilation.diagnostics, &compilation.sources)
    );
}

#[test]
fn a_file_that_was_asked_for_and_is_not_there() {
    let compilation = chartc::check(&["nowhere.chart".to_owned()], &Memory::default());
    let messages: Vec<_> = compilation.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["`nowhere.chart` cannot be read: there is no such file"]);
}
