//! Values that are read although a run may get there without setting them.

use super::reading::{self, Setters};
use super::{Context, Lint, never_set, words};
use crate::turn::dataflow::{Value, early};
use crate::turn::flow::{Flow, Lack, Site};
use chartc_core::arena::{StepId, TransitionId, VarId};
use chartc_core::model::VariableKind;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules;
use chartc_text::rules::MAYBE_UNSET;
use chartc_text::rules::read_before_set;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &MAYBE_UNSET, needs_whole: true, run };

/// The maximum number of reads that are reported for a chart.
const MOST: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    let agent = reading::is_yaml(context);
    // A per-turn variable of an agent is inferred from its code.
    let inferred = |id: VarId| {
        agent && matches!(chart.variables[id.index()].kind, VariableKind::Var { per_turn: true })
    };
    let flow = Flow::new(chart, facts);
    // These findings of C0412 need the same data flow, which is computed once.
    never_set::always_alike(context, &flow, diagnostics);
    never_set::never_permits(context, &flow, diagnostics);
    never_set::blank(context, &flow, diagnostics);
    let mut unset = flow.unset(facts, &inferred);
    if context.full_prompts {
        unset.extend(flow.empty_prompts(facts));
    }
    if unset.is_empty() {
        return;
    }
    // `read_before_set` reports the reads that `early` finds.
    let mut told: BTreeSet<(Option<StepId>, Option<TransitionId>, Value)> =
        early(chart, facts).into_iter().map(|e| (Some(e.step), None, e.value)).collect();
    let setters = Setters::new(context);
    for found in unset.into_iter().take(MOST) {
        let transition = reading::transition_of(found.site);
        if !told.insert((reading::step_of(chart, found.site), transition, found.value)) {
            continue;
        }
        let (mut span, what) = reading::place(context, found.site);
        if let (Site::Arguments(step), Value::Variable(id), Lack::Empty) =
            (found.site, found.value, found.lack)
        {
            span = reading::shown_at(context, step, id);
        }
        let name = reading::name(chart, found.value);
        let setters = setters.places(context, found.value);
        // An answer of the same type that nothing keeps may be the missing value.
        let lost = match found.value {
            Value::Variable(id) if found.way.is_none() && found.lack == Lack::Empty => {
                reading::thrown_away(chart, id)
            }
            Value::Variable(_) | Value::Answer(_) => None,
        };
        let message = match (&found.way, found.lack) {
            (Some(_), Lack::Empty) => {
                format!("{what} may show nothing: {name} is still empty when it is first asked")
            }
            (Some(_), Lack::Missing | Lack::Default) => {
                format!("{name} may not be there when {what} reads it")
            }
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
            Value::Answer(_) => {
                "; an answer lasts until its turn ends, keep it in a variable".into()
            }
            Value::Variable(id) if inferred(id) => {
                format!("; {}", read_before_set::keep(&chart.variables[id.index()].name))
            }
            Value::Variable(id)
                if matches!(
                    chart.variables[id.index()].kind,
                    VariableKind::Var { per_turn: true }
                ) =>
            {
                "; what a turn sets is gone when it ends".into()
            }
            Value::Variable(_) => String::new(),
        };
        let help = match &found.way {
            None => format!("set it before, or leave it out here{lasts}"),
            Some(way) => {
                let cure = match found.lack {
                    Lack::Empty => {
                        "ask only after something sets it, or show other words until then"
                    }
                    Lack::Missing | Lack::Default => "set it on every way, or ask for it before",
                };
                let way = reading::way(chart, found.value, way);
                format!("a run that gets there: {way}; {cure}{lasts}")
            }
        };
        let rule = if found.way.is_none() { &rules::READ_BEFORE_SET } else { &MAYBE_UNSET };
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
