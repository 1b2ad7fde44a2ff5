//! Steps that no turn comes to, because its model calls are used up or it has ended before.

use super::reading::is_yaml;
use super::{Context, Lint, words};
use crate::analysis::calls::{Hiding, hidden, is_model};
use crate::analysis::implied::{Implied, implied};
use crate::diagnostic::{Diagnostic, Severity};
use crate::rules::hidden_step::RULE;
use chartc_core::arena::StepId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let all = hidden(chart, context.facts);
    let wide = wide(context, &all);
    for one in &all {
        let step = words::step(chart, one.step);
        let why = match (one.ends, one.caller) {
            (None, Some(caller)) => takes(context, caller),
            (Some(end), Some(_)) => {
                let end = words::step(chart, end);
                format!("each turn ends before at {end}, for which no model call is left")
            }
            (Some(end), None) => format!("{} always ends the turn before", words::step(chart, end)),
            (None, None) => continue,
        };
        let told = one.caller.and_then(|caller| wide.get(&caller));
        let is_told = told.is_some_and(|steps| steps.len() > 1 && steps.contains(&one.step));
        let mut found = RULE
            .at(map.step(one.step).name, format!("{step} never runs: {why}"))
            .help(cure(context, one));
        if let Some(end) = one.ends {
            found = found.related(map.step(end).name, "the turn ends here");
        }
        if let Some(caller) = one.caller {
            let what =
                if one.ends.is_some() { takes(context, caller) } else { "takes the call".into() };
            found = found.related(map.step(caller).name, what);
        }
        // Of many that one step hides, that one is what has to change.
        if is_told {
            found.severity = Severity::Note;
        }
        diagnostics.push(found);
    }
    let told: BTreeSet<StepId> = all.iter().map(|one| one.step).collect();
    let others = implied(chart, context.facts).into_iter();
    diagnostics
        .extend(others.filter(|one| !told.contains(&one.step)).map(|one| late(context, one)));
    for (caller, steps) in wide {
        let shown = words::names(steps.iter().map(|id| chart.steps[id.index()].name.as_str()));
        let runs = if steps.len() == 1 { "runs" } else { "run" };
        let message = format!("{}, so {shown} never {runs}", takes(context, caller));
        let needs = all.iter().filter(|one| steps.contains(&one.step)).max_by_key(|one| one.needs);
        let mut found = RULE.at(map.step(caller).name, message);
        if let Some(one) = needs {
            found = found.help(cure(context, one));
        }
        for step in steps.iter().take(3) {
            found = found.related(map.step(*step).name, "never runs");
        }
        diagnostics.push(found);
    }
}

/// A step whose condition never holds without that of one before it.
fn late(context: &Context<'_>, one: Implied) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let (step, taker) = (words::step(chart, one.step), words::step(chart, one.taker));
    let message = format!(
        "{step} never runs: whenever its condition holds, that of {taker} does, and {taker} takes the one model call of the turn"
    );
    let first = if one.is_narrower {
        format!("put {step} before {taker}")
    } else {
        "give one of them another condition".to_owned()
    };
    let more = if is_yaml(context) {
        "`chartc run --calls-per-turn 2`"
    } else {
        "`limits { calls 2 per turn }`"
    };
    let place = map.step(one.taker);
    RULE.at(map.step(one.step).name, message)
        .help(format!("{first}, or allow more calls, {more}"))
        .related(place.guard.unwrap_or(place.name), "this holds, too")
}

/// Steps that take the call also where those that they hide have no part: these are the first to look at. With the model steps that each of
/// them hides.
fn wide(context: &Context<'_>, all: &[Hiding]) -> BTreeMap<StepId, Vec<StepId>> {
    let Context { chart, facts, .. } = context;
    let mut found: BTreeMap<StepId, Vec<StepId>> = BTreeMap::new();
    for one in all {
        let Some(caller) = one.caller else { continue };
        let place = facts.places.step(caller);
        let mut within = facts.places.step(one.step).within.iter();
        if within.all(|state| !place.within.contains(state))
            && is_model(&chart.steps[one.step.index()])
        {
            found.entry(caller).or_default().push(one.step);
        }
    }
    found
}

fn takes(context: &Context<'_>, caller: StepId) -> String {
    let name = words::step(context.chart, caller);
    match context.chart.calls_per_turn {
        None | Some(1) => format!("{name} always takes the one model call of a turn"),
        Some(calls) => format!("{name} always takes the last of the {calls} model calls of a turn"),
    }
}

fn cure(context: &Context<'_>, one: &Hiding) -> String {
    let first = one.caller.or(one.ends).map(|id| words::step(context.chart, id));
    let first = first.unwrap_or_default();
    let needs = one.needs.max(1);
    match (one.caller.is_some(), is_yaml(context)) {
        (false, true) => format!("give {first} a `run_if`, or put it last"),
        (false, false) => format!("give `ends turn` of {first} a condition, or put {first} last"),
        (true, true) => {
            let noop = "a step whose action is not `noop` ends the turn, too";
            format!(
                "allow more calls, `chartc run --calls-per-turn {needs}`, or give {first} a `run_if` or `in_state`; {noop}"
            )
        }
        (true, false) => format!(
            "allow more calls, `limits {{ calls {needs} per turn }}`, give {first} a condition, or put it after the others"
        ),
    }
}
