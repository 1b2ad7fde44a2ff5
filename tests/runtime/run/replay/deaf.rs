//! Runs with a deaf sink behave like, and store the same data as, runs with a trace, apart from the notes of machines.

use super::world::{Run, charts, run_around};
use chartc::Checked;
use chartc_runtime::core::host::Machine;
use chartc_runtime::trace::{Line, Sink, What};
use serde_json::Value as Json;
use std::cell::RefCell;
use std::fmt::Write;
use std::io;
use std::rc::Rc;

const RUNS: u64 = 600;

#[test]
fn a_run_that_nobody_hears_is_the_same() {
    let (charts, mut taken) = (charts(), 0);
    for seed in 0..RUNS {
        let checked = &charts[seed as usize % charts.len()];
        let listener = Listener::default();
        let (heard, Listener { lines, .. }) =
            marks(checked, seed, listener.clone(), &listener.notes);
        let (deaf, ()) = marks(checked, seed, (), &Notes::default());
        let lines = lines.borrow();
        for (nth, (heard, deaf)) in heard.iter().zip(&deaf).enumerate() {
            let name = &checked.chart().name;
            assert_eq!(heard, deaf, "{name}, seed {seed}, after {nth} acts: {lines:#?}");
        }
        assert_eq!(heard.len(), deaf.len());
        taken += lines.iter().filter(|line| matches!(line.what, What::Taken { .. })).count();
    }
    assert!(taken > 1000, "{taken}");
}

/// The places of notes in a trace.
type Notes = Rc<RefCell<Vec<u64>>>;

/// Keeps all lines, and the places of notes.
#[derive(Clone, Default)]
struct Listener {
    lines: Rc<RefCell<Vec<Line>>>,
    notes: Notes,
}

impl Sink for Listener {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        if matches!(line.what, What::Note { .. }) {
            self.notes.borrow_mut().push(line.seq);
        }
        self.lines.borrow_mut().push(line.clone());
        Ok(())
    }
}

/// The number of lines up to a place without the notes, which are made only for a listener.
fn without_notes(seq: u64, notes: &[u64]) -> u64 {
    seq - notes.iter().filter(|note| **note <= seq).count() as u64
}

/// The observable state of a run after each action of its host.
fn marks<T: Sink>(checked: &Checked, seed: u64, sink: T, notes: &Notes) -> (Vec<String>, T) {
    let mut all = Vec::new();
    let sink = run_around(checked, seed, false, sink, |driver, _| driver, &mut |session| {
        all.push(mark(session, &notes.borrow()));
    });
    (all, sink)
}

fn mark<T: Sink>(session: &Run<'_, T>, notes: &[u64]) -> String {
    let mut text = String::new();
    let mut history = session.history();
    for line in &mut history {
        line.seq = without_notes(line.seq, notes);
        if let What::Taken { held, .. } = &mut line.what {
            // The reasons of transitions are determined only for a sink that asks for them.
            held.clear();
        }
    }
    let seq = without_notes(session.seq(), notes);
    let counts = (seq, session.turns(), session.calls(), session.status());
    let waits = (session.waits_for(), session.next_change(), session.failed_step());
    let machine = (session.configuration(), session.machine().variables());
    let _ = write!(text, "{counts:?} {waits:?} {machine:?} {history:?} {:?}", session.summary());
    if let Some(saved) = session.save() {
        let saved = saved.text().expect("it can be written");
        let saved = serde_json::from_str(&saved).expect("it is JSON");
        let _ = write!(text, "{}", comparable(saved, notes));
    }
    text
}

/// The saved run without notes, the reasons of transitions and everything that depends on their text.
fn comparable(value: Json, notes: &[u64]) -> Json {
    let without_notes =
        |place: &Json| without_notes(place.as_u64().expect("the place of a line"), notes);
    match value {
        Json::Array(items) => items.into_iter().map(|item| comparable(item, notes)).collect(),
        Json::Object(mut map) => {
            map.retain(|name, _| name != "held" && name != "sum");
            // A history contains a transition once for each of its reasons.
            if let (Some(Json::Array(lines)), Some(Json::Array(taken))) =
                (map.get("lines").cloned(), map.get_mut("taken"))
            {
                for one in taken {
                    one[1] = without_notes(&one[1]).into();
                    let nth = one[2].as_u64().expect("the place of a line");
                    one[2] = lines[nth as usize].clone();
                }
                map.remove("lines");
            }
            if let Some(seq) = map.get_mut("seq") {
                *seq = without_notes(seq).into();
            }
            map.into_iter().map(|(name, value)| (name, comparable(value, notes))).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}
