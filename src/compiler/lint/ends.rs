//! Findings about how runs end: states from which no run ends, and ends that only failures reach.
//!
//! The problem: a run that cannot end hangs, and an end that only a failure reaches looks like success. Neither can be seen in one line.
//! The idea: most of it is in the facts, as a question about the graph of moves; this module adds the data and the failures:
//!
//! - `TRAP_STATE`: sets of states that lead to no end (`traps`). With values: if all runs were explored, the values with which no run got
//!   out (`by_values`); otherwise `stuck_by_value` looks for a value that a transition stores and for which no `when` line holds.
//! - `SUCCESS_BY_FAILURE`: an `ok` end that is reached only over `error`, `timeout` or `else` (`needed`, a search that stops at these).
//! - `UNHANDLED_FAILURE`: a leaf that is left only when its call succeeds (`stuck_by_failure`).
//! - `EVENTLESS_CYCLE`: `when` lines that are taken for ever (`livelocks`).
//!
//! For example:
//!
//! ```text
//! initial load
//! state load { call fetch web.get(address) -> shown }
//! state shown { on close -> finished  on hide -> hidden }
//! state hidden { on peek -> hidden }
//! final finished
//! ```
//!
//! `hidden` leads only to itself, although `shown` leads to an end: `TRAP_STATE`. If `fetch` fails, nothing leads out of `load`:
//! `UNHANDLED_FAILURE`.

use super::data::{is_yaml, way_out};
use super::properties::told as told_run;
use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::cover::{keys, only_case};
use crate::analysis::facts::endless::{Trap, livelocks, traps, undriven};
use crate::analysis::facts::reach::{Cause, GraphNode};
use crate::analysis::facts::usage::{assigned, reads, walk};
use crate::analysis::turn::flow::with_values;
use crate::explore::property::Verdict;
use crate::explore::witness::json;
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Failure, Lost, StateKind, Status, StepKind, Transition, Trigger,
    VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static TRAP_STATE: Lint =
    Lint { rule: &rules::TRAP_STATE, needs_whole: true, run: find_trap_state };

