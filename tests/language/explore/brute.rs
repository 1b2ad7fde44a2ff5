//! What is said of charts with finite data is what trying everything shows: states that are entered, lines that are taken, points from
//! which no run ends. The trying here knows nothing of what decides moves: two points are one if their snapshots are, less clocks and
//! counters that these charts never read.

use super::finite;
use crate::interpreter::Log;
use crate::soundness::random::Random;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::facts::endless::traps;
use chartc_compiler::explore::property::Seen;
use chartc_compiler::explore::{Search, explore, property};
use chartc_core::arena::{EventId, StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Outcome, Record};
use chartc_core::model::{Chart, Limits, StepKind};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Charts that are tried; `CHARTC_CASES` says otherwise.
const CHARTS: u64 = 60;

/// Points beyond which a chart is left out.
const MOST: usize = 500;

/// Values by name, as they are shown.
type Values = Vec<(String, String)>;

/// A point of a run: how to get back to it, its leaves, and the values there.
type Rest = (Saved, Vec<StateId>, Values);

pub(crate) struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _: &str, _: &[Value]) -> Result<Value, String> {
        Err("there is none".into())
    }
}

/// What trying everything shows.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    entered: BTreeSet<StateId>,
    taken: BTreeSet<TransitionId>,
    /// Leaves of points from which no run ends.
    endless: BTreeSet<Vec<StateId>>,
    /// Leaves of points that no run leaves.
    fixed: BTreeSet<Vec<StateId>>,
    /// Leaves where runs rest, with the values of the vars there.
    rests: BTreeSet<(Vec<StateId>, Values)>,
}

/// The saved machine without what only counts up.
pub(crate) fn plain(plan: &Plan, saved: &Saved) -> String {
    let mut json = serde_json::to_value(saved).expect("a saved machine is data");
    for name in ["handled", "last_result", "answers", "finals", "calls", "called", "types"] {
        json[name] = Json::Null;
    }
    let registers = &mut json["registers"];
    let now = registers["now"].as_u64().expect("a time");
    for name in ["turns", "events", "now", "started_at"] {
        registers[name] = Json::Null;
    }
    let counts = registers["states"].take();
    let chart = plan.chart();
    for state in chart.state_ids().map(|id| chart.state(id)) {
        let counted = |name: &str| counts[state.path.as_str()][name].as_u64().unwrap_or(0);
        // Turns count where a deadline of turns is armed, which is two at most; calls and turns where a limit does, which is four at most.
        let limited =
            |name| if state.limits == Limits::default() { 0 } else { counted(name).min(5) };
        let kept = [counted("turns_here").min(2), limited("turns_in"), limited("calls")];
        registers["states"][state.path.as_str()] = Json::from(kept.to_vec());
    }
    if registers["walking"] == Json::Bool(false) {
        for name in ["walks", "touched", "unbroken"] {
            registers[name] = Json::Null;
        }
    }
    let steps = registers["steps"].as_object_mut().expect("an object");
    for row in steps.values_mut() {
        row["started_at"] = Json::Null;
        if row["pending"].is_object() {
            row["pending"]["event"] = Json::Null;
        }
    }
    for row in registers["questions"].as_array_mut().expect("a list") {
        row["started_at"] = Json::Null;
        row["key"]["event"] = Json::Null;
    }
    for row in registers["deadlines"].as_array_mut().expect("a list") {
        if row["kind"] != "after turns" {
            let due = row["due"].as_u64().expect("a time");
            row["due"] = (due - now).into();
        }
    }
    json.to_string()
}

pub(crate) fn inputs(
    chart: &Arc<Chart>,
    machine: &mut Interpreter<impl Host>,
) -> Vec<(Input<Vec<Value>>, u64)> {
    let now = machine.standing().now;
    let mut all = Vec::new();
    let text = |text: &str| Value::Text(text.into());
    for (i, event) in chart.events.iter().enumerate() {
        let payloads = match event.name.as_str() {
            "b" => vec![vec![Value::Bool(true)], vec![Value::Bool(false)]],
            "c" => ["p", "q", "r"].iter().map(|name| vec![text(name)]).collect(),
            _ => vec![vec![]],
        };
        for payload in payloads {
            all.push((Input::Event(EventId::at(i), payload), now));
        }
    }
    if !machine.is_walking() {
        all.push((Input::Turn, now));
    }
    if let Some(due) = machine.next_deadline() {
        all.push((Input::Tick, due.max(now)));
    }
    for key in machine.pending() {
        let mut outcomes = vec![Outcome::Unusable, Outcome::Failed(vec![text("no")])];
        let step = &chart.steps[key.step.index()];
        if matches!(step.kind, StepKind::Ask { .. }) {
            for offer in machine.options(key) {
                outcomes.push(Outcome::Choice(offer.choice, Vec::new()));
            }
        } else {
            for tool in machine.step_tools(key) {
                outcomes.push(Outcome::Call(tool, Vec::new()));
            }
            let given = [Value::Bool(true), Value::Bool(false), text("p"), text("q"), text("r")];
            outcomes.extend(given.map(|value| Outcome::Done(vec![value])));
        }
        all.extend(outcomes.into_iter().map(|outcome| (Input::Answer(key, outcome), now)));
    }
    all
}

