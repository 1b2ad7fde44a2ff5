//! Charts of any size in the shapes that a check may find hard. All are sound, and the same for the same size.

use crate::dice::Dice;
use crate::synthetic;
use std::fmt::Write;

/// Its name, and the chart of about so many states.
pub(crate) type Shape = (&'static str, fn(usize) -> String);

/// All of them.
pub(crate) const SHAPES: &[Shape] = &[
    ("levels", synthetic::chart),
    ("flat", flat),
    ("deep", deep),
    ("steps", steps),
    ("regions", regions),
];

/// Events and variables of all of them.
const NAMES: usize = 16;
/// How deep the states of a column nest.
const DEPTH: usize = 24;
/// Regions.
const REGIONS: usize = 3;

fn head() -> String {
    let mut text = String::from("chart Shape {\n");
    for i in 0..NAMES {
        let _ = writeln!(text, "  event e{i}(amount: Int)\n  var n{i}: Int = {i}");
    }
    text
}

/// Lines that lead to the next state and to one that is far away.
fn lines(text: &mut String, dice: &mut Dice, pad: &str, next: &str, far: &str) {
    let (e, f) = (dice.below(NAMES / 2), NAMES / 2 + dice.below(NAMES / 2));
    let (a, b, bound) = (dice.below(NAMES), dice.below(NAMES), dice.below(90) + 2);
    let _ = writeln!(text, "{pad}on e{e} -> {next}");
    let _ = writeln!(
        text,
        "{pad}on e{f}(amount) if amount > {bound} and n{a} <= n{b} -> {far} {{ n{a} = n{a} + amount }}"
    );
    if bound % 4 == 0 {
        let _ = writeln!(text, "{pad}when n{b} > {} -> {next} {{ n{b} = 0 }}", bound + 100);
    } else {
        let _ = writeln!(text, "{pad}after {bound}s -> {far}");
    }
}

/// All states beside each other.
fn flat(states: usize) -> String {
    let mut dice = Dice(1);
    let mut text = head() + "  initial s0\n";
    for i in 0..states {
        let next = if i + 1 < states { format!("s{}", i + 1) } else { "over".to_owned() };
        let _ = writeln!(text, "  state s{i} {{");
        lines(&mut text, &mut dice, "    ", &next, &format!("s{}", far_from(i, states)));
        text.push_str("  }\n");
    }
    text + "  final over\n}\n"
}

/// A state that is far from `i`.
fn far_from(i: usize, states: usize) -> usize {
    (i * 7919 + 13) % states
}

/// Columns of states in states.
fn deep(states: usize) -> String {
    let mut dice = Dice(2);
    let mut text = head() + "  initial c0\n";
    let columns = states.div_ceil(DEPTH);
    for column in 0..columns {
        let next =
            if column + 1 < columns { format!("c{}", column + 1) } else { "over".to_owned() };
        for level in 0..DEPTH {
            let pad = "  ".repeat(level + 1);
            let name = if level == 0 { format!("c{column}") } else { format!("d{level}") };
            let _ = writeln!(text, "{pad}state {name} {{");
            if level + 1 < DEPTH {
                let _ = writeln!(text, "{pad}  initial d{}", level + 1);
            }
            if level % 8 == 7 {
                let far = format!("c{}", far_from(column, columns));
                lines(&mut text, &mut dice, &format!("{pad}  "), &next, &far);
            }
        }
        for level in (0..DEPTH).rev() {
            let _ = writeln!(text, "{}}}", "  ".repeat(level + 1));
        }
    }
    text + "  final over\n}\n"
}

/// What agents are made of: prompts, code, questions with options.
fn steps(states: usize) -> String {
    let mut dice = Dice(3);
    let mut text = head() + "  defaults { retry 2 then skip }\n  initial s0\n";
    text.push_str("  code count { n0 = n0 + 1 }\n");
    for i in 0..states {
        let next = if i + 1 < states { format!("s{}", i + 1) } else { "over".to_owned() };
        let far = far_from(i, states);
        let (a, bound) = (dice.below(NAMES), dice.below(50) + 5);
        let _ = writeln!(text, "  state s{i} {{");
        if i % 3 == 0 {
            let _ = writeln!(
                text,
                "    ask q{i} on turn else {next} {{ prompt \"\"\"You are at {{n{a}}} of {bound}. {{options}}\"\"\" }}\n    \
                 may go_on \"it is done\" -> {next}\n    may jump \"it is not\" if n{a} < {bound} -> s{far}"
            );
        } else {
            let _ = writeln!(
                text,
                "    llm l{i} {{\n      prompt \"\"\"Do it, {{n{a}}} times of {bound}.\n      Answer.\"\"\"\n      \
                 done if n{a} > {bound} -> s{far} {{ n{a} = 0 }}\n    }} -> {next}\n    on e{a} -> s{far}"
            );
        }
        text.push_str("  }\n");
    }
    text + "  final over\n}\n"
}

/// Regions of states beside each other.
fn regions(states: usize) -> String {
    let mut dice = Dice(4);
    let mut text = head() + "  initial all\n  parallel all {\n";
    let each = states.div_ceil(REGIONS);
    for region in 0..REGIONS {
        let _ = writeln!(text, "    state r{region} {{\n      initial s0");
        for i in 0..each {
            let next = format!("s{}", (i + 1) % each);
            let _ = writeln!(text, "      state s{i} {{");
            lines(&mut text, &mut dice, "        ", &next, &format!("s{}", far_from(i, each)));
            text.push_str("      }\n");
        }
        text.push_str("    }\n");
    }
    text + "    on e0 -> over\n  }\n  final over\n}\n"
}
