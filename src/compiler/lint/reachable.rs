//! Findings about states, steps and histories that no run reaches, or that it leaves at once.
//!
//! The problem: a dead part of a chart looks like any other, and the mistake is elsewhere: in the line that should lead there, or in the
//! step that runs before. The idea: the facts, the walk and, if all runs were explored, the exploration decide what is dead. This module
//! then looks for the cause, and attaches it to the finding: the lines that lead to a state, each with the reason why no run takes it
//! (`explain`, `closed_by_values`); the step that takes the only model call (`HIDDEN_STEP`); the transition after which a run is stuck
//! (`UNDRIVEN_STATE`).
//!
//! Two lints have an analysis of their own. `implied_by_guards` finds steps whose condition implies that of an earlier step, which takes
//! the call. `passing` follows what is known about variables along each way into a state, and finds `when` lines that hold on entry
//! (`LEFT_AT_ONCE`). For example:
//!
//! ```text
//! initial idle
//! state idle { on go -> done }
//! state lost { on find -> found }
//! state found { on back -> idle }
//! ```
//!
//! 1. Nothing leads to `lost`: "`lost` can never be entered", with the advice to let a line or a step lead there.
//! 2. `on find` leads to `found`, but its source is never entered. The finding about `found` shows this line: "leads here, but `lost` can
//!    never be entered either".

use super::data::{is_yaml, way_in};
use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::{implies, is_impossible};
use crate::analysis::facts::deadline::{leaves, left, resets};
use crate::analysis::facts::endless::{KnownConditions, is_outside_parallel, undriven};
use crate::analysis::facts::loops::holds_on_entry;
use crate::analysis::facts::reach::{
    Cause, Takers, domain, entered_by_default, entries, is_final, is_history, is_leaf, meet,
    witness,
};
use crate::analysis::facts::usage::{assigned, reads, walk};
use crate::analysis::turn::calls::{Hiding, hidden, in_region, is_model};
use crate::analysis::turn::walk::unreached;
use crate::rules;
use crate::syntax::diagnostic::{Diagnostic, Severity};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Chart, ChoiceKind, Expr, ExprKind, Observable, StateKind, Step, StepKind, Trigger,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) static UNREACHABLE_STATE: Lint =
    Lint { rule: &rules::UNREACHABLE_STATE, needs_whole: true, run: find_unreachable_state };

/// The maximum number of states that are examined in a backward search.
const ON_THE_WAY: usize = 64;

fn find_unreachable_state(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    let mut lines = None;
    let mut named: BTreeSet<(Option<StateId>, &str)> = BTreeSet::new();
    for state in chart.state_ids().skip(1) {
        let row = chart.state(state);
        // Of two sibling states with the same name, the first counts; another rule reports the duplicate.
        let is_second = !named.insert((row.parent, &row.name));
        let inside = row.parent.is_some_and(|p| context.enters(p));
        if is_second || context.enters(state) || !inside || is_history(chart, state) {
            continue;
        }
        let name = words::state(chart, state);
        let found = rules::UNREACHABLE_STATE
            .at(way_in(context, state), format!("{name} can never be entered"));
        let lines = lines.get_or_insert_with(|| leading(chart));
        if facts.reach.can_enter(state) {
            diagnostics.push(closed_by_values(context, lines, state, found));
            continue;
        }
        diagnostics.push(explain(context, lines, state, found));
    }
}

/// The transitions into a state from outside of it, in states that runs enter.
fn closed(context: &Context<'_>, leading: &Leading, state: StateId) -> Vec<TransitionId> {
    let Context { chart, facts, .. } = context;
    let inside = state..chart.state(state).end;
    let lines = leading.range(inside).flat_map(|(_, ids)| ids).copied();
    let outside = |id: &TransitionId| {
        let places = &facts.scopes.transition(*id).within;
        !chart.contains(state, chart.transition(*id).source)
            && places.iter().any(|place| context.enters(*place))
    };
    lines.filter(outside).collect()
}

