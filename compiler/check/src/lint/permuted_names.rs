//! Names for an event's data that are in another order than its fields.

use super::{Context, Lint, words};
use chartc_core::model::{Chart, Field, Transition, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::PERMUTED_NAMES;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &PERMUTED_NAMES, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // One line of source may define several transitions.
    let mut told = BTreeSet::new();
    for (transition, spans) in chart.transitions.iter().zip(&map.transitions) {
        let Some((fields, name, place)) = misnamed(chart, transition) else { continue };
        if !told.insert(spans.whole) {
            continue;
        }
        let declared = words::names(fields.iter().map(|f| f.name.as_str()));
        let message = format!(
            "`{name}` names the data called `{}`: names follow the order of the event's data",
            fields[place].name
        );
        diagnostics.push(
            PERMUTED_NAMES
                .at(spans.trigger, message)
                .help(format!("the event declares {declared}")),
        );
    }
}

/// The first bound name that is the name of another field of the event, with its index.
fn misnamed<'c>(
    chart: &'c Chart,
    transition: &'c Transition,
) -> Option<(&'c [Field], &'c str, usize)> {
    let Trigger::Event(events) = &transition.trigger else { return None };
    let fields = &chart.events[events.first()?.index()].fields;
    let misnamed = transition.bound.iter().enumerate().find(|(i, name)| {
        let is_other = |(j, field): (usize, &Field)| j != *i && field.name == **name;
        let own = fields.get(*i).is_some_and(|field| field.name == **name);
        !own && fields.iter().enumerate().any(is_other)
    });
    misnamed
        .and_then(|(i, name)| (i < fields.len()).then_some((fields.as_slice(), name.as_str(), i)))
}
