//! Values that are read although some run comes there without setting them.

use super::reading::{self, Setters};
use super::{Context, Lint, never_set, words};
use crate::diagnostic::Diagnostic;
use crate::rules;
use crate::rules::maybe_unset::RULE;
use crate::turn::dataflow::{Value, early};
use crate::turn::flow::{Flow, Lack};
use chartc_core::arena::{StepId, TransitionId, VarId};
use chartc_core::model::VariableKind;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// Readings that are told of; a chart with more is built by a program.
const MOST: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    let agent = reading::is_yaml(context);
    let inferred = |id: VarId| {
        agent && matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
    };
    let flow = Flow::of(chart, facts);
    never_set::always_alike(context, &flow, diagnostics);
    never_set::never_permits(context, &flow, diagnostics);
    never_set::blank(context, &flow, diagnostics);
    let unset = flow.unset(facts, &inferred);
    if unset.is_empty() {
        return;
    }
    let mut told: BTreeSet<(Option<StepId>, Option<TransitionId>, Value)> =
        early(chart, facts).into_iter().map(|e| (Some(e.step), None, e.value)).collect();
    let setters = Setters::of(context);
    for found in unset.into_iter().take(MOST) {
        let line = reading::line_of(found.site);
        if !told.insert((reading::step_of(chart, found.site), line, found.value)) {
            continue;
        }
        let (span, what) = reading::place(context, found.site);
        let name = reading::name(chart, found.value);
        let setters = setters.places(context, found.value);
        // Something of its type is there to be kept.
        let lost = match found.value {
            Value::Variable(id) if found.way.is_none() && found.lack == Lack::Empty => {
                reading::thrown_away(chart, id)
            }
            Value::Variable(_) | Value::Answer(_) => None,
        };
        let message = match (&found.way, found.lack) {
            (Some(_), _) => format!("{name} may not be there when {what} reads it"),
            (None, Lack::Missing) => format!("{name} is never there when {what} reads it"),
            (None, Lack::Empty) => {
                let so = format!("{name} is always empty when {what} reads it");
                match lost {
                    Some(step) => {
                        format!("{so}: the answer of {} is thrown away", words::step(chart, step))
                    }
                    None => so,
                }
            }
            (None, Lack::Default) => format!("{name} is never set when {what} reads it"),
        };
        let lasts = match found.value {
            Value::Answer(_) => "; an answer lasts until its turn ends, keep it in a variable",
            Value::Variable(id)
                if matches!(
                    chart.variables[id.index()].kind,
                    VariableKind::Var { per_turn: true }
                ) =>
            {
                "; what a turn sets is gone when it ends"
            }
            Value::Variable(_) => "",
        };
        let help = match &found.way {
            None => format!("set it before, or leave it out here{lasts}"),
            Some(way) => format!(
                "a run that gets there: {}; set it on every way, or ask for it before{lasts}",
                reading::way(chart, found.value, way)
            ),
        };
        let rule = if found.way.is_none() { &rules::read_before_set::RULE } else { &RULE };
        let mut one = rule.at(span, message).help(help);
        let past = found.way.iter().find_map(|way| reading::past(context, found.value, way));
        if let Some((place, why)) = past {
            one = one.related(place, why);
        }
        if let Some(step) = lost {
            one = one.related(context.map.step(step).name, "nothing keeps or reads this answer");
        }
        for place in setters.iter().take(2) {
            if past.is_none_or(|(p, _)| p != *place) {
                one = one.related(*place, "set here");
            }
        }
        diagnostics.push(one);
    }
}