fn find_trap_state(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let all = traps(chart, facts);
    diagnostics.extend(by_values(context, &all));
    // If all runs were explored, `by_values` covers these leaves.
    if context.runs.seen.is_none() {
        diagnostics.extend(stuck_by_value(chart, facts).iter().map(|one| with_value(context, one)));
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
        let mut found = rules::TRAP_STATE.at(way_out(context, *first), message).help(help);
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
fn with_value(context: &Context<'_>, stuck: &StuckByValue) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = words::state(chart, stuck.leaf);
    let case = words::case(chart, stuck.by, &stuck.case);
    rules::TRAP_STATE
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
        let mut one = rules::TRAP_STATE
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

// Leaves that only `when` transitions leave, and that a run can enter with a value for which none of their guards holds. For example:
//
// ```text
// state asking  { llm judge { returns Verdict into v } -> sorting }
// state sorting { when v.good -> published  when v.score > 3 -> writing }
// ```
//
// An answer with `good: false` and `score: 1` leads to `sorting`, and nothing leads from there.

/// The maximum number of earlier transitions that are compared with the one that leads there.
const MOST_EARLIER: usize = 20;

/// A leaf that a run cannot leave once it has entered it with a certain value.
#[derive(Debug, Clone, PartialEq)]
struct StuckByValue {
    pub leaf: StateId,
    /// The transition that leads there and stores the value.
    pub by: TransitionId,
    /// The variables, or their fields, with values for which no guard holds.
    pub case: Vec<(Expr, Value)>,
}

/// Finds these leaves, each with the first transition that brings such a value: an answer or data of an event that the transition or the
/// step stores in a variable. Only `when` transitions over such variables leave the leaf, and nothing changes them while it is active.
fn stuck_by_value(chart: &Chart, facts: &Facts) -> Vec<StuckByValue> {
    let mut found = Vec::new();
    let mut into: BTreeMap<StateId, Vec<TransitionId>> = BTreeMap::new();
    for (leaf, guards) in waiting(chart, facts) {
        if into.is_empty() {
            for (i, transition) in chart.transitions.iter().enumerate() {
                transition
                    .targets
                    .iter()
                    .for_each(|t| into.entry(t.state).or_default().push(TransitionId::at(i)));
            }
        }
        let transitions = into.get(&leaf).into_iter().flatten();
        let mut taken = transitions.filter(|transition| facts.reach.can_take(**transition));
        found.extend(taken.find_map(|transition| stays(chart, leaf, &guards, *transition)));
    }
    found
}

/// The leaves that only `when` transitions over variables leave, with their guards.
fn waiting<'c>(chart: &'c Chart, facts: &Facts) -> Vec<(StateId, Vec<&'c Expr>)> {
    let alone = |leaf: StateId| {
        chart.ancestors(leaf).all(|s| {
            let row = chart.state(s);
            let quiet = s == leaf || row.transitions.is_empty();
            quiet && row.steps.is_empty() && !matches!(row.kind, StateKind::Parallel)
        })
    };
    let leaves =
        facts.reach.leaves(chart).filter(|leaf| !chart.state(*leaf).transitions.is_empty());
    let guards = |leaf: StateId| {
        let lines = chart.state(leaf).transitions.iter().map(|id| chart.transition(*id));
        lines
            .map(|transition| {
                let out = transition.trigger == Trigger::When && !transition.targets.is_empty();
                transition.guard.as_ref().filter(|guard| out && is_still(chart, guard))
            })
            .collect::<Option<Vec<_>>>()
    };
    leaves.filter(|leaf| alone(*leaf)).filter_map(|leaf| Some((leaf, guards(leaf)?))).collect()
}

/// Whether a condition reads only params and variables that outlast the turn.
fn is_still(chart: &Chart, guard: &Expr) -> bool {
    let mut still = true;
    walk(chart, guard, &mut |e| {
        still &= match &e.kind {
            ExprKind::Variable(id) => match chart.variables[id.index()].kind {
                VariableKind::Var { per_turn } => !per_turn,
                VariableKind::Param { .. } | VariableKind::Asked => true,
                VariableKind::Input => false,
            },
            ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Unknown(_) => false,
            _ => true,
        };
    });
    still
}

/// A case in which the transition stores values for which none of the guards holds; `None` if there is none.
fn stays(chart: &Chart, leaf: StateId, guards: &[&Expr], id: TransitionId) -> Option<StuckByValue> {
    let transition = chart.transition(id);
    let kept = kept(chart, transition);
    // The values that `enter` blocks set afterwards are not followed.
    let entry = chart.ancestors(leaf).flat_map(|s| &chart.state(s).entry);
    let changed: BTreeSet<VarId> = entry.flat_map(|block| assigned(block)).collect();
    if kept.is_empty() || kept.keys().any(|id| changed.contains(id)) {
        return None;
    }
    // An earlier transition for the same trigger takes the values for which its guard holds.
    let before = chart.state(transition.source).transitions.iter().take_while(|l| **l != id);
    let same = before.map(|l| chart.transition(*l)).filter(|other| {
        let own = keys(transition);
        keys(other).iter().any(|key| own.contains(key))
    });
    let before: Option<Vec<&Expr>> = same.map(|other| other.guard.as_ref()).collect();
    let before = before.filter(|before| before.len() <= MOST_EARLIER)?;
    let put: Vec<Expr> = guards
        .iter()
        .map(|guard| with_values(chart, guard, &|id| kept.get(&id).cloned()))
        .collect();
    let mut goals: Vec<(&Expr, bool)> = put.iter().map(|guard| (guard, false)).collect();
    goals.extend(before.into_iter().map(|guard| (guard, false)));
    goals.extend(transition.guard.iter().map(|guard| (guard, true)));
    let case = only_case(chart, &goals)?;
    let case: Option<Vec<_>> =
        case.into_iter().map(|(term, value)| Some((back(chart, &term, &kept)?, value))).collect();
    Some(StuckByValue { leaf, by: id, case: case? })
}

/// The values that a transition, or its step, stores in variables: data of the event or the answer, whole or a field.
fn kept(chart: &Chart, transition: &Transition) -> BTreeMap<VarId, Expr> {
    let mut kept = BTreeMap::new();
    if let Trigger::StepDone(step) = transition.trigger {
        let row = &chart.steps[step.index()];
        let answer = Expr { kind: ExprKind::Answer(step), ty: row.returns.clone() };
        kept.extend(row.into.map(|id| (id, answer)));
    }
    for action in &transition.actions {
        if let Action::Assign(id, value) = action {
            let given = matches!(
                crate::analysis::facts::conditions::root(value).kind,
                ExprKind::Payload(_) | ExprKind::Answer(_)
            );
            kept.remove(id);
            kept.extend(given.then(|| (*id, value.clone())));
        } else {
            for id in assigned(std::slice::from_ref(action)) {
                kept.remove(&id);
            }
        }
    }
    kept
}

/// The variable, or its field, in which the term was stored.
fn back(chart: &Chart, term: &Expr, kept: &BTreeMap<VarId, Expr>) -> Option<Expr> {
    if let Some((id, _)) = kept.iter().find(|(_, value)| value.kind == term.kind) {
        let ty = chart.variables[id.index()].ty.clone();
        return Some(Expr { kind: ExprKind::Variable(*id), ty });
    }
    let ExprKind::Field(base, field) = &term.kind else { return None };
    let base = Box::new(back(chart, base, kept)?);
    Some(Expr { kind: ExprKind::Field(base, field.clone()), ty: term.ty.clone() })
}

// Analyses of failures: final states that only failures lead to, and leaves that a failed step never leaves.

/// The failure transitions (`error`, `timeout`, `else`) without which no run can end `ok`: each leads to `ok` without a further failure.
/// Empty if a run can end `ok` without a failure, or if none can end `ok`. Takes linear time for each of them.
pub(super) fn needed(chart: &Chart, facts: &Facts) -> Vec<TransitionId> {
    let root = StateId::at(0);
    let is_goal = |state: StateId| {
        matches!(chart.state(state).kind, StateKind::Final { status: Status::Ok, .. })
            && chart.state(state).parent == Some(root)
            && facts.reach.can_enter(state)
    };
    let goals: Vec<StateId> = chart.children(root).filter(|s| is_goal(*s)).collect();
    if goals.is_empty()
        || !chart.transitions.iter().any(|transition| is_failure(&transition.trigger))
    {
        return Vec::new();
    }
    let (whole, met) = reached(chart, facts, GraphNode::Entered(root));
    let arrives =
        |seen: &[bool]| goals.iter().any(|g| seen[facts.moves.place(GraphNode::Active(*g))]);
    if arrives(&whole) {
        return Vec::new();
    }
    met.into_iter()
        .take(MOST_FAILURES)
        .filter(|transition| arrives(&reached(chart, facts, GraphNode::Transition(*transition)).0))
        .collect()
}

/// The maximum number of failure transitions that are examined.
const MOST_FAILURES: usize = 16;

/// Whether the trigger is a failure of a step.
fn is_failure(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::StepError(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_))
}

/// Marks, by node number, the nodes that can be reached without a failure transition other than `from` itself. Also returns the failure
/// transitions at the border of that set, in document order.
fn reached(chart: &Chart, facts: &Facts, from: GraphNode) -> (Vec<bool>, Vec<TransitionId>) {
    let mut seen = vec![false; facts.moves.nodes()];
    let mut met = Vec::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[facts.moves.place(node)], true) {
            continue;
        }
        if let GraphNode::Transition(id) = node
            && node != from
            && is_failure(&chart.transition(id).trigger)
        {
            met.push(id);
            continue;
        }
        open.extend(facts.moves.next(node));
    }
    met.sort_unstable();
    (seen, met)
}

