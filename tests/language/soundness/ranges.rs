//! Integers stay within the bounds of the range analysis: random charts that count, run on random inputs.

use super::random::Random;
use crate::explore::brute::NoHost;
use crate::interpreter::Log;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::facts::ranges::Range;
use chartc_core::arena::{EventId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Input;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::fmt::Write as _;
use std::sync::Arc;

/// The number of generated charts.
const CHARTS: u64 = 400;
/// The number of inputs of each run, and of runs of each chart.
const INPUTS: usize = 60;
const RUNS: u64 = 4;

fn pick<'t>(random: &mut Random, all: &[&'t str]) -> &'t str {
    all[random.below(all.len())]
}

fn term(random: &mut Random) -> String {
    match random.below(4) {
        0 => pick(random, &["p", "n", "len(xs)"]).into(),
        1 => pick(random, &["x", "y", "z"]).into(),
        _ => (random.below(7) as i64 - 2).to_string(),
    }
}

fn guard(random: &mut Random, depth: usize) -> String {
    let compare = |random: &mut Random| {
        let (left, right) = (pick(random, &["x", "y", "z"]), term(random));
        let op = pick(random, &["<", "<=", ">", ">=", "==", "!="]);
        if random.below(4) == 0 {
            format!("{right} {op} {left}")
        } else {
            format!("{left} {op} {right}")
        }
    };
    match random.below(8) {
        0 if depth > 0 => format!("not ({})", guard(random, depth - 1)),
        1 | 2 if depth > 0 => {
            let word = pick(random, &["and", "or"]);
            format!("({}) {word} ({})", guard(random, depth - 1), guard(random, depth - 1))
        }
        3 => pick(random, &["low", "high"]).into(),
        _ => compare(random),
    }
}

fn value(random: &mut Random, name: &str) -> String {
    match random.below(8) {
        0..=3 => format!("{name} {} {}", pick(random, &["+", "-"]), random.below(4)),
        4 => format!("{} {} {}", term(random), pick(random, &["+", "-"]), term(random)),
        5 => format!("if {} then {} else {}", guard(random, 1), term(random), term(random)),
        6 => format!("-{name}"),
        _ => term(random),
    }
}

fn actions(random: &mut Random, depth: usize) -> String {
    let mut out = String::new();
    if depth > 0 && random.below(5) == 0 {
        // Facts about a variable are lost after a branch that sets it.
        let (x, y) = (pick(random, &["x", "y"]), pick(random, &["y", "z"]));
        let by = 1 + random.below(3);
        let _ = write!(out, " {x} = {by} if {} {{ {x} = {} }} {y} = {x}", guard(random, 1), 2 * by);
    }
    for _ in 0..random.below(3) {
        let name = pick(random, &["x", "y", "z"]);
        let _ = match random.below(8) {
            0 if depth > 0 => write!(
                out,
                " if {} {{{} }} else {{{} }}",
                guard(random, 1),
                actions(random, depth - 1),
                actions(random, depth - 1)
            ),
            1 if depth > 0 => write!(out, " for i in xs {{{} }}", actions(random, depth - 1)),
            _ => write!(out, " {name} = {}", value(random, name)),
        };
    }
    out
}

fn state(random: &mut Random, name: &str, goals: &[&str]) -> String {
    let mut out = format!("  state {name} {{\n");
    if random.below(5) == 0 {
        let _ = writeln!(out, "    enter {{{} }}", actions(random, 1));
    }
    if random.below(8) == 0 {
        let name = pick(random, &["x", "y"]);
        let _ = writeln!(out, "    exit {{ {name} = {} }}", 2 + random.below(3));
    }
    if random.below(8) == 0 {
        let _ = writeln!(out, "    exit {{{} }}", actions(random, 1));
    }
    for _ in 0..=random.below(3) {
        let on = pick(random, &["on a", "on b", "on turn"]);
        let to = pick(random, goals);
        if random.below(3) == 0 {
            // A count that is bounded by its own guard.
            let (name, by) = (pick(random, &["x", "y"]), 1 + random.below(2));
            let bound = pick(random, &["3", "4", "p"]);
            let _ =
                writeln!(out, "    {on} if {name} < {bound} -> {to} {{ {name} = {name} + {by} }}");
            continue;
        }
        let arrow = if random.below(5) == 0 { String::new() } else { format!(" -> {to}") };
        let _ =
            writeln!(out, "    {on} if {}{arrow} {{{} }}", guard(random, 2), actions(random, 1));
    }
    out.push_str("  }\n");
    out
}

