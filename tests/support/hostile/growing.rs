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

/// States that all have a line, and a line for each of them that all others have too.
fn from_all(count: usize) -> String {
    let states: String = (0..count)
        .map(|n| {
            format!(
                "  state state{n} {{ on go -> state{} }}\n  from * {{ on go -> state{n} }}\n",
                (n + 1) % count
            )
        })
        .collect();
    format!("chart A {{\n  event go\n  initial state0\n{states}}}\n")
}

/// A state with so many lines for one event, each with a condition of its own.
pub fn conditions(count: usize) -> String {
    let lines: String = (0..count).map(|n| format!("    on go if x == {n} -> b\n")).collect();
    format!(
        "chart A {{\n  event go\n  var x: Int = 0\n  initial a\n  state a {{\n{lines}  }}\n  final b\n}}\n"
    )
}

/// Records each of which holds the next.
fn circle(count: usize) -> String {
    let types: String =
        (0..count).map(|n| format!("type T{n} {{ a: T{} }}\n", (n + 1) % count)).collect();
    format!("{types}chart A {{\n  initial a\n  final a\n}}\n")
}

/// Charts that run one another.
fn chain(count: usize) -> String {
    let runs = |n: usize| {
        if n + 1 < count { format!("run r A{} at entry {{}}", n + 1) } else { String::new() }
    };
    (0..count)
        .map(|n| {
            format!("chart A{n} {{\n  event go\n  initial a\n  state a {{\n    {}\n    on go -> b\n    after 1h -> b\n  }}\n  final b\n}}\n", runs(n))
        })
        .collect()
}

fn permissions(count: usize) -> String {
    let states: String = (0..count)
        .map(|n| {
            let to = (n + 1) % count;
            format!(
                "  state s{n} {{ llm q{n} {{ prompt \"x\" }} -> s{to} }}\n  allow s{n} -> s{to}\n"
            )
        })
        .collect();
    format!("chart A {{\n  initial s0\n{states}}}\n")
}

fn ends(count: usize) -> String {
    let states: String = (0..count)
        .map(|n| {
            let to = (n + 1) % count;
            format!("<state id=\"s{n}\"><final id=\"f{n}\"/><transition event=\"done\" target=\"s{to}\"/></state>")
        })
        .collect();
    format!("<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">{states}</scxml>")
}

/// All of them.
pub fn all() -> Vec<Case> {
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
    for (name, count) in [("20 from all", 20), ("1,000 from all", 1_000), ("4,000 from all", 4_000)]
    {
        cases.push(case(name, "a.chart", from_all(count), 0, "warning[C0302]"));
    }
    for (name, count) in [
        ("60 types in a circle", 60),
        ("600 types in a circle", 600),
        ("6,000 types in a circle", 6_000),
    ] {
        cases.push(case(name, "a.chart", circle(count), 1, "contains itself"));
    }
    for (name, count) in
        [("50 conditions", 50), ("500 conditions", 500), ("5,000 conditions", 5_000)]
    {
        cases.push(case(name, "a.chart", conditions(count), 0, "warning[C0412]"));
    }
    for (name, count) in [
        ("30 charts in a chain", 30),
        ("300 charts in a chain", 300),
        ("3,000 charts in a chain", 3_000),
    ] {
        cases.push(case(name, "a.chart", chain(count), 0, ""));
    }
    for (name, count) in
        [("80 permissions", 80), ("800 permissions", 800), ("8,000 permissions", 8_000)]
    {
        cases.push(case(name, "a.chart", permissions(count), 0, ""));
    }
    let refused = "words for many events come to more than 20000 lines";
    for (name, count, exit, says) in
        [("10 ends", 10, 0, ""), ("100 ends", 100, 0, ""), ("1,000 ends", 1_000, 1, refused)]
    {
        cases.push(case(name, "a.scxml", ends(count), exit, says));
    }
    cases
}