/// A leaf that a run never leaves once a step in it has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StuckByFailure {
    /// The `call` or `run` step.
    pub step: StepId,
    pub leaf: StateId,
    /// Whether the step is started only once; otherwise, each turn starts it again.
    pub once: bool,
}

/// Finds the leaves whose only step is a `call` or `run`, which only the `done` transitions of that step leave, and where nothing
/// handles its failure.
pub(super) fn stuck_by_failure(context: &Context<'_>) -> Vec<StuckByFailure> {
    let Context { chart, facts, .. } = context;
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let (id, leaf) = (StepId::at(i), step.state);
        let once = match &step.kind {
            StepKind::Call(..) if step.is_walked() => false,
            StepKind::Run(_) => !step.is_walked(),
            _ => {
                continue;
            }
        };
        let alone = chart.ancestors(leaf).map(|s| chart.state(s).steps.len()).sum::<usize>() == 1;
        if !alone
            || !matches!(chart.state(leaf).kind, StateKind::Atomic)
            || !context.enters(leaf)
            || step.failure.then != Failure::Fail
            || step.each.as_ref().is_some_and(|each| each.lost != Lost::Fail)
            // `sure` contains the steps whose child charts cannot fail.
            || facts.sure.contains(&id)
        {
            continue;
        }
        let is_handled = chart.transitions.iter().any(|transition| {
            transition.trigger.step() == Some(id)
                && !matches!(transition.trigger, Trigger::StepDone(_))
        });
        let mut ways = chart
            .ancestors(leaf)
            .flat_map(|s| &chart.state(s).transitions)
            .filter(|transition| facts.scopes.transition(**transition).may_hold_in(chart, leaf))
            .map(|transition| chart.transition(*transition));
        let mut any = false;
        let only = ways.all(|transition| {
            any |= !transition.targets.is_empty();
            transition.trigger == Trigger::StepDone(id)
        });
        if only && any && !is_handled {
            found.push(StuckByFailure { step: id, leaf, once });
        }
    }
    found
}

// `ok` final states that are reached only through failures.

