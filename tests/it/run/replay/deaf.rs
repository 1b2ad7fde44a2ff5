//! Runs with a deaf sink behave like, and store the same data as, runs with a trace.

use super::world::{Run, charts, run_around};
use chartc::Checked;
use chartc_runtime::core::host::Machine;
use chartc_runtime::trace::{Line, Sink, What};
use serde_json::Value as Json;
use std::fmt::Write;

const RUNS: u64 = 600;

#[test]
fn a_run_that_nobody_hears_is_the_same() {
    let (charts, mut taken) = (charts(), 0);
    for seed in 0..RUNS {
        let checked = &charts[seed as usize % charts.len()];
        let (heard, lines) = marks(checked, seed, Vec::<Line>::new());
        let (deaf, ()) = marks(checked, seed, ());
        for (nth, (heard, deaf)) in heard.iter().zip(&deaf).enumerate() {
            let name = &checked.chart().name;
            assert_eq!(heard, deaf, "{name}, seed {seed}, after {nth} acts: {lines:#?}");
        }
        assert_eq!(heard.len(), deaf.len());
        taken += lines.iter().filter(|line| matches!(line.what, What::Taken { .. })).count();
    }
    assert!(taken > 1000, "{taken}");
}

/// The observable state of a run after each action of its host.
fn marks<T: Sink>(checked: &Checked, seed: u64, sink: T) -> (Vec<String>, T) {
    let mut all = Vec::new();
    let sink =
        run_around(checked, seed, false, sink, |around, _| around, &mut |session, census| {
            all.push(format!("{} {census:?}", mark(session)));
        });
    (all, sink)
}

fn mark<T: Sink>(session: &Run<'_, T>) -> String {
    let mut text = String::new();
    let mut history = session.history();
    for line in &mut history {
        if let What::Taken { held, .. } = &mut line.what {
            // The reasons of transitions are determined only for a sink that asks for them.
            held.clear();
        }
    }
    let counts = (session.seq(), session.turns(), session.calls(), session.status());
    let waits = (session.waits_for(), session.next_change(), session.failed_step());
    let machine = (session.configuration(), session.machine().variables());
    let _ = write!(text, "{counts:?} {waits:?} {machine:?} {history:?} {:?}", session.summary());
    if let Some(saved) = session.save() {
        let saved = saved.text().expect("it can be written");
        let saved = serde_json::from_str(&saved).expect("it is JSON");
        let _ = write!(text, "{}", without_reasons(saved));
    }
    text
}

/// The saved run without the reasons of transitions and everything that depends on their text.
fn without_reasons(value: Json) -> Json {
    match value {
        Json::Array(items) => items.into_iter().map(without_reasons).collect(),
        Json::Object(mut map) => {
            map.retain(|name, _| name != "held" && name != "sum");
            // A history contains a transition once for each of its reasons.
            if let (Some(Json::Array(lines)), Some(Json::Array(taken))) =
                (map.get("lines").cloned(), map.get_mut("taken"))
            {
                for one in taken {
                    let nth = one[2].as_u64().expect("the place of a line");
                    one[2] = lines[nth as usize].clone();
                }
                map.remove("lines");
            }
            map.into_iter().map(|(name, value)| (name, without_reasons(value))).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}
