//! Inputs that grow, each in one way: with n, 2n and 4n of something.

use crate::shape::SHAPES;
use std::fmt::Write;
use test_support::hostile::growing;

/// Files with their names, first the one that commands read.
pub(crate) type Files = Vec<(String, String)>;

/// An input that grows.
pub(crate) struct Growing {
    /// What it has more and more of.
    pub(crate) name: &'static str,
    /// Their number in the smallest size.
    pub(crate) least: usize,
    /// Its files, for a number.
    pub(crate) files: fn(usize) -> Files,
    /// An event that its chart takes.
    pub(crate) event: &'static str,
}

/// All inputs. Their sizes are such that a quadratic command needs seconds for the largest.
pub(crate) const ALL: &[Growing] = &[
    Growing { name: "flat states", least: 3_000, files: |n| shaped("flat", n), event: "turn" },
    Growing { name: "deep states", least: 3_000, files: |n| shaped("deep", n), event: "turn" },
    Growing { name: "regions", least: 250, files: regions, event: "go" },
    Growing { name: "lines of one event", least: 1_500, files: one_event, event: "go" },
    Growing { name: "long guards", least: 250, files: guards, event: "go" },
    Growing { name: "when lines", least: 500, files: whens, event: "go" },
    Growing { name: "variables", least: 1_500, files: variables, event: "go" },
    Growing { name: "placeholders", least: 4_000, files: placeholders, event: "turn" },
    Growing { name: "literals", least: 10_000, files: literals, event: "go" },
    Growing { name: "functions", least: 1_000, files: functions, event: "go" },
    Growing { name: "steps", least: 1_500, files: |n| shaped("steps", n), event: "turn" },
    Growing { name: "tests", least: 1_000, files: tests, event: "go" },
    Growing { name: "states of an agent", least: 300, files: agent, event: "turn" },
    Growing { name: "blocks", least: 250, files: blocks, event: "go" },
    Growing { name: "imports", least: 150, files: imports, event: "go" },
    Growing { name: "names and comments", least: 5_000, files: names, event: "go" },
];

/// What a file is called whose chart is read.
const MAIN: &str = "a.chart";
/// A test that holds for any chart that has events or turns.
const TURN: &str = "test \"a turn\" for A { turn }\n";

fn main(text: String) -> Files {
    vec![(MAIN.to_owned(), text)]
}

/// `count` items made of their numbers.
fn many(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect()
}

/// A chart of the shapes of `scale`.
fn shaped(name: &str, count: usize) -> Files {
    let (_, make) = SHAPES.iter().find(|(shape, _)| *shape == name).expect("a shape");
    main(make(count) + "test \"it is there\" for Shape { expect not ended }\n")
}

fn regions(count: usize) -> Files {
    let all = many(count, |n| {
        format!("state r{n} {{ initial a\nstate a {{ on go -> b }}\nstate b {{ on go -> a }} }}\n")
    });
    main(format!("chart A {{\nevent go\ninitial all\nparallel all {{\n{all}}}\n}}\n{TURN}"))
}

fn one_event(count: usize) -> Files {
    main(growing::conditions(count) + TURN)
}

fn guards(count: usize) -> Files {
    let numbers = many(8, |n| format!("  var x{n}: Int = {n}\n"));
    let lines = many(count, |n| {
        let tests: Vec<String> = (0..24)
            .map(|k| format!("(x{} > {} or x{} < {n})", k % 8, n + k, (k + 3) % 8))
            .collect();
        let branches = many(24, |k| format!("if x{} == {k} {{ x0 = {k} }} else ", k % 8));
        format!(
            "on go if {} and (if x1 > {n} then x2 == {n} else x3 != {n}) -> b {{ {branches}{{ x0 = 0 }} }}\n",
            tests.join(" and ")
        )
    });
    main(format!(
        "chart A {{\n  event go\n{numbers}  initial a\nstate a {{\n{lines}}}\nstate b {{ on go -> a }}\n}}\n{TURN}"
    ))
}

fn whens(count: usize) -> Files {
    let numbers = many(16, |n| format!("  var x{n}: Int = 0\n"));
    let lines = many(count, |n| {
        let (a, b) = (n % 16, (n * 7 + 1) % 16);
        format!("when x{a} > {n} and x{b} <= {} -> b {{ x{a} = 0 }}\n", n * 3)
    });
    main(format!(
        "chart A {{\n  event go\n{numbers}  initial a\nstate a {{\non go {{ x0 = x0 + 1 }}\n{lines}}}\nstate b {{ on go -> a }}\n}}\n{TURN}"
    ))
}

fn variables(count: usize) -> Files {
    let declared = many(count, |n| format!("  var x{n}: Int = {n}\n"));
    let sets = many(count, |n| format!("x{n} = x{} + 1\n", (n + 1) % count));
    let lines = many(count, |n| format!("on go if x{n} > x{} -> b\n", (n * 7 + 1) % count));
    main(format!(
        "chart A {{\n  event go\n{declared}  initial a\nstate a {{\n{lines}}}\nstate b {{ on go -> a {{\n{sets}}} }}\n}}\n{TURN}"
    ))
}

fn placeholders(count: usize) -> Files {
    let declared = many(50, |n| format!("  var x{n}: Int = {n}\n"));
    let lines =
        many(count, |n| format!("Line {n} says {{x{} + {n}}} and {{x{}:>8}}.\n", n % 50, n % 7));
    main(format!(
        "chart A {{\n{declared}  initial a\nstate a {{ llm think {{ prompt \"\"\"\n{lines}\"\"\" returns Int into x0 }} -> b }}\nfinal b\n}}\ntest \"it is asked\" for A {{ turn  answers think 3  expect ended }}\n"
    ))
}

