//! Turns the transitions of a chart into the arrows of a picture.

use super::allow::{Table, is_bound};
use super::place::{Origin, Places};
use chartc_check::notation;
use chartc_core::arena::{StateId, TransitionId};
use std::collections::BTreeSet;

/// A transition with a target, drawn from one of its origins.
pub(crate) struct Arrow {
    pub(crate) transition: TransitionId,
    pub(crate) origin: Origin,
    /// Whether it was written once, as an `each` line for every leaf below its state.
    pub(crate) is_each: bool,
    /// The conditions of the `allow` lines that permit it.
    pub(crate) permits: Vec<String>,
    /// Whether no `allow` line permits it.
    pub(crate) is_denied: bool,
}

/// An `allow` line that no transition of the chart uses.
pub(crate) struct Permit {
    pub(crate) origin: Origin,
    pub(crate) target: StateId,
    pub(crate) guard: Option<String>,
}

/// All transitions with a target, in document order, and the `allow` lines that none of them uses.
pub(crate) fn arrows(places: &Places<'_>) -> (Vec<Arrow>, Vec<Permit>) {
    let chart = places.chart;
    let table = Table::new(chart);
    let mut arrows = Vec::new();
    let mut driven = BTreeSet::new();
    let (of, copies) = places.copies();
    for (index, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(index);
        if transition.targets.is_empty() || copies.contains(&id) {
            continue;
        }
        let writer = of.get(&id);
        let origins = match writer {
            Some(writer) => {
                let inside = transition.targets.iter().any(|t| chart.contains(*writer, t.state));
                let is_any = writer.0 == 0 || inside;
                vec![if is_any { Origin::Any(*writer) } else { Origin::State(*writer) }]
            }
            None => places.origins(transition),
        };
        for origin in origins {
            let mut arrow = Arrow {
                transition: id,
                origin,
                is_each: writer.is_some(),
                permits: Vec::new(),
                is_denied: false,
            };
            if let Some(table) = table.as_ref().filter(|_| is_bound(transition)) {
                let (Origin::State(source) | Origin::Any(source)) = origin;
                for target in &transition.targets {
                    driven.insert((origin, target.state));
                    arrow.permits.extend(table.condition(source, target.state));
                    arrow.is_denied |= table.forbids(source, target.state);
                }
            }
            arrows.push(arrow);
        }
    }
    (arrows, permits(places, &driven))
}

fn permits(places: &Places<'_>, driven: &BTreeSet<(Origin, StateId)>) -> Vec<Permit> {
    let chart = places.chart;
    let mut permits = Vec::new();
    for permission in &chart.permissions {
        let origin = match permission.from {
            None => Origin::Any(StateId(0)),
            Some(from) if places.is_cluster(from) && chart.contains(from, permission.to) => {
                Origin::Any(from)
            }
            Some(from) => Origin::State(from),
        };
        if !driven.contains(&(origin, permission.to)) {
            let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
            permits.push(Permit { origin, target: permission.to, guard });
        }
    }
    permits
}
