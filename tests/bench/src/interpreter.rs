//! Events a second of the interpreter: on the four machines, and on charts of growing size, where an event should cost the same.

use crate::dice::Dice;
use crate::scale::timed;
use chartc::load::Memory;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Record, Sink};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Events of a stream.
const STREAM: usize = 65_536;
const ROUNDS: usize = 15;

/// A name, the text of a chart, and how often each event comes.
type Named = (&'static str, &'static str, &'static [(&'static str, usize)]);

/// The machines of the benchmarks, with how often each event comes in a hundred; empty is uniform.
const MACHINES: [Named; 4] = [
    ("ring", include_str!("../charts/ring.chart"), &[]),
    (
        "hierarchy",
        include_str!("../charts/hierarchy.chart"),
        &[("tick", 70), ("next", 15), ("switch", 10), ("halt", 5)],
    ),
    ("parallel", include_str!("../charts/parallel.chart"), &[]),
    ("table", include_str!("../charts/table.chart"), &[]),
];

type Kind = (&'static str, fn(usize) -> String);

/// Charts of any size: every event is handled by a line of an active state.
const KINDS: [Kind; 5] = [
    ("flat ring", flat),
    ("nested rings", nested),
    ("three regions", regions),
    ("histories", histories),
    ("deadlines", deadlines),
];

/// Prints nanoseconds an event.
pub(crate) fn run(sizes: &[usize]) {
    println!("{:<14} {:>10} {:>12}", "machine", "ns/event", "million/s");
    for (name, text, mix) in MACHINES {
        let took = of_chart(name, text, mix);
        println!("{name:<14} {took:>10.1} {:>12.1}", 1000.0 / took);
    }
    print!("\n{:<14}", "ns/event at");
    for size in sizes {
        print!(" {size:>8}");
    }
    println!(" states");
    for (name, chart) in KINDS {
        print!("{name:<14}");
        for size in sizes {
            print!(" {:>8.1}", of_chart(name, &chart(*size), &[]));
        }
        println!();
    }
}

struct Deaf;

impl Host for Deaf {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("no host function `{function}`"))
    }
}

struct Nothing;

impl Sink for Nothing {
    fn effect(&mut self, _: Effect) {}
    fn record(&mut self, _: Record) {}
}

/// Nanoseconds an event. Every round goes on where the last one ended.
fn of_chart(name: &str, text: &str, mix: &[(&str, usize)]) -> f64 {
    let path = format!("{name}.chart");
    let done = chartc::check(std::slice::from_ref(&path), &Memory::of(&path, text));
    let [checked] = done.charts.as_slice() else {
        panic!("{name} is one sound chart: {:?}", done.diagnostics.first())
    };
    let stream = stream(checked.chart(), mix);
    let plan = Plan::new(checked.chart());
    let mut machine = Interpreter::new(&plan, Deaf, []).expect("no params");
    machine.handle(Input::Start, 0, &mut Nothing).expect("starts");
    let mut round = || {
        for event in &stream {
            let _ = machine.handle(Input::Event(*event, Vec::new()), 0, &mut Nothing);
        }
    };
    round();
    // What the system tells of the processor's time comes in steps of milliseconds.
    let took = on_processor(&mut || (0..ROUNDS).for_each(|_| round()));
    took.as_secs_f64() * 1e9 / (ROUNDS * STREAM) as f64
}

/// How long work took on the processor, without the time that other programs had it; where nothing tells, by the clock.
fn on_processor(work: &mut impl FnMut()) -> Duration {
    let spent = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    let before = spent();
    let (by_clock, ()) = timed(work);
    before.zip(spent()).map_or(by_clock, |(before, after)| after.saturating_sub(before))
}

fn stream(chart: &Arc<Chart>, mix: &[(&str, usize)]) -> Vec<EventId> {
    let named = |name: &str| {
        let place = chart.events.iter().position(|event| event.name == name);
        EventId::at(place.expect("the chart declares it"))
    };
    let mut hundred: Vec<EventId> = Vec::new();
    for (name, share) in mix {
        hundred.extend(std::iter::repeat_n(named(name), *share));
    }
    if hundred.is_empty() {
        hundred.extend((0..chart.events.len()).map(EventId::at));
    }
    let mut dice = Dice(11);
    (0..STREAM).map(|_| hundred[dice.below(hundred.len())]).collect()
}

fn head(name: &str) -> String {
    format!(
        "chart {name} {{\n  event next\n  event jump\n  event skip\n  var count: Int = 0\n  initial s0\n"
    )
}

/// A line to the next state, one to a state half-way round, one that stays.
fn lines(text: &mut String, indent: usize, name: &str, nth: usize, of: usize) {
    let (next, half) = ((nth + 1) % of, (nth + of / 2 + 1) % of);
    let _ = writeln!(
        text,
        "{:indent$}on next -> {name}{next} {{ count = count + 1 }}\n{:indent$}on jump -> {name}{half}\n{:indent$}on skip if count >= 0 {{ count = 0 }}",
        "", "", ""
    );
}

fn ring(text: &mut String, indent: usize, name: &str, of: usize, extra: &str) {
    for nth in 0..of {
        let _ = writeln!(text, "{:indent$}state {name}{nth} {{", "");
        lines(text, indent + 2, name, nth, of);
        if !extra.is_empty() {
            let _ = writeln!(text, "{:indent$}{extra}", "");
        }
        let _ = writeln!(text, "{:indent$}}}", "");
    }
}

fn flat(states: usize) -> String {
    let mut text = head("Flat");
    ring(&mut text, 2, "s", states, "");
    text + "}\n"
}

/// Rings of four states in a ring: the outer lines are inherited.
fn nested(states: usize) -> String {
    let mut text = head("Nested");
    let outer = states.div_ceil(5).max(2);
    for nth in 0..outer {
        let _ = writeln!(text, "  state s{nth} {{\n    initial i0");
        let _ = writeln!(text, "    on jump -> s{} {{ count = count + 1 }}", (nth + 1) % outer);
        let _ = writeln!(text, "    on skip {{ count = 0 }}");
        for inner in 0..4 {
            let _ = writeln!(text, "    state i{inner} {{ on next -> i{} }}", (inner + 1) % 4);
        }
        text += "  }\n";
    }
    text + "}\n"
}

fn regions(states: usize) -> String {
    let mut text = head("Regions");
    text += "  parallel s0 {\n";
    for region in ["p", "q", "r"] {
        let _ = writeln!(text, "    state {region} {{\n      initial {region}0");
        ring(&mut text, 6, region, (states / 3).max(2), "");
        text += "    }\n";
    }
    text + "  }\n}\n"
}

/// Every inner ring is left and entered again where it was left.
fn histories(states: usize) -> String {
    let mut text = head("Histories");
    let outer = states.div_ceil(5).max(2);
    for nth in 0..outer {
        let next = (nth + 1) % outer;
        let _ = writeln!(text, "  state s{nth} {{\n    initial i0\n    history h -> i0");
        let _ = writeln!(text, "    on jump -> s{next}.h {{ count = count + 1 }}");
        let _ = writeln!(text, "    on skip {{ count = 0 }}");
        for inner in 0..4 {
            let _ = writeln!(text, "    state i{inner} {{ on next -> i{} }}", (inner + 1) % 4);
        }
        text += "  }\n";
    }
    text + "}\n"
}

fn deadlines(states: usize) -> String {
    let mut text = head("Deadlines");
    ring(&mut text, 2, "s", states, "after 1h -> s0");
    text + "}\n"
}
