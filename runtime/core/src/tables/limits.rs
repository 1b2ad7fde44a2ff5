//! Rows of limits.

use super::Tables;
use crate::arena::StateId;
use crate::machine::LimitKind;

/// Limits on what is spent while a state is active. `None` is no limit; a limit of 0 permits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsRow {
    /// The maximum number of model calls.
    pub calls: Option<u32>,
    /// The soft limit on `calls`.
    pub calls_warn: Option<u32>,
    /// The maximum number of turns.
    pub turns: Option<u32>,
    /// The soft limit on `turns`.
    pub turns_warn: Option<u32>,
    /// The maximum time since the entry of the state, in milliseconds.
    pub time: Option<u64>,
    /// The soft limit on `time`.
    pub time_warn: Option<u64>,
    /// The maximum number of input and output tokens, which the host counts.
    pub tokens: Option<u64>,
    /// The soft limit on `tokens`.
    pub tokens_warn: Option<u64>,
    /// The maximum cost, in millionths of the unit of prices, which the host counts.
    pub cost: Option<u64>,
    /// The soft limit on `cost`.
    pub cost_warn: Option<u64>,
}

impl LimitsRow {
    /// No limits.
    pub const PLAIN: Self = Self {
        calls: None,
        calls_warn: None,
        turns: None,
        turns_warn: None,
        time: None,
        time_warn: None,
        tokens: None,
        tokens_warn: None,
        cost: None,
        cost_warn: None,
    };
}

/// Converts a computed number to a limit; `None` if it is negative.
pub fn bound_of_count(count: i64) -> Option<u64> {
    u64::try_from(count).ok()
}

/// Converts a computed cost to a limit in millionths; `None` if it is negative or NaN.
#[cfg(feature = "alloc")]
pub fn bound_of_cost(amount: f64) -> Option<u64> {
    (amount >= 0.0).then(|| super::millionths(amount))
}

/// A limit that the program computes from the params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComputedLimitRow {
    /// The state that has the limit.
    pub state: StateId,
    /// The quantity that is bounded.
    pub kind: LimitKind,
    /// Whether the limit is soft.
    pub is_soft: bool,
}

impl Tables<'_> {
    /// The limits of a state. `computed` returns the value of a row of [`Tables::computed_limits`], by its index.
    pub fn limits(&self, state: StateId, computed: impl Fn(usize) -> u64) -> LimitsRow {
        let mut row = self.states[state.index()].limits;
        for (nth, limit) in self.computed_limits.iter().enumerate() {
            if limit.state == state {
                row.set(*limit, computed(nth));
            }
        }
        row
    }
}

impl LimitsRow {
    /// Sets one limit. Turns and time are checked after they have passed, so a limit of 0 on them means 1; a soft limit is at least 1.
    fn set(&mut self, limit: ComputedLimitRow, bound: u64) {
        let is_counted_at_end = matches!(limit.kind, LimitKind::Turns | LimitKind::Time);
        let bound = if limit.is_soft || is_counted_at_end { bound.max(1) } else { bound };
        // No run reaches a count beyond 32 bits.
        let count = Some(u32::try_from(bound).unwrap_or(u32::MAX));
        match (limit.kind, limit.is_soft) {
            (LimitKind::Calls, false) => self.calls = count,
            (LimitKind::Calls, true) => self.calls_warn = count,
            (LimitKind::Turns, false) => self.turns = count,
            (LimitKind::Turns, true) => self.turns_warn = count,
            (LimitKind::Time, false) => self.time = Some(bound),
            (LimitKind::Time, true) => self.time_warn = Some(bound),
            (LimitKind::Tokens, false) => self.tokens = Some(bound),
            (LimitKind::Tokens, true) => self.tokens_warn = Some(bound),
            (LimitKind::Cost, false) => self.cost = Some(bound),
            (LimitKind::Cost, true) => self.cost_warn = Some(bound),
        }
    }
}
