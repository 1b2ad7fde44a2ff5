//! Turns arrows into edges, each with its look.

use super::edge::{Edges, Stroke};
use crate::Options;
use crate::picture::arrow::{Arrow, Permit, arrows};
use crate::picture::look::{FAINT, Look};
use crate::picture::place::Places;
use crate::picture::text::{WIDTH, wrap};
use crate::picture::words;

/// All edges in document order, then an edge for each `allow` line that no transition uses.
pub(super) fn edges(places: &Places<'_>, options: &Options) -> Edges {
    let (arrows, permits) = arrows(places);
    let mut edges = Edges::default();
    for arrow in arrows {
        one(places, options, &arrow, &mut edges);
    }
    for permit in permits {
        faint(places, permit, &mut edges);
    }
    edges
}

fn one(places: &Places<'_>, options: &Options, arrow: &Arrow, edges: &mut Edges) {
    let chart = places.chart;
    let transition = chart.transition(arrow.transition);
    let look = Look::from_trigger(&transition.trigger);
    let parts = words::parts(chart, transition, arrow.is_each);
    let mut label: Vec<String> = parts.iter().flat_map(|p| wrap(p, WIDTH)).collect();
    let mut stroke = Stroke {
        colour: look.colour(),
        style: if look == Look::Otherwise { "dotted" } else { "solid" },
        head: "normal",
        tail: if look.is_choice() { "odiamond" } else { "none" },
        pen: 0,
    };
    if transition.scope.as_ref().is_some_and(|s| s.wildcard) {
        stroke.style = "dashed";
    }
    for condition in &arrow.permits {
        label.extend(wrap(&format!("allow [{condition}]"), WIDTH));
    }
    if arrow.is_denied {
        label.push("denied: no allow line".to_string());
        stroke = Stroke { colour: Look::Error.colour(), style: "dashed", head: "tee", ..stroke };
    }
    if let Some(times) = options.times(arrow.transition) {
        label.push(format!("{times}×"));
        stroke.pen = pen(options, times);
        if times == 0 {
            stroke.colour = FAINT;
        }
    }
    let tooltip = words::whole(chart, transition);
    match transition.targets.as_slice() {
        [target] => {
            edges.add(Some(arrow.transition), arrow.origin, target.state, stroke, label, tooltip);
        }
        targets => {
            let targets = targets.iter().map(|t| t.state).collect();
            edges.fork(arrow.transition, arrow.origin, targets, stroke, label, tooltip);
        }
    }
}

/// The width of the pen in tenths of a point, from 10 to 60: the transition that was taken most often gets the widest.
fn pen(options: &Options, times: u64) -> u32 {
    let most = options.taken.iter().flat_map(|taken| taken.values()).max().copied().unwrap_or(0);
    10 + (times * 50).checked_div(most).unwrap_or(0) as u32
}

/// Adds an edge for a permission that no transition uses.
fn faint(places: &Places<'_>, permit: Permit, edges: &mut Edges) {
    let stroke = Stroke { colour: FAINT, style: "dotted", head: "open", tail: "none", pen: 0 };
    let guard = permit.guard.map(|g| format!(" [{g}]")).unwrap_or_default();
    let label = wrap(&format!("allow{guard}"), WIDTH);
    let to = &places.chart.state(permit.target).path;
    let tooltip = format!("allow -> {to}{guard}");
    edges.add(None, permit.origin, permit.target, stroke, label, tooltip);
}
