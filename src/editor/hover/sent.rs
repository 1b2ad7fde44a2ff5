//! Describes what a step sends to a model or a person: the prompt with its placeholders, the options, and the form of the answer.

use super::View;
use super::data::written;
use super::markdown::{Markdown, code};
use chartc_check::notation;
use chartc_core::arena::{ChoiceId, StepId, ToolId};
use chartc_core::host::{Offer, listed, summary};
use chartc_core::model::{
    ActionForm, Chart, ChoiceKind, Field, Position, StepKind, Template, TemplatePart, schema,
};
use chartc_text::span::Span;
use std::borrow::Cow;

/// Adds the prompt of a step, its options, and the form of its answer.
pub(super) fn sent(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let step = &chart.steps[id.index()];
    match &step.kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => {}
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => return,
    }
    prompt(markdown, view, id);
    if let StepKind::Ask { .. } = &step.kind {
        let choices = choices(chart, id);
        options(markdown, view, &choices);
    }
    if let Some(tools) = &step.tools {
        let offers: Vec<Offer> =
            chart.tools_of(tools.set).into_iter().map(|tool| of_tool(chart, tool)).collect();
        markdown.line(format!("**Tools** that it may call, {} times at most:", tools.calls));
        markdown.code("text", &listed(&offers));
    }
    let answer = schema::of_answer(chart, id);
    if !answer.is_empty() {
        markdown.line("**Answer**, by this schema:");
        markdown.code("json", &pretty(&answer));
    } else if step.kind == StepKind::Llm {
        let form = step.client.map_or(ActionForm::Any, |id| chart.clients[id.index()].actions);
        markdown.line(match form {
            ActionForm::Any => {
                "**Answer**: an action, `{reasoning, action, …}`; in a world `{thought_process, action: {action_type, …}}`."
            }
            ActionForm::Simple => {
                "**Answer**: an action, `{thought_process, action: {action_type, …}}`."
            }
            ActionForm::Ooda => {
                "**Answer**: an action, `{situation_assessment, action_rationale, action: {action_type, …}}`."
            }
        });
    }
}

fn pretty(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned())
}

/// Adds the parts of the prompt, in the order in which they are sent.
fn prompt(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let at = |place: Position| {
        chart.inserts(id).filter(move |(_, insert)| insert.place == place).collect::<Vec<_>>()
    };
    let is_replaced = at(Position::Replace).iter().any(|(_, insert)| insert.guard.is_none());
    let component = |markdown: &mut Markdown, place: Position| {
        for (component, insert) in at(place) {
            let guard = insert.guard.as_ref().map(|guard| notation::expression(chart, guard));
            let guard = guard.map_or_else(String::new, |guard| format!(", if {}", code(&guard)));
            let how = match place {
                Position::Start => "**Prompt**, first, from",
                Position::Replace => "**Prompt**, in place of the step's own, from",
                Position::End => "**Prompt**, last, from",
            };
            markdown.line(format!("{how} component {}{guard}:", code(&component.name)));
            let nth = chart.components.iter().position(|one| std::ptr::eq(one, component));
            let spans = nth.and_then(|nth| view.one.map.component_parts.get(nth));
            markdown.code("text", &text(view, &component.text, spans.map_or(&[], Vec::as_slice)));
        }
    };
    component(markdown, Position::Start);
    component(markdown, Position::Replace);
    if let Some(own) = chart.own_prompt(id).filter(|_| !is_replaced) {
        markdown.line("**Prompt**:");
        markdown.code("text", &text(view, own, &view.one.map.step(id).prompt_parts));
    }
    component(markdown, Position::End);
}