fn chart(random: &mut Random) -> String {
    let mut out = format!(
        "chart Counts {{\n  event a\n  event b\n  param p: Int in 1..4 = 2\n  input n: Int = 0\n  var xs: List(Int) = [1, 2]\n  \
         var x: Int = {}\n  var y: Int = {}\n  var z: Int = 0\n  pred low = {}\n  pred high = {}\n",
        random.below(4),
        random.below(3),
        pick(random, &["x < 3", "not (y >= 2)", "x <= p and y < 5"]),
        pick(random, &["x > 3", "z >= 2 or y > 4", "not (x < p)"]),
    );
    if random.below(3) == 0 {
        let _ = writeln!(out, "  code count {{{} }}", actions(random, 2));
    }
    if random.below(5) == 0 {
        let (left, right) = (["l0", "l1"], ["r0", "r1"]);
        out.push_str("  initial both\n  parallel both {\n");
        for (region, names) in [("l", left), ("r", right)] {
            let _ = writeln!(out, "  state {region} {{\n  initial {region}0");
            for name in names {
                out.push_str(&state(random, name, &names));
            }
            out.push_str("  }\n");
        }
        out.push_str("  }\n");
    } else {
        out.push_str("  initial s0\n");
        for name in ["s0", "s1", "s2"] {
            out.push_str(&state(random, name, &["s0", "s1", "s2"]));
        }
    }
    out.push_str("}\n");
    out
}

/// Runs the chart; returns a value outside its bounds, and how many bounds were reached.
fn play(
    chart: &Arc<Chart>,
    bounds: &[(VarId, Range)],
    seed: u64,
    met: &mut [[bool; 2]],
) -> Option<String> {
    let plan = Plan::new(chart);
    let mut machine = Interpreter::new(&plan, NoHost, []).expect("all have defaults");
    let mut random = Random::new(seed);
    for step in 0..INPUTS {
        let given = Value::Int(random.below(9) as i64 - 3);
        machine.set_input("n", given).expect("a declared input");
        let input = match (step, random.below(4)) {
            (0, _) => Input::Start,
            (_, 0) => Input::Turn,
            (_, n) => Input::Event(EventId::at(n % 2), Vec::new()),
        };
        if machine.handle(input, 0, &mut Log::default()).is_err() {
            continue;
        }
        let held = machine.variables();
        for ((id, range), met) in bounds.iter().zip(&mut *met) {
            let name = &chart.variables[id.index()].name;
            let value = held.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            let Some(&Value::Int(n)) = value else { continue };
            if range.low.is_some_and(|low| n < low) || range.high.is_some_and(|high| n > high) {
                return Some(format!("{name} is {n}, and {range:?} was claimed"));
            }
            met[0] |= range.low == Some(n);
            met[1] |= range.high == Some(n);
        }
    }
    None
}

#[test]
fn counts_stay_within_their_bounds() {
    let (mut compiled, mut claimed, mut reached) = (0, 0, 0);
    for seed in 0..test_support::project::cases(CHARTS) {
        let text = chart(&mut Random::new(seed));
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let Some(checked) = done.charts.first() else {
            let faults: Vec<_> = done.diagnostics.iter().map(|d| &d.message).collect();
            panic!("seed {seed}: {faults:?}\n{text}");
        };
        compiled += 1;
        let chart = checked.chart();
        let facts = Facts::new(chart);
        let ids = (0..chart.variables.len()).map(VarId::at);
        let bounds: Vec<(VarId, Range)> =
            ids.filter_map(|id| Some((id, facts.ranges.get(id)?))).collect();
        let mut met = vec![[false; 2]; bounds.len()];
        for run in 0..RUNS {
            if let Some(why) = play(chart, &bounds, seed * 31 + run, &mut met) {
                panic!("seed {seed}: {why}\n{text}");
            }
        }
        let ends = |r: &Range| usize::from(r.low.is_some()) + usize::from(r.high.is_some());
        claimed += bounds.iter().map(|(_, range)| ends(range)).sum::<usize>();
        reached += met.iter().flatten().filter(|m| **m).count();
    }
    println!("{compiled} charts, {claimed} bounds, {reached} of them reached");
    // Bounds that no run reaches do not test the analysis.
    assert!(claimed > 150 && reached * 3 > claimed, "{claimed} bounds, {reached} reached");
}
