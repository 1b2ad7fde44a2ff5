//! Known cases of fast growth, each with its reason. An entry that no longer applies is an error.

/// A command that grows faster than it should.
pub(crate) struct Known {
    pub(crate) input: &'static str,
    pub(crate) command: &'static str,
    pub(crate) why: &'static str,
}

pub(crate) const KNOWN: &[Known] = &[];
