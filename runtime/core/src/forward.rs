//! What charts that run charts pass to them.

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
