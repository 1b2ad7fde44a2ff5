//! Steps that do their work for each element of a list.

pub use crate::lost::Lost;

/// The `each` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EachRow {
    /// Its number among the steps with an `each`.
    pub slot: u32,
    /// The maximum number of elements under way at once.
    pub at_a_time: u32,
    /// The maximum number of elements.
    pub most: u32,
    /// So many good answers end the step.
    pub enough: Option<u32>,
    /// What an element without an answer means.
    pub lost: Lost,
}

impl EachRow {
    /// The number of good answers that a list of this size needs.
    pub fn needed(&self, size: u32) -> u32 {
        self.enough.unwrap_or(size).min(size)
    }
}
