//! What becomes of an element that fails.

/// What a failed element means for its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lost {
    /// The step fails.
    #[default]
    Fail,
    /// The answer leaves it out.
    Skip,
    /// The answer has `none` in its place.
    None,
}
