//! Items that are taken by their number from lists which may be too short.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a few kinds of expressions are lists that matter, whatever else there will be"
)]

use super::Facts;
use super::uses::{own_expressions, own_walk, walk};
use chartc_core::arena::{FunctionId, StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, FunctionKind, StepKind, TemplatePart, Transition, Trigger, Type,
    VariableKind,
};
use std::collections::BTreeSet;

/// What the list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// What a host function gives, whose value on failure is shorter.
    Function(FunctionId),
    /// A variable that begins shorter.
    Variable(VarId),
    /// The answer of a step.
    Answer(StepId),
}

/// Where the item is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the target or the actions of a line.
    Line(TransitionId),
    /// In an `enter` block, by its number.
    Entry(StateId, usize),
    /// In a part of a prompt.
    Prompt(StepId, usize),
    /// In the arguments of a step.
    Step(StepId),
}

/// Such an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexed {
    /// Where.
    pub place: Where,
    /// Of what.
    pub held: Held,
    /// Its number.
    pub item: i64,
}

/// Every item of a list that may be shorter, where nothing in the chart asks for the list in a condition. Conditions themselves do not
/// count: a fault makes them false.
pub fn indexed(chart: &Chart, facts: &Facts) -> Vec<Indexed> {
    let mut tested: Option<BTreeSet<Held>> = None;
    let mut found = Vec::new();
    let mut note = |place: Where, line: Option<&Transition>, expr: &Expr| {
        own_walk(expr, &mut |e| {
            let ExprKind::Index(list, index) = &e.kind else { return };
            let ExprKind::Int(item) = index.kind else { return };
            let Some(held) = held(chart, line, list, item) else { return };
            let tested = tested.get_or_insert_with(|| asked(chart));
            if !tested.contains(&held) {
                found.push(Indexed { place, held, item });
            }
        });
    };
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.takes(id) {
            continue;
        }
        for argument in line.targets.iter().flat_map(|t| &t.arguments) {
            note(Where::Line(id), Some(line), argument);
        }
        Action::walk(&line.actions, &mut |action| {
            if !matches!(action, Action::If(..)) {
                for e in own_expressions(action) {
                    note(Where::Line(id), Some(line), e);
                }
            }
        });
    }
    for state in chart.state_ids().filter(|s| facts.enters(*s)) {
        for (nth, block) in chart.state(state).entry.iter().enumerate() {
            Action::walk(block, &mut |action| {
                if !matches!(action, Action::If(..)) {
                    let all = own_expressions(action).into_iter();
                    all.for_each(|e| note(Where::Entry(state, nth), None, e));
                }
            });
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        for (part, piece) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            if let TemplatePart::Hole { expr, .. } = piece {
                note(Where::Prompt(id, part), None, expr);
            }
        }
        if let StepKind::Call(_, arguments) = &step.kind {
            for e in arguments {
                note(Where::Step(id), None, e);
            }
        }
    }
    found.dedup();
    found
}

/// What the list is, if it may have no such item.
fn held(chart: &Chart, line: Option<&Transition>, list: &Expr, item: i64) -> Option<Held> {
    if !matches!(list.ty, Type::List(_)) {
        return None;
    }
    let wanted = usize::try_from(if item < 0 { -item } else { item.saturating_add(1) }).ok()?;
    match &list.kind {
        ExprKind::Call(id, _) => match &chart.functions[id.index()].kind {
            FunctionKind::Pure { fallback: Some(Value::List(items)), .. } => {
                (items.len() < wanted).then_some(Held::Function(*id))
            }
            FunctionKind::Pure { .. } | FunctionKind::Effect => None,
        },
        ExprKind::Variable(id) => {
            let row = &chart.variables[id.index()];
            let given = matches!(row.kind, VariableKind::Param { .. });
            let begins = row.default.as_ref().map(|e| &e.kind);
            let short = matches!(begins, Some(ExprKind::List(items)) if items.len() < wanted);
            (short && !given).then_some(Held::Variable(*id))
        }
        ExprKind::Answer(step) => Some(Held::Answer(*step)),
        ExprKind::Payload(0) => match line?.trigger {
            Trigger::StepDone(step) => Some(Held::Answer(step)),
            _ => None,
        },
        _ => None,
    }
}

/// What conditions, of lines, steps, actions and expressions, ask for.
fn asked(chart: &Chart) -> BTreeSet<Held> {
    let mut asked = BTreeSet::new();
    let mut look = |of: Option<StepId>, expr: &Expr| {
        walk(chart, expr, &mut |e| match e.kind {
            ExprKind::Call(id, _) => drop(asked.insert(Held::Function(id))),
            ExprKind::Variable(id) => drop(asked.insert(Held::Variable(id))),
            ExprKind::Answer(step) => drop(asked.insert(Held::Answer(step))),
            ExprKind::Payload(0) => asked.extend(of.map(Held::Answer)),
            _ => {}
        });
    };
    for line in &chart.transitions {
        line.guard.iter().for_each(|guard| look(line.trigger.step(), guard));
    }
    chart.steps.iter().filter_map(|s| s.guard.as_ref()).for_each(|guard| look(None, guard));
    super::usage::expressions(chart, &mut |_, expr| {
        own_walk(expr, &mut |e| {
            if let ExprKind::If(condition, ..) = &e.kind {
                look(None, condition);
            }
        });
    });
    super::usage::actions(chart, &mut |action| {
        if let Action::If(condition, ..) = action {
            look(None, condition);
        }
    });
    asked
}
