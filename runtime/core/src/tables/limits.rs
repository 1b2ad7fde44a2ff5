//! Rows of bounds.

/// Bounds of what a state may spend; 0 is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsRow {
    /// Model calls.
    pub calls: u32,
    /// Soft bound of `calls`.
    pub calls_warn: u32,
    /// Turns.
    pub turns: u32,
    /// Soft bound of `turns`.
    pub turns_warn: u32,
    /// Milliseconds.
    pub time: u64,
    /// Soft bound of `time`.
    pub time_warn: u64,
    /// Tokens, in and out. The host counts them.
    pub tokens: u64,
    /// Soft bound of `tokens`.
    pub tokens_warn: u64,
    /// Millionths of the unit that prices are in. The host counts them.
    pub cost: u64,
    /// Soft bound of `cost`.
    pub cost_warn: u64,
}

impl LimitsRow {
    /// No bounds.
    pub const NONE: Self = Self {
        calls: 0,
        calls_warn: 0,
        turns: 0,
        turns_warn: 0,
        time: 0,
        time_warn: 0,
        tokens: 0,
        tokens_warn: 0,
        cost: 0,
        cost_warn: 0,
    };
}
