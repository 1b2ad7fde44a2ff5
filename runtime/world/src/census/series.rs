//! The counts of agents over time, in bounded memory.
//!
//! A series keeps at most one sample in each step of time. When it has too many samples, the step doubles, and of each two neighbours only
//! the later one is kept: with at most 4 samples, those at 0, 1, 2, 3 and 4 become those at 1, 3 and 4.

use super::ChartIndex;
use super::rows::Rows;
use serde::{Deserialize, Serialize};

/// The maximum number of samples. Beyond it, every second one is removed.
const MOST: usize = 1000;
/// The maximum number of counts in all samples together, because samples of many charts are long.
const MOST_COUNTS: usize = 200_000;
/// The minimum number of samples, however long they are.
const LEAST: usize = 16;

/// The number of agents in an innermost state, after the chart and the row of the state.
pub(super) type Count = (ChartIndex, usize, u64);

/// The unit of time of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds of the world's clock.
    #[default]
    Milliseconds,
    /// Ticks, in a world that runs in ticks.
    Ticks,
}

/// The samples so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Series {
    unit: Unit,
    /// The length of time that a sample covers, which doubles when there are too many samples.
    step: u64,
    now: u64,
    samples: Vec<Taken>,
    /// The number of counts in all samples.
    counts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Taken {
    at: u64,
    counts: Vec<Count>,
}

/// The counts at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample<'c> {
    /// The time, in the [`Unit`] of the census.
    pub at: u64,
    /// The innermost states that had agents.
    pub counts: Vec<Place<'c>>,
}

/// The number of agents in an innermost state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place<'c> {
    /// The name of the chart.
    pub chart: &'c str,
    /// The dotted path of the state.
    pub state: &'c str,
    /// The number of agents.
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

    /// Whether a time is in a later step than the current one, so that the current one needs a sample.
    pub(super) fn is_past(&self, at_ms: u64) -> bool {
        self.unit == Unit::Milliseconds && at_ms / self.step > self.now / self.step
    }

    /// Adds a sample for the current step, which is over.
    pub(super) fn pass(&mut self, counts: Vec<Count>) {
        self.keep(self.now, counts);
    }

    /// Moves to a later time. Earlier times are ignored: agents on different threads may write their lines slightly out of order.
    pub(super) fn reach(&mut self, at_ms: u64) {
        if self.unit == Unit::Milliseconds {
            self.now = self.now.max(at_ms);
        }
    }

    /// Adds a sample at the end of a tick. The first tick changes the unit to ticks, and drops the samples in milliseconds.
    pub(super) fn tick(&mut self, tick: u64, counts: Vec<Count>) {
        if self.unit == Unit::Milliseconds {
            *self = Self { unit: Unit::Ticks, ..Self::default() };
        }
        self.now = self.now.max(tick);
        self.keep(tick, counts);
    }

    fn keep(&mut self, at: u64, counts: Vec<Count>) {
        // A later sample of the same step replaces the earlier one.
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

    /// Doubles the step, and keeps only the last sample in each step.
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

    /// All samples with names, followed by the present counts.
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
