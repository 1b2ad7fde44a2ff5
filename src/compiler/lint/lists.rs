//! Findings about lists that are empty or too short, and which lists are known to be.

use super::{Context, Lint, words};
use crate::analysis::facts::usage::walk;
use crate::analysis::turn::flow::Site;
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{FunctionId, StateId, StepId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Chart, ChoiceKind, Expr, ExprKind, FunctionKind, StepKind, TemplatePart,
    Transition, Trigger, Type, UnaryOp, VariableKind,
};
use std::collections::BTreeSet;

/// The values of variables that only actions assign.
pub(super) struct Lists<'c> {
    /// All values that a variable may have, as they are written; `None` if something else sets it.
    values: Vec<Option<Vec<&'c Expr>>>,
}

impl<'c> Lists<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        let first = |variable: &'c chartc_core::model::Variable| match variable.kind {
            VariableKind::Var { .. } => variable.default.as_ref().map(|value| vec![value]),
            VariableKind::Param { .. } | VariableKind::Input | VariableKind::Asked => None,
        };
        let mut values: Vec<Option<Vec<&Expr>>> = chart.variables.iter().map(first).collect();
        for actions in chart.bodies() {
            Action::walk(actions, &mut |action| {
                if let Action::Assign(id, value) = action
                    && let Some(known) = &mut values[id.index()]
                {
                    known.push(value);
                }
            });
        }
        // The values of answers and of tool results are not known.
        for id in chart.steps.iter().filter_map(|step| step.into) {
            values[id.index()] = None;
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(_, Some(id)) = choice.kind {
                values[id.index()] = None;
            }
        }
        Self { values }
    }

    /// Whether a list never has an element.
    pub(super) fn is_empty(&self, list: &Expr) -> bool {
        // A variable that is made only of empty lists and itself stays empty.
        self.all(list, &mut Vec::new(), true, &|list| match &list.kind {
            ExprKind::List(items) => items.is_empty(),
            ExprKind::Slice(_, _, Some(end)) => end.kind == ExprKind::Int(0),
            _ => false,
        })
    }

    /// Whether the chart bounds the number of elements of a list.
    pub(super) fn is_bounded(&self, list: &Expr) -> bool {
        // A variable that is made of itself may grow. A negative end of a slice is no bound, because it counts from the end.
        self.all(list, &mut Vec::new(), false, &|list| match &list.kind {
            ExprKind::List(_) => true,
            ExprKind::Slice(_, _, Some(end)) => {
                matches!(end.kind, ExprKind::Int(end) if end >= 0)
            }
            _ => false,
        })
    }

    /// Whether `is_such` holds for a list, or for every list of which it is made. `open` contains the variables that are being examined,
    /// and `again` is the result for a variable that is made of itself.
    fn all(
        &self,
        list: &Expr,
        open: &mut Vec<VarId>,
        again: bool,
        is_such: &dyn Fn(&Expr) -> bool,
    ) -> bool {
        let mut each = |list: &Expr| self.all(list, open, again, is_such);
        is_such(list)
            || match &list.kind {
                ExprKind::Slice(inner, ..) | ExprKind::Comprehension { source: inner, .. } => {
                    each(inner)
                }
                ExprKind::Binary(BinaryOp::Add, a, b) | ExprKind::If(_, a, b) => each(a) && each(b),
                ExprKind::Variable(id) if open.contains(id) => again,
                ExprKind::Variable(id) => {
                    let Some(values) = &self.values[id.index()] else { return false };
                    open.push(*id);
                    let all = values.iter().all(|value| self.all(value, open, again, is_such));
                    open.pop();
                    all
                }
                _ => false,
            }
    }
}

// Steps for each element of a list that is always empty.

pub(super) static EMPTY_FAN_OUT: Lint =
    Lint { rule: &rules::EMPTY_FAN_OUT, needs_whole: true, run: find_empty_fan_out };

fn find_empty_fan_out(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // Text that was lost to an error may set the list.
    if !context.all_read {
        return;
    }
    // Computed only if a step needs it.
    let mut lists = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let Some(each) = step.each.as_ref().filter(|_| !facts.scopes.step(id).within.is_empty())
        else {
            continue;
        };
        let lists = lists.get_or_insert_with(|| Lists::new(chart));
        if !lists.is_empty(&each.list) {
            continue;
        }
        let mut variable = None;
        each.list.walk(&mut |part| {
            if let ExprKind::Variable(id) = part.kind {
                variable = Some(id);
            }
        });
        let spans = map.step(id);
        let name = variable.map(|id: VarId| &chart.variables[id.index()].name);
        let step = words::step(chart, id);
        let (message, help) = match name {
            Some(name) => {
                let message =
                    format!("{step} never does anything: `{name}` is only ever set to `[]`");
                (
                    message,
                    format!("add elements to `{name}`, or keep an answer there: `into {name}`"),
                )
            }
            None => (
                format!("{step} never does anything: its list is always empty"),
                "give it the list that it is for, or take the step out".to_owned(),
            ),
        };
        let place = spans.list.unwrap_or(spans.name);
        let found = rules::EMPTY_FAN_OUT.at(place, message).help(help).about(spans.name);
        diagnostics.push(match variable {
            Some(id) => found.related(map.variables[id.index()], "it begins here"),
            None => found,
        });
    }
}

// Indexes into lists that may be too short for them.

pub(super) static EMPTY_INDEX: Lint =
    Lint { rule: &rules::EMPTY_INDEX, needs_whole: true, run: find_empty_index };

fn find_empty_index(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
        diagnostics.push(rules::EMPTY_INDEX.at(at, message).help(format!(
            "ask first, such as `if len({named}) > 0`, or use a slice, `{named}[:1]`, which takes what there is"
        )));
    }
}

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
    let mut found = candidates(context);
    found.retain(|f| match f.held {
        ListOrigin::Variable(id) => context.flow().may_be_fresh(&[f.place.site()], id),
        ListOrigin::Function(_) | ListOrigin::Answer(_) | ListOrigin::Part(_) => true,
    });
    found
}

fn candidates(context: &Context<'_>) -> Vec<Indexed> {
    let Context { chart, facts, .. } = context;
    let mut tested: Option<BTreeSet<ListOrigin>> = None;
    let mut found = Vec::new();
    // `set` contains the variables that earlier actions of the same block set.
    let mut note =
        |place: Where, transition: Option<&Transition>, set: &BTreeSet<ListOrigin>, expr: &Expr| {
            expr.walk(&mut |e| {
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
            for e in action.expressions() {
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
    crate::analysis::facts::usage::expressions(chart, &mut |_, expr| {
        expr.walk(&mut |e| {
            if let ExprKind::If(condition, ..) = &e.kind {
                look(None, condition);
            }
        });
    });
    crate::analysis::facts::usage::actions(chart, &mut |action| {
        if let Action::If(condition, ..) = action {
            look(None, condition);
        }
    });
    asked
}
