//! The kinds of failures, and the treatment of an element of an `each` list whose work failed.

/// The reason why an attempt at a step has failed, as traces and charts name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// No answer arrived in time.
    Timeout,
    /// The provider has received too many requests.
    RateLimited,
    /// The provider failed.
    Server,
    /// The connection was lost.
    Connection,
    /// No connection was made.
    Unreachable,
    /// The server refuses the call, and would refuse it again.
    Rejected,
    /// The model declined to answer.
    Refusal,
    /// The answer has no content.
    Empty,
    /// The answer does not end.
    Endless,
    /// The answer broke off or cannot be read.
    Aborted,
    /// The answer means nothing, or several things, or does not fit.
    Unusable,
    /// Any other failure; the failure of a child chart, too.
    Other,
    /// No model may be asked.
    Denied,
    /// The script of answers has none.
    Script,
}

impl FailureKind {
    /// All kinds. The last two are of the host, and charts cannot name them.
    pub const ALL: [Self; 14] = [
        Self::Timeout,
        Self::RateLimited,
        Self::Server,
        Self::Connection,
        Self::Unreachable,
        Self::Rejected,
        Self::Refusal,
        Self::Empty,
        Self::Endless,
        Self::Aborted,
        Self::Unusable,
        Self::Other,
        Self::Denied,
        Self::Script,
    ];

    /// The name in traces, recordings and charts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Connection => "connection",
            Self::Unreachable => "unreachable",
            Self::Rejected => "rejected",
            Self::Refusal => "refusal",
            Self::Empty => "empty",
            Self::Endless => "endless",
            Self::Aborted => "aborted",
            Self::Unusable => "unusable",
            Self::Other => "other",
            Self::Denied => "denied",
            Self::Script => "script",
        }
    }

    /// The kind with a name; `Other` if there is none.
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(Self::Other)
    }

    /// Whether a failed call can be of this kind, and charts can name it.
    pub const fn is_of_failed_call(self) -> bool {
        self.is_of_charts() && !matches!(self, Self::Unusable)
    }

    /// Whether charts can name it after `retry … on`.
    pub const fn is_of_charts(self) -> bool {
        !matches!(self, Self::Denied | Self::Script)
    }
}

/// A set of kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureKinds(pub u16);

impl FailureKinds {
    /// Every kind.
    pub const ALL: Self = Self(u16::MAX);
    /// No kind.
    pub const NONE: Self = Self(0);

    /// Whether the set has this kind.
    pub const fn contains(self, kind: FailureKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// The set with this kind, too.
    #[must_use]
    pub const fn with(self, kind: FailureKind) -> Self {
        Self(self.0 | 1 << kind as u16)
    }

    /// Whether another attempt is made after some failed call.
    pub fn has_failed_calls(self) -> bool {
        FailureKind::ALL.into_iter().any(|kind| kind.is_of_failed_call() && self.contains(kind))
    }

    /// The kinds in the set, in the order of [`FailureKind::ALL`]; nothing if it has all.
    pub fn listed(self) -> impl Iterator<Item = FailureKind> {
        let is_part = self != Self::ALL;
        FailureKind::ALL.into_iter().filter(move |kind| is_part && self.contains(*kind))
    }
}

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