/// The state itself, or the nearest state before it into which transitions from entered states would lead.
pub(super) fn first_closed(context: &Context<'_>, leading: &Leading, state: StateId) -> StateId {
    let Context { chart, facts, .. } = context;
    let (mut todo, mut next) = (vec![state], 0);
    while let Some(at) = todo.get(next).copied() {
        next += 1;
        if !closed(context, leading, at).is_empty() {
            return at;
        }
        let inside = at..chart.state(at).end;
        for id in leading.range(inside).flat_map(|(_, ids)| ids) {
            for place in &facts.scopes.transition(*id).within {
                if !todo.contains(place) && todo.len() < ON_THE_WAY {
                    todo.push(*place);
                }
            }
        }
    }
    state
}

/// Adds the transitions that lead to a state, none of which any run takes.
pub(super) fn closed_by_values(
    context: &Context<'_>,
    leading: &Leading,
    state: StateId,
    mut found: Diagnostic,
) -> Diagnostic {
    let Context { chart, map, .. } = context;
    for id in closed(context, leading, state).into_iter().take(3) {
        let why = if let Some(transition) = taken_turn(context, id) {
            format!(
                "leads here, but where it could be chosen {} takes every turn, and nothing is asked then",
                words::transition(chart, transition)
            )
        } else if chart.transition(id).guard.is_some() {
            "leads here, but its condition does not hold when the line could be taken".into()
        } else {
            "leads here, but no run takes it".into()
        };
        found = found
            .related(map.transition(id).whole, format!("{} {why}", words::transition(chart, id)));
    }
    found.help("every run was tried, with all values: let one of these lines be taken, or remove the state")
}

/// The question to which an option or `else` belongs, if the question is never asked.
fn never_put(context: &Context<'_>, id: TransitionId) -> Option<StepId> {
    let Context { chart, facts, .. } = context;
    let transition = chart.transition(id);
    let mut unput = facts.scopes.unput.keys().copied();
    if let Some(step) = transition.trigger.step() {
        return unput.find(|other| *other == step);
    }
    let above = |step: &StepId| {
        let state = chart.steps[step.index()].state;
        chart.contains(state, transition.source) || chart.contains(transition.source, state)
    };
    let is_choice = matches!(transition.trigger, Trigger::Choice(_));
    unput.find(above).filter(|_| is_choice && facts.scopes.transition(id).within.is_empty())
}

/// For an option or the `else` of a question: a transition that takes the turn, if one does in each leaf where the question could
/// be asked.
fn taken_turn(context: &Context<'_>, id: TransitionId) -> Option<TransitionId> {
    let Context { chart, facts, .. } = context;
    let asks = |step: &StepId| matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
    let in_events = |step: &Step| step.is_on_event() && matches!(step.kind, StepKind::Ask { .. });
    let transition = chart.transition(id);
    let is_asked = matches!(transition.trigger, Trigger::Choice(_))
        || transition.trigger.step().is_some_and(|s| asks(&s));
    if !is_asked || chart.steps.iter().any(in_events) {
        return None;
    }
    let takers = Takers::new(chart);
    let places = &facts.scopes.transition(id).within;
    let here = |leaf: &StateId| places.iter().any(|place| chart.contains(*place, *leaf));
    let is_open =
        |leaf: &StateId| is_leaf(chart, *leaf) && !is_final(chart, *leaf) && context.enters(*leaf);
    let mut by = None;
    for leaf in chart.state_ids().filter(is_open).filter(here) {
        by = Some(takers.of_turn(chart, leaf)?);
    }
    by
}

/// The transitions and permissions of a chart, indexed by target.
pub(super) struct Leading {
    transitions: BTreeMap<StateId, Vec<TransitionId>>,
    /// The permissions, by the state that they permit to enter.
    permitting: BTreeMap<StateId, Vec<usize>>,
}

