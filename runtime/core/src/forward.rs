//! Events that charts forward to their children or send to each other.

use crate::arena::{Element, StepId};

/// Which events of a chart are forwarded to a child chart.
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
    /// The words after a `run` step, with a leading blank.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rest => "",
            Self::All => " events all",
            Self::Nothing => " events none",
        }
    }
}

/// The receiver of an event that a chart sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Receiver {
    /// The chart itself.
    #[default]
    Own,
    /// The parent chart.
    Parent,
    /// The child chart of this step; all of them, where it has one for each element of a list.
    Child(StepId),
    /// The child chart of this element.
    Element(StepId, Element),
}
