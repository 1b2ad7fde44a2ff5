//! Events that charts forward to their children or send to each other.

use crate::arena::{Element, StepId};

/// The events of a chart that are forwarded to a child chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forward {
    /// The events that the chart does not handle itself.
    #[default]
    Rest,
    /// All events that come from outside the chart.
    All,
    /// No event.
    Nothing,
}

impl Forward {
    /// The words after a `run` step in a chart, with a leading blank; empty for the default.
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
    /// The chart that sends the event.
    #[default]
    Own,
    /// The chart whose `run` step runs the sender.
    Parent,
    /// The child chart of this step. If the step has one for each element of a list, all of them.
    Child(StepId),
    /// The child chart of this element of the step's list.
    Element(StepId, Element),
}
