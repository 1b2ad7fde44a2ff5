//! Describes tools, sets of tools, clients and components.

use super::data::{fields, written};
use super::markdown::{Markdown, code};
use super::{View, sent, used};
use chartc_check::notation;
use chartc_core::arena::{ClientId, ToolId, ToolSetId};
use chartc_core::model::{ActionForm, Position};

pub(super) fn tool(markdown: &mut Markdown, view: &View<'_>, id: ToolId) {
    let chart = &view.one.chart;
    let row = &chart.tools[id.index()];
    let params = match fields(chart, &row.params) {
        none if none.is_empty() => "()".to_owned(),
        params => params,
    };
    let idempotent = if row.idempotent { " idempotent" } else { "" };
    let (name, result) = (notation::path(&row.name), written(chart, &row.result));
    markdown.code("chart", &format!("tool {name}{params} -> {result}{idempotent}"));
    markdown.docs(&row.doc);
    let sets = (0..chart.tool_sets.len()).map(ToolSetId::at).filter(|set| {
        let is_named = view.one.map.tool_sets.get(set.index()).is_some_and(Option::is_some);
        is_named && chart.tools_of(*set).contains(&id)
    });
    let sets = sets.map(|set| code(&chart.tool_sets[set.index()].name)).collect::<Vec<_>>();
    markdown.list("In the sets", sets);
    markdown.list("Used at", used::rows(view, used::places(view, view.declared)));
}

pub(super) fn set(markdown: &mut Markdown, view: &View<'_>, id: ToolSetId) {
    let chart = &view.one.chart;
    let row = &chart.tool_sets[id.index()];
    markdown.code("chart", &format!("tools {}", notation::name(&row.name)));
    let tools = chart.tools_of(id).into_iter().map(|tool| {
        let tool = &chart.tools[tool.index()];
        code(&format!("{}{}", tool.name, fields(chart, &tool.params)))
    });
    let tools: Vec<String> = tools.collect();
    if tools.is_empty() {
        markdown.line("No tool is in this set.");
    }
    markdown.list("Tools", tools);
    markdown.list("Used at", used::rows(view, used::places(view, view.declared)));
}

pub(super) fn client(markdown: &mut Markdown, view: &View<'_>, id: ClientId) {
    let chart = &view.one.chart;
    let row = &chart.clients[id.index()];
    markdown.code(
        "chart",
        &format!("client {} {{ model {:?} }}", notation::name(&row.name), row.model),
    );
    let mut rows = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| code(&format!("{name} {value}"))));
    };
    add("temperature", row.temperature.map(|n| format!("{n:?}")));
    add("max_tokens", row.max_tokens.map(|n| n.to_string()));
    add("timeout", row.timeout.map(notation::duration));
    add("options", (!row.options.is_empty()).then(|| row.options.clone()));
    add("retry", row.retry.map(|n| n.to_string()));
    add("fallback", row.fallback.map(|id| chart.clients[id.index()].name.clone()));
    add("input_price", row.input_price.map(|n| format!("{n:?}")));
    add("output_price", row.output_price.map(|n| format!("{n:?}")));
    let form = Some(row.actions).filter(|form| *form != ActionForm::Any);
    add("actions", form.map(|form| form.word().to_owned()));
    markdown.list("Options", rows);
    let steps = chart.steps.iter().filter(|step| step.client == Some(id));
    markdown.list("Steps", steps.map(|step| code(&step.name)).collect::<Vec<_>>());
}

pub(super) fn component(markdown: &mut Markdown, view: &View<'_>, nth: usize) {
    let chart = &view.one.chart;
    let row = &chart.components[nth];
    markdown.code("chart", &format!("component {}", notation::name(&row.name)));
    let inserts = row.inserts.iter().map(|insert| {
        let step = code(&chart.steps[insert.step.index()].name);
        let place = match insert.place {
            Position::Start => "before the prompt of",
            Position::End => "behind the prompt of",
            Position::Replace => "in place of the prompt of",
        };
        let guard = insert.guard.as_ref().map(|guard| notation::expression(chart, guard));
        let guard = guard.map_or_else(String::new, |guard| format!(" if {}", code(&guard)));
        format!("{place} {step}{guard}")
    });
    markdown.list("Goes", inserts.collect::<Vec<_>>());
    markdown.line("**Text**:");
    let parts = view.one.map.component_parts.get(nth).map_or(&[][..], Vec::as_slice);
    markdown.code("text", &sent::text(view, &row.text, parts));
}
