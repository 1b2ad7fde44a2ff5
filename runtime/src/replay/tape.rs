//! The position in a trace during its replay.

use super::clock::ReplayClock;
use super::difference::Difference;
use super::recalled::Recalled;
use crate::host::{HostLog, Watched};
use crate::trace::{self, HostCall, Line, Origin, ReadError, Sink, What};
use chartc_core::expr::{Map, Value};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A trace and a position in it. As the sink of a run, it accepts lines that equal the recorded ones and refuses the first that differs.
/// Clones share the position.
#[derive(Debug, Clone)]
pub struct Tape {
    lines: Arc<Vec<Line>>,
    texts: Arc<Vec<String>>,
    place: Arc<Mutex<Progress>>,
    log: HostLog,
}

/// The position in a trace, and what has happened up to it.
#[derive(Debug, Default)]
struct Progress {
    /// The index of the next line, from 0.
    next: usize,
    answers: usize,
    /// The recorded calls of host functions that were not repeated yet.
    calls: VecDeque<HostCall>,
    difference: Option<Difference>,
    /// The number of lines to replay; `None` for all.
    until: Option<usize>,
    /// The lines that the run has written after those.
    beyond: Vec<Line>,
}

impl Progress {
    /// Whether all lines to replay have come.
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| self.next >= until)
    }
}

impl Tape {
    /// Parses a trace.
    ///
    /// # Errors
    /// The first line that cannot be parsed.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let texts = text.lines().filter(|l| !l.trim().is_empty()).map(|l| l.trim().to_owned());
        let (lines, kept): (Vec<Line>, Vec<String>) =
            trace::read(text)?.into_iter().zip(texts).unzip();
        let call = |line: &Line| {
            if let What::Note { call, .. } = &line.what { call.clone() } else { None }
        };
        let calls = lines.iter().filter_map(call);
        let place = Progress { calls: calls.collect(), ..Progress::default() };
        Ok(Self {
            texts: Arc::new(kept),
            lines: Arc::new(lines),
            place: Arc::new(Mutex::new(place)),
            log: HostLog::default(),
        })
    }

    /// The host that returns the recorded results of host functions.
    pub fn host(&self) -> Watched<Recalled> {
        let clock = Arc::new(ReplayClock::new(self.clone(), false));
        Watched::new(self.recalled(clock), self.log())
    }

    /// The values of params, inputs and vars before the start, by name.
    pub fn variables(&self) -> Map {
        match self.first().map(|line| &line.what) {
            Some(What::Run { variables: Value::Map(map), .. }) => map.clone(),
            _ => Map::new(),
        }
    }

    /// The first line of the trace.
    pub fn first(&self) -> Option<&Line> {
        self.lines.first()
    }

    /// The settings with which the run was started.
    pub fn origin(&self) -> Origin {
        match self.first().map(|line| &line.what) {
            Some(What::Run { file, calls_per_turn, clock, .. }) => Origin {
                file: file.clone(),
                calls_per_turn: *calls_per_turn,
                real_clock: clock == "real",
            },
            _ => Origin::default(),
        }
    }

    pub(super) fn log(&self) -> HostLog {
        self.log.clone()
    }

    pub(super) fn recalled(&self, clock: Arc<ReplayClock>) -> Recalled {
        Recalled::new(self.clone(), clock)
    }

    fn place(&self) -> MutexGuard<'_, Progress> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn answers(&self) -> usize {
        self.place().answers
    }

    /// Counts an answer that was taken from the trace.
    pub(super) fn count_answer(&self) {
        self.place().answers += 1;
    }

    /// Ends the replay after this number of lines: no answer comes after them, and no time passes.
    pub(super) fn end_after(&self, lines: usize) {
        self.place().until = Some(lines);
    }

    /// The lines that the run has written so far, including those after the end of the replay.
    pub(super) fn written(&self) -> Vec<Line> {
        let place = self.place();
        let until = place.until.unwrap_or(usize::MAX).min(place.next);
        self.lines.iter().take(until).chain(&place.beyond).cloned().collect()
    }

    /// The next line, and its index.
    pub(super) fn next(&self) -> Option<(usize, Line)> {
        let place = self.place();
        if place.is_over() {
            return None;
        }
        let next = place.next;
        self.lines.get(next).map(|line| (next, line.clone()))
    }

    /// The line with an index.
    pub(super) fn line(&self, index: usize) -> Option<&Line> {
        self.lines.get(index)
    }

    /// Whether a run waits for this line because it comes from outside. The end of a call is a `usage` line, if there is one, and a line
    /// with the result: the run waits for the first of both.
    pub(super) fn wakes(&self, index: usize) -> bool {
        let Some(line) = self.line(index) else { return false };
        let beside = |other: Option<usize>| {
            other.and_then(|other| self.line(other)).filter(|other| other.child == line.child)
        };
        if let What::Usage { .. } = line.what {
            return beside(Some(index + 1)).is_some_and(|end| ends_a_call(&end.what));
        }
        let told = beside(index.checked_sub(1));
        let is_told = told.is_some_and(|told| matches!(told.what, What::Usage { .. }));
        is_of_the_host(line) || (ends_a_call(&line.what) && !is_told)
    }

    /// The line before the next one.
    pub(super) fn last(&self) -> Option<Line> {
        let next = self.place().next;
        self.lines.get(next.checked_sub(1)?).cloned()
    }

    /// The next recorded call of a host function.
    pub(super) fn call(&self) -> Option<HostCall> {
        self.place().calls.pop_front()
    }

    pub(super) fn difference(&self) -> Option<Difference> {
        self.place().difference.clone()
    }

    /// The difference that the next line does not come.
    pub(super) fn missing(&self) -> Difference {
        let next = self.place().next;
        Difference { line: next + 1, recorded: self.texts.get(next).cloned(), now: None }
    }
}

