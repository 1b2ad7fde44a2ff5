//! How much exploring may do: no small chart takes long, whatever its actions repeat.

use super::log::Log;
use chartc_core::model::Chart;

/// Inputs that are tried for each state that may be looked at, at most.
const INPUTS: usize = 20;

/// Things that may happen for each state that may be looked at, at most.
const WORK: usize = 100;

/// Things that may happen in inputs that are stopped as a livelock, at most: each makes thousands, and shows in its first round what it
/// does in all of them.
const CYCLES: usize = 40_000;

/// What all conditions and actions together may spend for each state that may be looked at, in units of evaluation.
const UNITS: u64 = 500;

/// The least that they may: what one block may.
const LEAST: u64 = 1_000_000;

/// Units of evaluation that take as long as one thing that happens.
const UNITS_A_THING: u64 = 4;

/// Registers that may be kept at once: what bounds the memory of big charts.
const REGISTERS: usize = 4_000_000;

/// States whose registers are set in the time that one thing takes to happen.
const STATES_A_THING: usize = 64;

/// What was done, and what may be.
#[derive(Debug)]
pub(super) struct Budget {
    /// Points that may be found, and those that were.
    room: usize,
    pub(super) found: usize,
    inputs: usize,
    work: usize,
    cycles: usize,
    /// What each input takes: the registers of all states are set.
    setting: usize,
    /// What all may take together: see [`super::Search::work`].
    most: usize,
    /// What evaluations could spend at first.
    units: u64,
}

impl Budget {
    /// For so many points, and work in all.
    pub(super) fn of(chart: &Chart, states: usize, most: Option<usize>) -> Self {
        let room = states.min(REGISTERS / chart.states.len()).max(1);
        let most = most.unwrap_or(usize::MAX);
        let units = (room as u64).saturating_mul(UNITS).max(LEAST);
        let setting = 1 + chart.states.len() / STATES_A_THING;
        let units = units.min((most as u64).saturating_mul(UNITS_A_THING)).max(LEAST);
        Self { room, found: 0, inputs: 0, work: 0, cycles: 0, setting, most, units }
    }

    /// What evaluations may spend.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// An input was tried, in which host functions did so much, at a point that stands for so many.
    pub(super) fn tried(&mut self, log: &Log<'_>, called: usize, weight: usize) {
        let work = (log.work + called).saturating_mul(weight);
        self.inputs += weight;
        self.work += work;
        if log.cycles {
            self.cycles += work;
        }
    }

    /// A point was found that stands for so many, if there is room for them.
    pub(super) fn has_room(&mut self, weight: usize) -> bool {
        let found = self.found.saturating_add(weight);
        self.found = found.min(self.room);
        found <= self.room
    }

    /// Whether nothing more may be tried.
    pub(super) fn is_spent(&self) -> bool {
        self.inputs > self.room.saturating_mul(INPUTS)
            || self.work > self.room.saturating_mul(WORK)
            || self.cycles > CYCLES
            || self.took(self.units) > self.most
    }

    /// What it took, where evaluations have so many units left.
    pub(super) fn took(&self, left: u64) -> usize {
        let evaluated = (self.units - left) / UNITS_A_THING;
        self.inputs * self.setting + self.work + evaluated as usize
    }
}