pub(super) static SUCCESS_BY_FAILURE: Lint =
    Lint { rule: &rules::SUCCESS_BY_FAILURE, needs_whole: true, run: find_success_by_failure };

/// The maximum number of alternative transitions that are shown.
const SHOWN: usize = 4;

fn find_success_by_failure(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for id in needed(chart, facts) {
        let transition = chart.transition(id);
        let Some(goal) = transition.targets.first().map(|t| t.state) else { continue };
        let what = if let Trigger::StepElse(step) = transition.trigger {
            format!("where {} has no usable answer", words::step(chart, step))
        } else if let Trigger::StepTimeout(step, _) = transition.trigger {
            format!("where {} takes too long", words::step(chart, step))
        } else if let Trigger::StepError(step) = transition.trigger {
            format!("where {} fails", words::step(chart, step))
        } else {
            continue;
        };
        let spans = map.transition(id);
        let at = spans.targets.first().copied().unwrap_or(spans.whole);
        let message = format!(
            "a run ends `ok` only {what}: nothing else leads to {}",
            words::state(chart, goal)
        );
        let mut found = rules::SUCCESS_BY_FAILURE
            .at(at, message)
            .help("lead a `done` line or an option there, or give the end its own status, such as `final f : error`");
        let others = chart.transitions.iter().enumerate().filter(|(i, other)| {
            let moves = matches!(other.trigger, Trigger::Choice(_) | Trigger::StepDone(_));
            let other = TransitionId::at(*i);
            moves
                && other != id
                && facts.reach.can_take(other)
                && facts
                    .scopes
                    .transition(id)
                    .within
                    .iter()
                    .any(|s| facts.scopes.transition(other).may_hold_in(chart, *s))
        });
        for (i, other) in others.take(SHOWN) {
            let to = other.targets.first().map_or_else(
                || "stays where it is".to_owned(),
                |t| format!("leads to {}", words::state(chart, t.state)),
            );
            found = found.related(
                map.transitions[i].whole,
                format!("{} {to}", words::transition(chart, TransitionId::at(i))),
            );
        }
        diagnostics.push(found);
    }
}

// Calls and child charts whose failure leaves the run stuck.

pub(super) static UNHANDLED_FAILURE: Lint =
    Lint { rule: &rules::UNHANDLED_FAILURE, needs_whole: true, run: find_unhandled_failure };

fn find_unhandled_failure(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // In SCXML, an invocation has no failure event.
    if context.sources.get(map.file).name.ends_with(".scxml") {
        return;
    }
    for StuckByFailure { step, leaf, once } in stuck_by_failure(context) {
        let (name, state) = (words::step(chart, step), words::state(chart, leaf));
        let message = if once {
            format!("when {name} fails, the run stays in {state} for ever: nothing else leads out")
        } else {
            format!(
                "when {name} fails, nothing leads out of {state}: each turn makes the call again, and fails"
            )
        };
        diagnostics.push(rules::UNHANDLED_FAILURE.at(map.step(step).name, message).help(
            "add an `error` line that says where a failure leads, or a deadline (`after`) to the state",
        ));
    }
}

// Cycles of `when` transitions that are taken for ever.

pub(super) static EVENTLESS_CYCLE: Lint =
    Lint { rule: &rules::EVENTLESS_CYCLE, needs_whole: true, run: find_eventless_cycle };

fn find_eventless_cycle(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for cycle in livelocks(chart, facts) {
        let Some((first, rest)) = cycle.transitions.split_first() else { continue };
        let names: Vec<String> =
            cycle.given.iter().map(|id| words::transition(chart, *id)).collect();
        let name = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => continue,
        };
        let is_deadline = |id: &TransitionId| {
            let line = chart.transition(*id);
            line.guard.is_none() && matches!(line.trigger, Trigger::After(_))
        };
        let verb = if names.len() > 1 {
            "hold together"
        } else if cycle.given.iter().all(is_deadline) {
            "is armed"
        } else {
            "holds"
        };
        let message = if rest.is_empty() && verb == "is armed" {
            format!("{name} waits for no time and is armed again at once, so it is taken for ever")
        } else if rest.is_empty() {
            format!("{name} still holds after its own line, so it is taken for ever")
        } else {
            format!(
                "once {name} {verb}, these {} lines are taken in a cycle for ever",
                rest.len() + 1
            )
        };
        let mut found = rules::EVENTLESS_CYCLE
            .at(map.transition(*first).trigger, message)
            .help("change what the condition reads in the line's actions, or wait for something: `on`, `after`");
        for transition in rest {
            found = found.related(map.transition(*transition).whole, "taken next");
        }
        diagnostics.push(found);
    }
}
