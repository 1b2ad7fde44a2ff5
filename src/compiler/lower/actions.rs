//! Lowers the actions of blocks.

use super::context::{Cx, NameKind};
use super::expr::{self, Bound, Env, Options};
use super::{PostSpans, declare};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, idle_assignment, type_error};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, Noted};
use chartc_core::arena::{LocalId, SendId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Expr, ExprKind, FunctionKind, Local, Receiver, Type, VariableKind,
};
use std::collections::BTreeSet;

/// Lowers an action block; what cannot be resolved is left out.
pub(super) fn actions(cx: &mut Cx<'_>, env: &mut Env, block: &syntax::Block) -> Vec<Action> {
    listed(cx, env, &block.actions)
}

/// Lowers a sequence of actions, of a block or a `code` step.
pub(super) fn listed(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &[Noted<syntax::Action>],
) -> Vec<Action> {
    written.iter().filter_map(|noted| action(cx, env, &noted.node, noted.span)).collect()
}

fn action(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Action, span: Span) -> Option<Action> {
    match written {
        syntax::Action::Assign(name, value) => {
            assign(cx, env, name, value).map(|(id, value)| Action::Assign(id, value))
        }
        syntax::Action::If(test, then, other) => Some(if_else(cx, env, test, then, other)),
        syntax::Action::For(name, source, body) => Some(for_each(cx, env, name, source, body)),
        syntax::Action::Do(name, arguments) => effect(cx, env, name, arguments, span),
        syntax::Action::Raise(path, arguments) => {
            let (event, arguments) = sent(cx, env, path, arguments)?;
            cx.map.posts.push(PostSpans { event, to: Receiver::Own, span: path.span });
            Some(Action::Raise(event, arguments))
        }
        syntax::Action::Send { event: path, arguments, to, after, id } => {
            let after = after.as_ref().map(|e| expr::expect(cx, env, e, &Type::Duration));
            let id = id.as_ref().map(|id| {
                let known = send_id(cx, &id.node);
                cx.sent.insert(known);
                cx.ids.push((known, id.span));
                known
            });
            let (event, arguments) = sent(cx, env, path, arguments)?;
            let (to, element) = match to {
                Some(to) => addressed(cx, env, to)?,
                None => (Receiver::Own, None),
            };
            cx.map.posts.push(PostSpans { event, to, span: path.span });
            Some(Action::Send { event, arguments, after, id, to, element })
        }
        syntax::Action::Cancel(id) => {
            let known = send_id(cx, &id.node);
            cx.canceled.push((known, id.span));
            Some(Action::Cancel(known))
        }
        syntax::Action::Log(text) => {
            Some(Action::Log(expr::template(cx, env, text, Options::No).0))
        }
    }
}

/// The id for the name that a `send` or a `cancel` mentions; new names are numbered by their first mention.
fn send_id(cx: &mut Cx<'_>, name: &str) -> SendId {
    let next = SendId::at(cx.chart.send_ids.len());
    let known = *cx.names.send_ids.entry(name.to_owned()).or_insert(next);
    if known == next {
        cx.chart.send_ids.push(name.to_owned());
    }
    known
}

fn sent(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &syntax::Path,
    arguments: &[syntax::Expr],
) -> Option<(chartc_core::arena::EventId, Vec<Expr>)> {
    let Some(event) = declare::event_named(cx, path) else {
        // The arguments are lowered nevertheless, to report their errors.
        for argument in arguments {
            expr::expr(cx, env, argument, None);
        }
        return None;
    };
    let fields = cx.chart.events[event.index()].fields.clone();
    let what = format!("event `{}`", path.text());
    Some((event, expr::arguments(cx, env, &what, &fields, arguments, path.span)))
}

fn effect(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    arguments: &[syntax::Expr],
    span: Span,
) -> Option<Action> {
    let Some((id, place)) = cx.names.functions.get(&name.node).copied() else {
        for argument in arguments {
            expr::expr(cx, env, argument, None);
        }
        if expr::is_language_function(&name.node) {
            refuse_value(cx, name, None);
        } else {
            expr::unknown_function(cx, name);
        }
        return None;
    };
    cx.record_use(name.span, place, NameKind::Function);
    let declared = cx.chart.functions[id.index()].clone();
    let what = format!("`{}`", name.node);
    let arguments = expr::arguments(cx, env, &what, &declared.params, arguments, span);
    match declared.kind {
        FunctionKind::Effect => Some(Action::Do(id, arguments)),
        FunctionKind::Pure { .. } => {
            refuse_value(cx, name, Some(place));
            None
        }
    }
}

