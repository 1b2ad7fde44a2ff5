//! Looks: one for each kind of transition, and one for each status of a run.

use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Status, Trigger};
use std::collections::BTreeSet;

/// The kind of a transition's trigger, as far as the picture distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// An event of the host, or a turn.
    Event,
    /// A condition over data (`when`).
    When,
    /// A deadline.
    Clock,
    /// A choice of the model.
    Choice,
    /// The success of a step.
    Done,
    /// A failure of a step or of the run.
    Error,
    /// The fallback of a question without a usable answer.
    Otherwise,
}

impl Look {
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Event, "host event"),
        (Self::Choice, "the model's choice"),
        (Self::When, "data"),
        (Self::Clock, "clock"),
        (Self::Done, "step done"),
        (Self::Error, "failure"),
        (Self::Otherwise, "no usable answer"),
    ];

    pub(crate) fn from_trigger(trigger: &Trigger) -> Self {
        match trigger {
            Trigger::Event(_) | Trigger::AnyEvent | Trigger::AnyOccurrence | Trigger::Turn => {
                Self::Event
            }
            Trigger::When => Self::When,
            Trigger::After(_) | Trigger::AfterTurns(_) => Self::Clock,
            Trigger::Choice(_) => Self::Choice,
            Trigger::StateDone(_) | Trigger::StepDone(_) => Self::Done,
            Trigger::StepError(_)
            | Trigger::StepTimeout(..)
            | Trigger::StepDoubt(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => Self::Error,
            Trigger::StepElse(_) => Self::Otherwise,
        }
    }

    pub(crate) const fn colour(self) -> &'static str {
        match self {
            Self::Event => "#1e293b",
            Self::When => "#0369a1",
            Self::Clock => "#b45309",
            Self::Choice | Self::Otherwise => "#7c3aed",
            Self::Done => "#15803d",
            Self::Error => "#b91c1c",
        }
    }

    /// Whether the transition starts at a diamond.
    pub(crate) const fn is_choice(self) -> bool {
        matches!(self, Self::Choice | Self::Otherwise)
    }
}

/// The colours of the fill and the border of a final state.
pub(crate) const fn final_colours(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Ok => ("#dcfce7", "#15803d"),
        Status::Partial => ("#fef9c3", "#a16207"),
        Status::Stuck => ("#ffedd5", "#c2410c"),
        Status::Limit => ("#fef3c7", "#b45309"),
        Status::Canceled => ("#e2e8f0", "#475569"),
        Status::Error => ("#fee2e2", "#b91c1c"),
    }
}

/// The border of states.
pub(crate) const BORDER: &str = "#475569";
/// The colour of secondary elements.
pub(crate) const FAINT: &str = "#94a3b8";
/// The fill of a highlighted state.
pub(crate) const LIT: &str = "#fde68a";
/// The border of a highlighted state and its ancestors.
pub(crate) const LIT_BORDER: &str = "#b45309";

/// The ancestors of highlighted states that are not highlighted themselves, without the root.
pub(crate) fn above(chart: &Chart, lit: &BTreeSet<StateId>) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    for state in lit.iter().filter(|s| s.index() < chart.states.len()) {
        for above in chart.ancestors(*state).skip(1).take_while(|s| s.0 > 0) {
            if !found.insert(above) {
                // Its own ancestors were found before.
                break;
            }
        }
    }
    found.retain(|s| !lit.contains(s));
    found
}
