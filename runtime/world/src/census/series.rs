//! Counts over time, in bounded memory.

use super::ChartIndex;
use super::rows::Rows;
use serde::{Deserialize, Serialize};

/// Samples to keep at most. When there are more, every second one goes.
const MOST: usize = 1000;
/// Counts in all samples to keep at most: with many charts, samples are long.
const MOST_COUNTS: usize = 200_000;
/// Samples to keep however long they are.
const LEAST: usize = 16;

/// How many agents are in an innermost state of a chart.
pub(super) type Count = (ChartIndex, usize, u64);

/// What the time of a series is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds on the clock of the world.
    #[default]
    Milliseconds,
    /// Ticks, if the world has any.
    Ticks,
}

/// Samples, at most one in each step of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Series {
    unit: Unit,
    /// How much time a sample covers: it doubles when there are too many samples.
    step: u64,
    now: u64,
    samples: Vec<Taken>,
    /// Counts in all samples.
    counts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Taken {
    at: u64,
    counts: Vec<Count>,
}

/// The counts at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample<'c> {
    /// When: in the [`Unit`] of the census.
    pub at: u64,
    /// The innermost states where somebody was.
    pub counts: Vec<Place<'c>>,
}

/// How many agents were in an innermost state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place<'c> {
    /// The chart's name.
    pub chart: &'c str,
    /// The state's dotted path.
    pub state: &'c str,
    /// How many.
    pub count: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { unit: Unit::default(), step: 1, now: 0, samples: Vec::new(), counts: 0 }
    }
}

impl Series {
    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether this time is in a later step than the present one, so that the counts of the present one are due.
    pub(super) fn is_past(&self, at_ms: u64) -> bool {
        self.unit == Unit::Milliseconds && at_ms / self.step > self.now / self.step
    }

    /// Takes the counts of the step that is over.
    pub(super) fn pass(&mut self, counts: Vec<Count>) {
        self.keep(self.now, counts);
    }

    /// It is so late now. Agents on several threads may be a little behind each other.
    pub(super) fn reach(&mut self, at_ms: u64) {
        if self.unit == Unit::Milliseconds {
            self.now = self.now.max(at_ms);
        }
    }

    /// Takes the counts at the end of a tick. The first tick makes it a series of ticks.
    pub(super) fn tick(&mut self, tick: u64, counts: Vec<Count>) {
        if self.unit == Unit::Milliseconds {
            *self = Self { unit: Unit::Ticks, ..Self::default() };
        }
        self.now = self.now.max(tick);
        self.keep(tick, counts);
    }

    fn keep(&mut self, at: u64, counts: Vec<Count>) {
        let step = at / self.step;
        if let Some(last) = self.samples.pop_if(|last| last.at / self.step >= step) {
            self.counts -= last.counts.len();
        }
        self.counts += counts.len();
        self.samples.push(Taken { at, counts });
        while self.samples.len() > MOST || (self.counts > MOST_COUNTS && self.samples.len() > LEAST)
        {
            self.halve();
        }
    }

    /// Doubles the step. Of the samples in one step the last stays.
    fn halve(&mut self) {
        self.step *= 2;
        let steps: Vec<u64> = self.samples.iter().map(|sample| sample.at / self.step).collect();
        let mut nth = 0;
        self.samples.retain(|_| {
            nth += 1;
            steps.get(nth).is_none_or(|next| *next != steps[nth - 1])
        });
        self.counts = self.samples.iter().map(|sample| sample.counts.len()).sum();
    }

    /// The samples with names, and the counts of now.
    pub(super) fn moments<'c>(&self, now: &[Count], charts: &'c [Rows]) -> Vec<Sample<'c>> {
        let place = |(chart, state, count): &Count| Place {
            chart: charts[*chart].chart(),
            state: charts[*chart].path(*state),
            count: *count,
        };
        let named = |counts: &[Count]| counts.iter().map(place).collect();
        let mut moments: Vec<Sample<'c>> = (self.samples.iter())
            .map(|sample| Sample { at: sample.at, counts: named(&sample.counts) })
            .collect();
        moments.pop_if(|last| last.at >= self.now);
        moments.push(Sample { at: self.now, counts: named(now) });
        moments
    }
}