fn refuse_value(cx: &mut Cx<'_>, name: &Ident, place: Option<Span>) {
    let mut finding = TYPE_ERROR
        .at(name.span, format!("`{}` only computes a value, which nothing uses here", name.node))
        .help("assign it, or declare the function with `do` if it has an effect");
    if let Some(place) = place {
        finding = finding.related(place, "declared here");
    }
    cx.report(finding);
}

/// Lowers `x = e`, and records whether `x` may be none afterwards.
fn assign(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    value: &syntax::Expr,
) -> Option<(VarId, Expr)> {
    let bound = env.binds(&name.node);
    let found = cx.names.variables.get(&name.node).copied();
    let (id, place) = match found {
        Some(found) if !bound => {
            cx.record_use(name.span, found.1, NameKind::Variable);
            found
        }
        _ => {
            expr::expr(cx, env, value, None);
            refuse_name(cx, name, bound);
            return None;
        }
    };
    let declared = &cx.chart.variables[id.index()];
    let want = declared.ty.clone();
    let writable = matches!(declared.kind, VariableKind::Var { .. });
    let whole = value.span;
    let value = expr::expect(cx, env, value, &want);
    // Only now: the value itself reads the old one.
    env.forget(id);
    if matches!(want, Type::Optional(_)) && !matches!(value.ty, Type::Optional(_) | Type::Json) {
        env.know(id);
    }
    if !writable {
        refuse_write(cx, id, name.span, place);
        return None;
    }
    cx.map.assignments.push((id, name.span.to(whole)));
    if is_same(id, &value) {
        let found = idle_assignment::unchanged(&name.node, name.span.to(whole));
        cx.report(found);
    }
    Some((id, value))
}

fn refuse_name(cx: &mut Cx<'_>, name: &Ident, bound: bool) {
    let hidden = cx.names.variables.get(&name.node).copied();
    if let Some((hidden, _)) = hidden.filter(|_| bound) {
        let var = matches!(cx.chart.variables[hidden.index()].kind, VariableKind::Var { .. });
        let message = format!("`{}` cannot be assigned to", name.node);
        let help = if var {
            "here the name stands for what this line binds, which hides the `var`: bind it under another name"
        } else {
            "only a `var` can"
        };
        cx.report(TYPE_ERROR.at(name.span, message).help(help));
        return;
    }
    let read_only = bound
        || cx.names.predicates.contains_key(&name.node)
        || cx.names.steps.contains_key(&name.node);
    if read_only {
        let message = format!("`{}` cannot be assigned to", name.node);
        cx.report(TYPE_ERROR.at(name.span, message).help("only a `var` can"));
        return;
    }
    let known: Vec<String> = cx
        .chart
        .variables
        .iter()
        .filter(|v| matches!(v.kind, VariableKind::Var { .. }))
        .map(|v| v.name.clone())
        .collect();
    cx.unknown("variable", &name.node, name.span, known.iter().map(String::as_str));
}

/// Reports an assignment to a param or an input.
pub(super) fn refuse_write(cx: &mut Cx<'_>, id: VarId, span: Span, place: Span) {
    let variable = &cx.chart.variables[id.index()];
    let (what, why) = match variable.kind {
        VariableKind::Param { .. } => ("param", "a param keeps its value for the whole run"),
        VariableKind::Input => ("input", "an input is set by the host only"),
        VariableKind::Var { .. } | VariableKind::Asked => return,
    };
    let finding = type_error::read_only(what, &variable.name, why, span, place);
    cx.report(finding);
}

fn if_else(
    cx: &mut Cx<'_>,
    env: &mut Env,
    test: &syntax::Expr,
    then: &[Noted<syntax::Action>],
    other: &[Noted<syntax::Action>],
) -> Action {
    let test = expr::condition(cx, env, test);
    let before = env.facts.clone();
    if !env.enter() {
        return Action::If(test, Vec::new(), Vec::new());
    }
    env.learn(&test, true);
    let then = listed(cx, env, then);
    let after_then = std::mem::replace(&mut env.facts, before);
    env.learn(&test, false);
    let other = listed(cx, env, other);
    env.leave();
    // After the `if`, only what holds at the end of both branches is known.
    let both: BTreeSet<_> = env.facts.intersection(&after_then).cloned().collect();
    env.facts = both;
    Action::If(test, then, other)
}

