//! Items that a step may have only once.

use super::context::Cx;
use chartc_text::rules::illegal_structure;
use chartc_text::span::Span;
use chartc_text::syntax::{Noted, StepItem};

/// Reports the second item of a kind in a step. A second prompt or policy is found where it is lowered.
pub(super) fn items(cx: &mut Cx<'_>, items: &[Noted<StepItem>]) {
    let mut seen: [Option<Span>; 9] = [None; 9];
    for noted in items {
        let (nth, what) = match &noted.node {
            StepItem::Returns(..) => (0, "`returns` in one step"),
            StepItem::Tools(..) => (1, "`tools` in one step"),
            StepItem::EndsTurn(_) => (2, "`ends turn` in one step"),
            StepItem::AtATime(_) => (3, "`at a time` in one step"),
            StepItem::UpTo(_) => (4, "`up to` in one step"),
            StepItem::Enough(_) => (5, "`enough` in one step"),
            StepItem::Lost(_) => (6, "`else` in one step"),
            StepItem::DoubtRetry => (7, "`doubt retry` in one step"),
            StepItem::CutOk => (8, "`cut ok` in one step"),
            _ => {
                continue;
            }
        };
        match seen[nth] {
            Some(first) => cx.report(illegal_structure::second(what, noted.span, first)),
            None => seen[nth] = Some(noted.span),
        }
    }
}