impl Leading {
    fn range(
        &self,
        inside: Range<StateId>,
    ) -> impl Iterator<Item = (&StateId, &Vec<TransitionId>)> {
        self.transitions.range(inside)
    }
}

/// Indexes the transitions and permissions by target.
pub(super) fn leading(chart: &Chart) -> Leading {
    let mut leading = Leading { transitions: BTreeMap::new(), permitting: BTreeMap::new() };
    for (nth, row) in chart.permissions.iter().enumerate() {
        leading.permitting.entry(row.to).or_default().push(nth);
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        for target in &transition.targets {
            leading.transitions.entry(target.state).or_default().push(TransitionId::at(i));
        }
    }
    leading
}

/// Adds the reasons why no run takes the transitions into the state.
pub(super) fn explain(
    context: &Context<'_>,
    leading: &Leading,
    state: StateId,
    mut found: Diagnostic,
) -> Diagnostic {
    let Context { chart, facts, map, .. } = context;
    let mut lines = 0;
    let inside = state..chart.state(state).end;
    for id in leading.range(inside).flat_map(|(_, ids)| ids).copied() {
        if chart.contains(state, chart.transition(id).source) || lines == 3 {
            continue;
        }
        let closed: Vec<StateId> = facts
            .scopes
            .transition(id)
            .within
            .iter()
            .filter(|s| !facts.reach.can_enter(**s))
            .copied()
            .collect();
        let why = if !facts.scopes.forbidden[id.index()].is_empty() {
            let table =
                if is_yaml(context) { "`transitions`" } else { "the table of `allow` lines" };
            format!("{} leads here, but {table} forbids it", words::transition(chart, id))
        } else if let Some(step) = never_put(context, id) {
            let name = &chart.steps[step.index()].name;
            format!("{} leads here, but `{name}` is never put", words::transition(chart, id))
        } else if closed.is_empty() || !meet(chart, &closed, &[state]).is_empty() {
            continue;
        } else {
            let from = words::states(chart, &closed);
            format!(
                "{} leads here, but {from} can never be entered either",
                words::transition(chart, id)
            )
        };
        lines += 1;
        found = found.related(map.transition(id).whole, why);
    }
    let inside = state..chart.state(state).end;
    let mut permitting: Vec<usize> =
        leading.permitting.range(inside).flat_map(|(_, rows)| rows).copied().collect();
    permitting.sort_unstable();
    if lines > 0 {
        return found.help("let one of these lines be taken, add another, or remove the state");
    }
    if permitting.is_empty() {
        return found.help("nothing leads here: let a line or a step do so, or remove the state");
    }
    for nth in permitting.iter().take(3) {
        found = found.related(
            map.permissions[*nth],
            "this permits the move, but no step or option makes it",
        );
    }
    found.help("the table of permitted moves moves nothing by itself: let a step lead here, or remove the state")
}

// Steps whose state is never active when the walk reaches them.

pub(super) static UNREACHED_STEP: Lint =
    Lint { rule: &rules::UNREACHED_STEP, needs_whole: true, run: find_unreached_step };

fn find_unreached_step(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let found = unreached(chart, facts);
    if found.is_empty() {
        return;
    }
    // C0307 reports steps for which no call is left.
    let told: BTreeSet<_> = hidden(chart, facts).into_iter().map(|h| h.step).collect();
    for one in found.iter().filter(|one| !told.contains(&one.step)) {
        let (step, after) = (words::step(chart, one.step), words::step(chart, one.after));
        let state = words::state(chart, one.state);
        let message = format!("{step} never runs: {after} has always left {state} before");
        diagnostics.push(
            rules::UNREACHED_STEP.at(map.step(one.step).name, message)
                .related(map.transition(one.transition).whole, "leaves the state")
                .help(format!(
                    "a turn comes to each step once, from top to bottom: put it before {after}, or into the state that {after} leads to"
                )),
        );
    }
}

