//! Finds the placeholders of a prompt that cannot be rendered, and the reasons.

use super::put::{AskOutcome, Setting};
use crate::cli::output::StyledText;
use chartc_check::compile::Checked;
use chartc_core::arena::{EventId, StepId};
use chartc_core::model::{Chart, StepKind, Template, TemplatePart};
use chartc_text::source::Sources;
use chartc_text::span::Span;

/// A text that contributes to a prompt.
#[derive(Clone, Copy)]
enum Text {
    Own,
    Component(usize),
}

/// Lists each placeholder that fails when it is rendered alone, one line with its position and the reason.
pub(super) fn holes(
    setting: &Setting<'_>,
    checked: &Checked,
    id: StepId,
    on: Option<EventId>,
    sources: &Sources,
) -> miette::Result<StyledText> {
    let chart = setting.charts[0];
    let own = (Text::Own, checked.map().step(id).prompt_parts.as_slice());
    let parts = checked.map().component_parts.iter().enumerate();
    let components = parts.map(|(i, parts)| (Text::Component(i), parts.as_slice()));
    let mut lines = StyledText::default();
    for (text, spans) in std::iter::once(own).chain(components) {
        let Some(template) = template(chart, id, text) else { continue };
        for (part, span) in template.parts.iter().zip(spans) {
            if matches!(part, TemplatePart::Text(_) | TemplatePart::Options) {
                continue;
            }
            let only = with_only(chart, id, text, part);
            let mut charts = setting.charts.clone();
            charts[0] = &only;
            if let AskOutcome::Failed(why) = (Setting { charts, ..*setting }).question(id, on)? {
                lines.line(place(*span, &why, sources));
            }
        }
    }
    Ok(lines)
}

fn template(chart: &Chart, id: StepId, text: Text) -> Option<&Template> {
    match text {
        Text::Own => match &chart.steps[id.index()].kind {
            StepKind::Human(question) => Some(question),
            _ => chart.steps[id.index()].prompt.as_ref(),
        },
        Text::Component(i) => Some(&chart.components.get(i)?.text),
    }
}

/// A copy of the chart in which the prompt consists of one part of one text. The text keeps its conditions.
fn with_only(chart: &Chart, id: StepId, text: Text, part: &TemplatePart) -> Chart {
    let mut chart = chart.clone();
    let one = Template { parts: vec![part.clone()] };
    let step = &mut chart.steps[id.index()];
    let (own, kept) = match text {
        Text::Own => (one, None),
        Text::Component(i) => {
            chart.components[i].text = one;
            (Template::default(), Some(i))
        }
    };
    if let StepKind::Human(question) = &mut step.kind {
        *question = own;
    } else {
        step.prompt = Some(own);
    }
    for (i, component) in chart.components.iter_mut().enumerate() {
        if kept != Some(i) {
            component.inserts.clear();
        }
    }
    chart
}

fn place(span: Span, why: &str, sources: &Sources) -> String {
    let source = sources.get(span.file);
    let at = source.position(span.start);
    format!("  {}:{}:{}: {}: {why}", source.name, at.line, at.column, source.slice(span))
}
