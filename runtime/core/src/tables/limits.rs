//! Rows of bounds.

/// Bounds of what a state may spend; `None` is no bound, and a bound of 0 allows nothing.
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
    /// Tokens, in and out. The host counts them.
    pub tokens: Option<u64>,
    /// Soft bound of `tokens`.
    pub tokens_warn: Option<u64>,
    /// Millionths of the unit that prices are in. The host counts them.
    pub cost: Option<u64>,
    /// Soft bound of `cost`.
    pub cost_warn: Option<u64>,
}

impl LimitsRow {
    /// No bounds.
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
