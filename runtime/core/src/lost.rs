//! The treatment of an element of an `each` list whose work failed.

/// The effect of a failed element on its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lost {
    /// The step fails.
    #[default]
    Fail,
    /// The answer of the step leaves the element out.
    Skip,
    /// The answer has `none` in its place.
    None,
}
