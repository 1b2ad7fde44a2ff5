//! Rows of steps that run for each element of a list.

pub use crate::lost::Lost;

/// The `each` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EachRow {
    /// The number of the step among the steps with an `each`, from 0.
    pub slot: u32,
    /// The maximum number of elements that are under way together.
    pub at_a_time: u32,
    /// The maximum number of elements; a longer list fails the step.
    pub most: u32,
    /// The number of elements that end the step when they have succeeded; `None` for all.
    pub enough: Option<u32>,
    /// The effect of an element that fails.
    pub lost: Lost,
}

impl EachRow {
    /// The number of elements that must succeed for a list of this size.
    pub fn needed(&self, size: u32) -> u32 {
        self.enough.unwrap_or(size).min(size)
    }
}
