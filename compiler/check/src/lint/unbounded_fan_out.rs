//! Model calls for each element of a list that nothing bounds.

use super::lists::Lists;
use super::{Context, Lint, words};
use chartc_core::arena::{StateId, StepId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNBOUNDED_FAN_OUT;

pub(super) static LINT: Lint = Lint { rule: &UNBOUNDED_FAN_OUT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut lists = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let Some(each) = &step.each else { continue };
        let spans = map.step(id);
        if spans.up_to.is_some() || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        let (does, cure) = match &step.kind {
            StepKind::Llm if !is_limited(chart, step.state) => (
                "call the model".to_owned(),
                "bound the list, `up to 20`, or the run, `limits { calls 100 }`",
            ),
            StepKind::Run(run) if asks_without_limit(context, id) => {
                (format!("run `{}`, which calls a model,", run.chart), "bound the list: `up to 20`")
            }
            _ => continue,
        };
        let lists = lists.get_or_insert_with(|| Lists::new(chart));
        if lists.is_bounded(&each.list) {
            continue;
        }
        let times = u64::from(each.most) * (u64::from(step.failure.retries) + 1);
        let step = words::step(chart, id);
        let message = format!("{step} may {does} {times} times: nothing bounds its list");
        diagnostics
            .push(UNBOUNDED_FAN_OUT.at(spans.list.unwrap_or(spans.name), message).help(cure));
    }
}

/// Whether a limit on calls, tokens or cost applies in a state.
fn is_limited(chart: &Chart, state: StateId) -> bool {
    let kinds = [LimitKind::Calls, LimitKind::Tokens, LimitKind::Cost];
    let mut states = chart.ancestors(state).map(|state| &chart.state(state).limits);
    states.any(|limits| kinds.into_iter().any(|kind| limits.has(kind)))
}

/// Whether the chart that a step runs calls models without a limit of its own.
fn asks_without_limit(context: &Context<'_>, step: StepId) -> bool {
    let family = context.family;
    let Some(own) = family.place(context.map) else { return false };
    let children = &family.member(own).children;
    let Some((_, child)) = children.iter().find(|(run, _)| *run == step) else { return false };
    let child = family.member(*child).chart;
    child.steps.iter().any(|step| {
        matches!(step.kind, StepKind::Llm | StepKind::Ask { .. }) && !is_limited(child, step.state)
    })
}
