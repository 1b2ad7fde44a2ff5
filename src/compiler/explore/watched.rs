//! What `check` lines name, which the stories of edges therefore have.

use crate::analysis::facts::values::{self, declared};
use chartc_core::arena::EventId;
use chartc_core::model::{Chart, CheckArgument, Subject, Trigger};

/// Something that `check` lines name, which the stories of edges therefore have.
pub(super) struct Watched<'c> {
    pub(super) subject: &'c Subject,
    /// The maximum number of times that a story has it.
    pub(super) most: u32,
    /// The number of times that the current story has it.
    pub(super) told: u32,
}

/// The things that the `check` lines of the chart name. States are told anyway, once, and are among them only if they are counted.
pub(super) fn watched(chart: &Chart) -> Vec<Watched<'_>> {
    let mut found: Vec<Watched<'_>> = Vec::new();
    let mut add = |subject, most: u32| match found.iter_mut().find(|row| row.subject == subject) {
        Some(row) => row.most = row.most.max(most),
        None => found.push(Watched { subject, most, told: 0 }),
    };
    for argument in chart.checks.iter().flat_map(|check| &check.arguments) {
        match argument {
            CheckArgument::Unless(what, until) => {
                let named = [what, until].into_iter();
                named.filter(|s| !matches!(s, Subject::State(_))).for_each(|s| add(s, 1));
            }
            CheckArgument::AtMost(what, most) => {
                let most = values::range(most, &|id| declared(chart, id)).high;
                let most = most.map_or(u32::MAX, |n| u32::try_from(n.max(0)).unwrap_or(u32::MAX));
                add(what, most.saturating_add(1));
            }
            CheckArgument::State(_) | CheckArgument::Bound(..) => {}
        }
    }
    found
}

/// Whether a line with this trigger handles the event.
pub(super) fn handles(trigger: &Trigger, event: EventId) -> bool {
    match trigger {
        Trigger::Event(events) => events.contains(&event),
        Trigger::AnyEvent | Trigger::AnyOccurrence => true,
        _ => false,
    }
}
