//! Reachable states from which no final state can be reached.

mod stuck;

use crate::explore::property::Verdict;
use crate::explore::witness::json;
use crate::facts::drive::undriven;
use crate::facts::progress::{Trap, traps};
use crate::facts::reach::Cause;
use crate::facts::uses::reads;
use crate::lint::check_failed::told as told_run;
use crate::lint::reading::{is_yaml, way_out};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{StateId, TransitionId};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::TRAP_STATE;
use std::collections::BTreeSet;
use stuck::{Stuck, stuck};

pub(super) static LINT: Lint = Lint { rule: &TRAP_STATE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let all = traps(chart, facts);
    diagnostics.extend(by_values(context, &all));
    // If all runs were explored, `by_values` covers these leaves.
    if context.runs.seen.is_none() {
        diagnostics.extend(stuck(chart, facts).iter().map(|one| with_value(context, one)));
    }
    for Trap { states, ends } in all {
        let Some(first) = states.first() else { continue };
        let names = words::states(chart, &states);
        let message = match (states.len(), ends) {
            (1, true) => format!("{names} is a trap: nothing leads from it to a final state"),
            (_, true) => {
                format!("{names} are a trap: they lead only to each other, never to a final state")
            }
            (_, false) => format!("{names} is a trap: nothing ever leaves it"),
        };
        let way = words::way(context, *first);
        let help = if is_yaml(context) {
            format!(
                "let a step lead out by `transition_to` or `transition_map`, and `transitions` permit it{way}"
            )
        } else {
            format!("add a line that leads out, or make it `final` if the run ends here{way}")
        };
        let mut found = TRAP_STATE.at(way_out(context, *first), message).help(help);
        for state in &states[1..] {
            found = found.related(map.state(*state).name, "part of the trap");
        }
        let is_outside = |target: &StateId| !states.iter().any(|s| chart.contains(*s, *target));
        let leads_out = |id: &TransitionId| {
            let transition = chart.transition(*id);
            states.iter().any(|s| {
                chart.contains(transition.source, *s) || chart.contains(*s, transition.source)
            }) && transition.targets.iter().any(|target| is_outside(&target.state))
        };
        let transitions = (0..chart.transitions.len()).map(TransitionId::at);
        found = context.blame(found, transitions.filter(leads_out));
        if let Some(Cause::Transition(transition)) = facts.reach.causes[first.index()] {
            found = found.related(
                map.transition(transition).whole,
                format!("{} leads into it", words::transition(chart, transition)),
            );
        }
        diagnostics.push(found);
    }
}

/// The finding for a leaf that a run cannot leave once it has entered it with a certain value.
fn with_value(context: &Context<'_>, stuck: &Stuck) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = words::state(chart, stuck.leaf);
    let case = words::case(chart, stuck.by, &stuck.case);
    TRAP_STATE
        .at(
            map.state(stuck.leaf).name,
            format!("{name} becomes a trap: when {case}, no line leads from it"),
        )
        .help("add a line for that case")
        .related(
            map.transition(stuck.by).whole,
            format!("{} leads into it with that", words::transition(chart, stuck.by)),
        )
}

/// The findings for leaves from which no run ends once variables have certain values, if all runs were explored. If a guard there
/// never holds, its transition is reported instead.
fn by_values(context: &Context<'_>, traps: &[Trap]) -> Vec<Diagnostic> {
    let Context { chart, facts, map, .. } = context;
    let Some(seen) = &context.runs.seen else { return Vec::new() };
    let failed = context.runs.checks.iter().any(|check| matches!(check, Verdict::Refuted(..)));
    let silent = undriven(chart, facts);
    let mut found = Vec::new();
    for lost in seen.lost.iter().filter(|_| !failed) {
        let told = traps.iter().flat_map(|trap| &trap.states).chain(&silent);
        let acts = |id: TransitionId| {
            facts.scopes.transition(id).within.iter().any(|place| chart.contains(*place, lost.leaf))
        };
        let mut read = BTreeSet::new();
        let mut is_dead = false;
        for (i, transition) in chart.transitions.iter().enumerate() {
            if let Some(guard) = transition.guard.as_ref().filter(|_| acts(TransitionId::at(i))) {
                is_dead |= !seen.is_taken(TransitionId::at(i));
                reads(chart, guard, &mut read);
            }
        }
        let values: Vec<String> = lost
            .values
            .iter()
            .filter(|(id, _)| read.contains(id))
            .map(|(id, value)| format!("`{}` is {}", chart.variables[id.index()].name, json(value)))
            .collect();
        if is_dead || values.is_empty() || told.into_iter().any(|s| chart.contains(*s, lost.leaf)) {
            continue;
        }
        let name = words::state(chart, lost.leaf);
        let values = values.join(" and ");
        let mut one = TRAP_STATE
            .at(
                map.state(lost.leaf).name,
                format!("{name} becomes a trap: when {values}, no run leads from it to an end"),
            )
            .help(format!(
                "add a line for that case; a run that gets there: {}",
                told_run(&lost.run.steps)
            ));
        if let Some((step, transition)) = lost.run.taken.last() {
            let label = format!("the last line that is taken, in step {step} of the run");
            one = one.related(map.transition(*transition).whole, label);
        }
        found.push(one);
    }
    found
}
