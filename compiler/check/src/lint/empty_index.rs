//! Indexes into lists that may be too short for them.

use crate::lint::{Context, Lint, words};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::EMPTY_INDEX;

pub(super) static LINT: Lint = Lint { rule: &EMPTY_INDEX, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for found in indexed(context) {
        let (at, fails) = match found.place {
            Where::Transition(id) => (map.transition(id).whole, "the rest of the block is not run"),
            Where::Entry(state, block) => {
                let spans = map.state(state);
                let at = spans.entry.get(block).copied().unwrap_or(spans.name);
                (at, "the rest of the block is not run")
            }
            Where::Prompt(step, part) => {
                let spans = map.step(step);
                let at = spans.prompt_parts.get(part).copied().unwrap_or(spans.name);
                (at, "the step fails")
            }
            Where::Step(step) => (map.step(step).name, "the step fails"),
        };
        let mut named = "xs";
        let (list, why) = match found.held {
            ListOrigin::Function(id) => {
                (format!("`{}(…)`", chart.functions[id.index()].name), "gives `[]` where it fails")
            }
            ListOrigin::Variable(id) => {
                named = &chart.variables[id.index()].name;
                (format!("`{named}`"), "may be `[]`")
            }
            ListOrigin::Answer(step) => {
                (format!("the answer of {}", words::step(chart, step)), "may be `[]`")
            }
            ListOrigin::Part(step) => {
                (format!("a list in the answer of {}", words::step(chart, step)), "may be `[]`")
            }
        };
        let message = format!("{list} {why}: there is no item {} then, and {fails}", found.item);
        diagnostics.push(EMPTY_INDEX.at(at, message).help(format!(
            "ask first, such as `if len({named}) > 0`, or use a slice, `{named}[:1]`, which takes what there is"
        )));
    }
}

use crate::facts::uses::{own_expressions, own_walk, walk};
use crate::turn::flow::{Flow, Site};
use chartc_core::arena::{FunctionId, StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, FunctionKind, StepKind, TemplatePart, Transition, Trigger, Type,
    UnaryOp, VariableKind,
};
use std::collections::BTreeSet;

/// The origin of an indexed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ListOrigin {
    /// The result of a host function whose fallback is shorter.
    Function(FunctionId),
    /// A variable whose initial value is shorter.
    Variable(VarId),
    /// The answer of a step.
    Answer(StepId),
    /// A field of the answer of a step.
    Part(StepId),
}

/// The place of an index expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In the target arguments or the actions of a transition.
    Transition(TransitionId),
    /// In an `enter` block, with its index.
    Entry(StateId, usize),
    /// In a part of a prompt.
    Prompt(StepId, usize),
    /// In the arguments of a step.
    Step(StepId),
}

impl Where {
    fn site(self) -> Site {
        match self {
            Self::Transition(id) => Site::Moves(id),
            Self::Entry(state, _) => Site::State(state),
            Self::Prompt(step, part) => Site::Prompt(step, part),
            Self::Step(step) => Site::Arguments(step),
        }
    }
}

/// An index expression that may be out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Indexed {
    place: Where,
    held: ListOrigin,
    /// The index; negative if it counts from the end.
    item: i64,
}

/// Finds indexes into lists that may be too short, if no condition of the chart reads the list and some run gets there without
/// setting it. Index expressions in conditions do not count: if they fail, the condition is false.
fn indexed(context: &Context<'_>) -> Vec<Indexed> {
    let Context { chart, facts, .. } = context;
    let mut found = candidates(context);
    if found.iter().any(|f| matches!(f.held, ListOrigin::Variable(_))) {
        let flow = Flow::new(chart, facts);
        found.retain(|f| match f.held {
            ListOrigin::Variable(id) => flow.may_be_fresh(&[f.place.site()], id),
            ListOrigin::Function(_) | ListOrigin::Answer(_) | ListOrigin::Part(_) => true,
        });
    }
    found
}

fn candidates(context: &Context<'_>) -> Vec<Indexed> {
    let Context { chart, facts, .. } = context;
    let mut tested: Option<BTreeSet<ListOrigin>> = None;
    let mut found = Vec::new();
    // `set` contains the variables that earlier actions of the same block set.
    let mut note =
        |place: Where, transition: Option<&Transition>, set: &BTreeSet<ListOrigin>, expr: &Expr| {
            own_walk(expr, &mut |e| {
                let ExprKind::Index(list, index) = &e.kind else { return };
                let Some(item) = number(index) else { return };
                let Some(held) = held(chart, transition, list, item) else { return };
                let tested = tested.get_or_insert_with(|| asked(chart));
                if !tested.contains(&held) && !set.contains(&held) {
                    found.push(Indexed { place, held, item });
                }
            });
        };
    let nothing = BTreeSet::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) {
            continue;
        }
        for argument in transition.targets.iter().flat_map(|t| &t.arguments) {
            note(Where::Transition(id), Some(transition), &nothing, argument);
        }
        in_order(&transition.actions, &mut |set, e| {
            note(Where::Transition(id), Some(transition), set, e);
        });
    }
    for state in chart.state_ids().filter(|s| context.enters(*s)) {
        for (nth, block) in chart.state(state).entry.iter().enumerate() {
            in_order(block, &mut |set, e| note(Where::Entry(state, nth), None, set, e));
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        for (part, piece) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            if let TemplatePart::Hole { expr, .. } = piece {
                note(Where::Prompt(id, part), None, &nothing, expr);
            }
        }
        if let StepKind::Call(_, arguments) = &step.kind {
            for e in arguments {
                note(Where::Step(id), None, &nothing, e);
            }
        }
    }
    found.dedup();
    found
}

