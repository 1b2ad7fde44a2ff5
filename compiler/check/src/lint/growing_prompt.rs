//! Lists that only grow and that a prompt shows in full.

use crate::facts::Facts;
use crate::facts::endless::alone;
use crate::facts::graph::GraphNode;
use crate::facts::uses::{own_walk, walk};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, Expr, ExprKind, TemplatePart, Type, VariableKind,
};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::GROWING_PROMPT;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &GROWING_PROMPT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in growing(chart, facts) {
        let (name, step) = (&chart.variables[found.variable.index()].name, map.step(found.step));
        let at = step.prompt_parts.get(found.part).copied().unwrap_or(step.name);
        let message = format!(
            "the prompt of {} shows all of `{name}`, which grows with each iteration",
            words::step(chart, found.step)
        );
        let one = GROWING_PROMPT.at(at, message).help(format!(
            "show the last items only, such as `{name}[-5:]`, or shorten the list where it grows"
        ));
        diagnostics.push(one.related(map.transition(found.transition).whole, "grows here"));
    }
}

/// A prompt that shows all of a list that only grows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Growing {
    variable: VarId,
    /// A transition that appends to the list.
    transition: TransitionId,
    /// The step with the prompt.
    step: StepId,
    /// The index of the part of the prompt that shows the list.
    part: usize,
}

/// Finds every prompt that shows in full a list that only grows in a loop containing its step; once for each step and list. Guards are
/// assumed to hold. A list whose length is read by a condition is assumed to be bounded.
fn growing(chart: &Chart, facts: &Facts) -> Vec<Growing> {
    let shown = shown(chart);
    if shown.is_empty() {
        return Vec::new();
    }
    let growth: Vec<(VarId, TransitionId)> = transitions(chart, &|v, e| appends(e, v));
    let lists: BTreeSet<VarId> = shown.iter().map(|s| s.0).collect();
    if !growth.iter().any(|(v, _)| lists.contains(v)) {
        return Vec::new();
    }
    let bounded = measured(chart);
    let other: Vec<(VarId, TransitionId)> = transitions(chart, &|v, e| !appends(e, v));
    let Some(moves) = alone(chart, facts) else { return Vec::new() };
    let mut found: BTreeMap<(StepId, VarId), Growing> = BTreeMap::new();
    // A strongly connected component of more than one node is a loop.
    for component in moves.components().iter().filter(|c| c.len() > 1) {
        let mut taken: BTreeSet<TransitionId> = BTreeSet::new();
        let mut active: BTreeSet<StateId> = BTreeSet::new();
        for node in component {
            match node {
                GraphNode::Transition(transition) => drop(taken.insert(*transition)),
                GraphNode::Active(state) | GraphNode::Entered(state) => drop(active.insert(*state)),
                GraphNode::Any(_) => {}
            }
        }
        let resets = |variable: VarId| {
            let blocks = active.iter().flat_map(|s| {
                let row = chart.state(*s);
                row.entry.iter().chain(&row.exit)
            });
            let mut set = other.iter().any(|(v, l)| *v == variable && taken.contains(l));
            for block in blocks {
                Action::walk(block, &mut |a| {
                    set |= matches!(a, Action::Assign(v, e) if *v == variable && !appends(e, *v));
                });
            }
            let inside = chart.steps.iter().filter(|s| active.contains(&s.state));
            set || inside.into_iter().any(|s| s.into == Some(variable) || code_sets(s, variable))
        };
        for (variable, transition) in &growth {
            if !taken.contains(transition) || bounded.contains(variable) || resets(*variable) {
                continue;
            }
            for (_, step, part) in shown.iter().filter(|(v, ..)| v == variable) {
                let within = &facts.scopes.step(*step).within;
                if within.iter().any(|s| active.contains(s)) {
                    found.entry((*step, *variable)).or_insert(Growing {
                        variable: *variable,
                        transition: *transition,
                        step: *step,
                        part: *part,
                    });
                }
            }
        }
    }
    found.into_values().collect()
}

fn code_sets(step: &chartc_core::model::Step, variable: VarId) -> bool {
    let chartc_core::model::StepKind::Code(actions) = &step.kind else { return false };
    crate::facts::uses::assigned(actions).contains(&variable)
}

/// The assignments in the actions of transitions for which `way` holds, as variable and transition.
fn transitions(chart: &Chart, way: &dyn Fn(VarId, &Expr) -> bool) -> Vec<(VarId, TransitionId)> {
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        Action::walk(&transition.actions, &mut |action| {
            if let Action::Assign(variable, value) = action
                && way(*variable, value)
            {
                found.push((*variable, TransitionId::at(i)));
            }
        });
    }
    found
}

/// Whether the value is the variable itself with something added at either end.
fn appends(value: &Expr, to: VarId) -> bool {
    if let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind {
        let own = |e: &Expr| matches!(e.kind, ExprKind::Variable(v) if v == to) || appends(e, to);
        return own(a) || own(b);
    }
    false
}

/// The prompts that show a list in full, as list, step and part.
fn shown(chart: &Chart) -> Vec<(VarId, StepId, usize)> {
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        for (part, piece) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            let TemplatePart::Hole { expr, .. } = piece else { continue };
            let mut lists = Vec::new();
            whole(expr, &mut lists);
            for id in lists {
                let row = &chart.variables[id.index()];
                let kept = matches!(row.kind, VariableKind::Var { per_turn: false });
                if kept && matches!(row.ty, Type::List(_)) {
                    found.push((id, StepId::at(i), part));
                }
            }
        }
    }
    found
}

/// Collects the variables whose whole value the expression shows.
fn whole(expr: &Expr, found: &mut Vec<VarId>) {
    match &expr.kind {
        ExprKind::Variable(id) => found.push(*id),
        ExprKind::Builtin(Builtin::Str | Builtin::Sorted, inner) => {
            for e in inner {
                whole(e, found);
            }
        }
        // An unfiltered comprehension shows something of each element.
        ExprKind::Comprehension { source, filter: None, .. } => whole(source, found),
        ExprKind::If(_, a, b) | ExprKind::Default(a, b) => {
            whole(a, found);
            whole(b, found);
        }
        _ => {}
    }
}

/// The lists whose length some condition reads.
fn measured(chart: &Chart) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let guards = chart.transitions.iter().filter_map(|l| l.guard.as_ref());
    for guard in guards.chain(chart.steps.iter().filter_map(|s| s.guard.as_ref())) {
        walk(chart, guard, &mut |e| {
            if let ExprKind::Builtin(Builtin::Len, of) = &e.kind {
                for e in of {
                    own_walk(e, &mut |e| {
                        if let ExprKind::Variable(id) = e.kind {
                            found.insert(id);
                        }
                    });
                }
            }
        });
    }
    found
}
