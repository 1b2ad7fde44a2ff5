//! From arrows to edges: how each looks.

use super::edge::{Edges, Stroke};
use crate::emit::picture::arrow::{Arrow, Permit, arrows};
use crate::emit::picture::look::{FAINT, Look};
use crate::emit::picture::place::Places;
use crate::emit::picture::text::{WIDTH, wrap};
use crate::emit::picture::words;

/// All edges, in document order; `allow` lines that nothing follows last.
pub(super) fn edges(places: &Places<'_>) -> Edges {
    let (arrows, permits) = arrows(places);
    let mut edges = Edges::default();
    for arrow in arrows {
        one(places, &arrow, &mut edges);
    }
    for permit in permits {
        faint(places, permit, &mut edges);
    }
    edges
}

fn one(places: &Places<'_>, arrow: &Arrow, edges: &mut Edges) {
    let chart = places.chart;
    let line = chart.transition(arrow.line);
    let look = Look::of(&line.trigger);
    let parts = words::parts(chart, line, arrow.is_each);
    let mut label: Vec<String> = parts.iter().flat_map(|p| wrap(p, WIDTH)).collect();
    let mut stroke = Stroke {
        colour: look.colour(),
        style: if look == Look::Otherwise { "dotted" } else { "solid" },
        head: "normal",
        tail: if look.is_choice() { "odiamond" } else { "none" },
    };
    if line.scope.as_ref().is_some_and(|s| s.wildcard) {
        stroke.style = "dashed";
    }
    for condition in &arrow.permits {
        label.extend(wrap(&format!("allow [{condition}]"), WIDTH));
    }
    if arrow.is_denied {
        label.push("denied: no allow line".to_string());
        stroke = Stroke { colour: Look::Error.colour(), style: "dashed", head: "tee", ..stroke };
    }
    let tooltip = words::whole(chart, line);
    match line.targets.as_slice() {
        [target] => edges.add(arrow.origin, target.state, stroke, label, tooltip),
        targets => {
            let targets = targets.iter().map(|t| t.state).collect();
            edges.fork(arrow.line.0, arrow.origin, targets, stroke, label, tooltip);
        }
    }
}

/// What the table permits and nothing does.
fn faint(places: &Places<'_>, permit: Permit, edges: &mut Edges) {
    let stroke = Stroke { colour: FAINT, style: "dotted", head: "open", tail: "none" };
    let guard = permit.guard.map(|g| format!(" [{g}]")).unwrap_or_default();
    let label = wrap(&format!("allow{guard}"), WIDTH);
    let to = &places.chart.state(permit.target).path;
    let tooltip = format!("allow -> {to}{guard}");
    edges.add(permit.origin, permit.target, stroke, label, tooltip);
}