// Steps that no turn reaches, because its model calls are used up or an earlier step has ended it. For example, with one call per turn:
//
// ```text
// llm plan { prompt "…" }     takes the one call of each turn
// llm write { prompt "…" }    never runs
// ```

pub(super) static HIDDEN_STEP: Lint =
    Lint { rule: &rules::HIDDEN_STEP, needs_whole: false, run: find_hidden_step };

fn find_hidden_step(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        let mut found = rules::HIDDEN_STEP
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
    let others = implied_by_guards(chart, context.facts).into_iter();
    diagnostics
        .extend(others.filter(|one| !told.contains(&one.step)).map(|one| late(context, one)));
    for (caller, steps) in wide {
        let shown = words::names(steps.iter().map(|id| chart.steps[id.index()].name.as_str()));
        let runs = if steps.len() == 1 { "runs" } else { "run" };
        let message = format!("{}, so {shown} never {runs}", takes(context, caller));
        let needs = all.iter().filter(|one| steps.contains(&one.step)).max_by_key(|one| one.needs);
        let mut found = rules::HIDDEN_STEP.at(map.step(caller).name, message);
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
    rules::HIDDEN_STEP
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

/// Says in words that a step takes the last model call of each turn.
fn takes(context: &Context<'_>, caller: StepId) -> String {
    let name = words::step(context.chart, caller);
    match context.chart.calls_per_turn {
        None | Some(1) => format!("{name} always takes the one model call of a turn"),
        Some(calls) => format!("{name} always takes the last of the {calls} model calls of a turn"),
    }
}

/// The advice for a hidden step, in the words of the format that the author writes.
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
const MOST_STEPS: usize = 100;

/// Finds these steps, in document order. Only `code` and `llm` steps may be between the two: they cannot move, must not change what the
/// conditions read, and an `llm` step that runs takes the call itself.
fn implied_by_guards(chart: &Chart, facts: &Facts) -> Vec<Implied> {
    // A `when` transition could change the state or the data between the two steps.
    let whens = chart.transitions.iter().any(|transition| transition.trigger == Trigger::When);
    if chart.calls_per_turn != Some(1) || chart.steps.len() > MOST_STEPS || whens {
        return Vec::new();
    }
    (0..chart.steps.len()).filter_map(|i| taken(chart, facts, StepId::at(i))).collect()
}

fn taken(chart: &Chart, facts: &Facts, step: StepId) -> Option<Implied> {
    let row = &chart.steps[step.index()];
    let guard = row.guard.as_ref().filter(|_| row.kind == StepKind::Llm && row.is_walked())?;
    let mut read = stable(chart, guard)?;
    let runs_at_all = fits(chart, facts, step) && !is_impossible(chart, &[(guard, true)]);
    if !runs_at_all {
        return None;
    }
    let mut changed: BTreeSet<VarId> = BTreeSet::new();
    for earlier in (0..step.index()).rev().map(StepId::at) {
        let before = &chart.steps[earlier.index()];
        match &before.kind {
            // Its outcome may come at any time.
            _ if before.is_on_event() => return None,
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
                    || !is_impossible(chart, &[(guard, true), (other, false)])
                {
                    continue;
                }
                read.extend(stable(chart, other)?);
                let is_narrower = !is_impossible(chart, &[(other, true), (guard, false)]);
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

// States without any transition, step or deadline.

pub(super) static UNDRIVEN_STATE: Lint =
    Lint { rule: &rules::UNDRIVEN_STATE, needs_whole: true, run: find_undriven_state };

fn find_undriven_state(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for state in undriven(chart, facts) {
        let name = words::state(chart, state);
        let mut found = rules::UNDRIVEN_STATE
            .at(
                map.state(state).name,
                format!("nothing drives {name}: no line, step or deadline acts in it"),
            )
            .help(format!(
                "give it a line or a step, or make it `final` if the run ends here{}",
                words::way(context, state)
            ));
        if let Some(Cause::Transition(transition)) = facts.reach.causes[state.index()] {
            found = found.related(
                map.transition(transition).whole,
                format!("the run gets stuck after {}", words::transition(chart, transition)),
            );
        }
        diagnostics.push(found);
    }
}

// History states that restore nothing.

pub(super) static USELESS_HISTORY: Lint =
    Lint { rule: &rules::USELESS_HISTORY, needs_whole: true, run: find_useless_history };

fn find_useless_history(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if !chart.state_ids().any(|s| is_history(chart, s)) {
        return;
    }
    let used = used(chart);
    let left = left(chart, facts);
    let (own, below) = chooses(chart);
    for state in chart.state_ids() {
        let StateKind::History { deep, .. } = chart.state(state).kind else { continue };
        let parent = chart.state(state).parent.unwrap_or(StateId(0));
        let (name, outer) = (words::state(chart, state), words::state(chart, parent));
        let parallel = matches!(chart.state(parent).kind, StateKind::Parallel);
        let (message, help) = if !used[state.index()] {
            (
                format!("no line leads to history {name}"),
                format!("lead to it where {outer} should continue, or remove it"),
            )
        } else if !deep && parallel {
            (
                format!(
                    "history {name} brings nothing back: all regions of {outer} are active anyway"
                ),
                "write `deep` to bring back what was active in the regions".to_owned(),
            )
        } else if !(if deep { &below } else { &own })[parent.index()] {
            (
                format!("history {name} brings nothing back: {outer} has one way to be active"),
                format!("lead to {outer} itself"),
            )
        } else if facts.reach.can_enter(state) && !left[parent.index()] {
            (
                format!("history {name} always leads to its default: {outer} is never left before"),
                format!("lead to {outer} itself, or add the line that leaves it"),
            )
        } else {
            continue;
        };
        diagnostics.push(rules::USELESS_HISTORY.at(map.state(state).name, message).help(help));
    }
}

/// Whether a transition or the default entry of another state leads to a state, by state.
fn used(chart: &Chart) -> Vec<bool> {
    let mut used = vec![false; chart.states.len()];
    for target in chart.transitions.iter().flat_map(|t| &t.targets) {
        used[target.state.index()] = true;
    }
    for state in &chart.states {
        if let StateKind::Compound { initial } = &state.kind {
            for first in initial {
                used[first.index()] = true;
            }
        }
    }
    used
}

/// Whether a state is compound with several children, and whether it or a descendant is; both by state.
fn chooses(chart: &Chart) -> (Vec<bool>, Vec<bool>) {
    let several = |s: StateId| {
        matches!(chart.state(s).kind, StateKind::Compound { .. })
            && chart.children(s).filter(|c| !is_history(chart, *c)).nth(1).is_some()
    };
    let own: Vec<bool> = chart.state_ids().map(several).collect();
    let mut deep = own.clone();
    // Children have higher ids than their parents, so each is complete before it is added to its parent.
    for i in (1..deep.len()).rev() {
        if let Some(parent) = chart.state(StateId::at(i)).parent {
            deep[parent.index()] |= deep[i];
        }
    }
    (own, deep)
}

// Transitions that restart regions of a parallel that they do not name.

pub(super) static REGION_RESET: Lint =
    Lint { rule: &rules::REGION_RESET, needs_whole: false, run: find_region_reset };

fn find_region_reset(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut told = BTreeSet::new();
    for reset in resets(chart, facts) {
        let spans = map.transition(reset.transition);
        // One line may define several transitions, and is reported once.
        if !told.insert(spans.whole) {
            continue;
        }
        let source = chart.transition(reset.transition).source;
        let parallel = words::state(chart, reset.parallel);
        let target = chart.transition(reset.transition).targets[0].state;
        let region = chart.children(reset.parallel).find(|r| chart.contains(*r, target));
        let own = region.filter(|r| chart.contains(*r, source));
        let help = match (own, region) {
            (Some(own), _) => {
                let own = words::state(chart, own);
                format!("lead to a state inside {own}, without `reenter`: then {own} alone moves")
            }
            (None, Some(other)) => format!(
                "let {} move itself, on the event or on one that is raised, or name a state of every region",
                words::state(chart, other)
            ),
            (None, None) => "name a state of every region".to_owned(),
        };
        let more = reset.count - reset.regions.len();
        let regions = match more {
            0 => words::states(chart, &reset.regions),
            _ => {
                let told: Vec<String> =
                    reset.regions.iter().map(|r| words::state(chart, *r)).collect();
                format!("{} and {more} more", told.join(", "))
            }
        };
        let verb = if reset.count == 1 { "starts" } else { "start" };
        let name = words::transition(chart, reset.transition);
        let mut found = rules::REGION_RESET
            .at(
                spans.targets.first().copied().unwrap_or(spans.trigger),
                format!("{name} leaves {parallel} and enters it again: {regions} {verb} over"),
            )
            .help(help);
        for region in reset.regions.iter().take(3) {
            found = found.related(map.state(*region).name, "this region starts over");
        }
        diagnostics.push(found);
    }
}

// States that a `when` transition leaves as soon as they are entered, because every way into them makes its guard hold. For example:
//
// ```text
// state a { on go -> b { n = 3 } }
// state b { llm ask { … } -> a  when n > 2 -> c }
// ```
//
// The only way into `b` is `on go`. After it, `n == 3` is known, which implies the guard `n > 2`. So `b` is left before `ask` runs.

/// The maximum number of transitions into one state that are examined.
const MOST_WAYS_IN: usize = 32;
/// The maximum number of `when` transitions that are examined.
const LINES: usize = 128;

/// A state that is left as soon as it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Passing {
    /// The `when` transition that leaves the state.
    pub transition: TransitionId,
    /// The reason why its guard holds.
    pub because: Because,
}

/// The reason why a guard holds as soon as its state is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Because {
    /// Every way into the state makes the guard hold. These transitions lead into it.
    Always(Vec<TransitionId>),
    /// On the first entry, this step of the state has not yet set the variables that the guard reads.
    Early(StepId),
}

/// Finds the `when` transitions that hold as soon as their states are entered, in document order.
fn passing(chart: &Chart, facts: &Facts) -> Vec<Passing> {
    let mut ways: Option<BTreeMap<StateId, Ways>> = None;
    let mut found = Vec::new();
    let whens = chart.transitions.iter().enumerate().filter(|(_, l)| l.trigger == Trigger::When);
    for (i, transition) in whens.take(LINES) {
        let (id, state) = (TransitionId::at(i), transition.source);
        let Some(guard) = &transition.guard else { continue };
        let mut read = BTreeSet::new();
        let is_local = reads(chart, guard, &mut read);
        // Guards that always hold are reported elsewhere.
        if !facts.reach.can_take(id)
            || !leaves(facts, transition, id)
            || !is_outside_parallel(chart, state)
            || read.is_empty() && !is_local
            || implies(chart, None, Some(guard))
            || !works(chart, state)
            || is_forestalled(chart, id, &read)
        {
            continue;
        }
        let ways = ways.get_or_insert_with(|| all_ways(chart, facts));
        if let Some(into) = ways.get(&state)
            && (!into.restored || is_left_first(chart, id))
            && (always(chart, state, into, guard, &read)
                || !into.open && holds_on_entry(chart, facts, id))
        {
            let because = Because::Always(into.transitions.clone());
            found.push(Passing { transition: id, because });
        } else if let Some(step) = early(chart, facts, state, guard, &read) {
            found.push(Passing { transition: id, because: Because::Early(step) });
        }
    }
    found
}

/// Whether the state has steps or transitions other than `when`: a state with `when` transitions only is a junction.
fn works(chart: &Chart, state: StateId) -> bool {
    let end = chart.state(state).end;
    let inside = |s: StateId| state <= s && s < end;
    chart.steps.iter().any(|step| inside(step.state))
        || chart.transitions.iter().any(|l| inside(l.source) && l.trigger != Trigger::When)
}

/// Whether nothing else can be taken while the guard of this `when` transition holds. If it holds on every other way into the state, no
/// history restores the state, because the state is never active when the parent of the history is left.
fn is_left_first(chart: &Chart, id: TransitionId) -> bool {
    let state = chart.transition(id).source;
    let mut whens = chart.transitions.iter().filter(|other| {
        matches!(other.trigger, Trigger::When | Trigger::StateDone(_))
            && chart.contains(state, other.source)
    });
    whens.nth(1).is_none()
}

/// Whether another `when` transition in the state, which may be taken first, sets a variable that this one reads.
fn is_forestalled(chart: &Chart, id: TransitionId, read: &BTreeSet<VarId>) -> bool {
    let state = chart.transition(id).source;
    chart.transitions.iter().enumerate().any(|(i, transition)| {
        TransitionId::at(i) != id
            && transition.trigger == Trigger::When
            && chart.contains(state, transition.source)
            && !assigned(&transition.actions).is_disjoint(read)
    })
}

/// The ways in which a run may enter a state.
#[derive(Debug, Clone, Default)]
struct Ways {
    transitions: Vec<TransitionId>,
    /// Whether a run starts in the state.
    starts: bool,
    /// Whether a history state may restore the state.
    restored: bool,
    /// Whether not all ways into the state are known.
    open: bool,
}

fn all_ways(chart: &Chart, facts: &Facts) -> BTreeMap<StateId, Ways> {
    let mut found: BTreeMap<StateId, Ways> = BTreeMap::new();
    let mut histories: BTreeSet<StateId> = BTreeSet::new();
    for state in closure(chart, &[StateId::at(0)]) {
        found.entry(state).or_default().starts = true;
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) {
            continue;
        }
        let targets = entries(chart, transition);
        let mut into = closure(chart, &targets);
        // The states between the domain and a target are entered on the way to the target.
        if let Some(top) = domain(chart, transition) {
            for target in &targets {
                into.extend(chart.ancestors(*target).skip(1).take_while(|s| *s != top));
            }
        }
        let fresh = |t: &&StateId| is_history(chart, **t) && !histories.contains(*t);
        let fresh: Vec<StateId> = targets.iter().filter(fresh).copied().collect();
        for target in &fresh {
            // A history may restore any descendant of its parent.
            let parent = chart.state(*target).parent.unwrap_or(StateId::at(0));
            for state in (parent.0..chart.state(parent).end.0).map(StateId) {
                found.entry(state).or_default().restored = true;
            }
        }
        histories.extend(fresh);
        for state in into {
            let ways = found.entry(state).or_default();
            // Beyond the maximum, the ways into the state count as unknown.
            ways.open |= ways.transitions.len() == MOST_WAYS_IN;
            if !ways.open {
                ways.transitions.push(id);
            }
        }
    }
    found
}

/// The given states and all states that are entered with them by default.
fn closure(chart: &Chart, states: &[StateId]) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    let mut open = states.to_vec();
    while let Some(state) = open.pop() {
        if found.insert(state) {
            for entered in entered_by_default(chart, state) {
                let above = chart.ancestors(entered).skip(1);
                found.extend(above.take_while(|s| !chart.contains(*s, state)));
                open.push(entered);
            }
        }
    }
    found
}

/// Whether the guard holds after every way into the state.
fn always(
    chart: &Chart,
    state: StateId,
    ways: &Ways,
    guard: &Expr,
    read: &BTreeSet<VarId>,
) -> bool {
    if ways.open || ways.transitions.is_empty() && !ways.starts {
        return false;
    }
    let by_lines = ways.transitions.iter().all(|id| {
        let transition = chart.transition(*id);
        // The result of a tool call is stored after the guard was evaluated, so what the guard implies may not hold any more.
        let called = matches!(transition.trigger, Trigger::Choice(choice)
            if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)));
        let mut known = KnownConditions::when(transition);
        known.follow(chart, transition, state);
        !called && known.imply_on_entry(chart, guard)
    });
    by_lines && (!ways.starts || begun(chart, state, read).imply_on_entry(chart, guard))
}

