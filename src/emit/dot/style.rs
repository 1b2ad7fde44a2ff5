//! Colours and line styles: one look for each kind of line.

use chartc_core::model::{Status, Trigger};

/// Why a line is taken, as far as the picture tells it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
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
    pub(super) const ALL: [(Self, &'static str); 7] = [
        (Self::Event, "host event"),
        (Self::Choice, "the model's choice"),
        (Self::When, "data"),
        (Self::Clock, "clock"),
        (Self::Done, "step done"),
        (Self::Error, "failure"),
        (Self::Otherwise, "no usable answer"),
    ];

    pub(super) fn of(trigger: &Trigger) -> Self {
        match trigger {
            Trigger::Event(_) | Trigger::AnyEvent | Trigger::Turn => Self::Event,
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

    pub(super) const fn colour(self) -> &'static str {
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
    pub(super) const fn is_choice(self) -> bool {
        matches!(self, Self::Choice | Self::Otherwise)
    }
}

/// Fill and border of a final state.
pub(super) const fn final_colours(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Ok => ("#dcfce7", "#15803d"),
        Status::Partial => ("#fef9c3", "#a16207"),
        Status::Stuck => ("#ffedd5", "#c2410c"),
        Status::Limit => ("#fef3c7", "#b45309"),
        Status::Canceled => ("#e2e8f0", "#475569"),
        Status::Error => ("#fee2e2", "#b91c1c"),
    }
}

/// Fill of a cluster, by depth.
pub(super) const fn cluster_fill(depth: usize) -> &'static str {
    if depth.is_multiple_of(2) { "#f8fafc" } else { "#eef2f7" }
}

/// Border of states.
pub(super) const BORDER: &str = "#475569";
/// What is there without moving anything.
pub(super) const FAINT: &str = "#94a3b8";
/// Head of a digraph: how everything looks unless it says otherwise.
pub(super) const HEAD: &str = "  compound=true;
  graph [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, labelloc=t, labeljust=l, nodesep=0.4, ranksep=0.55];
  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#475569\", margin=\"0.12,0.06\"];
  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=9, arrowsize=0.7];
";
