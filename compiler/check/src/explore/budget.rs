//! Bounds the work of an exploration, so that no small chart takes long, whatever its actions repeat.

use super::log::Log;
use chartc_core::model::Chart;

/// Most inputs that are tried, for each point that may be found.
const INPUTS: usize = 20;

/// Most work (records, effects, calls of host functions), for each point that may be found.
const WORK: usize = 100;

/// Most work on inputs that are stopped as a livelock: each makes thousands of records, and its first cycle shows what it does in
/// all of them.
const CYCLES: usize = 40_000;

/// Units of evaluation for all conditions and actions together, for each point that may be found.
const UNITS: u64 = 500;

/// The least number of units: what one block may spend.
const LEAST: u64 = 1_000_000;

/// Units of evaluation that take as long as one unit of work.
const UNITS_A_THING: u64 = 4;

/// Most registers that are kept at the same time, which bounds the memory for big charts.
const REGISTERS: usize = 4_000_000;

/// States whose registers are set in the time of one unit of work.
const STATES_A_THING: usize = 64;

/// What was done, and what may be done.
#[derive(Debug)]
pub(super) struct Budget {
    /// How many points may be found, and how many were.
    room: usize,
    pub(super) found: usize,
    inputs: usize,
    work: usize,
    cycles: usize,
    /// The work per input of setting the registers of all states.
    setting: usize,
    /// Most work of all kinds: see [`super::Search::work`].
    most: usize,
    /// Units that evaluations may spend in total.
    units: u64,
}

impl Budget {
    /// For this many points, and at most this much work.
    pub(super) fn new(chart: &Chart, states: usize, most: Option<usize>) -> Self {
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

    /// Counts an input tried at a point of this weight; `called` is the work of host functions.
    pub(super) fn tried(&mut self, log: &Log<'_>, called: usize, weight: usize) {
        let work = (log.work + called).saturating_mul(weight);
        self.inputs += weight;
        self.work += work;
        if log.cycles {
            self.cycles += work;
        }
    }

    /// Reserves room for a point of this weight; `false` if there is none left.
    pub(super) fn try_reserve(&mut self, weight: usize) -> bool {
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

    /// The work done so far, if evaluations have this many units left.
    pub(super) fn took(&self, left: u64) -> usize {
        let evaluated = (self.units - left) / UNITS_A_THING;
        self.inputs * self.setting + self.work + evaluated as usize
    }
}