/// The conditions that hold when a run has started in the state.
fn begun(chart: &Chart, state: StateId, read: &BTreeSet<VarId>) -> KnownConditions {
    let mut known = KnownConditions::initial(chart, read);
    let root = chart.state(StateId::at(0));
    root.entry.iter().for_each(|block| known.run(chart, block));
    known.run(chart, &root.default_actions);
    known.enter(chart, StateId::at(0), state);
    known
}

/// A step of the state that sets a variable of the guard, if the guard already holds when the state is first entered on the
/// shortest path, and no step or tool call on that path may set such a variable.
fn early(
    chart: &Chart,
    facts: &Facts,
    state: StateId,
    guard: &Expr,
    read: &BTreeSet<VarId>,
) -> Option<StepId> {
    let sets = |step: &chartc_core::model::Step| {
        let code =
            matches!(&step.kind, StepKind::Code(block) if !assigned(block).is_disjoint(read));
        code || step.into.is_some_and(|id| read.contains(&id))
    };
    let own = |step: &chartc_core::model::Step| chart.contains(state, step.state) && sets(step);
    let step = StepId::at(chart.steps.iter().position(own)?);
    let hops = witness(&facts.reach, state)?.hops;
    let mut known = begun(chart, hops.first().map_or(state, |(actor, ..)| *actor), read);
    for (nth, (actor, transition, _)) in hops.iter().enumerate() {
        let row = chart.transition(*transition);
        let near = |s: &StateId| chart.contains(*s, *actor) || chart.contains(*actor, *s);
        let mut steps = chart.steps.iter().zip(&facts.scopes.steps);
        if steps.any(|(step, place)| sets(step) && place.within.iter().any(near)) {
            return None;
        }
        let called = |choice: &chartc_core::model::Choice| matches!(choice.kind, ChoiceKind::Call(_, Some(id)) if read.contains(&id));
        if chart.choices.iter().any(called) {
            return None;
        }
        let to = hops.get(nth + 1).map_or(state, |(next, ..)| *next);
        known.follow(chart, row, to);
    }
    known.imply_on_entry(chart, guard).then_some(step)
}

