//! Transitions that are never taken because others have priority.

use super::{Context, Lint, needless_guard, words};
use crate::facts::cover::shadows;
use chartc_text::diagnostic::{Broken, Diagnostic};
use chartc_text::rules::SHADOWED_LINE;
use chartc_text::rules::used_up_budget;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &SHADOWED_LINE, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut hidden: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let (shadows, open) = shadows(chart, facts);
    if let Some(first) = open.first() {
        diagnostics.push(used_up_budget::uncompared(map.transition(*first).trigger, open.len()));
    }
    for shadow in shadows {
        hidden.entry(map.transition(shadow.transition).whole).or_default().push(shadow);
    }
    if hidden.is_empty() {
        return;
    }
    // `each after` and `from` expand to several transitions with the same span: reported only if all of them are shadowed.
    let mut written: BTreeMap<_, usize> = BTreeMap::new();
    for spans in map.transitions.iter().filter(|spans| hidden.contains_key(&spans.whole)) {
        *written.entry(spans.whole).or_default() += 1;
    }
    for (whole, all) in hidden {
        let shadow = &all[0];
        // C0311 reports a guard that always holds, together with the transition that it shadows.
        let always = matches!(&shadow.by[..], [by] if needless_guard::is_told(context, *by));
        if always || written.get(&whole) != Some(&all.len()) {
            continue;
        }
        let name = words::transition(chart, shadow.transition);
        let (why, help) = if shadow.inner {
            (
                "a line of every state below always comes first",
                "an inner state's line is tried before its parent's: guard the inner lines, or remove this one",
            )
        } else if shadow.by.len() > 1 {
            (
                "one of the lines above it always comes first",
                "the lines above cover every case: remove this one, or narrow one of them",
            )
        } else {
            (
                "a line above it always comes first",
                "lines are tried from top to bottom, and the first that can be taken wins: put the narrower line first, or remove one of them",
            )
        };
        let mut found = SHADOWED_LINE
            .at(map.transition(shadow.transition).trigger, format!("{name} is never taken: {why}"))
            .help(help);
        for by in shadow.by.iter().take(3) {
            found = found.related(map.transition(*by).whole, "comes first");
        }
        found = found.breaks(Broken::Construct(whole));
        for by in &shadow.by {
            found = found.because(map.transition(*by).whole);
        }
        diagnostics.push(found);
    }
}
