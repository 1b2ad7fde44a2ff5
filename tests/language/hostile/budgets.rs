//! What work takes is counted, and bounded whatever the input: steps of tests, units of one input to a machine, made-up answers.

use crate::explore::brute::NoHost;
use chartc::Compilation;
use chartc::load::Memory;
use chartc_core::expr::Fuel;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Record, Sink};
use chartc_core::plan::Plan;
use std::collections::BTreeMap;

fn checked(text: &str) -> Compilation {
    let files = Memory(BTreeMap::from([("a.chart".to_owned(), text.to_owned())]));
    let done = chartc::check(&["a.chart".to_owned()], &files);
    assert_eq!(done.charts.len(), 1, "{:?}", done.diagnostics);
    done
}

/// A list of so many numbers.
fn numbers(count: usize) -> String {
    let all: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    format!("[{}]", all.join(", "))
}

/// Counts what went wrong.
#[derive(Default)]
struct Errors(usize);

impl Sink for Errors {
    fn effect(&mut self, _: chartc_core::machine::Effect) {}

    fn record(&mut self, record: Record) {
        self.0 += usize::from(matches!(record, Record::Error(_)));
    }
}

/// The units that a start and a turn of the chart take, and the errors and notes of both.
fn turn(text: &str) -> (u64, usize, Vec<String>) {
    let done = checked(text);
    let plan = Plan::new(done.charts[0].chart());
    let mut machine = Interpreter::new(&plan, NoHost, []).expect("no params");
    let room = 1 << 40;
    machine.allow(room);
    let mut errors = Errors::default();
    for input in [Input::Start, Input::Turn] {
        machine.handle(input, 0, &mut errors).expect("it fits");
    }
    let notes = machine.take_notes().into_iter().map(|note| note.text).collect();
    (room - machine.allowed(), errors.0, notes)
}

/// Lines each of which has a condition that nests loops.
fn nests(lines: usize, deep: usize) -> String {
    let inner = (0..deep)
        .fold("true".to_owned(), |inner, n| format!("any([{inner} for v{n} in x if v{n} >= 0])"));
    let lines: String =
        (0..lines).map(|n| format!("    on turn if {inner} and n == {n} -> b\n")).collect();
    format!(
        "chart A {{\n  var x: List(Int) = {}\n  var n: Int = -1\n  initial a\n  state a {{\n{lines}  }}\n  state b {{ on turn -> a }}\n}}\n",
        numbers(200)
    )
}

#[test]
fn one_input_takes_so_much_and_no_more() {
    for lines in [1, 20, 100] {
        let (units, errors, notes) = turn(&nests(lines, 4));
        let most = Fuel::INPUT + Fuel::USUAL + lines as u64 * Fuel::LEAST;
        assert!((Fuel::USUAL..=most).contains(&units), "{lines} lines: {units}");
        assert!(errors > 0, "{lines} lines");
        assert!(notes.iter().all(|note| note.ends_with("too much work or data in one evaluation")));
    }
}

#[test]
fn what_ends_is_not_cut_off() {
    let (units, errors, _) = turn(&nests(10, 2));
    assert_eq!(errors, 0);
    assert!(units > 10 * 200 * 200, "{units}");
}

#[test]
fn a_handler_works_when_an_input_has_spent_all() {
    let mut text = nests(100, 4);
    text = text.replace(
        "  state b {",
        "  on error.execution if len([y for y in [1, 2, 3] if y > 1]) == 2 -> c\n  state c\n  state b {",
    );
    let done = checked(&text);
    let plan = Plan::new(done.charts[0].chart());
    let mut machine = Interpreter::new(&plan, NoHost, []).expect("no params");
    for input in [Input::Start, Input::Turn] {
        machine.handle(input, 0, &mut Errors::default()).expect("it fits");
    }
    let chart = done.charts[0].chart();
    let paths: Vec<&str> =
        machine.leaves().into_iter().map(|leaf| chart.state(leaf).path.as_str()).collect();
    assert_eq!(paths, ["c"]);
}
