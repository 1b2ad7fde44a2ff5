//! Describes steps and options.

use super::data::{fields, written};
use super::markdown::{Markdown, code};
use super::state::line;
use super::{View, sent};
use crate::costs;
use chartc_check::notation;
use chartc_check::turn::cost::Driver;
use chartc_core::arena::{ChoiceId, StepId};
use chartc_core::model::{
    AskOn, Chart, ChoiceKind, Expr, Failure, FailurePolicy, Lost, Otherwise, Step, StepKind,
};

/// The policy for failed calls, as written.
pub(in crate::editor) fn policy(chart: &Chart, policy: FailurePolicy) -> String {
    let then = match policy.then {
        Failure::Fail => "fail".to_owned(),
        Failure::Skip => "skip".to_owned(),
        Failure::Take(line) => {
            let targets = chart.transition(line).targets.iter();
            let all: Vec<&str> = targets.map(|t| chart.state(t.state).path.as_str()).collect();
            format!("-> {}", all.join(", "))
        }
    };
    match (policy.retries, policy.then) {
        (0, Failure::Fail | Failure::Skip) => then,
        (0, Failure::Take(_)) => format!("then {then}"),
        (retries, _) => format!("retry {retries} then {then}"),
    }
}

fn list(chart: &Chart, all: &[Expr]) -> String {
    let all: Vec<String> = all.iter().map(|expr| notation::expression(chart, expr)).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}

fn head(chart: &Chart, step: &Step) -> String {
    let name = notation::name(&step.name);
    let each = step.each.as_ref().map_or_else(String::new, |each| {
        let list = notation::expression(chart, &each.list);
        format!(" each {} in {list}", notation::name(&each.local.name))
    });
    let client = step.client.map_or_else(String::new, |id| {
        format!(" with {}", notation::name(&chart.clients[id.index()].name))
    });
    match &step.kind {
        StepKind::Llm => format!("llm {name}{each}{client}"),
        StepKind::Code(_) => format!("code {name}"),
        StepKind::Ask { on, always, otherwise } => {
            let on = match on {
                AskOn::Turn => "turn".to_owned(),
                AskOn::Event(events) => notation::event_pattern(chart, events),
            };
            let always = if *always { " always" } else { "" };
            let otherwise = match otherwise {
                Otherwise::Stay => "stay".to_owned(),
                Otherwise::Take(line) => {
                    let target = chart.transition(*line).targets.first();
                    target.map_or_else(String::new, |t| chart.state(t.state).path.clone())
                }
            };
            format!("ask {name}{client} on {on}{always} else {otherwise}")
        }
        StepKind::Call(tool, arguments) => {
            let tool = notation::path(&chart.tools[tool.index()].name);
            format!("call {name}{each} {tool}{}", list(chart, arguments))
        }
        StepKind::Human(_) => format!("human {name}{each}"),
        StepKind::Run(run) => {
            let one = |(name, value): &(String, Expr)| {
                format!("{}: {}", notation::name(name), notation::expression(chart, value))
            };
            let all: Vec<String> = run.arguments.iter().map(one).collect();
            let all = if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
            let entry = if run.on_entry { " at entry" } else { "" };
            let forward = run.forward.words();
            format!("run {name}{each} {}{all}{entry}{forward}", notation::name(&run.chart))
        }
    }
}

