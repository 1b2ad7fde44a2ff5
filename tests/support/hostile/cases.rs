//! Input that is meant to hurt. Shared with `tests/bench/`, which measures what these tests bound.

use std::path::Path;

/// Files, and what `chartc check` has to say of them.
pub struct Case {
    /// The situation.
    pub name: &'static str,
    /// What is checked, in the folder of the case.
    pub given: &'static str,
    /// Files by name.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// The exit code.
    pub exit: i32,
    /// What the first line says, among other things; empty where there is none.
    pub says: &'static str,
}

pub(crate) fn case(
    name: &'static str,
    given: &'static str,
    text: impl Into<Vec<u8>>,
    exit: i32,
    says: &'static str,
) -> Case {
    Case { name, given, files: vec![(given, text.into())], exit, says }
}

/// A small sound chart whose one condition, with its `if`, is `guard`.
fn chart(guard: &str) -> String {
    format!(
        "chart A {{\n  event go\n  var x: Int = 0\n  initial a\n  state a {{ on go {guard} -> b {{ x = 1 }} }}\n  final b\n}}\n"
    )
}

/// A small sound agent.
fn agent(prompt: &str) -> String {
    format!("id: a\nworkflow:\n  steps:\n    - name: t\n      type: llm\n      prompt: {prompt}\n")
}

/// `count` items made of their numbers, in a chart with a state `s0` that is the initial one.
fn many(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: String = (0..count).map(item).collect();
    format!("chart A {{\n  event go\n  initial s0\n{items}}}\n")
}

/// Characters that look random and are always the same, about one in twenty a line end.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let known = b"abcdefghij KLM{}()[]\"'`\\/.,:;->=!*+#&|%@0123456789\n\n";
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        known[(seed >> 33) as usize % known.len()]
    };
    (0..bytes).map(|_| next()).collect()
}

fn bomb() -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for i in 1..12 {
        let all = vec![format!("*a{}", i - 1); 9].join(", ");
        text += &format!("a{i}: &a{i} [{all}]\n");
    }
    text
}

