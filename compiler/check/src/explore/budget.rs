//! The bounds on the work of an exploration, so that no small chart takes long, whatever its actions repeat.

use super::log::Log;
use chartc_core::model::Chart;

/// The maximum number of inputs that are tried, for each point that may be found.
const INPUTS: usize = 20;

/// The maximum amount of work (records, effects, calls of host functions), for each point that may be found.
const WORK: usize = 100;

/// The maximum amount of work on inputs that are stopped as a livelock. Each of them makes thousands of records, although its first
/// cycle shows all of its happenings.
const CYCLES: usize = 40_000;

/// The number of units of evaluation for all conditions and actions together, for each point that may be found.
const UNITS: u64 = 500;

/// The minimum number of units, however few points may be found: as many as one block may spend.
const LEAST: u64 = 1_000_000;

/// The number of units of evaluation that take as long as one unit of work.
const UNITS_A_THING: u64 = 4;

/// The maximum number of registers that are kept at the same time, which bounds the memory for big charts.
const REGISTERS: usize = 4_000_000;

/// The number of states whose registers are set in the time of one unit of work.
const STATES_A_THING: usize = 64;

/// The work that was done, and the bounds on it.
#[derive(Debug)]
pub(super) struct Budget {
    /// The maximum number of points.
    room: usize,
    /// The number of points found.
    pub(super) found: usize,
    /// The number of inputs tried.
    inputs: usize,
    /// The work on all inputs.
    work: usize,
    /// The work on inputs that were stopped as a livelock.
    cycles: usize,
    /// The work for each input of setting the registers of all states.
    setting: usize,
    /// The maximum amount of work of all kinds: see [`super::Search::work`].
    most: usize,
    /// The number of units that evaluations may spend in total.
    units: u64,
}

impl Budget {
    /// The budget for this many points, and at most this much work.
    pub(super) fn new(chart: &Chart, states: usize, most: Option<usize>) -> Self {
        let room = states.min(REGISTERS / chart.states.len()).max(1);
        let most = most.unwrap_or(usize::MAX);
        let units = (room as u64).saturating_mul(UNITS).max(LEAST);
        let setting = 1 + chart.states.len() / STATES_A_THING;
        let units = units.min((most as u64).saturating_mul(UNITS_A_THING)).max(LEAST);
        Self { room, found: 0, inputs: 0, work: 0, cycles: 0, setting, most, units }
    }

    /// The number of units that evaluations may spend in total.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Counts an input that was tried at a point of this weight; `called` is the work of host functions.
    pub(super) fn tried(&mut self, log: &Log<'_>, called: usize, weight: usize) {
        let work = (log.work + called).saturating_mul(weight);
        self.inputs += weight;
        self.work += work;
        if log.cycles {
            self.cycles += work;
        }
    }

    /// Reserves room for a point of this weight. Returns `false` if there is none left.
    pub(super) fn try_reserve(&mut self, weight: usize) -> bool {
        let found = self.found.saturating_add(weight);
        self.found = found.min(self.room);
        found <= self.room
    }

    /// Whether any bound is exceeded, so that nothing more may be tried.
    pub(super) fn is_spent(&self) -> bool {
        self.inputs > self.room.saturating_mul(INPUTS)
            || self.work > self.room.saturating_mul(WORK)
            || self.cycles > CYCLES
            || self.took(self.units) > self.most
    }

    /// The work done so far, given the number of units that evaluations have left.
    pub(super) fn took(&self, left: u64) -> usize {
        let evaluated = (self.units - left) / UNITS_A_THING;
        self.inputs * self.setting + self.work + evaluated as usize
    }
}
