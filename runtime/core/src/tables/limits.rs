//! Rows of limits.

use super::Tables;
use crate::arena::StateId;
use crate::machine::LimitKind;

/// Limits on what a state may spend; `None` is no limit, and a limit of 0 permits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsRow {
    /// Model calls.
    pub calls: Option<u32>,
    /// Soft bound of `calls`.
    pub calls_warn: Option<u32>,
    /// Turns.
    pub turns: Option<u32>,
    /// Soft bound of `turns`.
    pub turns_warn: Option<u32>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// Soft bound of `time`.
    pub time_warn: Option<u64>,
    /// Input and output tokens. The host counts them.
    pub tokens: Option<u64>,
    /// Soft bound of `tokens`.
    pub tokens_warn: Option<u64>,
    /// Money in millionths of the unit of prices. The host counts it.
    pub cost: Option<u64>,
    /// Soft bound of `cost`.
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

/// The bound that a number stands for; `None` if it is negative.
pub fn bound_of_count(count: i64) -> Option<u64> {
    u64::try_from(count).ok()
}

/// The bound in millionths that an amount of money stands for; `None` if it is negative or no number.
#[cfg(feature = "alloc")]
pub fn bound_of_cost(amount: f64) -> Option<u64> {
    (amount >= 0.0).then(|| super::millionths(amount))
}

/// A bound that the program computes from the params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComputedLimitRow {
    /// The state whose limit it is.
    pub state: StateId,
    /// What is bounded.
    pub kind: LimitKind,
    /// Whether it is the soft bound.
    pub is_soft: bool,
}

impl Tables<'_> {
    /// The limits of a state; `computed` gives the value of the bound at this place of [`Tables::computed_limits`].
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
    /// A bound of 0 turns or of no time is reached with the first of them, and a soft bound is never below 1.
    fn set(&mut self, limit: ComputedLimitRow, bound: u64) {
        let is_counted_at_end = matches!(limit.kind, LimitKind::Turns | LimitKind::Time);
        let bound = if limit.is_soft || is_counted_at_end { bound.max(1) } else { bound };
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