/// Visits the expressions of a block, except its conditions, each with the variables that the block sets before it.
fn in_order(block: &[Action], found: &mut dyn FnMut(&BTreeSet<ListOrigin>, &Expr)) {
    let mut set = BTreeSet::new();
    // Branches count as executed: a variable that one of them sets is not reported after it.
    Action::walk(block, &mut |action| {
        if !matches!(action, Action::If(..)) {
            for e in own_expressions(action) {
                found(&set, e);
            }
        }
        if let Action::Assign(id, _) = action {
            set.insert(ListOrigin::Variable(*id));
        }
    });
}

/// The value of an integer literal, with its sign.
fn number(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(number) => Some(*number),
        ExprKind::Unary(UnaryOp::Negate, inner) => number(inner)?.checked_neg(),
        _ => None,
    }
}

/// The origin of a list in which this item may be missing; `None` if the item is there, or the list is none of these kinds.
fn held(
    chart: &Chart,
    transition: Option<&Transition>,
    list: &Expr,
    item: i64,
) -> Option<ListOrigin> {
    if !matches!(list.ty, Type::List(_)) {
        return None;
    }
    // Item 2 needs three elements, item -2 needs two.
    let wanted = usize::try_from(if item < 0 { -item } else { item.saturating_add(1) }).ok()?;
    match &list.kind {
        ExprKind::Call(id, _) => match &chart.functions[id.index()].kind {
            FunctionKind::Pure { fallback: Some(Value::List(items)), .. } => {
                (items.len() < wanted).then_some(ListOrigin::Function(*id))
            }
            FunctionKind::Pure { .. } | FunctionKind::Effect => None,
        },
        ExprKind::Variable(id) => {
            let row = &chart.variables[id.index()];
            let given = matches!(row.kind, VariableKind::Param { .. });
            let begins = row.default.as_ref().map(|e| &e.kind);
            let short = matches!(begins, Some(ExprKind::List(items)) if items.len() < wanted);
            (short && !given).then_some(ListOrigin::Variable(*id))
        }
        ExprKind::Answer(step) => Some(ListOrigin::Answer(*step)),
        ExprKind::Payload(0) => match transition?.trigger {
            Trigger::StepDone(step) => Some(ListOrigin::Answer(step)),
            _ => None,
        },
        ExprKind::Field(whole, _) => match (&whole.kind, transition.map(|l| &l.trigger)) {
            (ExprKind::Answer(step), _) | (ExprKind::Payload(0), Some(Trigger::StepDone(step))) => {
                Some(ListOrigin::Part(*step))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The lists that the conditions of transitions, steps, actions and expressions read.
fn asked(chart: &Chart) -> BTreeSet<ListOrigin> {
    let mut asked = BTreeSet::new();
    let mut look = |of: Option<StepId>, expr: &Expr| {
        walk(chart, expr, &mut |e| match e.kind {
            ExprKind::Call(id, _) => drop(asked.insert(ListOrigin::Function(id))),
            ExprKind::Variable(id) => drop(asked.insert(ListOrigin::Variable(id))),
            ExprKind::Answer(step) => {
                asked.extend([ListOrigin::Answer(step), ListOrigin::Part(step)]);
            }
            ExprKind::Payload(0) => {
                asked.extend(
                    of.into_iter().flat_map(|s| [ListOrigin::Answer(s), ListOrigin::Part(s)]),
                );
            }
            _ => {}
        });
    };
    for transition in &chart.transitions {
        transition.guard.iter().for_each(|guard| look(transition.trigger.step(), guard));
    }
    chart.steps.iter().filter_map(|s| s.guard.as_ref()).for_each(|guard| look(None, guard));
    crate::facts::usage::expressions(chart, &mut |_, expr| {
        own_walk(expr, &mut |e| {
            if let ExprKind::If(condition, ..) = &e.kind {
                look(None, condition);
            }
        });
    });
    crate::facts::usage::actions(chart, &mut |action| {
        if let Action::If(condition, ..) = action {
            look(None, condition);
        }
    });
    asked
}
