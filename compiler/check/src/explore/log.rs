//! Collects what happens while a machine handles one input.

use super::Happened;
use chartc_core::machine::{Effect, ErrorKind, LimitKind, Record, Sink};
use chartc_core::model::{Chart, StepKind};
use std::collections::BTreeSet;

/// The length up to which a story is searched linearly. Most inputs cause so few happenings that this is fastest.
const SHORT: usize = 16;

/// The sink of a machine that keeps what an exploration needs.
pub(super) struct Log<'c> {
    chart: &'c Chart,
    /// The happenings in order, each once.
    pub(super) story: Vec<Happened>,
    /// The same happenings as a set, once the story is long.
    told: BTreeSet<Happened>,
    /// Whether a `run` step was started.
    pub(super) runs: bool,
    /// The number of records and effects.
    pub(super) work: usize,
    /// Whether the engine stopped the input as a livelock.
    pub(super) cycles: bool,
    /// The number of model calls, of model calls that a limit forbade, and of ends of turns.
    pub(super) calls: u32,
    pub(super) forbidden: u32,
    pub(super) turns: u32,
}

impl<'c> Log<'c> {
    pub(super) const fn new(chart: &'c Chart) -> Self {
        Self {
            chart,
            story: Vec::new(),
            told: BTreeSet::new(),
            runs: false,
            work: 0,
            cycles: false,
            calls: 0,
            forbidden: 0,
            turns: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.story.clear();
        self.told.clear();
        (self.runs, self.work, self.cycles) = (false, 0, false);
        (self.calls, self.forbidden, self.turns) = (0, 0, 0);
    }

    /// Adds a happening to the story if it is new. A livelock repeats the same ones thousands of times.
    fn tell(&mut self, happened: Happened) {
        if self.story.len() < SHORT {
            if !self.story.contains(&happened) {
                self.story.push(happened);
            }
            return;
        }
        if self.told.is_empty() {
            self.told.extend(self.story.iter().copied());
        }
        if self.told.insert(happened) {
            self.story.push(happened);
        }
    }
}

impl Sink for Log<'_> {
    fn effect(&mut self, _: Effect) {
        self.work += 1;
    }

    fn record(&mut self, record: Record) {
        self.work += 1;
        match record {
            Record::Entered(state) => self.tell(Happened::Entered(state)),
            Record::Taken(transition) => self.tell(Happened::Taken(transition)),
            Record::Called(key, _, _) => self.tell(Happened::Called(key.leaf)),
            Record::Started(key) => match self.chart.steps[key.step.index()].kind {
                StepKind::Call(..) => self.tell(Happened::Called(key.leaf)),
                StepKind::Run(_) => self.runs = true,
                StepKind::Llm | StepKind::Ask { .. } => self.calls += 1,
                StepKind::Code(_) | StepKind::Human(_) => {}
            },
            Record::Error(ErrorKind::Limit(LimitKind::Calls)) => self.forbidden += 1,
            Record::Error(ErrorKind::Livelock) => {
                self.cycles = true;
                self.tell(Happened::Livelock);
            }
            Record::TurnEnded(_) => self.turns += 1,
            _ => {}
        }
    }
}
