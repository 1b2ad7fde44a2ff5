//! Names that are declared twice but must be unique.

use super::{Context, Lint};
use crate::facts::guard::implies;
use chartc_core::arena::{ChoiceId, StateId};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::{DUPLICATE_NAME, duplicate_name::twice};
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &DUPLICATE_NAME, needs_whole: false, run };

/// Reports options of one state that have the same name and are offered together: an answer with the name is ambiguous.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut known: BTreeMap<(StateId, &str), ChoiceId> = BTreeMap::new();
    for (i, choice) in chart.choices.iter().enumerate() {
        let transition = chart.transition(choice.transition);
        if transition.scope.is_some() {
            continue;
        }
        let first = *known.entry((transition.source, &choice.name)).or_insert(ChoiceId::at(i));
        let earlier = chart.transition(chart.choices[first.index()].transition);
        if first != ChoiceId::at(i)
            && implies(chart, transition.guard.as_ref(), earlier.guard.as_ref())
        {
            let (place, other) = (map.choices[i], map.choices[first.index()]);
            diagnostics.push(
                twice("option", &choice.name, place, other)
                    .help("give one of them another name, or conditions that exclude each other"),
            );
        }
    }
}
