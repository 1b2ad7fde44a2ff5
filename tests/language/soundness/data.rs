//! The data-flow analysis against every run of small charts: a value that it claims to be set is set whenever it is read, and for one that
//! may be unset, some run along exactly the transitions of its witness reads it unset.

use super::data_charts;
use super::random::Random;
use crate::explore::brute::{NoHost, inputs, plain};
use crate::interpreter::Log;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::calls::Value as Cell;
use chartc_compiler::analysis::turn::flow::{By, Fixed, Flow, Site, Unset};
use chartc_core::arena::{StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, ErrorKind, Input, Loss, Record};
use chartc_core::model::{Chart, ExprKind, TemplatePart};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of generated charts, unless `CHARTC_CASES` is set.
const CHARTS: u64 = 320;

/// The most points of a chart that are explored.
const MOST: usize = 150;

/// A read: the step, the part of its prompt, and the value.
type Reading = (StepId, usize, Cell);

/// The values that a prompt shows.
fn shown(chart: &Arc<Chart>, step: StepId) -> Vec<Reading> {
    let parts = chart.steps[step.index()].prompt.iter().flat_map(|p| p.parts.iter().enumerate());
    parts
        .filter_map(|(nth, part)| {
            let TemplatePart::Hole { expr, .. } = part else { return None };
            match expr.kind {
                ExprKind::Variable(id) => Some((step, nth, Cell::Variable(id))),
                ExprKind::Answer(id) => Some((step, nth, Cell::Answer(id))),
                _ => None,
            }
        })
        .collect()
}

/// Whether the value is set now.
fn is_set(machine: &Interpreter<NoHost>, cell: Cell) -> bool {
    let facts = machine.facts();
    let value = match cell {
        Cell::Variable(id) => facts.variables[id.index()].as_ref(),
        Cell::Answer(id) => facts.answers.get(id.index()).and_then(Option::as_ref),
    };
    value.is_some_and(|value| *value != Value::None)
}

/// A witness to replay: its transitions, and the read at its end.
struct Replay {
    lines: Vec<TransitionId>,
    reading: Reading,
}

/// The results of the exploration.
#[derive(Default)]
struct Shown {
    unset: BTreeSet<Reading>,
    set: BTreeSet<Reading>,
    taken: BTreeSet<TransitionId>,
    lost: BTreeSet<TransitionId>,
    is_whole: bool,
    replayed: bool,
}

/// Explores every run; with a witness, only those that take exactly its transitions.
fn brute(chart: &Arc<Chart>, replay: Option<&Replay>, most: usize) -> Shown {
    let plan = Plan::new(chart);
    let mut shown_all = Shown { is_whole: true, ..Shown::default() };
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<(Saved, usize)> = Vec::new();
    let mut visit = |machine: &Interpreter<NoHost>, log: &Log, at: usize, all: &mut Shown| {
        let mut at = at;
        // A run that was stopped as a livelock is not stable.
        if log.records.contains(&Record::Error(ErrorKind::Livelock)) {
            return None;
        }
        for record in &log.records {
            match record {
                Record::Taken(line) => {
                    all.taken.insert(*line);
                    if let Some(replay) = replay {
                        if replay.lines.get(at) != Some(line) {
                            return None;
                        }
                        at += 1;
                    }
                }
                Record::Lost(line, Loss::Guard) => drop(all.lost.insert(*line)),
                _ => {}
            }
        }
        for effect in &log.effects {
            let Effect::Start(key) = effect else { continue };
            for reading in shown(chart, key.step) {
                let set = is_set(machine, reading.2);
                if set {
                    all.set.insert(reading)
                } else {
                    all.unset.insert(reading)
                };
                all.replayed |=
                    replay.is_some_and(|r| !set && at == r.lines.len() && r.reading == reading);
            }
        }
        let snapshot = machine.save().expect("it can be saved");
        let answers =
            serde_json::to_value(&snapshot).expect("a snapshot is data")["answers"].to_string();
        let new = known.insert(format!("{at} {} {answers}", plain(&plan, &snapshot)));
        (new && machine.ended().is_none()).then_some((snapshot, at))
    };
    let mut machine = Interpreter::new(&plan, NoHost, []).expect("no params");
    let mut log = Log::default();
    machine.handle(Input::Start, 0, &mut log).expect("it starts");
    open.extend(visit(&machine, &log, 0, &mut shown_all));
    let mut next = 0;
    while next < open.len() {
        if open.len() > most {
            shown_all.is_whole = false;
            break;
        }
        let (snapshot, at) = open[next].clone();
        next += 1;
        let again = || Interpreter::resume(&plan, [], NoHost, &snapshot).expect("it was one");
        let all = inputs(chart, &mut again());
        for (input, now) in all {
            for x in [false, true] {
                let mut machine = again();
                machine.set_input("x", Value::Bool(x)).expect("a declared input");
                let mut log = Log::default();
                if machine.handle(input.clone(), now, &mut log).is_ok() {
                    open.extend(visit(&machine, &log, at, &mut shown_all));
                }
            }
        }
        if shown_all.replayed {
            break;
        }
    }
    shown_all
}

