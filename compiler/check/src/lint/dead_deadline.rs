//! Deadlines that never fire.

use super::{Context, Lint, words};
use crate::facts::deadline::{Before, Dead, dead};
use crate::notation::expression;
use chartc_core::arena::TransitionId;
use chartc_core::model::{Expr, ExprKind, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::DEAD_DEADLINE;
use chartc_text::span::Span;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &DEAD_DEADLINE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut found: BTreeMap<Span, Vec<Dead>> = BTreeMap::new();
    for one in dead(chart, facts) {
        found.entry(map.transition(one.transition).whole).or_default().push(one);
    }
    if found.is_empty() {
        return;
    }
    // `each after` expands to several transitions with the same span: reported only if none of them can fire.
    let mut written: BTreeMap<Span, usize> = BTreeMap::new();
    for (i, spans) in map.transitions.iter().enumerate() {
        if found.contains_key(&spans.whole) && facts.reach.can_take(TransitionId::at(i)) {
            *written.entry(spans.whole).or_default() += 1;
        }
    }
    for (whole, all) in found {
        if written.get(&whole) == Some(&all.len()) {
            diagnostics.extend(all.first().map(|one| told(context, one)));
        }
    }
}

fn told(context: &Context<'_>, one: &Dead) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = words::transition(chart, one.transition);
    let at = |why: String| {
        DEAD_DEADLINE
            .at(map.transition(one.transition).trigger, format!("{name} never comes: {why}"))
    };
    match one.before {
        Before::When(transition) => {
            let state = words::state(chart, chart.transition(transition).source);
            at(format!("{state} is left at once"))
                .help("give the `when` line a condition, or remove the deadline")
                .related(map.transition(transition).whole, "taken as soon as the state is entered")
        }
        Before::Deadline(transition) => {
            at(format!("{} is always due first", words::transition(chart, transition)))
                .help("swap the two times, give the other line a condition, or remove this one")
                .related(map.transition(transition).whole, "leaves the state before")
        }
        Before::Turns(turns) => at(format!("`limits` end the run after {turns} turns"))
            .help("raise the limit, handle it (`on limit.turns`), or remove the deadline"),
        Before::Time(state, time) => {
            let time = Expr { kind: ExprKind::Duration(time), ty: Type::Duration };
            let why = format!(
                "`limits` of {} end the run after {}",
                words::state(chart, state),
                expression(chart, &time)
            );
            at(why)
                .help("raise the limit, handle it (`on limit.time`), or remove the deadline")
                .related(map.state(state).name, "its `time` is over before")
        }
    }
}
