//! Random charts whose data is finite: Bools, an enum, small whole numbers.

use crate::soundness::random::Random;
use std::fmt::Write;

/// States: the chart's own children, some with two or three of their own, at most one of them parallel.
struct Shape {
    paths: Vec<String>,
    inner: Vec<Vec<String>>,
    parallel: Option<usize>,
    history: Option<usize>,
}

fn shape(random: &mut Random) -> Shape {
    let count = 2 + random.below(3);
    let parallel = (random.below(4) == 0).then(|| random.below(count));
    let mut inner = Vec::new();
    for nth in 0..count {
        let children = match random.below(3) {
            _ if parallel == Some(nth) => 2,
            0 => 2 + random.below(2),
            _ => 0,
        };
        inner.push((0..children).map(|child| format!("s{nth}.t{child}")).collect::<Vec<_>>());
    }
    let paths = (0..count).map(|nth| format!("s{nth}")).collect();
    let with = (0..count).find(|nth| !inner[*nth].is_empty() && parallel != Some(*nth));
    let history = with.filter(|_| random.below(3) > 0);
    Shape { paths, inner, parallel, history }
}

fn pick<'v>(random: &mut Random, from: &[&'v str]) -> &'v str {
    from[random.below(from.len())]
}

fn target(random: &mut Random, shape: &Shape) -> String {
    let mut all: Vec<String> = shape.paths.clone();
    all.extend(shape.inner.iter().flatten().cloned());
    all.extend(["over".to_owned(), "failed".to_owned()]);
    // Twice: only what leads there tells what was kept.
    all.extend([0, 1].iter().filter_map(|_| Some(format!("s{}.before", shape.history?))));
    all.swap_remove(random.below(all.len()))
}

const GUARDS: &[&str] = &[
    "",
    "",
    "",
    " if f",
    " if not f",
    " if g",
    " if k == K.q",
    " if k != K.r",
    " if n >= lim",
    " if n < 2",
    " if n == 3 and f",
    " if f or g",
    " if k in [K.p, K.r]",
    " if n > lim and not g",
];

const ACTIONS: &[&str] = &[
    "",
    "",
    "",
    " { f = true }",
    " { f = false }",
    " { g = not g }",
    " { k = K.q }",
    " { k = K.r }",
    " { n = 3 }",
    " { n = 1 }",
    " { n = 0  f = true }",
    " { if f { k = K.p } else { n = 2 } }",
    " { raise d }",
    " { g = f and n < 2 }",
];

/// What is set on one event, and asked for on a later one: a key without the variable takes both points for one.
const SET_AND_ASKED: &[(&str, &str)] = &[
    ("f = true", "f"),
    ("f = not f", "not f"),
    ("g = not g", "g and f"),
    ("g = false", "not g"),
    ("h = true", "h"),
    ("h = not h", "not h and g"),
    ("k = K.q", "k == K.q"),
    ("k = K.r", "k != K.r"),
    ("n = 2", "n == 2"),
    ("n = 3", "n > lim"),
    ("m = lim", "m == 2"),
    ("m = 1", "m < 1"),
    ("e = k", "e == K.r"),
    ("e = K.q", "e != K.p"),
];

/// Two lines of one state.
fn later(random: &mut Random, shape: &Shape) -> [String; 2] {
    let (set, asked) = SET_AND_ASKED[random.below(SET_AND_ASKED.len())];
    let event = pick(random, &["a", "d", "turn"]);
    let goal = target(random, shape);
    [format!("on {event} {{ {set} }}"), format!("on b if {asked} -> {goal}")]
}

/// Bounds that are used up soon, of the chart or of one state, and what is done then.
fn limits(random: &mut Random, shape: &Shape) -> String {
    let most = 2 + random.below(2);
    let bound = match random.below(4) {
        0 => format!("turns {most} warn 1"),
        1 => format!("calls {most} warn 1"),
        2 => format!("turns {most} calls 2"),
        _ => format!("turns {most}"),
    };
    let mut out = format!("  limits {{ {bound} }}\n");
    if bound.contains("calls") {
        let goal = target(random, shape);
        let _ = writeln!(
            out,
            "  ask q0 on turn always else stay {{ prompt \"{{options}}\" retry 1 }}\n  may o -> {goal}"
        );
    }
    for kind in ["turns", "calls"] {
        if random.below(2) == 0 {
            let _ = writeln!(out, "  on limit.{kind} -> {} {{ h = true }}", target(random, shape));
        }
        if random.below(2) == 0 {
            let _ = writeln!(out, "  on limit.warn.{kind} {{ g = not g }}");
        }
    }
    out
}