/// A text as it is sent, with its placeholders as they stand in the source.
pub(super) fn text(view: &View<'_>, template: &Template, parts: &[Span]) -> String {
    let chart = &view.one.chart;
    let place = |nth: usize| {
        let span = parts.get(nth).filter(|_| parts.len() == template.parts.len())?;
        let text = view.done.sources.get(span.file).slice(*span);
        (text.starts_with('{') && text.ends_with('}')).then_some(text)
    };
    let mut out = String::new();
    for (nth, part) in template.parts.iter().enumerate() {
        match part {
            TemplatePart::Text(text) | TemplatePart::Bad(text) => out.push_str(text),
            TemplatePart::Options => out.push_str("{options}"),
            TemplatePart::Hole { expr, spec } => {
                if let Some(written) = place(nth) {
                    out.push_str(written);
                } else {
                    let colon = if spec.is_empty() { "" } else { ":" };
                    let expr = notation::expression(chart, expr);
                    out.push_str(&format!("{{{expr}{colon}{spec}}}"));
                }
            }
        }
    }
    out
}

/// The options that a question may offer: those of the states around its own and of the states inside, innermost first.
pub(super) fn choices(chart: &Chart, id: StepId) -> Vec<ChoiceId> {
    let asks = chart.steps[id.index()].state;
    let source = |id: ChoiceId| chart.transition(chart.choices[id.index()].transition).source;
    let mut all: Vec<ChoiceId> = (0..chart.choices.len()).map(ChoiceId::at).collect();
    all.retain(|id| chart.contains(asks, source(*id)) || chart.contains(source(*id), asks));
    all.sort_by_key(|id| (std::cmp::Reverse(chart.ancestors(source(*id)).count()), *id));
    all
}

/// An option as it is offered. A permission for tools is an offer for each tool.
pub(super) fn offers(view: &View<'_>, id: ChoiceId) -> Vec<Offer> {
    let chart = &view.one.chart;
    let choice = &chart.choices[id.index()];
    let description = choice.text.as_ref().map(|template| text(view, template, &[]));
    match &choice.kind {
        ChoiceKind::Option(fields) => vec![Offer {
            choice: id,
            tool: None,
            name: choice.name.clone().into(),
            text: description.unwrap_or_default().into(),
            arguments: arguments(chart, fields),
        }],
        ChoiceKind::Call(set, _) => {
            let tools = chart.tools_of(*set).into_iter().map(|tool| of_tool(chart, tool));
            let said = |offer: Offer| Offer {
                choice: id,
                text: description.clone().map_or(offer.text, Cow::Owned),
                ..offer
            };
            tools.map(said).collect()
        }
    }
}

fn of_tool(chart: &Chart, id: ToolId) -> Offer {
    let tool = &chart.tools[id.index()];
    Offer {
        choice: Offer::NO_LINE,
        tool: Some(id),
        name: tool.name.clone().into(),
        text: summary(&tool.doc).into(),
        arguments: arguments(chart, &tool.params),
    }
}

fn arguments(chart: &Chart, fields: &[Field]) -> Vec<(Cow<'static, str>, Cow<'static, str>)> {
    let typed = |field: &Field| (field.name.clone().into(), written(chart, &field.ty).into());
    fields.iter().map(typed).collect()
}

/// Adds the options of a question as its prompt shows them, and those that are offered only under a condition.
fn options(markdown: &mut Markdown, view: &View<'_>, choices: &[ChoiceId]) {
    let chart = &view.one.chart;
    let mut all: Vec<Offer> = Vec::new();
    for offer in choices.iter().flat_map(|id| offers(view, *id)) {
        // If several lines permit a tool, the first one offers it.
        if offer.tool.is_none() || all.iter().all(|known| known.tool != offer.tool) {
            all.push(offer);
        }
    }
    if all.is_empty() {
        return;
    }
    markdown.line("**Options**:");
    markdown.code("text", &listed(&all));
    let guarded = choices.iter().filter_map(|id| {
        let choice = &chart.choices[id.index()];
        let line = chart.transition(choice.transition);
        let guard = line.guard.as_ref()?;
        let guard = notation::expression_in(chart, guard, &notation::payload(line));
        Some(format!("{} if {}", code(&choice.name), code(&guard)))
    });
    markdown.list("Offered under a condition", guarded.collect::<Vec<_>>());
}
