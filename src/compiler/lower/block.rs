//! Lowers the bodies of states, and the actions in blocks and `code` steps.

use super::context::{BodyItem, Cx, NameKind, NodeKind};
use super::expr::{self, Bound, Env, Options};
use super::nodes::{self, Beside, item};
use super::{PostSpans, declare, outcomes, steps, structure, transitions};
use crate::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR, idle_assignment, illegal_structure, type_error};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, History, Initial, Noted, StateItem};
use chartc_core::arena::{LocalId, SendId, StateId, StepId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Expr, ExprKind, FunctionKind, Local, Permission, Receiver, StateKind, Type,
    VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

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
                Some(to) => outcomes::addressed(cx, env, to)?,
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

/// Reports every `cancel` of an id that no `send` uses. An id is declared by the first `send` with it.
pub(super) fn cancels(cx: &mut Cx<'_>) {
    let mut first: BTreeMap<SendId, Span> = BTreeMap::new();
    for (id, at) in std::mem::take(&mut cx.ids) {
        let declared = *first.entry(id).or_insert(at);
        cx.record_send_id(id, at, declared);
    }
    let names: Vec<String> =
        cx.sent.iter().map(|id| cx.chart.send_ids[id.index()].clone()).collect();
    for (id, span) in std::mem::take(&mut cx.canceled) {
        if let Some(declared) = first.get(&id) {
            cx.record_send_id(id, span, *declared);
        } else {
            let name = cx.chart.send_ids[id.index()].clone();
            cx.unknown("`send` id", &name, span, names.iter().map(String::as_str));
        }
    }
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
        VariableKind::Var { .. } => return,
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
        let finding = declare::mismatch(cx, source.span, &want, &from.ty);
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

// Lowers the bodies of states, in document order.

/// Lowers the bodies of all states. Transitions are grouped by state: its own with its steps' outcomes, then those of `from`,
/// then copies of `each after`.
pub(super) fn all(cx: &mut Cx<'_>) {
    // The ids of the steps of a state and of its descendants are interleaved, so the steps are taken from the state's own list.
    for id in cx.chart.state_ids() {
        // Taken out of the context, which is borrowed mutably while the items are lowered.
        let parts = std::mem::take(&mut cx.nodes[id.index()].items);
        body(cx, id, &parts);
        // The parent comes first in document order, so its `each_above` is final.
        let above = cx.chart.state(id).parent.and_then(|p| cx.nodes[p.index()].each_above);
        let node = &mut cx.nodes[id.index()];
        node.each_above = if node.each.is_empty() { above } else { Some(id) };
        if cx.chart.state(id).kind == StateKind::Atomic {
            nodes::copy(cx, id);
        }
    }
}

fn body<'s>(cx: &mut Cx<'s>, id: StateId, parts: &[BodyItem<'s>]) {
    let mut steps = cx.chart.state(id).steps.clone().into_iter();
    let mut bounds: Vec<&'s [Noted<syntax::Limit>]> = Vec::new();
    let mut advised: Option<Span> = None;
    for (i, part) in parts.iter().enumerate() {
        match part.item {
            StateItem::Line(written) => {
                let near = |nth: usize| parts.get(nth).and_then(|p| Some((item(p.item)?, p.span)));
                let beside = Beside::new(i.checked_sub(1).and_then(near), near(i + 1));
                transitions::own(cx, id, written, part.span, beside);
            }
            StateItem::Step(_) => own_step(cx, id, &mut steps),
            StateItem::Enter(block) => {
                let actions = self::actions(cx, &mut Env::at(id), block);
                if !actions.is_empty() {
                    cx.map.states[id.index()].entry.push(part.span);
                }
                add_block(&mut cx.chart.states[id.index()].entry, actions);
            }
            StateItem::Exit(block) => {
                let actions = self::actions(cx, &mut Env::at(id), block);
                add_block(&mut cx.chart.states[id.index()].exit, actions);
            }
            StateItem::Advice(text) => {
                if let Some(first) = advised {
                    let what = "`advice` in one state";
                    cx.report(illegal_structure::second(what, part.span, first));
                }
                advised = Some(part.span);
                let advice = expr::template(cx, &mut Env::at(id), text, Options::No).0;
                cx.chart.states[id.index()].advice = Some(advice);
            }
            StateItem::Limits(block) if refuse_in_final(cx, id, part.span, "`limits`") => {
                bounds.push(block);
            }
            StateItem::Allow(allow) if refuse_in_final(cx, id, part.span, "`allow`") => {
                permission(cx, id, allow, part.span);
            }
            StateItem::Initial(Initial { actions: Some(block), .. }) => {
                let actions = self::actions(cx, &mut Env::at(id), block);
                cx.chart.states[id.index()].default_actions = actions;
            }
            _ => {}
        }
    }
    if let NodeKind::History(History { actions: Some(block), .. }) = cx.nodes[id.index()].kind {
        let parent = cx.chart.state(id).parent.unwrap_or(id);
        let actions = self::actions(cx, &mut Env::at(parent), block);
        cx.chart.states[id.index()].default_actions = actions;
    }
    if let NodeKind::Final(params, values, _) = cx.nodes[id.index()].kind {
        result(cx, id, params, values);
    }
    steps::limits(cx, id, &bounds);
    // After the state's own lines, which are tried before those of `from`.
    for part in parts {
        if let StateItem::From(from) = part.item {
            structure::from(cx, id, from);
        }
    }
}

/// Adds the values that a final state computes when it is entered, after its `enter` blocks.
fn result(cx: &mut Cx<'_>, id: StateId, params: &[syntax::Param], values: &[Option<syntax::Expr>]) {
    let StateKind::Final { params: fields, .. } = cx.chart.state(id).kind.clone() else { return };
    let mut env = Env::at(id);
    let mut given = Vec::new();
    for (value, field) in values.iter().zip(&fields) {
        given.extend(value.as_ref().map(|value| expr::expect(cx, &mut env, value, &field.ty)));
    }
    if fields.is_empty() {
        return;
    }
    if given.len() == fields.len() {
        add_block(&mut cx.chart.states[id.index()].entry, vec![Action::Result(id, given)]);
    } else if let (false, Some((param, _))) =
        (given.is_empty(), params.iter().zip(values).find(|(_, value)| value.is_none()))
    {
        let message = format!(
            "`{}` has no value, but other arguments of this final state have one",
            param.name.node
        );
        let finding = ILLEGAL_STRUCTURE.at(param.name.span, message);
        cx.report(finding.help("give each argument a value, or none"));
    }
}

/// Appends a block, unless it is empty.
fn add_block(blocks: &mut Vec<Vec<Action>>, actions: Vec<Action>) {
    if !actions.is_empty() {
        blocks.push(actions);
    }
}

/// Lowers the next step of a state. Steps of a final state were reported, and have no ids.
fn own_step(cx: &mut Cx<'_>, state: StateId, steps: &mut impl Iterator<Item = StepId>) {
    if !matches!(cx.nodes[state.index()].kind, NodeKind::Final(..))
        && let Some(id) = steps.next()
    {
        steps::step(cx, id);
    }
}

/// Whether the state may have the item; reports the item in a final state.
fn refuse_in_final(cx: &mut Cx<'_>, id: StateId, span: Span, what: &str) -> bool {
    let NodeKind::Final(..) = cx.nodes[id.index()].kind else { return true };
    let (name, declared) = (&cx.chart.state(id).name, cx.map.state(id).name);
    let finding = illegal_structure::in_final(what, name, span, declared);
    cx.report(finding);
    false
}

fn permission(cx: &mut Cx<'_>, id: StateId, allow: &syntax::Allow, span: Span) {
    let from = allow.from.as_ref().map(|path| structure::state(cx, id, path));
    let to = structure::state(cx, id, &allow.to);
    let guard = allow.guard.as_ref().map(|g| expr::condition(cx, &mut Env::at(id), g));
    let from = match from {
        Some(None) => return,
        Some(Some(state)) => Some(state),
        None => None,
    };
    if let Some(to) = to {
        cx.chart.permissions.push(Permission { from, to, guard });
        cx.map.permissions.push(span);
    }
}
