//! `each after`: copies of a transition for every leaf below its state.

use super::context::Cx;
use super::transition::{Draft, add};
use chartc_core::arena::StateId;
use chartc_core::model::TransitionKind;
use chartc_text::rules::ILLEGAL_STRUCTURE;

/// The maximum number of copies of `each after` lines in a chart. There could be as many as states times lines.
const MOST_COPIES: usize = 200_000;

/// Adds to a leaf its copies of the `each after` transitions above it, innermost state first.
pub(super) fn copy(cx: &mut Cx<'_>, leaf: StateId) {
    let mut above = cx.nodes[leaf.index()].each_above;
    while let Some(state) = above {
        for index in 0..cx.nodes[state.index()].each.len() {
            cx.copies += 1;
            if cx.copies > MOST_COPIES {
                return too_many_copies(cx, state, index);
            }
            let (mut transition, spans) = cx.nodes[state.index()].each[index].clone();
            transition.source = leaf;
            // A leaf has no descendants to which an internal transition could lead.
            if transition.kind == TransitionKind::Internal {
                transition.kind = TransitionKind::External;
            }
            add(cx, Draft { transition, spans, choice: None, each: false });
        }
        above = cx.chart.state(state).parent.and_then(|p| cx.nodes[p.index()].each_above);
    }
}

fn too_many_copies(cx: &mut Cx<'_>, state: StateId, index: usize) {
    // Reported once, at the first copy that is too many.
    if cx.copies == MOST_COPIES + 1 {
        let span = cx.nodes[state.index()].each[index].1.whole;
        let message = format!("`each after` makes more than {MOST_COPIES} lines in this chart");
        cx.report(
            ILLEGAL_STRUCTURE
                .at(span, message)
                .help("each is copied to every state below: write fewer, or further inside"),
        );
    }
    cx.dropped = true;
}