/// Tries everything; `None` where that is too much.
fn brute(chart: &Arc<Chart>) -> Option<Shown> {
    let plan = Plan::new(chart);
    let mut shown = Shown::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let (mut points, mut ends, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    let mut note = |log: &Log| {
        for record in &log.records {
            match record {
                Record::Entered(state) => drop(shown.entered.insert(*state)),
                Record::Taken(line) => drop(shown.taken.insert(*line)),
                _ => {}
            }
        }
    };
    let mut put = |machine: &Interpreter<NoHost>, points: &mut Vec<Rest>, ends: &mut Vec<bool>| {
        let snapshot = machine.save().expect("it can be saved");
        let next = points.len();
        *known.entry(plain(&plan, &snapshot)).or_insert_with(|| {
            let values = machine.variables().into_iter();
            let values = values.map(|(name, value)| (name, format!("{value:?}"))).collect();
            points.push((snapshot, machine.leaves(), values));
            ends.push(machine.ended().is_some());
            next
        })
    };
    for lim in 1..=2 {
        let given = [("lim".to_owned(), Value::Int(lim))];
        let mut machine = Interpreter::new(&plan, NoHost, given).expect("in its range");
        let mut log = Log::default();
        machine.handle(Input::Start, 0, &mut log).expect("it starts");
        note(&log);
        put(&machine, &mut points, &mut ends);
    }
    let mut at = 0;
    while at < points.len() {
        if points.len() > MOST {
            return None;
        }
        let again = |points: &[Rest]| {
            Interpreter::resume(&plan, [], NoHost, &points[at].0).expect("it was one")
        };
        let mut row = BTreeSet::new();
        if !ends[at] {
            for (input, now) in inputs(chart, &mut again(&points)) {
                let mut machine = again(&points);
                let mut log = Log::default();
                machine.handle(input, now, &mut log).expect("it fits");
                note(&log);
                row.insert(put(&machine, &mut points, &mut ends));
            }
        }
        edges.push(row);
        at += 1;
    }
    // Backwards from what ends.
    let mut good = ends.clone();
    loop {
        let more: Vec<usize> = (0..points.len())
            .filter(|nth| !good[*nth] && edges[*nth].iter().any(|to| good[*to]))
            .collect();
        if more.is_empty() {
            break;
        }
        for nth in more {
            good[nth] = true;
        }
    }
    for nth in (0..points.len()).filter(|nth| !ends[*nth]) {
        let leaves = &points[nth].1;
        shown.rests.insert((leaves.clone(), points[nth].2.clone()));
        if !good[nth] {
            shown.endless.insert(leaves.clone());
        }
        if edges[nth].iter().all(|to| points[*to].1 == *leaves && !ends[*to]) {
            shown.fixed.insert(leaves.clone());
        }
    }
    Some(shown)
}

/// The same, as exploring says.
fn explored(chart: &Arc<Chart>, found: &chartc_compiler::explore::Explored) -> Shown {
    let seen = Seen::in_all(chart, found);
    let good = property::leading(found, |edge| found.points[edge.to].ended);
    let mut shown = Shown {
        entered: chart.state_ids().filter(|s| seen.entered[s.index()]).collect(),
        taken: (0..chart.transitions.len())
            .map(TransitionId::at)
            .filter(|l| seen.is_taken(*l))
            .collect(),
        ..Shown::default()
    };
    for (nth, point) in found.points.iter().enumerate().filter(|(_, point)| !point.ended) {
        if !good[nth] {
            shown.endless.insert(point.leaves.clone());
        }
        let values = point.values.iter();
        let named = |id: VarId| chart.variables[id.index()].name.clone();
        let values = values.map(|(id, value)| (named(*id), format!("{value:?}"))).collect();
        shown.rests.insert((point.leaves.clone(), values));
        let stays = |to: usize| found.points[to].leaves == point.leaves && !found.points[to].ended;
        if found.edges[nth].iter().all(|edge| stays(edge.to)) {
            shown.fixed.insert(point.leaves.clone());
        }
    }
    shown
}

#[test]
fn exploring_finds_what_trying_everything_does() {
    let charts = test_support::project::cases(CHARTS);
    let (mut compiled, mut tried, mut equal, mut claims) = (0, 0, 0, [0; 4]);
    let (mut limited, mut relaxed, mut traps_told) = (0, 0, 0);
    for seed in 1..=charts {
        let text = finite::chart(&mut Random::new(seed));
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let Some(checked) = done.charts.first() else {
            panic!("{}\n{text}", chartc::report::short(&done.diagnostics, &done.sources));
        };
        let chart = checked.chart();
        compiled += 1;
        let Some(shown) = brute(chart) else { continue };
        tried += 1;
        let facts = Facts::new(chart);
        for state in &shown.entered {
            assert!(facts.reach.can_enter(*state), "seed {seed}: {state:?} is entered\n{text}");
        }
        for line in &shown.taken {
            assert!(facts.reach.can_take(*line), "seed {seed}: {line:?} is taken\n{text}");
        }
        let seen = Seen::new(chart);
        if let Some(seen) = &seen {
            let dead = shown.taken.iter().find(|line| !seen.is_taken(**line));
            assert_eq!(dead, None, "seed {seed}: a line is taken\n{text}");
            let closed = shown.entered.iter().find(|state| !seen.entered[state.index()]);
            assert_eq!(closed, None, "seed {seed}: a state is entered\n{text}");
        }
        // A limit that ends the run is no way out for a trap, and one for trying everything.
        if chart.states.iter().all(|state| state.limits == Limits::default()) {
            let all = traps(chart, &facts).into_iter().filter(|trap| trap.ends);
            let by_graph: Vec<StateId> = all.flat_map(|trap| trap.states).collect();
            for (leaves, _) in &shown.rests {
                let is_told =
                    by_graph.iter().any(|s| leaves.iter().any(|leaf| chart.contains(*s, *leaf)));
                assert!(!is_told || shown.endless.contains(leaves), "seed {seed}: a trap\n{text}");
            }
            let lost = seen.iter().flat_map(|seen| &seen.lost);
            for leaf in lost.map(|lost| lost.leaf) {
                assert!(shown.endless.contains(&vec![leaf]), "seed {seed}: no trap\n{text}");
                traps_told += 1;
            }
        }
        let search = Search { states: 2 * MOST, ..Search::default() };
        let loose = explore(chart, &Search { abstract_limits: true, ..search.clone() });
        if loose.relaxed {
            limited += 1;
            relaxed += usize::from(loose.is_complete());
            let told = explored(chart, &loose);
            let less = shown.entered.is_subset(&told.entered) && shown.taken.is_subset(&told.taken);
            assert!(less || !loose.is_complete(), "seed {seed}: limits at any time\n{text}");
        }
        let found = explore(chart, &search);
        let told = explored(chart, &found);
        assert!(
            told.entered.is_subset(&shown.entered) || !found.is_complete(),
            "seed {seed}\n{text}"
        );
        if found.is_complete() {
            // Values that decide nothing are no part of it.
            let mut shown = shown;
            let read: Option<BTreeSet<String>> = told
                .rests
                .first()
                .map(|(_, values)| values.iter().map(|(name, _)| name.clone()).collect());
            if let Some(read) = read {
                let less = |(leaves, values): (Vec<StateId>, Values)| {
                    (leaves, values.into_iter().filter(|(name, _)| read.contains(name)).collect())
                };
                shown.rests = shown.rests.into_iter().map(less).collect();
            }
            assert_eq!(told, shown, "seed {seed}\n{text}");
            equal += 1;
            let states = chart.states.len() - shown.entered.len();
            let lines = chart.transitions.len() - shown.taken.len();
            let counts = [states, lines, shown.endless.len(), shown.fixed.len()];
            claims.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
        }
    }
    println!(
        "{compiled} charts, {tried} tried whole, {equal} complete and equal; never entered, never taken, endless, fixed: {claims:?}; {relaxed} of {limited} with limits complete; {traps_told} traps by values"
    );
    assert!(traps_told > 1, "{traps_told} traps by values");
    assert!(equal * 3 > compiled, "only {equal} of {compiled} charts are compared");
    assert!(relaxed * 2 > limited && limited > 3, "{relaxed} of {limited} charts with limits");
    assert!(claims.iter().all(|n| *n > 2), "too little is claimed: {claims:?}");
}
