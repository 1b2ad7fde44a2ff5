//! Questions with fewer than two options.

use super::{Context, Lint, words};
use crate::facts::reach::is_leaf;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{ChoiceKind, Otherwise, StepKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::TOO_FEW_OPTIONS;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &TOO_FEW_OPTIONS, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut offers = Offers::default();
    for (i, transition) in chart.transitions.iter().enumerate() {
        if matches!(transition.trigger, Trigger::Choice(_)) {
            for state in &facts.scopes.transitions[i].within {
                offers.open.entry(*state).or_default().push(TransitionId::at(i));
            }
            for target in &transition.targets {
                offers.into.entry(target.state).or_default().push(TransitionId::at(i));
            }
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if !matches!(step.kind, StepKind::Ask { .. }) {
            continue;
        }
        let Some(most) = most(context, StepId::at(i), &offers) else { continue };
        let name = format!("`{}`", step.name);
        let found = match most[..] {
            // The model still chooses the tool and its arguments.
            [only] if is_call(context, only) => continue,
            [] => TOO_FEW_OPTIONS
                .at(
                    map.steps[i].name,
                    format!("{name} has nothing to offer: no `may` line is open where it asks"),
                )
                .help(
                    "add `may` lines to its state or to the states below, or remove the question",
                ),
            [only] => TOO_FEW_OPTIONS
                .at(
                    map.steps[i].name,
                    format!("{name} offers one option only, {}", words::transition(chart, only)),
                )
                .help("add a second option, or write an ordinary line instead of the question")
                .related(map.transition(only).whole, "the only option"),
            _ => continue,
        };
        diagnostics.push(found);
    }
}

/// The `may` transitions of the chart.
#[derive(Default)]
struct Offers {
    /// The transitions by the states in which they are enabled.
    open: BTreeMap<StateId, Vec<TransitionId>>,
    /// The transitions by their targets.
    into: BTreeMap<StateId, Vec<TransitionId>>,
}

impl Offers {
    /// The options that lead to the leaf itself and can be chosen although nothing permits that move: with `always` and `else
    /// stay`, the question is asked with any options, and an answer that is not enabled leaves the state unchanged.
    fn stays(&self, context: &Context<'_>, step: StepId, leaf: StateId) -> Vec<TransitionId> {
        let chart = context.chart;
        let ask = &chart.steps[step.index()].kind;
        if !matches!(ask, StepKind::Ask { always: true, otherwise: Otherwise::Stay, .. }) {
            return Vec::new();
        }
        let transitions = self.into.get(&leaf).into_iter().flatten();
        transitions
            .filter(|transition| chart.contains(chart.transition(**transition).source, leaf))
            .copied()
            .collect()
    }
}

/// Whether the transition offers tools.
fn is_call(context: &Context<'_>, transition: TransitionId) -> bool {
    let Trigger::Choice(choice) = context.chart.transition(transition).trigger else {
        return false;
    };
    matches!(context.chart.choices[choice.index()].kind, ChoiceKind::Call(..))
}

/// The largest set of options that are enabled together in a leaf where the step asks, cut to two; `None` if it never asks.
fn most(context: &Context<'_>, step: StepId, offers: &Offers) -> Option<Vec<TransitionId>> {
    let Context { chart, facts, .. } = context;
    let place = facts.scopes.step(step);
    let mut most: Option<Vec<TransitionId>> = None;
    for top in &place.within {
        for leaf in (top.0..chart.state(*top).end.0).map(StateId) {
            let asked = is_leaf(chart, leaf)
                && facts.reach.can_enter(leaf)
                && !place.excludes_leaf(chart, leaf);
            if !asked || nearer(context, step, leaf) {
                continue;
            }
            let mut open: Vec<TransitionId> = chart
                .ancestors(leaf)
                .filter_map(|s| offers.open.get(&s))
                .flatten()
                .filter(|l| !facts.scopes.transition(**l).excludes_leaf(chart, leaf))
                .copied()
                .collect();
            let stays = offers.stays(context, step, leaf);
            open.extend(
                stays
                    .iter()
                    .filter(|transition| !open.contains(transition))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            // One or none is reported, so more than two need not be distinguished.
            open.truncate(2);
            if most.as_ref().is_none_or(|m| m.len() < open.len()) {
                let enough = open.len() == 2;
                most = Some(open);
                if enough {
                    return most;
                }
            }
        }
    }
    most
}

/// Whether a state between the step's state and the leaf has its own question.
fn nearer(context: &Context<'_>, step: StepId, leaf: StateId) -> bool {
    let home = context.chart.steps[step.index()].state;
    let between = context.chart.ancestors(leaf).take_while(|s| *s != home);
    let asks = |s: &StepId| matches!(context.chart.steps[s.index()].kind, StepKind::Ask { .. });
    between.flat_map(|s| &context.chart.state(s).steps).any(asks)
}