fn literals(count: usize) -> Files {
    let list = |item: fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let numbers = list(|n| n.to_string());
    let texts = list(|n| format!("\"text {n}\""));
    let pairs = list(|n| format!("\"key {n}\": {n}"));
    main(format!(
        "chart A {{\n  event go\n  var xs: List(Int) = [{numbers}]\n  var ts: List(Text) = [{texts}]\n  var m: Map(Text, Int) = {{{pairs}}}\n  initial a\n  state a {{ on go if 3 in xs and \"text 5\" in ts and get(m, \"key 7\", 0) > 0 -> b }}\n  state b {{ on go -> a }}\n}}\n{TURN}"
    ))
}

fn functions(count: usize) -> Files {
    let declared = many(count, |n| {
        format!(
            "  fn f{n}(a: Int) -> Int else 0\n  do d{n}(a: Text)\n  pred p{n} = f{n}(x) > {n}\n"
        )
    });
    let lines = many(count, |n| format!("on go if p{n} -> b {{ d{n}(\"{{x}} of {n}\") }}\n"));
    main(format!(
        "chart A {{\n  event go\n  var x: Int = 0\n{declared}  initial a\nstate a {{\n{lines}on turn {{ x = x + 1 }}\n}}\nstate b {{ on go -> a }}\n}}\n{TURN}"
    ))
}

fn tests(count: usize) -> Files {
    let all = many(count, |n| {
        format!(
            "test \"test {n}\" for A {{ given x = {n}  send go  expect at b  send go  expect x == {} }}\n",
            n + 1
        )
    });
    main(format!(
        "chart A {{\n  event go\n  var x: Int = 0\n  initial a\n  state a {{ on go -> b {{ x = x + 1 }} }}\n  state b {{ on go -> a }}\n}}\n{all}"
    ))
}

fn agent(count: usize) -> Files {
    let list: Vec<String> = (0..count).map(|n| format!("s{n}")).collect();
    let moves = many(count, |n| {
        let next = (n + 1) % count;
        format!(
            "      - s{n} -> s{next}\n      - {{from: s{n}, to: s{}, condition: balance > {n}}}\n",
            (n * 7 + 3) % count
        )
    });
    let steps = many(count, |n| {
        let next = (n + 1) % count;
        format!(
            "    - name: step{n}\n      type: llm\n      in_state: s{n}\n      prompt: |\n        You have {{balance}} at {n}.\n      transition_to: s{next}\n"
        )
    });
    let text = format!(
        "id: a\nworkflow:\n  state_machine:\n    states: [{}]\n    initial_state: s0\n    transitions:\n{moves}  steps:\n{steps}",
        list.join(", ")
    );
    let test = "import \"agent.yaml\"\ntest \"it is there\" for A { expect not ended }\n";
    vec![("agent.yaml".to_owned(), text), ("agent.test.chart".to_owned(), test.to_owned())]
}

fn blocks(count: usize) -> Files {
    let lines = many(count, |n| {
        let actions = many(12, |k| format!("x{} = x{} + {n}\n", k % 4, (k + 1) % 4));
        let inner = (0..5).fold(actions, |inner, k| {
            format!(
                "if x{} > {k} {{ for y{k} in xs {{ {inner} }} }} else {{ x0 = y({k}) }}\n",
                k % 4
            )
        });
        format!("on go if x0 == {n} -> b {{\n{inner}}}\n")
    });
    main(format!(
        "chart A {{\n  event go\n  fn y(a: Int) -> Int else 0\n  var xs: List(Int) = [1, 2]\n{}  initial a\nstate a {{\n{lines}}}\nstate b {{ on go -> a }}\n}}\n{TURN}",
        many(4, |n| format!("  var x{n}: Int = 9\n"))
    ))
}

fn imports(count: usize) -> Files {
    let mut text = many(count, |n| format!("import \"f{n}.chart\"\n"));
    let declared = many(count, |n| format!("  var x{n}: T{n}? = none\n"));
    let lines = many(count, |n| format!("on go if x{n} == none and has{n}(E{n}.a) -> b\n"));
    let _ = write!(
        text,
        "chart A {{\n  event go\n{declared}  initial a\nstate a {{\n{lines}}}\nstate b {{ on go -> a }}\n}}\n{TURN}"
    );
    let mut files = main(text);
    files.extend((0..count).map(|n| {
        let before = if n == 0 { String::new() } else { format!("import \"f{}.chart\"\n", n - 1) };
        let own = format!(
            "enum E{n} {{ a  b }}\ntype T{n} {{ a: Int  e: E{n} }}\nfn has{n}(e: E{n}) -> Bool else true\n"
        );
        (format!("f{n}.chart"), before + &own)
    }));
    files
}

fn names(count: usize) -> Files {
    let long = |n: usize| format!("s{n}_{}", "a".repeat(count / 10));
    let states = many(40, |n| {
        let told = format!("/// {}\n", "All of it is told. ".repeat(count / 200)).repeat(8);
        let notes = "// A note that nobody reads.\n".repeat(count / 40);
        format!("{told}{notes}state {} {{ on go -> {} }}\n", long(n), long((n + 1) % 40))
    });
    main(format!("chart A {{\n  event go\n  initial {}\n{states}}}\n{TURN}", long(0)))
}