fn line(random: &mut Random, shape: &Shape) -> String {
    let (mut guard, mut actions) = (pick(random, GUARDS), pick(random, ACTIONS));
    let goal = match random.below(6) {
        0 if !actions.is_empty() => String::new(),
        1 => format!(" -> {} reenter", target(random, shape)),
        _ => format!(" -> {}", target(random, shape)),
    };
    let trigger = match random.below(12) {
        0..=2 => format!("on {}", pick(random, &["a", "d", "turn"])),
        3 | 4 => {
            guard = pick(random, &["", " if v", " if not v and f", " if v or n >= lim"]);
            actions = pick(random, &["", " { f = v }", " { g = v and g }"]);
            "on b(v)".into()
        }
        5 | 6 => {
            guard = pick(random, &["", " if x == K.r", " if x == k", " if x != K.p and g"]);
            actions = pick(random, &["", " { k = x }", " { g = x == K.q }"]);
            "on c(x)".into()
        }
        7 => {
            guard = "";
            format!(
                "when {}",
                pick(random, &["f and g", "k == K.r and n > lim", "n == 2", "not f and g"])
            )
        }
        8 => format!("after {}s", 1 + random.below(3)),
        9 => format!("after {} turns", 1 + random.below(2)),
        _ => format!("may o{}", random.below(1000)),
    };
    format!("{trigger}{guard}{goal}{actions}")
}

fn step(random: &mut Random, shape: &Shape, number: usize) -> String {
    let goal = target(random, shape);
    let guard = pick(random, &["", "", " if f", " if n < lim"]);
    let tools = if number == 2 { " tools look calls 2" } else { "" };
    match random.below(4) {
        0 | 1 => format!(
            "ask q{number} on turn else {goal} {{ prompt \"{{options}}\" retry {} }}",
            random.below(2)
        ),
        2 => format!(
            "llm l{number}{guard} {{ prompt \"p\"{tools} returns Bool into f retry 0 then skip done if f -> {goal} }}"
        ),
        _ => format!(
            "llm l{number}{guard} {{ prompt \"p\"{tools} returns K into k retry 1 then -> {goal} done if k == K.q -> over }}"
        ),
    }
}

fn lines(random: &mut Random, shape: &Shape, pad: &str, steps: &mut usize, out: &mut String) {
    for _ in 0..=random.below(3) {
        let _ = writeln!(out, "{pad}{}", line(random, shape));
    }
    if random.below(3) == 0 {
        for line in later(random, shape) {
            let _ = writeln!(out, "{pad}{line}");
        }
    }
    if random.below(4) == 0 {
        *steps += 1;
        let _ = writeln!(out, "{pad}{}", step(random, shape, *steps));
    }
    if random.below(6) == 0 {
        let _ =
            writeln!(out, "{pad}enter {{ {} }}", pick(random, &["f = false", "n = 2", "k = K.p"]));
    }
}

/// The text of a chart.
pub(crate) fn chart(random: &mut Random) -> String {
    let shape = shape(random);
    let mut out = String::from(
        "enum K { p q r }\ntool look() -> Bool\nchart T {\n  event a  event b(v: Bool)  event c(x: K)  event d\n  \
         param lim: Int in 1..2 = 2\n  var f: Bool = false\n  var g: Bool = false\n  var k: K = K.p\n  \
         var n: Int = 0\n  var h: Bool = false\n  var m: Int = 0\n  var e: K = K.p\n",
    );
    if random.below(4) == 0 {
        out.push_str(&limits(random, &shape));
    }
    if random.below(4) == 0 {
        for _ in 0..3 {
            let goal = &shape.paths[random.below(shape.paths.len())];
            let _ =
                writeln!(out, "  allow * -> {goal}{}", pick(random, &["", " if f", " if n < lim"]));
        }
    }
    out.push_str("  initial s0\n");
    let mut steps = 0;
    for (nth, path) in shape.paths.iter().enumerate() {
        let word = if shape.parallel == Some(nth) { "parallel" } else { "state" };
        let _ = writeln!(out, "  {word} {path} {{");
        if !shape.inner[nth].is_empty() && shape.parallel != Some(nth) {
            out.push_str("    initial t0\n");
        }
        lines(random, &shape, "    ", &mut steps, &mut out);
        for child in 0..shape.inner[nth].len() {
            let _ = writeln!(out, "    state t{child} {{");
            if shape.parallel == Some(nth) {
                let _ = writeln!(out, "      initial u0\n      state u0 {{");
                lines(random, &shape, "        ", &mut steps, &mut out);
                out.push_str("      }\n");
                let _ = writeln!(out, "      state u1 {{\n        on a -> u0\n      }}");
                let _ = writeln!(out, "      on d{} -> u1", pick(random, GUARDS));
            } else {
                lines(random, &shape, "      ", &mut steps, &mut out);
            }
            out.push_str("    }\n");
        }
        if shape.history == Some(nth) {
            out.push_str("    history before -> t0\n");
        }
        out.push_str("  }\n");
    }
    if out.contains(" tools look") {
        let goal = &shape.paths[shape.paths.len() - 1];
        let _ = writeln!(out, "  when streak(tool) > 1 -> {goal}\n  when fails_here > 1 -> {goal}");
    }
    out.push_str("  final over\n  final failed : error\n}\n");
    out
}