fn for_each(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    source: &syntax::Expr,
    body: &[Noted<syntax::Action>],
) -> Action {
    let from = expr::expr(cx, env, source, None);
    let element = if let Type::List(item) = &from.ty { (**item).clone() } else { Type::Json };
    if !matches!(from.ty, Type::List(_) | Type::Json) && !expr::is_faulty(&from) {
        let want = Type::List(Box::new(Type::Json));
        let finding = expr::mismatch(cx, source.span, &want, &from.ty);
        cx.report(finding.help("`for` goes through a list"));
    }
    // A later iteration sees what an earlier one assigned, so nothing is known of these variables.
    let mut assigned = BTreeSet::new();
    names_assigned(body, &mut assigned);
    for name in &assigned {
        if let Some((id, _)) = cx.names.variables.get(*name) {
            env.forget(*id);
        }
    }
    let before = env.facts.clone();
    let local = LocalId::at(env.locals.len());
    if !env.enter() {
        return Action::For(Local { id: local, name: name.node.clone() }, from, Vec::new());
    }
    cx.record_binding(name, &element);
    env.locals.push(Bound::local(name, element));
    let body = listed(cx, env, body);
    env.locals.pop();
    env.leave();
    // The list may be empty, so what the body establishes is not known afterwards.
    env.facts = before;
    Action::For(Local { id: local, name: name.node.clone() }, from, body)
}

fn names_assigned<'s>(body: &'s [Noted<syntax::Action>], names: &mut BTreeSet<&'s str>) {
    let mut open = vec![body];
    while let Some(block) = open.pop() {
        for noted in block {
            match &noted.node {
                syntax::Action::Assign(name, _) => {
                    names.insert(&name.node);
                }
                syntax::Action::If(_, then, other) => open.extend([&then[..], other]),
                syntax::Action::For(_, _, inner) => open.push(inner),
                _ => {}
            }
        }
    }
}

/// Whether the value is the variable's own: `x`, `x + 0`, `x - 0`, `x * 1`, `x / 1`.
fn is_same(id: VarId, value: &Expr) -> bool {
    if value.kind == ExprKind::Variable(id) {
        return true;
    }
    let ExprKind::Binary(op, a, b) = &value.kind else { return false };
    // For a Json value, the operation could change the type.
    let own = |e: &Expr| e.kind == ExprKind::Variable(id) && e.ty == value.ty && e.ty != Type::Json;
    let is = |e: &Expr, n: i64| {
        e.kind == ExprKind::Int(n) || matches!(e.kind, ExprKind::Float(x) if x == n as f64)
    };
    match op {
        BinaryOp::Add => own(a) && is(b, 0) || own(b) && is(a, 0),
        BinaryOp::Subtract => own(a) && is(b, 0),
        BinaryOp::Multiply => own(a) && is(b, 1) || own(b) && is(a, 1),
        BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Power => own(a) && is(b, 1),
        BinaryOp::Modulo | BinaryOp::And | BinaryOp::Or => false,
    }
}

/// The receiver that `to` means, and the index of the element; reports an unknown one.
fn addressed(
    cx: &mut Cx<'_>,
    env: &mut Env,
    (to, element): &(Ident, Option<syntax::Expr>),
) -> Option<(Receiver, Option<Box<Expr>>)> {
    let receiver = receiver(cx, to);
    // Lowered even if the receiver is unknown, to report the errors in it.
    let index = element.as_ref().map(|index| Box::new(expr::expect(cx, env, index, &Type::Int)));
    let receiver = receiver?;
    let has_elements = match receiver {
        Receiver::Child(step) => cx.step_nodes[step.index()].step.each.is_some(),
        Receiver::Own | Receiver::Parent | Receiver::Element(..) => false,
    };
    if let (Some(element), false) = (element, has_elements) {
        let message = format!("`{}` runs one chart, and has no elements", to.node);
        let finding = ILLEGAL_STRUCTURE.at(element.span, message);
        cx.report(finding.help("leave the index out"));
        return None;
    }
    Some((receiver, index))
}

/// The receiver that `to` means; reports an unknown one.
fn receiver(cx: &mut Cx<'_>, to: &Ident) -> Option<Receiver> {
    if to.node == PARENT {
        return Some(Receiver::Parent);
    }
    let Some((step, place)) = cx.names.steps.get(&to.node).copied() else {
        let steps = cx.step_nodes.iter().map(|node| &node.step);
        let runs = steps.filter(|step| matches!(step.kind, syntax::StepKind::Run(_)));
        let known: Vec<String> = runs.map(|step| step.name.node.clone()).collect();
        let known = known.iter().map(String::as_str).chain([PARENT]);
        cx.unknown("`run` step", &to.node, to.span, known);
        return None;
    };
    cx.record_use(to.span, place, NameKind::Step);
    if !matches!(cx.step_nodes[step.index()].step.kind, syntax::StepKind::Run(_)) {
        let finding = ILLEGAL_STRUCTURE
            .at(to.span, format!("`{}` runs no chart, and takes no events", to.node))
            .help("events go to the chart itself, to a `run` step, or to `parent`")
            .related(place, "declared here");
        cx.report(finding);
        return None;
    }
    Some(Receiver::Child(step))
}

/// The word for the chart that runs this one.
const PARENT: &str = "parent";
