//! Formats lines of a chart for messages.

use chartc_check::lower::SourceMap;
use chartc_core::arena::TransitionId;
use chartc_core::model::{Chart, Trigger};
use chartc_text::source::Sources;

/// The maximum number of characters of a line that are shown.
const SHOWN: usize = 70;

/// The line number of a transition, and its source text on one line, shortened. An outcome of a step is shown with the name of the step.
pub(super) fn line(
    chart: &Chart,
    map: &SourceMap,
    id: TransitionId,
    sources: &Sources,
) -> (usize, String) {
    let span = map.transition(id).whole;
    let source = sources.get(span.file);
    let text = source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let trigger = &chart.transition(id).trigger;
    let of = trigger.step().map(|step| chart.steps[step.index()].name.as_str());
    let is_else = matches!(trigger, Trigger::StepElse(_));
    let is_target =
        map.transition(id).targets.first().is_some_and(|target| target.start == span.start);
    let text = match of {
        Some(step) if is_else => format!("else {text}  (of {step})"),
        Some(step) if is_target => format!("-> {text}  (of {step})"),
        Some(_) | None => text,
    };
    (source.position(span.start).line, text)
}
