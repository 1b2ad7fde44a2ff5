//! Rows of limits.

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
