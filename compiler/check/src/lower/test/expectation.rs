//! Lowers the expectations of a test.

use super::Expected;
use super::item::asking;
use crate::lower::context::Cx;
use crate::lower::expr::{self, Env};
use crate::lower::paths;
use crate::lower::uses::NameKind;
use chartc_core::arena::StateId;
use chartc_core::model::{ChoiceKind, Expr, Field, Type};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{self, Assertion, ExprKind, Path};

/// Lowers an expectation; `None` if a name is unknown, which is reported.
pub(super) fn expected(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &Assertion,
    span: Span,
) -> Option<Expected> {
    Some(match written {
        Assertion::Holds(condition) => Expected::Holds(expr::condition(cx, env, condition)),
        Assertion::At(states) => {
            let found: Option<Vec<_>> =
                states.iter().map(|path| paths::state(cx, StateId(0), path)).collect();
            Expected::At(found?)
        }
        Assertion::Ended(status) => Expected::Ended(status.as_ref().map(|word| word.node.clone())),
        Assertion::Offered(paths, only) => {
            let names: Option<Vec<_>> = paths.iter().map(|path| offered(cx, path)).collect();
            Expected::Offered(names?, *only)
        }
        Assertion::Denied(path) => match path {
            Some(path) => Expected::Denied(Some(paths::state(cx, StateId(0), path)?)),
            None => Expected::Denied(None),
        },
        Assertion::Called(path, arguments) => called(cx, env, path, arguments.as_deref(), span)?,
        Assertion::Asked(step) => Expected::Asked(asking(cx, step).map(|_| step.node.clone())?),
        Assertion::Prompt(step, text) => {
            asking(cx, step)?;
            Expected::Prompt(step.node.clone(), text.node.clone())
        }
        Assertion::Text(name, text) => Expected::Text(text_of(cx, env, name), text.node.clone()),
    })
}

/// The name of an option or a tool, as a question offers it; reports an unknown one.
fn offered(cx: &mut Cx<'_>, path: &Path) -> Option<String> {
    let name = path.text();
    let is_option = |c: &chartc_core::model::Choice| matches!(c.kind, ChoiceKind::Option(_));
    let options = cx.chart.choices.iter().filter(|c| is_option(c));
    let known: Vec<String> =
        options.map(|c| c.name.clone()).chain(cx.names.tools.keys().cloned()).collect();
    if known.contains(&name) {
        cx.record_offer_use(path);
        return Some(name);
    }
    cx.unknown("option", &name, path.span, known.iter().map(String::as_str));
    None
}

/// Lowers the expected call of a tool or a host function.
fn called(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &Path,
    written: Option<&[syntax::Expr]>,
    span: Span,
) -> Option<Expected> {
    let name = path.text();
    let fields: Option<Vec<Field>> =
        match (cx.names.tools.get(&name), cx.names.functions.get(&name)) {
            (Some((tool, _)), _) => Some(cx.chart.tools[tool.index()].params.clone()),
            (None, Some((id, _))) => Some(cx.chart.functions[id.index()].params.clone()),
            (None, None) => None,
        };
    match cx.names.functions.get(&name).copied() {
        Some((_, place)) if !cx.names.tools.contains_key(&name) => {
            cx.record_use(path.span, place, NameKind::Function);
        }
        Some(_) | None => cx.record_tool_use(&path.names),
    }
    let Some(fields) = fields else {
        let names = &cx.names;
        let known: Vec<String> =
            names.tools.keys().chain(names.functions.keys()).cloned().collect();
        cx.unknown("tool or host function", &name, path.span, known.iter().map(String::as_str));
        return None;
    };
    let what = format!("`{name}`");
    let arguments = written.map(|all| expr::arguments(cx, env, &what, &fields, all, span));
    Some(Expected::Called(name, arguments))
}

/// The expression for the Text with this name; reports a value of another type.
fn text_of(cx: &mut Cx<'_>, env: &mut Env, name: &Ident) -> Expr {
    let written = syntax::Expr { kind: ExprKind::Name(name.node.clone()), span: name.span };
    let lowered = expr::expr(cx, env, &written, None);
    if !matches!(lowered.ty, Type::Text | Type::Json) && !expr::is_faulty(&lowered) {
        let message = format!("`contains` looks into a text, this is {}", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(name.span, message).help("write `expect … in …`"));
    }
    lowered
}
