//! Generated Rust as text, what it refuses, and what build scripts are told.

use chartc::build::generate;
use chartc::load::Loader;
use std::collections::BTreeMap;

/// Sources in memory.
struct Memory(BTreeMap<&'static str, &'static str>);

impl Loader for Memory {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).map(|text| (*text).to_owned()).ok_or_else(|| "no such file".to_owned())
    }

    fn resolve(&self, _: &str, name: &str) -> String {
        name.to_owned()
    }
}

fn build(files: &[(&'static str, &'static str)]) -> chartc::build::Generated {
    generate(files[0].0, &Memory(files.iter().copied().collect()))
}

/// The code of one chart, or the errors.
fn code(text: &'static str) -> Result<String, String> {
    build(&[("a.chart", text)]).code
}

#[test]
fn the_builder() {
    let code = code(include_str!("../../charts/builder.chart")).expect("it has no errors");
    insta::assert_snapshot!(code);
}

#[test]
fn a_chart_that_needs_no_allocator() {
    let text = include_str!("../generated/charts/lamp.chart");
    insta::assert_snapshot!(code(text).expect("it has no errors"));
}

/// What the head of the generated file says of the shape.
fn shape(text: &'static str) -> String {
    let code = code(text).expect("it has no errors");
    let line = code.lines().find_map(|line| line.strip_prefix("// Shape: "));
    line.expect("the head says it").to_owned()
}

#[test]
fn the_shape_follows_the_chart() {
    let benchmarks = [
        include_str!("../../benches/charts/ring.chart"),
        include_str!("../../benches/charts/hierarchy.chart"),
        include_str!("../../benches/charts/parallel.chart"),
        include_str!("../../benches/charts/table.chart"),
    ];
    insta::assert_snapshot!(benchmarks.map(shape).join("\n"));
    let guarded = "chart A { event go  initial m  parallel m {
        state a { initial x  state x { on go -> y }  state y { on go -> z }  state z {} }
        state b { initial x  state x { on go -> y }  state y { on go if 1 < 2 -> x } }
    } }";
    insta::assert_snapshot!(shape(guarded), @"bit sets with the shared step, because there are parallel states and guards.");
}

#[test]
fn regions_of_many_configurations_share_the_step() {
    let region = |n: usize| {
        format!(
            "state r{n} {{ initial a state a {{ on e{n} -> b }} state b {{ on e{n} -> c }} state c {{ on e{n} -> a }} }}\n"
        )
    };
    let chart = |regions: usize| -> &'static str {
        let all: String = (0..regions).map(region).collect();
        let events: String = (0..regions).map(|n| format!("event e{n}\n")).collect();
        format!("chart A {{ {events} initial m parallel m {{ {all} }} }}").leak()
    };
    insta::assert_snapshot!([2, 4, 5, 6].map(|regions| shape(chart(regions))).join("\n"));
}

#[test]
fn names_that_become_one() {
    let found = code(
        "chart A {\n  var goal: Int = 0\n  var `Goal`: Int = 1\n  event go\n  initial a_b\n  \
         state a_b { on go -> a.b }\n  state a { initial b  state b { on go -> a_b } }\n}\n",
    );
    insta::assert_snapshot!(found.expect_err("names clash"), @r"
    a.chart:3:7: error[C0502] variables `goal` and `Goal` are both `goal` in Rust
      help: rename one of the two
    ");
}

#[test]
fn states_that_become_one_are_numbered() {
    let code = code(
        "chart A {\n  event go\n  initial a_b\n  state a_b { on go -> a.b }\n  \
         state a { initial b  state b { on go -> `A` } }\n  state `A` { on go -> a_b2 }\n  final a_b2\n}\n",
    );
    let code = code.expect("only a warning");
    for (path, variant) in [("a_b", "AB"), ("a", "A"), ("a.b", "AB3"), ("A", "A2"), ("a_b2", "AB2")]
    {
        assert!(
            code.contains(&format!("/// `{path}`.\n    {variant} = ")),
            "{path} as {variant}:\n{code}"
        );
    }
}

#[test]
fn clashing_names_are_told_once() {
    let text = "chart A {\n  var goal: Int = 0\n  var `Goal`: Int = 1\n  initial a\n  state a { on turn { goal = `Goal` } }\n}\n";
    let made = build(&[("a.chart", text)]);
    assert!(made.code.is_err_and(|errors| errors.matches("C0502").count() == 1));
    assert!(made.warnings.is_empty(), "{:?}", made.warnings);
}

#[test]
fn options_of_one_name_are_told_apart_by_their_states() {
    let code = code(
        "chart A {\n  initial a\n  ask which on turn else stay { prompt \"{options}\" }\n  \
         state a { may go \"on\" -> b  may stop \"it\" -> c }\n  state b { may go \"back\" -> a }\n  \
         final c\n}\n",
    );
    let code = code.expect("it has no errors");
    for variant in ["AGo = 0", "Stop = 1", "BGo = 2"] {
        assert!(code.contains(variant), "{variant}");
    }
}

#[test]
fn what_does_not_run_is_not_generated() {
    let found = code(
        "chart A {\n  initial a\n  state a { llm ask { prompt \"x\" } -> b  on error.stuck.loop -> b }\n  final b\n}\n",
    );
    let found = found.expect_err("nothing raises the error");
    assert!(
        found.starts_with("a.chart:3:45: error[C0501] nothing raises `error.stuck.loop` yet"),
        "{found}"
    );
}

#[test]
fn what_chartc_finds_is_told_with_its_place() {
    let made =
        build(&[("a.chart", "chart A {\n  event go\n  initial a\n  state a { on goo -> a }\n}\n")]);
    insta::assert_snapshot!(made.code.expect_err("the event is unknown"), @r"
    a.chart:4:16: error[C0102] no event `goo`
      help: did you mean `go`?
    ");
}

#[test]
fn behaviour_never_stands_in_the_way() {
    let made = build(&[(
        "a.chart",
        "chart A {\n  event go\n  initial a\n  state a { on go -> a }\n  state b\n}\n",
    )]);
    assert!(made.code.is_ok());
    let [first, ..] = made.warnings.as_slice() else { panic!("a warning about `b`") };
    assert!(first.starts_with("a.chart:5:9: warning[C0203] `b` can never be entered"), "{first}");
    assert!(made.warnings.iter().all(|w| !w.contains('\n')));
}

#[test]
fn imports_are_files_that_count() {
    let made = build(&[
        (
            "a.chart",
            "import \"types.chart\"\nchart A {\n  var p: Pair = Pair { a: 1 }\n  initial x\n  state x\n}\n",
        ),
        ("types.chart", "type Pair { a: Int }\n"),
    ]);
    assert_eq!(made.files, ["a.chart", "types.chart"]);
    assert!(made.code.expect("it has no errors").contains("pub struct Pair"));
}

#[test]
fn several_charts_are_modules() {
    let made = build(&[(
        "two.chart",
        "chart First { initial a  state a }\nchart SecondOne { initial a  state a }\n",
    )]);
    let code = made.code.expect("it has no errors");
    assert!(
        code.contains("\npub mod first {\n")
            || code.starts_with("/// The chart `First`.\npub mod first {")
    );
    assert!(code.contains("pub mod second_one {"));
}

#[test]
fn a_file_without_a_chart() {
    let found = code("type P { a: Int }\n").expect_err("there is nothing to generate");
    assert_eq!(found, "a.chart: there is no chart in it\n");
    let unreadable = build(&[("a.chart", "")]);
    assert!(unreadable.code.is_err());
}