/// All of them.
pub fn all() -> Vec<Case> {
    let repeated = |text: &str, times: usize| text.repeat(times);
    let long = "a".repeat(5_000_000);
    let nested: String = (0..30_000).map(|i| format!("state s{i} {{ ")).collect();
    let deep: String = (0..3_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    let none = |name, given, exit, says| Case { name, given, files: Vec::new(), exit, says };
    let circle = vec![
        ("a.chart", format!("import \"b.chart\"\n{}", chart("")).into_bytes()),
        ("b.chart", "import \"a.chart\"\n".into()),
    ];
    let two = vec![("x.chart", chart("").into_bytes()), ("y.chart", chart("").into_bytes())];
    let doubling: String =
        (1..100).map(|i| format!("  pred p{i} = p{0} and p{0}\n", i - 1)).collect();
    let branching = (0..60)
        .fold("x == 0".to_owned(), |inner, _| format!("if ({inner}) then x == 1 else x == 2"));
    vec![
        none("missing file", "a.chart", 1, "`a.chart` cannot be read: there is no such file"),
        none("missing agent", "agent.yaml", 1, "cannot be read: there is no such file"),
        Case {
            files: vec![("readme.txt", b"nothing".to_vec())],
            ..none(
                "folder without charts",
                ".",
                4,
                "nothing to check: no *.chart, *.scxml or agent.yaml",
            )
        },
        case(
            "binary",
            "a.chart",
            b"\x7fELF\x02\0\xff\xfe\0\x80".repeat(10_000),
            1,
            "it is not a text file",
        ),
        case(
            "binary agent",
            "agent.yaml",
            b"\x7fELF\0\xff".repeat(10_000),
            1,
            "it is not a text file",
        ),
        case(
            "invalid UTF-8",
            "a.chart",
            b"chart A {\n  // \xff\xfe\n}\n",
            1,
            "it is not UTF-8 (byte 15)",
        ),
        case("invalid UTF-8, agent", "agent.yaml", b"id: \xff\n", 1, "it is not UTF-8 (byte 4)"),
        case("NUL", "a.chart", "chart A {\n \0 }\n", 1, "it is not a text file"),
        case("NUL, agent", "agent.yaml", "id: a\0b\n", 1, "it is not a text file"),
        case("17 MB", "a.chart", repeated("x", 17_000_000), 1, "it is larger than 16 MiB"),
        case("10 MB of noise", "a.chart", noise(10_000_000), 1, "error[C0001]"),
        case("10 MB of noise, agent", "agent.yaml", noise(10_000_000), 1, "this is no YAML"),
        case(
            "30,000 nested states",
            "a.chart",
            format!("chart A {{ {nested}{}", repeated("}", 30_001)),
            1,
            "brackets nest deeper than 64",
        ),
        case(
            "50,000 parentheses",
            "a.chart",
            chart(&format!("if {}x{} == 0", repeated("(", 50_000), repeated(")", 50_000))),
            1,
            "brackets nest deeper than 64",
        ),
        case(
            "50,000 parentheses, agent",
            "agent.yaml",
            agent(&format!("\"{{{}x{}}}\"", repeated("(", 50_000), repeated(")", 50_000))),
            1,
            "error[C0",
        ),
        case("200 KB of [", "a.chart", repeated("[", 200_000), 1, "brackets nest deeper than 64"),
        case(
            "200 KB of [, agent",
            "agent.yaml",
            repeated("[", 200_000),
            1,
            "this nests deeper than 24",
        ),
        case("alias bomb", "agent.yaml", bomb(), 1, "the aliases of this file repeat too much"),
        case("3,000-deep YAML", "agent.yaml", deep, 1, "this nests deeper than 24"),
        case(
            "tab-indented YAML",
            "agent.yaml",
            agent("hello").replace("    ", "\t"),
            1,
            "this is no YAML: tabs disallowed",
        ),
        case(
            "5 MB identifier",
            "a.chart",
            format!("chart A {{\n  initial {long}\n  state b\n}}\n"),
            1,
            "no state `aaa",
        ),
        case("5 MB key", "agent.yaml", format!("id: a\n{long}: 1\n"), 1, "this is no YAML"),
        case(
            "5 MB of digits",
            "a.chart",
            chart(&format!("if x == {}", repeated("9", 5_000_000))),
            1,
            "a.chart:5:",
        ),
        case(
            "unclosed prompt",
            "a.chart",
            chart("").replace("final b", "state b { llm t { prompt \"\"\"hello {x}"),
            1,
            "C0",
        ),
        case("unclosed text, agent", "agent.yaml", agent("\"hello {x}"), 1, "this is no YAML"),
        Case {
            files: circle,
            ..none(
                "import circle",
                "a.chart",
                1,
                "files import each other in a cycle: `a.chart` → `b.chart` → `a.chart`",
            )
        },
        case(
            "import of itself",
            "a.chart",
            format!("import \"a.chart\"\n{}", chart("")),
            1,
            "files import each other in a cycle",
        ),
        case(
            "two charts of one name",
            "a.chart",
            chart("").repeat(2),
            1,
            "chart `A` is declared twice",
        ),
        Case { files: two, ..none("two files with charts of one name", ".", 0, "") },
        case(
            "BOM",
            "a.chart",
            format!("\u{feff}{}", chart("if y == 0")),
            1,
            "a.chart:5:22: error[C0102] no variable `y`",
        ),
        case(
            "BOM, agent",
            "agent.yaml",
            format!("\u{feff}{}", agent("\"{nobody} {\"")),
            1,
            "agent.yaml:6:17: error[C0402]",
        ),
        case(
            "CRLF",
            "a.chart",
            chart("if y == 0").replace('\n', "\r\n"),
            1,
            "a.chart:5:22: error[C0102] no variable `y`",
        ),
        case(
            "CRLF, agent",
            "agent.yaml",
            agent("\"{nobody} {\"").replace('\n', "\r\n"),
            1,
            "agent.yaml:6:17: error[C0402]",
        ),
        case(
            "100,000 times not",
            "a.chart",
            chart(&format!("if {}true", repeated("not ", 100_000))),
            1,
            "nests deeper than 120",
        ),
        case(
            "100,000 times plus",
            "a.chart",
            chart(&format!("if {}x == 0", repeated("x + ", 100_000))),
            1,
            "nests deeper than 120",
        ),
        case(
            "100,000 branches",
            "a.chart",
            chart(&format!("if {}true", repeated("if true then true else ", 100_000))),
            1,
            "a.chart:5:",
        ),
        case(
            "100,000 placeholders",
            "a.chart",
            chart("").replace(
                "final b",
                &format!("state b {{ llm t {{ prompt \"{}\" }} }}", repeated("{y}", 100_000)),
            ),
            1,
            "`y`",
        ),
        case(
            "100,000 placeholders, agent",
            "agent.yaml",
            agent(&format!("\"{}\"", repeated("{y}", 100_000))),
            1,
            "`y`",
        ),
        case(
            "conditions that double",
            "a.chart",
            many(1, |_| {
                format!("  pred p0 = true\n{doubling}  state s0 {{ on go if p99 -> s0 }}\n")
            }),
            1,
            "condition `p8` is too long",
        ),
        case(
            "branches in conditions",
            "a.chart",
            chart(&format!("if ({branching})")),
            0,
            "nothing drives `a`",
        ),
        case(
            "5,000 lines without target",
            "a.chart",
            many(5_000, |i| format!("  state s{i} {{ on go -> t{i} }}\n")),
            1,
            "no state `t0`",
        ),
        case(
            "5,000 lines without event",
            "a.chart",
            many(5_000, |i| format!("  event e{i}\n  state s{i} {{ on f{i} -> s0 }}\n")),
            1,
            "no event `f0`",
        ),
        case(
            "5,000 states of one name",
            "a.chart",
            many(5_000, |_| "  state s0\n".into()),
            1,
            "s0",
        ),
        case(
            "4 million copies of each after",
            "a.chart",
            many(2_000, |i| format!("  state s{i}\n  each after {}s -> s0\n", i + 1)),
            1,
            "`each after` makes more than 200000 lines",
        ),
        case(
            "2,000 conditions on one event",
            "a.chart",
            {
                let lines: String =
                    (0..2_000).map(|i| format!("on go if x == {i} -> b\n")).collect();
                format!(
                    "chart A {{ event go\nvar x: Int = 0\ninitial a state a {{\n{lines}}} final b }}\n"
                )
            },
            0,
            "warning[C0412]",
        ),
        case(
            "2,000 times from *",
            "a.chart",
            many(2_000, |i| format!("  state s{i}\n  from * {{ on go -> s{i} }}\n")),
            0,
            "",
        ),
        case(
            "1,500 times on *",
            "a.chart",
            many(1_500, |i| format!("  event e{i}\n  state s{i} {{ on * -> s0 }}\n")),
            0,
            "warning",
        ),
        case(
            "2,000 permissions",
            "a.chart",
            many(2_000, |i| {
                format!(
                    "  state s{i} {{ llm t{i} {{ prompt \"x\" }} -> s{0} }}\n  allow s{i} -> s{0}\n",
                    (i + 1) % 2_000
                )
            }),
            0,
            "warning[C0310] nothing handles `go`",
        ),
        case(
            "500 regions",
            "a.chart",
            many(1, |_| {
                "  parallel s0 {\n".to_owned()
                    + &many(500, |i| {
                        format!("state r{i} {{ initial a state a {{ on go -> b }} state b }}\n")
                    })["chart A {\n  event go\n  initial s0\n".len()..]
            }),
            0,
            "",
        ),
    ]
}

/// Writes the files of a case into a fresh folder.
pub fn write(case: &Case, folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("the folder is the case's own");
    }
    std::fs::create_dir_all(folder).expect("the target folder can be written");
    for (name, text) in &case.files {
        std::fs::write(folder.join(name), text).expect("as before");
    }
}
