//! States that no run enters.

use super::reading::{is_yaml, way_in};
use super::{Context, Lint, words};
use crate::facts::asking::Takers;
use crate::facts::reach::{is_history, is_leaf};
use crate::facts::scope::{is_final, meet};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{AskOn, Chart, Step, StepKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNREACHABLE_STATE;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) static LINT: Lint = Lint { rule: &UNREACHABLE_STATE, needs_whole: true, run };

/// The maximum number of states that are examined in a backward search.
const ON_THE_WAY: usize = 64;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        let found =
            UNREACHABLE_STATE.at(way_in(context, state), format!("{name} can never be entered"));
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
    let in_events = |step: &Step| matches!(step.kind, StepKind::Ask { on: AskOn::Event(_), .. });
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
