//! What a check makes of several charts and files.

use chartc::Compilation;
use chartc::load::Memory;
use std::collections::BTreeMap;

fn check(files: &[(&str, &str)]) -> Compilation {
    let texts: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    chartc::check(&[files[0].0.to_owned()], &Memory(texts))
}

/// Names of the charts without errors.
fn sound(done: &Compilation) -> Vec<&str> {
    done.charts.iter().map(|c| c.chart().name.as_str()).collect()
}

fn codes(done: &Compilation) -> Vec<&str> {
    done.diagnostics.iter().map(|d| d.rule.code).collect()
}

const GOOD: &str = "chart Good { initial a  state a { on turn -> b }  final b }\n";
const BAD: &str = "chart Bad { initial a  state a { on turn -> c }  final b }\n";

#[test]
fn fault_of_one_chart_leaves_the_others() {
    let done = check(&[("a.chart", &format!("{GOOD}{BAD}chart Third {{ initial a  final a }}\n"))]);
    assert_eq!(sound(&done), ["Good", "Third"]);
    assert_eq!(codes(&done), ["C0102"]);
}

#[test]
fn fault_beside_the_charts_is_of_all() {
    let done = check(&[("a.chart", &format!("{GOOD}type T {{ a: Nothing }}\n{GOOD}"))]);
    assert!(sound(&done).is_empty());
}

#[test]
fn fault_of_an_import_is_of_the_importer_unless_it_is_in_a_chart() {
    let main = format!("import \"b.chart\"\n{GOOD}");
    let done = check(&[("a.chart", &main), ("b.chart", "type T { a: Nothing }\n")]);
    assert!(sound(&done).is_empty());
    let unclosed = "chart Open { initial a  state a {\n";
    let done = check(&[("a.chart", &main), ("b.chart", unclosed)]);
    assert!(sound(&done).is_empty(), "it is not known where the chart ends");
}

#[test]
fn fault_of_a_declaration_or_an_empty_file_leaves_the_chart() {
    let twice = check(&[("a.chart", &format!("{GOOD}{GOOD}"))]);
    assert_eq!(sound(&twice), ["Good"]);
    let importing = format!("import \"b.chart\"\n{GOOD}");
    let done = check(&[("a.chart", &importing), ("b.chart", "// nothing yet\n")]);
    assert_eq!(sound(&done), ["Good"]);
}

#[test]
fn standard_input_without_anything() {
    assert_eq!(codes(&check(&[("<stdin>", " \n")])), ["C0007"]);
}