/// Describes a step.
pub(super) fn step(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let row = &chart.steps[id.index()];
    markdown.code("chart", &head(chart, row));
    markdown.docs(&row.doc);
    let mut rows = vec![format!("of {}", code(costs::path(chart, row.state)))];
    let is_code = matches!(row.kind, StepKind::Code(_));
    if let Some(guard) = &row.guard {
        rows.push(format!("if {}", code(&notation::expression(chart, guard))));
    }
    if !is_code {
        let into = row.into.map_or_else(String::new, |id| {
            format!(" into {}", code(&chart.variables[id.index()].name))
        });
        if !matches!(row.kind, StepKind::Ask { .. }) {
            rows.push(format!("answer: {}{into}", code(&written(chart, &row.returns))));
        }
        rows.push(format!("a failed call: {}", code(&policy(chart, row.failure))));
    }
    if matches!(row.kind, StepKind::Llm | StepKind::Ask { .. }) && row.client.is_none() {
        rows.push("client: the default of the host".to_owned());
    }
    if let Some(client) = row.client {
        let client = &chart.clients[client.index()];
        rows.push(format!("client: {} ({})", code(&client.name), code(&client.model)));
    }
    if let Some(each) = &row.each {
        let enough = each.enough.map_or_else(String::new, |n| format!(", enough {n}"));
        let lost = match each.lost {
            Lost::Fail => "the step fails",
            Lost::Skip => "the answer leaves it out",
            Lost::None => "the answer has `none` for it",
        };
        rows.push(format!("elements: up to {}, {} at a time{enough}", each.most, each.at_a_time));
        rows.push(format!("a failed element: {lost}"));
    }
    if let Some(guard) = &row.ends_turn {
        rows.push(format!("ends the turn if {}", code(&notation::expression(chart, guard))));
    }
    rows.extend(calls(chart, id));
    markdown.list("Step", rows);
    markdown.list("Outcomes", row.outcomes.iter().map(|id| line(view, *id, false)));
    sent::sent(markdown, view, id);
}

/// The maximum number of model calls of one run of a step.
fn calls(chart: &Chart, id: StepId) -> Option<String> {
    let row = &chart.steps[id.index()];
    match row.kind {
        StepKind::Llm | StepKind::Ask { .. } => {}
        _ => {
            return None;
        }
    }
    let retries = row.failure.retries;
    let of_client = row.client.and_then(|client| chart.clients[client.index()].retry);
    let most = Driver {
        step: id,
        times: row.each.as_ref().map_or(1, |each| u64::from(each.most)),
        retries: u64::from(retries),
        tools: row.tools.map_or(0, |tools| u64::from(tools.calls)),
        of_client: retries > 0 && of_client == Some(retries),
    };
    let words = code(&costs::driver(chart, &most));
    Some(format!("model calls of one run of it: at most {} ({words})", most.calls()))
}

/// Describes an option of a question.
pub(super) fn choice(markdown: &mut Markdown, view: &View<'_>, id: ChoiceId) {
    let chart = &view.one.chart;
    let row = &chart.choices[id.index()];
    let arguments = match &row.kind {
        ChoiceKind::Option(all) => fields(chart, all),
        ChoiceKind::Call(..) => String::new(),
    };
    markdown.code("chart", &format!("may {}{arguments}", notation::name(&row.name)));
    let offers = sent::offers(view, id);
    offers
        .iter()
        .filter(|offer| !offer.text.is_empty())
        .for_each(|offer| markdown.docs(&offer.text));
    let transition = chart.transition(row.transition);
    let mut rows = vec![line(view, row.transition, false)];
    if let Some(guard) = &transition.guard {
        let guard = notation::expression_in(chart, guard, &notation::payload(transition));
        rows.push(format!("offered if {}", code(&guard)));
    }
    if !transition.actions.is_empty() {
        let payload = notation::payload(transition);
        let actions = notation::actions(chart, &transition.actions, &payload);
        rows.push(format!("then {}", code(&actions)));
    }
    markdown.list("Option", rows);
    let asked = (0..chart.steps.len()).map(StepId::at).filter(|step| {
        let asks = matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
        asks && sent::choices(chart, *step).contains(&id)
    });
    let name = |id: StepId| {
        let place = view.place(view.one.map.step(id).name);
        format!("{} {place}", code(&chart.steps[id.index()].name))
    };
    markdown.list("Offered by", asked.map(name).collect::<Vec<_>>());
}
