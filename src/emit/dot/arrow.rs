//! From the lines of a chart to the edges of the picture.

use super::allow::{Table, is_bound};
use super::edge::{Edges, Stroke};
use super::place::{Origin, Places};
use super::style::{FAINT, Look};
use super::text::{WIDTH, wrap};
use super::words;
use crate::notation;
use chartc_core::arena::{StateId, TransitionId};
use std::collections::BTreeSet;

/// From where to where something moves the chart that `allow` lines bind.
type Driven = BTreeSet<(Origin, StateId)>;

/// Every line that goes anywhere, in order, then the `allow` lines that nothing follows.
pub(super) fn edges(places: &Places<'_>) -> Edges {
    let chart = places.chart;
    let table = Table::of(chart);
    let mut edges = Edges::default();
    let mut driven = Driven::new();
    let (of, copies) = places.copies();
    for (index, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(index);
        if line.targets.is_empty() || copies.contains(&id) {
            continue;
        }
        let writer = of.get(&id);
        let origins = match writer {
            Some(writer) => {
                let inside = line.targets.iter().any(|t| chart.contains(*writer, t.state));
                let is_any = writer.0 == 0 || inside;
                vec![if is_any { Origin::Any(*writer) } else { Origin::State(*writer) }]
            }
            None => places.origins(line),
        };
        for origin in origins {
            one(places, table.as_ref(), id, origin, writer.is_some(), &mut driven, &mut edges);
        }
    }
    permissions(places, &driven, &mut edges);
    edges
}

/// The edge of a line from one of its origins.
fn one(
    places: &Places<'_>,
    table: Option<&Table<'_>>,
    id: TransitionId,
    origin: Origin,
    is_each: bool,
    driven: &mut Driven,
    edges: &mut Edges,
) {
    let chart = places.chart;
    let line = chart.transition(id);
    let look = Look::of(&line.trigger);
    let mut label = words::lines(chart, line, is_each);
    let mut stroke = Stroke {
        colour: look.colour(),
        style: if look == Look::Otherwise { "dotted" } else { "solid" },
        head: "normal",
        tail: if look.is_choice() { "odiamond" } else { "none" },
    };
    if line.scope.as_ref().is_some_and(|s| s.wildcard) {
        stroke.style = "dashed";
    }
    if let Some(table) = table.filter(|_| is_bound(line)) {
        let (Origin::State(source) | Origin::Any(source)) = origin;
        for target in &line.targets {
            driven.insert((origin, target.state));
            if let Some(condition) = table.condition(source, target.state) {
                label.extend(wrap(&format!("allow [{condition}]"), WIDTH));
            }
        }
        if line.targets.iter().any(|t| table.forbids(source, t.state)) {
            label.push("denied: no allow line".to_string());
            stroke =
                Stroke { colour: Look::Error.colour(), style: "dashed", head: "tee", ..stroke };
        }
    }
    let tooltip = words::tooltip(chart, line);
    match line.targets.as_slice() {
        [target] => edges.add(origin, target.state, stroke, label, tooltip),
        targets => {
            let targets = targets.iter().map(|t| t.state).collect();
            edges.fork(id.0, origin, targets, stroke, label, tooltip);
        }
    }
}

/// `allow` lines that no line of the chart makes use of, drawn faintly.
fn permissions(places: &Places<'_>, driven: &Driven, edges: &mut Edges) {
    let chart = places.chart;
    let stroke = Stroke { colour: FAINT, style: "dotted", head: "open", tail: "none" };
    for permission in &chart.permissions {
        let origin = match permission.from {
            None => Origin::Any(StateId(0)),
            Some(from) if places.is_cluster(from) && chart.contains(from, permission.to) => {
                Origin::Any(from)
            }
            Some(from) => Origin::State(from),
        };
        if driven.contains(&(origin, permission.to)) {
            continue;
        }
        let guard = permission.guard.as_ref().map(|g| notation::expression(chart, g));
        let guard = guard.map(|g| format!(" [{g}]")).unwrap_or_default();
        let label = wrap(&format!("allow{guard}"), WIDTH);
        let to = &chart.state(permission.to).path;
        let tooltip = format!("allow -> {to}{guard}");
        edges.add(origin, permission.to, stroke, label, tooltip);
    }
}
