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

#[test]
fn generated_code_holds_what_the_chart_says() {
    for (name, text, most) in [
        ("builder", include_str!("../../charts/builder.chart"), 500),
        ("social", include_str!("../../charts/social.chart"), 780),
        ("nightlight", include_str!("../generated/charts/nightlight.chart"), 240),
    ] {
        let lines = code(text).expect("it has no errors").lines().count();
        assert!(lines <= most, "{name}: {lines} lines");
    }
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
        include_str!("../bench/charts/ring.chart"),
        include_str!("../bench/charts/hierarchy.chart"),
        include_str!("../bench/charts/parallel.chart"),
        include_str!("../bench/charts/table.chart"),
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
        let row = code.lines().find(|line| line.ends_with(&format!(", {path:?}),")));
        let is_named = |row: &str| row.trim_start().starts_with(&format!("{variant} = ("));
        assert!(row.is_some_and(is_named), "{path} as {variant}:\n{code}");
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
    for variant in ["AGo = (0,", "Stop = (1,", "BGo = (2,"] {
        assert!(code.contains(variant), "{variant}");
    }
}

#[test]
fn what_does_not_run_is_not_generated() {
    let found = code(
        "tool f() -> Text\nchart A {\n  var xs: List(Text) = [\"x\"]\n  initial a\n  state a { llm ask each x in xs { prompt \"{x}\"  tools f  returns Text } -> b }\n  final b\n}\n",
    );
    let found = found.expect_err("its model cannot call tools");
    assert!(
        found.contains("error[C0501] the model of a step with `each` cannot call tools yet"),
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

fn made_of(text: &str) -> Result<String, String> {
    generate("a.chart", &chartc::load::Memory::of("a.chart", text)).code
}

/// The comments for rustdoc, without their slashes.
fn documented(code: &str) -> Vec<&str> {
    code.lines().filter_map(|line| line.trim_start().strip_prefix("///")).collect()
}

#[test]
fn no_text_of_a_chart_is_code() {
    const EVIL: &str = "pub fn evil() {}";
    for names in ["enum", "event", "state", "final", "option", "step", "variable", "function"] {
        let name = |what: &str| {
            if what == names {
                format!("`{what}\\n{EVIL}\\n//\\n\\n~~~\\n{EVIL}\\n~~~`")
            } else {
                what.into()
            }
        };
        let [kind, event, state, end, option, step, variable, function] =
            ["enum", "event", "state", "final", "option", "step", "variable", "function"]
                .map(|what| name(what).replace("enum`", "Kind`"));
        let kind = if names == "enum" { kind } else { "Kind".to_owned() };
        let text = format!(
            "enum {kind} {{ aa bb }}\nchart A {{\n  event `{event}`(k: {kind})\n  var {variable}: {kind} = {kind}.aa\n  do {function}(k: {kind})\n  \
             initial `{state}`\n  state `{state}` {{\n    ask `{step}` on turn else stay {{ prompt \"x\" }}\n    may `{option}`(k: {kind}) \"x\" -> `{end}`\n    \
             on `{event}`(k) -> `{end}` {{ {variable} = k {function}(k) }}\n  }}\n  final `{end}`\n}}\n"
        )
        .replace("``", "`");
        let made = made_of(&text);
        // A name that cannot be written may be refused instead.
        let Ok(made) = made else { continue };
        assert!(
            !made.lines().any(|line| line.trim_start().starts_with("pub fn evil")),
            "{names}: {made}"
        );
        assert!(
            !documented(&made).iter().any(|line| line.trim_start().starts_with("~~~")),
            "{names}"
        );
    }
}

#[test]
fn documentation_holds_no_test() {
    let docs = [
        "```rust",
        "panic!();",
        "```",
        "~~~",
        "panic!();",
        "~~~",
        "    panic!();",
        "\tpanic!();",
        "- ```",
        ">     panic!();",
        "-     panic!();",
        "a ` b <script> `` c",
        "see [x](y) and `k < 3`",
    ];
    let lines: String = docs.iter().map(|line| format!("  /// {line}\n")).collect();
    let text = format!("chart A {{\n  initial a\n{lines}  state a\n}}\n");
    let made = made_of(&text).expect("it has no errors");
    let shown = documented(&made);
    for line in &shown {
        let text = line.strip_prefix(' ').unwrap_or(line);
        assert!(
            !text.starts_with("~~~") && !text.contains(">  ") && !text.contains("-  "),
            "{line}"
        );
        assert!(!text.starts_with("```") || text == "```" || text == "```text", "{line}");
    }
    // What is fenced is text; what is indented elsewhere is prose.
    let fences: Vec<_> =
        shown.iter().filter(|line| line.contains("```") && !line.contains('-')).collect();
    assert_eq!(fences, [&" ```text", &" ```"]);
    assert!(
        shown.contains(&" panic!();") && !shown.iter().any(|l| l.starts_with("     ")),
        "{shown:?}"
    );
    // They go on with the item of the list above them.
    assert!(shown.contains(&"   a \\` b \\<script\\> \\`\\` c"), "{shown:?}");
    assert!(shown.contains(&"   see \\[x\\](y) and `k < 3`"), "{shown:?}");
}

/// Characters that turn the writing round, or that nobody sees.
const HIDDEN: &[char] = &[
    '\u{ad}',
    '\u{61c}',
    '\u{180e}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{200e}',
    '\u{200f}',
    '\u{202a}',
    '\u{202b}',
    '\u{202c}',
    '\u{202d}',
    '\u{202e}',
    '\u{2060}',
    '\u{2066}',
    '\u{2067}',
    '\u{2068}',
    '\u{2069}',
    '\u{feff}',
    '\u{e0001}',
];

#[test]
fn a_name_of_any_kind_of_hidden_characters_is_escaped() {
    for hidden in HIDDEN {
        for name in [
            format!("{hidden}ab"),
            format!("a{hidden}b"),
            format!("ab{hidden}"),
            format!("{hidden}"),
        ] {
            let text = format!(
                "/// About {name}.\nenum `K{name}` {{ `v{name}` other }}\nchart `C{name}` {{\n  event `{name}`(`f{name}`: Int)\n  \
                 var `x{name}`: Text = \"{name}\"\n  do `d{name}`(t: Text)\n  initial `{name}`\n  /// In {name}.\n  state `{name}` {{\n    \
                 ask `q{name}` on turn else stay {{ prompt \"{name} {{options}}\" }}\n    may `m{name}` \"t{name}\" -> end\n    \
                 on `{name}` -> end {{ `x{name}` = \"{name}\"  `d{name}`(\"{name}\")  log \"{name}\" }}\n  }}\n  final end\n}}\n"
            );
            let code = made_of(&text).unwrap_or_else(|why| panic!("{:?}: {why}", name));
            let raw = code.chars().find(|c| HIDDEN.contains(c));
            assert_eq!(raw, None, "{name:?}");
            assert!(syn_parses(&code), "{name:?}");
        }
    }
}

/// Whether the code is a sequence of tokens of Rust.
fn syn_parses(code: &str) -> bool {
    code.parse::<proc_macro2::TokenStream>().is_ok()
}

#[test]
fn the_same_code_comes_without_an_allocator_only_where_nothing_allocates() {
    let head = |text: &str| {
        let code = made_of(text).expect("it has no errors");
        code.lines().nth(3).expect("the head has four lines").to_owned()
    };
    let chart = |guard: &str, action: &str| {
        format!(
            "chart A {{ event go(n: Int, o: Int?)  var x: Float = 0.5  initial a  state a {{ on go(n, o) if {guard} -> a {{ {action} }} }} }}"
        )
    };
    for (guard, action) in [
        ("n > 3 and o != none", "x = x + n"),
        ("state == \"a\" and (o ?? 3) in_range", "x = 1"),
        ("min(n, 3) == round(x)", "x = max(x, n)"),
    ] {
        let guard = guard.replace(" in_range", " > 1");
        let head = head(&chart(&guard, action));
        assert!(head.starts_with("// Needs chartc-core without features"), "{guard}: {head}");
    }
    for (guard, action) in [
        ("n in [1, 2]", "x = 1"),
        ("lower(\"{n}\") == \"3\"", "x = 1"),
        ("n > 3", "log \"n\""),
        ("len([i for i in [1] if i > n]) > 0", "x = 1"),
    ] {
        let head = head(&chart(guard, action));
        assert!(head.starts_with("// Needs chartc-core with feature `alloc`"), "{guard}: {head}");
    }
}

#[test]
fn methods_take_what_they_read() {
    let text = |guard: &str| {
        format!(
            "chart A {{ event go  var t: Text = \"view\"  pred unread = t == \"\"  initial a  state a {{ on go if {guard} -> a  after 3s -> a }} }}"
        )
    };
    let guard = |text: &str| {
        let code = made_of(text).expect("it has no errors");
        assert!(!code.contains("fn pred_unread"), "nothing asks for it");
        let (_, rest) = code.split_once("fn guard(").expect("there is a guard");
        rest.split_once(')').map(|(arguments, _)| arguments.contains(" view: ")).expect("it ends")
    };
    assert!(!guard(&text("t == \"view\"")), "a word in a text is no parameter");
    assert!(guard(&text("turns > 3")));
}

/// rustc needs time that grows with the square of the size of a function.
#[test]
fn many_actions_in_a_row_are_compiled_in_parts() {
    let loops: String = (0..120)
        .map(|nth| {
            format!(
                "for x in xs {{ if x > {nth} {{ n = n + x }} }} ys = [x for x in xs if x > {nth}]\n"
            )
        })
        .collect();
    let text = format!(
        "chart A {{\n  var xs: List(Int) = [1]\n  var ys: List(Int) = []\n  var n: Int = 0\n  event go\n  initial a\n  state a {{ on go {{\n{loops}}} }}\n}}\n"
    );
    let made = generate("a.chart", &chartc::load::Memory::of("a.chart", &text));
    let code = made.code.expect("the chart has no errors");
    let parts: Vec<&str> = code.split("(|| -> Result<(), generated::Failure> {").collect();
    assert_eq!(parts.len(), 6, "240 actions in parts of 50");
    for part in parts {
        assert!(part.matches("for item").count() <= 50, "{part}");
    }
}
