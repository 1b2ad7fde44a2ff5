//! Transitions that are taken when a step fails and that read its answer.

use super::{Context, Lint, words};
use crate::facts::uses::{early_reads, own_expressions, own_walk, written};
use chartc_core::arena::{StepId, TransitionId, VarId};
use chartc_core::model::{Action, Chart, ExprKind, Transition, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::MISSING_ANSWER;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &MISSING_ANSWER, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(step) = unanswered(transition) else { continue };
        let missing =
            |id: &VarId| reads(chart, transition, *id) && !is_set_elsewhere(chart, step, *id);
        let Some(variable) =
            kept(chart, step).into_iter().find(missing).filter(|_| facts.reach.can_take(id))
        else {
            continue;
        };
        // The answer of an earlier run of the step may be meant.
        let done = chart.transitions.iter();
        let again = facts.moves.leads_to([chart.steps[step.index()].state]);
        let mut targets = done.filter(|l| l.trigger == Trigger::StepDone(step)).flat_map(|l| {
            if l.targets.is_empty() {
                vec![l.source]
            } else {
                l.targets.iter().map(|t| t.state).collect()
            }
        });
        if targets.any(|state| again[state.index()]) {
            continue;
        }
        let (name, of) = (&chart.variables[variable.index()].name, words::step(chart, step));
        let message = format!(
            "{} uses `{name}`, which holds the answer of {of}: when it fails, there is none",
            words::transition(chart, id)
        );
        let found = MISSING_ANSWER.at(map.transition(id).whole, message);
        diagnostics.push(
            found
                .help("use another value here; `error` gives the reason why the step failed")
                .related(map.step(step).name, "its answer goes there"),
        );
    }
}

/// The step that has failed, and so has no answer, when the transition is taken.
fn unanswered(transition: &Transition) -> Option<StepId> {
    match transition.trigger {
        Trigger::StepError(step) | Trigger::StepTimeout(step, _) | Trigger::StepElse(step) => {
            Some(step)
        }
        _ => None,
    }
}

/// The variables that hold the step's answer, or a value computed from it.
fn kept(chart: &Chart, step: StepId) -> BTreeSet<VarId> {
    let mut found: BTreeSet<VarId> = chart.steps[step.index()].into.into_iter().collect();
    for transition in chart.transitions.iter().filter(|l| l.trigger == Trigger::StepDone(step)) {
        for action in &transition.actions {
            if let Action::Assign(id, value) = action {
                let mut answers = false;
                own_walk(value, &mut |e| {
                    answers |= matches!(e.kind, ExprKind::Payload(_))
                        || matches!(e.kind, ExprKind::Answer(of) if of == step);
                });
                found.extend(answers.then_some(*id));
            }
        }
    }
    found
}

/// Whether the transition reads the variable before it sets it. A read with a default does not count.
fn reads(chart: &Chart, transition: &Transition, variable: VarId) -> bool {
    let mut found = false;
    let mut look = |expr| {
        early_reads(chart, expr, &mut |e| {
            found |= matches!(e.kind, ExprKind::Variable(id) if id == variable);
        });
    };
    transition.targets.iter().flat_map(|t| &t.arguments).for_each(&mut look);
    for action in &transition.actions {
        // An assignment that reads the variable itself is harmless; behind an `if`, the variable may have been set.
        if matches!(action, Action::Assign(id, _) if *id == variable)
            || matches!(action, Action::If(..))
        {
            break;
        }
        own_expressions(action).into_iter().for_each(&mut look);
    }
    found
}

/// Whether anything but the step sets the variable, or its initial value is not empty.
fn is_set_elsewhere(chart: &Chart, step: StepId, variable: VarId) -> bool {
    let count = |actions: &Vec<Action>| {
        let mut set = 0;
        Action::walk(actions, &mut |action| {
            set += usize::from(matches!(action, Action::Assign(id, _) if *id == variable));
        });
        set
    };
    let done = chart.transitions.iter().filter(|l| l.trigger == Trigger::StepDone(step));
    let own: usize = done.map(|transition| count(&transition.actions)).sum();
    let set = written(chart).map(count).sum::<usize>() > own;
    let others = chart.steps.iter().enumerate().filter(|(i, _)| *i != step.index());
    let empty = chart.variables[variable.index()].default.as_ref().is_none_or(|e| match &e.kind {
        ExprKind::None => true,
        ExprKind::Text(text) => text.literal().is_some_and(str::is_empty),
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::Int(n) => *n == 0,
        ExprKind::Float(n) => *n == 0.0,
        _ => false,
    });
    set || !empty || others.into_iter().any(|(_, s)| s.into == Some(variable))
}