// States that are left as soon as they are entered.

pub(super) static LEFT_AT_ONCE: Lint =
    Lint { rule: &rules::LEFT_AT_ONCE, needs_whole: true, run: find_left_at_once };

fn find_left_at_once(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Passing { transition, because } in passing(chart, facts) {
        let span = map.transition(transition).trigger;
        let state = words::state(chart, chart.transition(transition).source);
        let name = words::transition(chart, transition);
        let found = match because {
            Because::Always(ways) => {
                let message =
                    format!("{state} is left as soon as it is entered: {name} holds by then");
                let found = rules::LEFT_AT_ONCE.at(span, message).help(
                    "negate one of the two conditions, or wait for what should end the state: an event, a deadline, a step",
                );
                ways.iter().take(4).fold(found, |found, way| {
                    found.related(map.transition(*way).whole, "leads here when the condition holds")
                })
            }
            Because::Early(step) => {
                let step = words::step(chart, step);
                let message = format!(
                    "{name} holds as soon as {state} is entered: it is left before {step} sets what the condition reads"
                );
                let targets = &chart.transition(transition).targets;
                let leads = facts.moves.leads_to([chart.transition(transition).source]);
                let back = targets.iter().any(|t| leads[t.state.index()]);
                let round =
                    if back { "; from there a cycle leads back, past the step again" } else { "" };
                rules::LEFT_AT_ONCE
                    .at(span, message)
                    .help(format!("ask when the step is done: `done if …` in {step}{round}"))
            }
        };
        diagnostics.push(found.about(map.transition(transition).whole));
    }
}
