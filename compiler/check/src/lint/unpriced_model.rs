//! Cost limits on model calls without prices.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use chartc_core::arena::StepId;
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, Step, StepKind};
use chartc_core::tables::is_free;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNPRICED_MODEL;

pub(super) static LINT: Lint = Lint { rule: &UNPRICED_MODEL, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (i, state) in chart.states.iter().enumerate() {
        let span = map.states[i].cost.filter(|_| state.limits.has(LimitKind::Cost));
        let Some(span) = span else { continue };
        let inside = |step: &Step| (i..state.end.index()).contains(&step.state.index());
        let unpriced: Vec<StepId> = chart
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| inside(step) && calls(step) && !is_priced(chart, step))
            .map(|(i, _)| StepId::at(i))
            .collect();
        let Some((first, rest)) = unpriced.split_first() else { continue };
        let others = match rest.len() {
            0 => String::new(),
            1 => " and of one more step".to_owned(),
            n => format!(" and of {n} more steps"),
        };
        let step = words::step(chart, *first);
        let message = format!("what the calls of {step}{others} cost is not known beforehand");
        let client = chart.steps[first.index()].client;
        let cure = match client.filter(|_| !is_yaml(context)).map(|id| &chart.clients[id.index()].name) {
            Some(client) => format!(
                "say in `client {client}` what a million tokens cost: `input_price 0.15 output_price 0.60`"
            ),
            None if is_yaml(context) && client.is_some() => {
                "add what a million tokens cost: `input_price: 0.15`, `output_price: 0.60`".to_owned()
            }
            None if is_yaml(context) => {
                "add `llm_model`, and what a million tokens cost: `input_price: 0.15`, `output_price: 0.60`"
                    .to_owned()
            }
            None => "put the step to a client, `with c`, and say there what a million tokens cost: `input_price 0.15 output_price 0.60`".to_owned(),
        };
        let place = map.step(*first).name;
        diagnostics.push(
            UNPRICED_MODEL.at(span, message).help(cure).related(place, "a call without a price"),
        );
    }
}

fn calls(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. })
}

/// Whether the step's client and all its fallbacks have prices.
fn is_priced(chart: &Chart, step: &Step) -> bool {
    let mut next = step.client;
    if next.is_none() {
        return false;
    }
    // Lowering has refused cycles of fallbacks, so the loop ends.
    while let Some(id) = next {
        let client = &chart.clients[id.index()];
        let is_priced = client.input_price.is_some() || client.output_price.is_some();
        if !is_priced && !is_free(&client.model) {
            return false;
        }
        next = client.fallback;
    }
    true
}
