//! The status of a run.

/// The status of a run that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs, reason = "the words are the language's own")]
pub enum Status {
    #[default]
    Ok,
    Partial,
    Stuck,
    Limit,
    Canceled,
    Error,
}

impl Status {
    /// All statuses, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Partial, Self::Stuck, Self::Limit, Self::Canceled, Self::Error];

    /// The word for the status in a chart.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Partial => "partial",
            Self::Stuck => "stuck",
            Self::Limit => "limit",
            Self::Canceled => "canceled",
            Self::Error => "error",
        }
    }
}
