//! What is said of conditions over few values, compared with all of them: each evaluated as a run would.

mod data;

use crate::soundness::random::Random;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::conditions::{Verdict, decide, implies};
use chartc_core::arena::{PredicateId, VarId};
use chartc_core::expr::{Environment, Fuel, Value, holds};
use chartc_core::model::{Chart, Expr, ExprKind};
use std::collections::BTreeMap;

const SETS: u64 = 500;

/// The variables of every chart, with all their values: together fewer than are tried one by one.
fn domains() -> Vec<Vec<Value>> {
    let bools = || vec![Value::Bool(false), Value::Bool(true)];
    let ints = |range: std::ops::RangeInclusive<i64>| range.map(Value::Int).collect::<Vec<_>>();
    let names = || ["one", "two", "six"].map(|n| Value::Text(n.into())).to_vec();
    let or_none = |values: Vec<Value>| values.into_iter().chain([Value::None]).collect();
    vec![bools(), names(), ints(0..=3), ints(-1..=1), or_none(bools()), or_none(names())]
}

const HEAD: &str = "enum E { one two six }
chart T {
  event a
  param b: Bool
  param e: E
  param n: Int in 0..3
  param k: Int in -1..1
  input ob: Bool? = none
  input oe: E? = none
";

fn atom(random: &mut Random) -> String {
    let name = |random: &mut Random| *random.pick(&["E.one", "E.two", "E.six"]);
    let order = |random: &mut Random| *random.pick(&["<", "<=", ">", ">=", "==", "!="]);
    let number = |random: &mut Random| *random.pick(&["-1", "0", "1", "2", "3", "1.5", "7"]);
    match random.below(16) {
        0 => "b".into(),
        1 => format!("e {} {}", random.pick(&["==", "!="]), name(random)),
        2 => format!("e in [{}, {}]", name(random), name(random)),
        3 => format!("n {} {}", order(random), number(random)),
        4 => format!("{} {} k", number(random), order(random)),
        5 => format!("{} <= n < {}", number(random), number(random)),
        6 => format!("n not in [{}, {}]", random.below(4), random.below(4)),
        7 => format!("n {} k", order(random)),
        8 => format!("k < n <= {}", number(random)),
        9 => format!("n + k {} {}", order(random), number(random)),
        10 => format!("oe {} none", random.pick(&["==", "!="])),
        11 => format!("oe == {}", name(random)),
        12 => format!("oe != none and oe == {}", name(random)),
        13 => "ob ?? false".into(),
        14 => "ob != none and ob".into(),
        _ => format!("n % 2 {} {}", order(random), number(random)),
    }
}

fn condition(random: &mut Random, depth: usize, predicates: usize) -> String {
    if depth == 0 {
        return format!("({})", atom(random));
    }
    let part = |random: &mut Random| condition(random, depth - 1, predicates);
    match random.below(7) {
        0 => format!("not {}", part(random)),
        1 => format!("({} and {})", part(random), part(random)),
        2 => format!("({} or {})", part(random), part(random)),
        3 => format!("(if {} then {} else {})", part(random), part(random), part(random)),
        4 if predicates > 0 => format!("p{}", random.below(predicates)),
        _ => format!("({})", atom(random)),
    }
}

/// A chart with these conditions as named ones and as guards.
fn text(random: &mut Random) -> String {
    let mut text = HEAD.to_owned();
    for nth in 0..2 {
        text.push_str(&format!("  pred p{nth} = {}\n", condition(random, 1, nth)));
    }
    text.push_str("  initial s\n  state s {\n");
    for _ in 0..2 + random.below(4) {
        let depth = random.below(4);
        text.push_str(&format!("    on a if {} -> s reenter\n", condition(random, depth, 2)));
    }
    text.push_str("  }\n}\n");
    text
}

struct Values<'c>(&'c Chart, Vec<Value>);

impl Environment for Values<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.1.get(id.index())
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.0.predicates[id.index()].expr)
    }
}

impl Values<'_> {
    /// A condition that fails does not hold.
    fn hold(&self, goal: &Expr) -> bool {
        holds(goal, self, &Fuel::default()).unwrap_or(false)
    }
}

/// Every assignment.
fn all(chart: &Chart) -> Vec<Values<'_>> {
    let mut all = vec![Vec::new()];
    for domain in domains() {
        let longer = |values: &Vec<Value>, value: &Value| {
            [&values[..], std::slice::from_ref(value)].concat()
        };
        all = all.iter().flat_map(|v| domain.iter().map(move |d| longer(v, d))).collect();
    }
    all.into_iter().map(|values| Values(chart, values)).collect()
}

/// Compares a verdict with all values; gives whether there are any. A goal is a guard with its value for each assignment.
#[track_caller]
fn compare(
    chart: &Chart,
    all: &[Values<'_>],
    goals: &[(&(&Expr, Vec<bool>), bool)],
    text: &str,
) -> bool {
    let any = (0..all.len()).any(|i| goals.iter().all(|((_, held), wanted)| held[i] == *wanted));
    let goals: Vec<(&Expr, bool)> = goals.iter().map(|((goal, _), w)| (*goal, *w)).collect();
    match decide(chart, &goals) {
        Verdict::Never => assert!(!any, "there are values\n{goals:?}\n{text}"),
        Verdict::Example(example) => {
            let given: BTreeMap<VarId, Value> = example
                .into_iter()
                .map(|(e, value)| match e.kind {
                    ExprKind::Variable(id) => (id, value),
                    other => panic!("{other:?} is no variable\n{text}"),
                })
                .collect();
            // What the example does not name does not matter.
            for values in all.iter().step_by(97) {
                let mut values = Values(chart, values.1.clone());
                for (id, value) in &given {
                    values.1[id.index()] = value.clone();
                }
                let does = goals.iter().all(|(goal, wanted)| values.hold(goal) == *wanted);
                assert!(does, "{given:?} does not do\n{goals:?}\n{text}");
            }
        }
        Verdict::Perhaps => panic!("not decided\n{goals:?}\n{text}"),
    }
    any
}

#[test]
fn verdicts_over_few_values_are_exact() {
    let mut random = Random::new(5);
    let mut counts = [[0; 2]; 5];
    for _ in 0..SETS {
        let text = text(&mut random);
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
        let told = || chartc::report::short(&done.diagnostics, &done.sources);
        let Some(checked) = done.charts.first() else { panic!("{}\n{text}", told()) };
        let chart = checked.chart();
        let all = all(chart);
        let table = |guard| (guard, all.iter().map(|values| values.hold(guard)).collect());
        let guards: Vec<(&Expr, Vec<bool>)> =
            chart.transitions.iter().filter_map(|t| t.guard.as_ref()).map(table).collect();
        let mut count = |kind: usize, any: bool| counts[kind][usize::from(any)] += 1;
        for (nth, guard) in guards.iter().enumerate() {
            count(0, compare(chart, &all, &[(guard, true)], &text));
            count(1, compare(chart, &all, &[(guard, false)], &text));
            for other in &guards[..nth] {
                count(2, compare(chart, &all, &[(guard, true), (other, true)], &text));
                let refuted = compare(chart, &all, &[(guard, true), (other, false)], &text);
                count(3, refuted);
                assert_eq!(implies(chart, Some(guard.0), Some(other.0)), !refuted, "{text}");
            }
        }
        let none: Vec<_> = guards.iter().map(|g| (g, false)).collect();
        count(4, compare(chart, &all, &none, &text));
    }
    assert!(counts.iter().flatten().all(|n| *n > 20), "too few of a kind: {counts:?}");
}
