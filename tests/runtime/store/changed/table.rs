//! The changes, and what becomes of a run.

/// Where the run is when the chart changes, five minutes after it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Waiting,
    /// After twenty minutes.
    LongWaiting,
    /// With the model call of `think` under way.
    Thinking,
    Apart,
    /// With a child chart whose model call is under way.
    Handing,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    /// Where it is after what is done then, with the value of the row's variable.
    Loads(&'static str),
    /// A part of what is said.
    Refused(&'static str),
}

/// What is done once it goes on.
#[derive(Clone, Copy, Default)]
pub(super) struct Then {
    pub(super) events: &'static [&'static str],
    pub(super) minutes: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) at: Where,
    pub(super) changes: &'static [(&'static str, &'static str)],
    pub(super) told: &'static [&'static str],
    pub(super) then: Then,
    pub(super) variable: &'static str,
    pub(super) outcome: Outcome,
    /// Whether only the values tell that it does not fit.
    pub(super) is_about_values: bool,
}

const NOTHING: Then = Then { events: &[], minutes: 0 };

pub(super) const fn row(
    what: &'static str,
    at: Where,
    changes: &'static [(&'static str, &'static str)],
    outcome: Outcome,
) -> Row {
    Row {
        what,
        at,
        changes,
        told: &[],
        then: NOTHING,
        variable: "count",
        outcome,
        is_about_values: false,
    }
}

pub(super) const fn after(minutes: u64, row: Row) -> Row {
    Row { then: Then { minutes, ..row.then }, ..row }
}

pub(super) const fn tells(told: &'static [&'static str], row: Row) -> Row {
    Row { told, ..row }
}

pub(super) const fn of(variable: &'static str, row: Row) -> Row {
    Row { variable, ..row }
}

pub(super) const fn by_value(row: Row) -> Row {
    Row { is_about_values: true, ..row }
}

impl Row {
    pub(super) const fn then_sends(self, events: &'static [&'static str]) -> Self {
        Self { then: Then { events, ..self.then }, ..self }
    }
}