impl Sink for Tape {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let now = serde_json::to_string(line)?;
        let mut place = self.place();
        // Beyond the end of the replay, lines are collected instead of compared.
        if place.is_over() {
            place.beyond.push(line.clone());
            return Ok(());
        }
        let recorded = self.texts.get(place.next).cloned();
        if recorded.as_ref().is_some_and(|recorded| is_same(recorded, &now)) {
            place.next += 1;
            return Ok(());
        }
        let difference = Difference { line: place.next + 1, recorded, now: Some(now) };
        // Only the first difference counts; later ones follow from it.
        place.difference.get_or_insert(difference);
        Err(io::Error::other("the run differs from its trace"))
    }
}

/// Whether two lines are equal as JSON, ignoring blanks and the order of fields. The ids of questions are ignored, too: they depend on
/// the name of the run, which a trace does not contain, and earlier versions wrote none.
fn is_same(a: &str, b: &str) -> bool {
    let parsed = |text| serde_json::from_str::<serde_json::Value>(text).ok().map(without_id);
    a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b))
}

fn without_id(mut line: serde_json::Value) -> serde_json::Value {
    let is_of_a_call = |kind: &str| ["question", "answer", "unusable"].contains(&kind);
    if line["kind"].as_str().is_some_and(is_of_a_call)
        && let Some(line) = line.as_object_mut()
    {
        line.remove("id");
    }
    line
}

/// Whether a line may be the end of a call to a model, a person or a tool.
pub(super) fn ends_a_call(what: &What) -> bool {
    matches!(
        what,
        What::Usage { .. }
            | What::Answer { .. }
            | What::Unusable { .. }
            | What::CallFailed { .. }
            | What::ToolResult { .. }
            | What::ToolFailed { .. }
    )
}

/// Whether a line may be an action of the host. An event may also come from another chart.
pub(super) fn is_of_the_host(line: &Line) -> bool {
    let is_host = matches!(
        line.what,
        What::Input { .. }
            | What::Event { .. }
            | What::Turn { .. }
            | What::NotTaken { .. }
            | What::Acted { .. }
            | What::NotActed { .. }
            | What::Section { .. }
            | What::HostNote { .. }
            | What::Resumed { .. }
    );
    // Inputs and events of child charts come from the chart itself.
    is_host && line.child.is_empty()
}
