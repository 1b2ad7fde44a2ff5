//! `doubt retry` of a step.

use super::context::Cx;
use chartc_core::arena::StepId;
use chartc_core::model::StepKind;
use chartc_text::rules::illegal_structure;
use chartc_text::span::Span;
use chartc_text::syntax::{OutcomeKind, StepItem};

/// Lowers `doubt retry`, which only steps with a call of their own have, and only without a `doubt` line.
pub(super) fn retry(cx: &mut Cx<'_>, id: StepId, span: Span) {
    let finding = match &cx.chart.steps[id.index()].kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Call(..) => None,
        StepKind::Human(_) => {
            let message = "`doubt retry` has no effect: a person is asked again in any case";
            Some(illegal_structure::RULE.at(span, message).help("leave it out"))
        }
        StepKind::Code(_) | StepKind::Run(_) => {
            let message =
                "`doubt retry` stands only in steps that make a call: `llm`, `ask`, `call`";
            Some(illegal_structure::RULE.at(span, message))
        }
    };
    if let Some(finding) = finding {
        cx.report(finding);
        return;
    }
    cx.chart.steps[id.index()].retries_doubt = true;
    let items = &cx.step_nodes[id.index()].step.items;
    let line = items.iter().find(|item| {
        matches!(&item.node, StepItem::Outcome(outcome) if outcome.kind == OutcomeKind::Doubt)
    });
    if let Some(line) = line {
        let message = "this line is never taken: with `doubt retry` the call is made again";
        let finding = illegal_structure::RULE.at(line.span, message);
        cx.report(finding.related(span, "here").help("leave one of the two out"));
    }
}
