//! Parts of lines.

use serde::{Deserialize, Serialize};

/// Which of the open calls of a step is meant, where several may be open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Which {
    /// The leaf of a question that several regions may be asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// The index of an element of a step with an `each`, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
}

/// How a run was started, for its first line: what somebody who has nothing but the trace needs to run it again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The file of the chart, as it was named; empty where there is none.
    pub file: String,
    /// The bound of model calls in a turn, where it is not the chart's own.
    pub calls_per_turn: Option<u32>,
    /// The computer's time passes, not a virtual clock's.
    pub real_clock: bool,
}

impl Origin {
    /// Nothing is said.
    pub(crate) const NONE: Self =
        Self { file: String::new(), calls_per_turn: None, real_clock: false };
}
