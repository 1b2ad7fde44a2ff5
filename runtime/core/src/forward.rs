//! What charts that run each other pass on and send to each other.

use crate::arena::StepId;

/// Which events of a chart are passed to one that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forward {
    /// Those that it does not handle itself.
    #[default]
    Rest,
    /// All that come from outside.
    All,
    /// None.
    Nothing,
}

impl Forward {
    /// As written behind a `run` step, with a blank before.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rest => "",
            Self::All => " events all",
            Self::Nothing => " events none",
        }
    }
}

/// Who gets an event that a chart sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Receiver {
    /// The chart itself.
    #[default]
    Own,
    /// The chart that runs it.
    Parent,
    /// The chart that this step runs.
    Child(StepId),
}