/// The transitions of a witness.
fn lines(way: &[By]) -> Vec<TransitionId> {
    way.iter()
        .filter_map(|by| if let By::Transition(_, id, _) = by { Some(*id) } else { None })
        .collect()
}

fn reading(unset: &Unset) -> Option<Reading> {
    if let Site::Prompt(step, part) = unset.site { Some((step, part, unset.value)) } else { None }
}

/// Compares the claims about a chart with its runs; counts the values that are always set, never set, unset on some path, and fixed guards.
fn compare(chart: &Arc<Chart>, text: &str) -> Option<[usize; 4]> {
    let facts = Facts::new(chart);
    let flow = Flow::new(chart, &facts);
    assert!(flow.is_exact(), "{text}");
    let runs = brute(chart, None, MOST);
    for (readings, want) in [(&runs.set, true), (&runs.unset, false)] {
        for reading in readings {
            let held = flow.at(Site::Prompt(reading.0, reading.1), reading.2);
            let may = held.is_some_and(|h| if want { h.set } else { h.unset });
            assert!(may, "{reading:?} is {}\n{text}", if want { "set" } else { "unset" });
        }
    }
    let fixed: Vec<Fixed> = flow.fixed();
    for Fixed { site, holds, .. } in &fixed {
        if let Site::Transition(line) = site {
            let against = if *holds { &runs.lost } else { &runs.taken };
            assert!(!against.contains(line), "{line:?} does not always come out {holds}\n{text}");
        }
    }
    let unset = flow.unset(&facts, &|_| false);
    let mut ways = 0;
    for found in &unset {
        let (Some(reading), Some(way)) = (reading(found), &found.way) else { continue };
        ways += 1;
        let replay = Replay { lines: lines(way), reading };
        let found = brute(chart, Some(&replay), 20 * MOST);
        assert!(found.replayed, "{reading:?} is not read unset by {way:?}\n{text}");
    }
    let all: Vec<Reading> =
        (0..chart.steps.len()).flat_map(|i| shown(chart, StepId::at(i))).collect();
    let held = |r: &Reading| flow.at(Site::Prompt(r.0, r.1), r.2);
    let always = all.iter().filter(|r| held(r).is_some_and(|h| !h.unset)).count();
    let never = all.iter().filter(|r| held(r).is_some_and(|h| !h.set)).count();
    runs.is_whole.then_some([always, never, ways, fixed.len()])
}

#[test]
fn data_is_as_is_said() {
    let charts = test_support::project::cases(CHARTS);
    let (mut whole, mut claims) = (0, [0; 4]);
    for seed in test_support::project::seeds(CHARTS) {
        let text = data_charts::chart(&mut Random::new(seed));
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let Some(checked) = done.charts.first() else {
            panic!("{}\n{text}", chartc::report::short(&done.diagnostics, &done.sources));
        };
        if let Some(counts) = compare(checked.chart(), &text) {
            whole += 1;
            claims.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
        }
    }
    println!(
        "{charts} charts, {whole} tried whole; always there, never there, missing on a way, fixed: {claims:?}"
    );
    assert!(whole * 3 > charts, "only {whole} of {charts} charts are tried whole");
    assert!(claims.iter().all(|n| *n > 8), "too little is claimed: {claims:?}");
}
