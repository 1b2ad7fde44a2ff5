//! `doubt retry` of a step: after a doubt, the call is made again.

use super::context::Cx;
use chartc_core::arena::StepId;
use chartc_core::model::{StepKind, Trigger};
use chartc_text::diagnostic::Severity;
use chartc_text::rules::ILLEGAL_STRUCTURE;
use chartc_text::span::Span;
use std::collections::BTreeSet;

/// Lowers `doubt retry`, which only steps with a call of their own have.
pub(super) fn retry(cx: &mut Cx<'_>, id: StepId, span: Span) {
    let finding = match &cx.chart.steps[id.index()].kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Call(..) => None,
        StepKind::Human(_) => {
            let message = "`doubt retry` has no effect: a person is asked again in any case";
            Some(ILLEGAL_STRUCTURE.at(span, message).help("leave it out"))
        }
        StepKind::Code(_) | StepKind::Run(_) => {
            let message =
                "`doubt retry` is allowed only in steps that make a call: `llm`, `ask`, `call`";
            Some(ILLEGAL_STRUCTURE.at(span, message))
        }
    };
    if let Some(finding) = finding {
        cx.report(finding);
        return;
    }
    cx.chart.steps[id.index()].retries_doubt = true;
    cx.map.steps[id.index()].doubt_retry = Some(span);
}

/// Reports `doubt` lines that are never taken, because the call is made again.
pub(super) fn close(cx: &mut Cx<'_>) {
    let mut seen = BTreeSet::new();
    for (transition, spans) in cx.chart.transitions.iter().zip(&cx.map.transitions) {
        let Trigger::StepDoubt(id) = transition.trigger else { continue };
        let row = &cx.chart.steps[id.index()];
        let span = spans.whole;
        if cx.chart.may_doubt(id) || !seen.insert((span.file, span.start)) {
            continue;
        }
        let finding = match (&row.kind, cx.map.steps[id.index()].doubt_retry) {
            (StepKind::Call(tool, _), None) => {
                let tool = &cx.chart.tools[tool.index()].name;
                let message = format!(
                    "this line is never taken: `{tool}` is called again, it is `idempotent`"
                );
                let mut finding = ILLEGAL_STRUCTURE.at(span, message);
                finding.severity = Severity::Warning;
                finding.help("leave the line out")
            }
            (_, declared) => {
                let message = "this line is never taken: with `doubt retry` the call is made again";
                let finding = ILLEGAL_STRUCTURE.at(span, message);
                let finding = finding.help("leave one of the two out");
                match declared {
                    Some(declared) => finding.related(declared, "here"),
                    None => finding,
                }
            }
        };
        cx.findings.push(finding);
    }
}
