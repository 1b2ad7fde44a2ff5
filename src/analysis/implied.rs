//! Model steps that never run because an earlier step takes the only call of the turn whenever their condition holds.

use super::Facts;
use super::calls::in_region;
use super::guard::{Verdict, decide};
use super::uses::{assigned, walk};
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::{Chart, Expr, ExprKind, Observable, StepKind, Trigger};
use std::collections::BTreeSet;

/// A step that never runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Implied {
    /// The step.
    pub step: StepId,
    /// An earlier one, whose condition holds whenever that of the step does: it takes the call.
    pub taker: StepId,
    /// Whether the condition of the step is the narrower one: put first, both would run.
    pub is_narrower: bool,
}

/// A chart with more steps is written by a program.
const MOST: usize = 100;

/// Every such step with a condition, ascending. Between the two nothing may move or change what the conditions read: there are only
/// `code` steps and model steps, and of the latter each that runs takes the call itself.
pub fn implied(chart: &Chart, facts: &Facts) -> Vec<Implied> {
    let whens = chart.transitions.iter().any(|line| line.trigger == Trigger::When);
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
            StepKind::Ask { .. } | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => {
                return None;
            }
        }
    }
    None
}

/// Whether the first step may act in every leaf in which the other may.
fn covers(chart: &Chart, facts: &Facts, first: StepId, other: StepId) -> bool {
    let of = |step| facts.places.step(step);
    let mut leaves = facts.reach.leaves(chart);
    fits(chart, facts, first)
        && leaves.all(|leaf| !of(other).covers(chart, leaf) || of(first).covers(chart, leaf))
}

/// Whether it is known where the step acts, and that no region takes its turn.
fn fits(chart: &Chart, facts: &Facts, step: StepId) -> bool {
    let place = facts.places.step(step);
    !place.is_loose
        && !place.within.is_empty()
        && !in_region(chart, chart.steps[step.index()].state)
}

/// The variables that a condition reads, if nothing else that it reads may change within a walk.
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
