//! Input that grows: the same situation once, ten times and a hundred times as large.

use super::cases::{Case, case};

/// A list of so many numbers.
fn numbers(count: usize) -> String {
    let all: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    format!("[{}]", all.join(", "))
}

fn endless_tests(count: usize) -> String {
    let tests: String =
        (0..count).map(|n| format!("test \"t{n}\" for A {{ turns 90000 }}\n")).collect();
    format!(
        "chart A {{\n  var x: List(Int) = {}\n  var n: Int = 0\n  initial a\n  state a {{ on turn {{ for i in x {{ for j in x {{ n = n + 1 }} }} }} }}\n}}\n{tests}",
        numbers(150)
    )
}

fn doubling_types(count: usize) -> String {
    let types: String =
        (1..count).map(|n| format!("type T{n} {{ a: T{0} b: T{0} }}\n", n - 1)).collect();
    format!(
        "type T0 {{ a: Int }}\n{types}chart A {{\n  var x: T{0}? = none\n  initial a\n  state a {{ llm q {{ prompt \"x\" returns T{0} into x }} }}\n}}\n",
        count - 1
    )
}

fn nested_loops(lines: usize) -> String {
    let inner = (0..4)
        .fold("true".to_owned(), |inner, n| format!("any([{inner} for v{n} in x if v{n} >= 0])"));
    let lines: String =
        (0..lines).map(|n| format!("    on turn if {inner} and n == {n} -> b\n")).collect();
    format!(
        "chart A {{\n  var x: List(Int) = {}\n  var n: Int = 0\n  initial a\n  state a {{\n    on turn if n < 0 {{ n = n + 1 }}\n{lines}  }}\n  state b {{ on turn -> a }}\n}}\ntest \"t\" for A {{ turns 90000 }}\n",
        numbers(200)
    )
}

fn events(count: usize) -> String {
    let declared: String = (0..count).map(|n| format!("  event e{n}\n")).collect();
    let lines: String = (0..count).map(|n| format!("    on e{n} -> b\n")).collect();
    format!(
        "chart A {{\n{declared}  initial a\n  state a {{\n{lines}  }}\n  state b {{ on e0 -> a }}\n}}\n"
    )
}

fn descriptors(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("e{n}")).collect();
    format!(
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" initial=\"a\"><state id=\"a\"><transition event=\"{}\" target=\"b\"/></state><state id=\"b\"><transition event=\"e0\" target=\"a\"/></state></scxml>",
        names.join(" ")
    )
}

/// All of them.
pub(super) fn all() -> Vec<Case> {
    let tests = "were not played to their end";
    let mut cases = Vec::new();
    for (name, count) in
        [("40 endless tests", 40), ("400 endless tests", 400), ("4,000 endless tests", 4_000)]
    {
        cases.push(case(name, "a.chart", endless_tests(count), 0, tests));
    }
    for (name, count) in
        [("60 doubling types", 60), ("600 doubling types", 600), ("6,000 doubling types", 6_000)]
    {
        cases.push(case(name, "a.chart", doubling_types(count), 0, ""));
    }
    for (name, count) in
        [("1 nest of loops", 1), ("10 nests of loops", 10), ("100 nests of loops", 100)]
    {
        cases.push(case(name, "a.chart", nested_loops(count), 0, "warning"));
    }
    for (name, count) in [("200 events", 200), ("2,000 events", 2_000), ("20,000 events", 20_000)] {
        cases.push(case(name, "a.chart", events(count), 0, ""));
    }
    for (name, count) in
        [("200 descriptors", 200), ("2,000 descriptors", 2_000), ("20,000 descriptors", 20_000)]
    {
        cases.push(case(name, "a.scxml", descriptors(count), 0, ""));
    }
    cases
}
