//! Steps that no turn reaches, because its model calls are used up or an earlier step has ended it. For example, with one call per turn:
//!
//! ```text
//! llm plan { prompt "…" }     takes the one call of each turn
//! llm write { prompt "…" }    never runs
//! ```

use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide};
use crate::facts::uses::{assigned, walk};
use crate::lint::reading::is_yaml;
use crate::lint::{Context, Lint, words};
use crate::turn::calls::{Hiding, hidden, in_region, is_model};
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::{Chart, Expr, ExprKind, Observable, StepKind, Trigger};
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::HIDDEN_STEP;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &HIDDEN_STEP, needs_whole: false, run };

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
                format!("each turn ends earlier, at {end}, for which no model call is left")
            }
            (Some(end), None) => format!("{} always ends the turn first", words::step(chart, end)),
            (None, None) => continue,
        };
        let told = one.caller.and_then(|caller| wide.get(&caller));
        let is_told = told.is_some_and(|steps| steps.len() > 1 && steps.contains(&one.step));
        let mut found = HIDDEN_STEP
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
        // If one step hides several, the mistake is most likely there: it gets the warning, and the hidden steps only notes.
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
        let mut found = HIDDEN_STEP.at(map.step(caller).name, message);
        if let Some(one) = needs {
            found = found.help(cure(context, one));
        }
        for step in steps.iter().take(3) {
            found = found.related(map.step(*step).name, "never runs");
        }
        diagnostics.push(found);
    }
}

/// The finding for a step whose condition implies that of an earlier one.
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
    HIDDEN_STEP
        .at(map.step(one.step).name, message)
        .help(format!("{first}, or allow more calls, {more}"))
        .related(place.guard.unwrap_or(place.name), "this holds, too")
}

/// The model steps that a step hides by taking the call, if it does so in states that its own scope does not name. The mistake is most
/// likely in the step that takes the call.
fn wide(context: &Context<'_>, all: &[Hiding]) -> BTreeMap<StepId, Vec<StepId>> {
    let Context { chart, facts, .. } = context;
    let mut found: BTreeMap<StepId, Vec<StepId>> = BTreeMap::new();
    for one in all {
        let Some(caller) = one.caller else { continue };
        let place = facts.scopes.step(caller);
        let mut within = facts.scopes.step(one.step).within.iter();
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

/// A step that never runs, because the condition of an earlier step holds whenever its own does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Implied {
    step: StepId,
    /// The earlier step, which takes the call.
    taker: StepId,
    /// Whether the step has the narrower condition: if it came first, both would run.
    is_narrower: bool,
}

/// The maximum number of steps of a chart that is examined, because steps are compared with each other.
const MOST: usize = 100;

/// Finds these steps, in document order. Only `code` and `llm` steps may be between the two: they cannot move, must not change what the
/// conditions read, and an `llm` step that runs takes the call itself.
fn implied(chart: &Chart, facts: &Facts) -> Vec<Implied> {
    // A `when` transition could change the state or the data between the two steps.
    let whens = chart.transitions.iter().any(|transition| transition.trigger == Trigger::When);
    if chart.calls_per_turn != Some(1) || chart.steps.len() > MOST || whens {
        return Vec::new();
    }
    (0..chart.steps.len()).filter_map(|i| taken(chart, facts, StepId::at(i))).collect()
}

fn taken(chart: &Chart, facts: &Facts, step: StepId) -> Option<Implied> {
    let row = &chart.steps[step.index()];
    let guard = row.guard.as_ref().filter(|_| row.kind == StepKind::Llm)?;
    let mut read = stable(chart, guard)?;
    let runs_at_all = fits(chart, facts, step) && decide(chart, &[(guard, true)]) != Verdict::Never;
    if !runs_at_all {
        return None;
    }
    let mut changed: BTreeSet<VarId> = BTreeSet::new();
    for earlier in (0..step.index()).rev().map(StepId::at) {
        let before = &chart.steps[earlier.index()];
        match &before.kind {
            StepKind::Code(actions) => {
                let moves = chart.transitions.iter().any(|l| l.trigger.step() == Some(earlier));
                if moves || before.ends_turn.is_some() {
                    return None;
                }
                changed.extend(assigned(actions));
            }
            // The walk of a region has calls of its own.
            StepKind::Llm if in_region(chart, before.state) || before.each.is_some() => {
                return None;
            }
            StepKind::Llm => {
                let Some(other) = &before.guard else { continue };
                if !covers(chart, facts, earlier, step)
                    || decide(chart, &[(guard, true), (other, false)]) != Verdict::Never
                {
                    continue;
                }
                read.extend(stable(chart, other)?);
                let is_narrower = decide(chart, &[(other, true), (guard, false)]) != Verdict::Never;
                let found = Implied { step, taker: earlier, is_narrower };
                return read.is_disjoint(&changed).then_some(found);
            }
            // These steps may move, or take time in which the data changes.
            _ => {
                return None;
            }
        }
    }
    None
}

/// Whether the first step may run in every leaf in which the other may.
fn covers(chart: &Chart, facts: &Facts, first: StepId, other: StepId) -> bool {
    let of = |step| facts.scopes.step(step);
    let mut leaves = facts.reach.leaves(chart);
    fits(chart, facts, first)
        && leaves
            .all(|leaf| !of(other).may_hold_in(chart, leaf) || of(first).may_hold_in(chart, leaf))
}

/// Whether the states in which the step runs are known exactly and are not in a region of a parallel.
fn fits(chart: &Chart, facts: &Facts, step: StepId) -> bool {
    let place = facts.scopes.step(step);
    !place.is_approximate
        && !place.within.is_empty()
        && !in_region(chart, chart.steps[step.index()].state)
}

/// The variables that a condition reads; `None` if it reads anything else that may change within a turn.
fn stable(chart: &Chart, guard: &Expr) -> Option<BTreeSet<VarId>> {
    let mut read = BTreeSet::new();
    let mut stable = true;
    walk(chart, guard, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            read.insert(id);
        }
        if let ExprKind::Observable(what) = &e.kind {
            let keeps = [Observable::State, Observable::Turns, Observable::TurnsHere];
            stable &=
                keeps.contains(what) || matches!(what, Observable::In(_) | Observable::TurnsIn(_));
        }
        stable &= !matches!(
            e.kind,
            ExprKind::Call(..) | ExprKind::Answer(_) | ExprKind::Payload(_) | ExprKind::Unknown(_)
        );
    });
    stable.then_some(read)
}
