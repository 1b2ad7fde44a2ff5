//! Looks: one for each kind of line, and one for each end of a run.

use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Status, Trigger};
use std::collections::BTreeSet;

/// Why a line is taken, as far as the picture tells it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::emit) enum Look {
    /// The host's event.
    Event,
    /// Data.
    When,
    /// The clock.
    Clock,
    /// The model's choice.
    Choice,
    /// A step has ended well.
    Done,
    /// A step or the run has failed.
    Error,
    /// What is done for want of an answer.
    Otherwise,
}

impl Look {
    pub(in crate::emit) const ALL: [(Self, &'static str); 7] = [
        (Self::Event, "host event"),
        (Self::Choice, "the model's choice"),
        (Self::When, "data"),
        (Self::Clock, "clock"),
        (Self::Done, "step done"),
        (Self::Error, "failure"),
        (Self::Otherwise, "no usable answer"),
    ];

    pub(in crate::emit) fn of(trigger: &Trigger) -> Self {
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

    pub(in crate::emit) const fn colour(self) -> &'static str {
        match self {
            Self::Event => "#1e293b",
            Self::When => "#0369a1",
            Self::Clock => "#b45309",
            Self::Choice | Self::Otherwise => "#7c3aed",
            Self::Done => "#15803d",
            Self::Error => "#b91c1c",
        }
    }

    /// Whether it leaves its state from a diamond.
    pub(in crate::emit) const fn is_choice(self) -> bool {
        matches!(self, Self::Choice | Self::Otherwise)
    }
}

/// Fill and border of a final state.
pub(in crate::emit) const fn final_colours(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Ok => ("#dcfce7", "#15803d"),
        Status::Partial => ("#fef9c3", "#a16207"),
        Status::Stuck => ("#ffedd5", "#c2410c"),
        Status::Limit => ("#fef3c7", "#b45309"),
        Status::Canceled => ("#e2e8f0", "#475569"),
        Status::Error => ("#fee2e2", "#b91c1c"),
    }
}

/// Border of states.
pub(in crate::emit) const BORDER: &str = "#475569";
/// What is there without moving anything.
pub(in crate::emit) const FAINT: &str = "#94a3b8";
/// Fill of a highlighted state.
pub(in crate::emit) const LIT: &str = "#fde68a";
/// Border of a highlighted state and of those above it.
pub(in crate::emit) const LIT_BORDER: &str = "#b45309";

/// The states above highlighted ones that are not highlighted themselves; the chart is none of them.
pub(in crate::emit) fn above(chart: &Chart, lit: &BTreeSet<StateId>) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    for state in lit.iter().filter(|s| s.index() < chart.states.len()) {
        for above in chart.ancestors(*state).skip(1).take_while(|s| s.0 > 0) {
            if !found.insert(above) {
                break;
            }
        }
    }
    found.retain(|s| !lit.contains(s));
    found
}
