//! `cut ok` of a step: an answer that was cut off is accepted.

use super::context::Cx;
use chartc_core::arena::StepId;
use chartc_core::model::{StepKind, Type};
use chartc_text::rules::ILLEGAL_STRUCTURE;
use chartc_text::span::Span;

/// Lowers `cut ok`, which only `llm` steps that return a text have.
pub(super) fn ok(cx: &mut Cx<'_>, id: StepId, span: Span) {
    let step = &cx.chart.steps[id.index()];
    let is_llm = matches!(step.kind, StepKind::Llm);
    if is_llm && *step.one_returns() == Type::Text {
        cx.chart.steps[id.index()].accepts_cut = true;
        return;
    }
    let (message, help) = if is_llm {
        ("only a text can be cut off and still be an answer", "return `Text`, or leave it out")
    } else {
        ("`cut ok` is allowed only in `llm` steps, whose answers may be cut off", "leave it out")
    };
    cx.report(ILLEGAL_STRUCTURE.at(span, message).help(help));
}
