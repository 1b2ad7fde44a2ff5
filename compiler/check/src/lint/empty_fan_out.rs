//! Steps for each element of a list that is always empty.

use super::lists::Lists;
use super::{Context, Lint, words};
use crate::facts::uses::own_walk;
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::ExprKind;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::EMPTY_FAN_OUT;

pub(super) static LINT: Lint = Lint { rule: &EMPTY_FAN_OUT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // Text that was lost to an error may set the list.
    if !context.all_read {
        return;
    }
    // Computed only if a step needs it.
    let mut lists = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let Some(each) = step.each.as_ref().filter(|_| !facts.scopes.step(id).within.is_empty())
        else {
            continue;
        };
        let lists = lists.get_or_insert_with(|| Lists::new(chart));
        if !lists.is_empty(&each.list) {
            continue;
        }
        let mut variable = None;
        own_walk(&each.list, &mut |part| {
            if let ExprKind::Variable(id) = part.kind {
                variable = Some(id);
            }
        });
        let spans = map.step(id);
        let name = variable.map(|id: VarId| &chart.variables[id.index()].name);
        let step = words::step(chart, id);
        let (message, help) = match name {
            Some(name) => {
                let message =
                    format!("{step} never does anything: `{name}` is only ever set to `[]`");
                (
                    message,
                    format!("add elements to `{name}`, or keep an answer there: `into {name}`"),
                )
            }
            None => (
                format!("{step} never does anything: its list is always empty"),
                "give it the list that it is for, or take the step out".to_owned(),
            ),
        };
        let place = spans.list.unwrap_or(spans.name);
        let found = EMPTY_FAN_OUT.at(place, message).help(help).about(spans.name);
        diagnostics.push(match variable {
            Some(id) => found.related(map.variables[id.index()], "it begins here"),
            None => found,
        });
    }
}
