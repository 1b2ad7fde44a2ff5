//! Types that several kinds of lines share.

use serde::{Deserialize, Serialize};

/// Distinguishes a call from the other open calls of its step. Both fields are empty if the step can have only one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Which {
    /// The leaf, if several regions may ask the question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// The index of the element, from 0, if the step has an `each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
}

/// The settings with which a run was started, for its first line: what is needed to run it again from the trace alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The path of the chart's file, as it was given; empty if there is none.
    pub file: String,
    /// The maximum number of model calls per turn, if it is not the default.
    pub calls_per_turn: Option<u32>,
    /// Whether the run uses real time, not a virtual clock.
    pub real_clock: bool,
}

impl Origin {
    /// No settings.
    pub(crate) const NONE: Self =
        Self { file: String::new(), calls_per_turn: None, real_clock: false };
}
