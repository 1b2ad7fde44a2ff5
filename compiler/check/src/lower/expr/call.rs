//! Lowers calls of functions of the machine, the language and the host.

use super::name::only_when_running;
use super::{Env, arguments, builtin, expr, of, unknown};
use crate::lower::context::Cx;
use crate::lower::uses::NameKind;
use crate::lower::{paths, tools};
use chartc_core::arena::ToolSetId;
use chartc_core::model::{Expr, ExprKind, FunctionKind, Observable, StreakOf, Type};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::span::{Ident, Span};
use chartc_text::syntax;

/// Lowers `f(a, b)`.
pub(super) fn call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
    hint: Option<&Type>,
) -> Expr {
    let name = function.node.as_str();
    if let Some((id, place)) = cx.names.functions.get(name).copied() {
        cx.record_use(function.span, place, NameKind::Function);
        only_when_running(cx, env, name, function.span);
        let declared = cx.chart.functions[id.index()].clone();
        let what = format!("`{name}`");
        let lowered = arguments(cx, env, &what, &declared.params, written, span);
        return match declared.kind {
            FunctionKind::Pure { result, .. } => of(ExprKind::Call(id, lowered), result),
            FunctionKind::Effect => {
                let finding = TYPE_ERROR
                    .at(function.span, format!("`{name}` is an effect and has no value"))
                    .help("a `do` function is called in an action block, a `fn` anywhere");
                cx.report(finding);
                unknown(name)
            }
        };
    }
    match name {
        "in" => in_state(cx, env, function, written, span, Observable::In, Type::Bool),
        "turns_in" => in_state(cx, env, function, written, span, Observable::TurnsIn, Type::Int),
        "streak" => streak(cx, env, function, written, span),
        "repeated" => repeated(cx, env, function, written, span),
        _ => match builtin::find(name) {
            Some(found) => builtin::call(cx, env, found, function, written, span, hint),
            None => {
                for argument in written {
                    expr(cx, env, argument, None);
                }
                unknown_function(cx, function);
                unknown(name)
            }
        },
    }
}

/// Reports a function that is neither the language's nor declared.
pub(in crate::lower) fn unknown_function(cx: &mut Cx<'_>, function: &Ident) {
    let declared: Vec<String> = cx.names.functions.keys().cloned().collect();
    let known = builtin::names().chain(declared.iter().map(String::as_str));
    cx.unknown("function", &function.node, function.span, known);
}

fn in_state(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
    observable: fn(chartc_core::arena::StateId) -> Observable,
    ty: Type,
) -> Expr {
    let name = function.node.as_str();
    only_when_running(cx, env, name, function.span);
    let path = match written {
        [one] => path_of(one),
        _ => None,
    };
    let Some(path) = path else {
        cx.report(TYPE_ERROR.at(span, format!("`{name}` takes the path of a state")));
        return unknown(name);
    };
    if cx.chart.states.is_empty() {
        // Declarations are lowered before states exist. `only_when_running` has reported the call in them.
        return unknown(name);
    }
    let Some(state) = paths::names(cx, env.state, &path.iter().collect::<Vec<_>>()) else {
        return unknown(name);
    };
    if paths::is_history(cx, state) {
        let message =
            format!("`{}` is a history, which is never active", cx.chart.state(state).path);
        cx.report(TYPE_ERROR.at(span, message));
    }
    of(ExprKind::Observable(observable(state)), ty)
}

/// The dotted path that is the only argument; empty if there is none.
fn only_path(written: &[syntax::Expr]) -> Vec<Ident> {
    match written {
        [one] => path_of(one).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A dotted path, which the parser reads as fields of a name.
fn path_of(written: &syntax::Expr) -> Option<Vec<Ident>> {
    let mut names = Vec::new();
    let mut written = written;
    while let syntax::ExprKind::Field(base, field) = &written.kind {
        names.push(field.clone());
        written = base;
    }
    let syntax::ExprKind::Name(first) = &written.kind else { return None };
    names.push(Ident::new(first.clone(), written.span));
    names.reverse();
    Some(names)
}

fn streak(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
) -> Expr {
    only_when_running(cx, env, "streak", function.span);
    let path = only_path(written);
    let of_what = match path.as_slice() {
        [tool] if tool.node == "tool" => StreakOf::Tool,
        [set @ .., argument] if !set.is_empty() => match passed(cx, set, argument) {
            Some((id, argument)) => StreakOf::Argument(id, argument),
            None => return unknown("streak"),
        },
        _ => {
            let finding = TYPE_ERROR
                .at(span, "`streak` takes `tool`, or a tool set and the name of an argument")
                .help("write `streak(tool)` or `streak(search.query)`");
            cx.report(finding);
            return unknown("streak");
        }
    };
    of(ExprKind::Observable(Observable::Streak(of_what)), Type::Int)
}

fn repeated(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
) -> Expr {
    only_when_running(cx, env, "repeated", function.span);
    let path = only_path(written);
    let (Some((argument, set)), true) = (path.split_last(), path.len() > 1) else {
        let finding = TYPE_ERROR
            .at(span, "`repeated` takes a tool set and the name of an argument")
            .help("write `repeated(search.query)`");
        cx.report(finding);
        return unknown("repeated");
    };
    match passed(cx, set, argument) {
        Some((id, argument)) => {
            of(ExprKind::Observable(Observable::Repeated(id, argument)), Type::Json)
        }
        None => unknown("repeated"),
    }
}

/// Resolves an argument of the tools of a set, such as `search.query`; reports unknown names.
fn passed(cx: &mut Cx<'_>, set: &[Ident], argument: &Ident) -> Option<(ToolSetId, String)> {
    let words: Vec<&str> = set.iter().map(|name| name.node.as_str()).collect();
    let words = words.join(".");
    let id = tools::named(cx, set)?;
    let all = cx.chart.tools_of(id);
    for tool in &all {
        let params = &cx.tool_items[tool.index()].params;
        if let Some(param) = params.iter().find(|param| param.name.node == argument.node) {
            cx.record_use(argument.span, param.name.span, NameKind::Param);
        }
    }
    let tools = all;
    let tools = tools.iter().map(|tool| &cx.chart.tools[tool.index()]);
    let known: Vec<String> =
        tools.flat_map(|tool| &tool.params).map(|param| param.name.clone()).collect();
    if known.contains(&argument.node) {
        return Some((id, argument.node.clone()));
    }
    let what = format!("argument of the tools in `{words}` is named");
    cx.unknown(&what, &argument.node, argument.span, known.iter().map(String::as_str));
    None
}
