//! Lowers what a test sets up and does.

use super::expectation;
use super::{Answer, Move, REASONS, Reason, StepAddress, constant};
use crate::lower::context::Cx;
use crate::lower::data;
use crate::lower::expr::{self, Env};
use crate::lower::uses::{Inner, NameKind};
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::{
    ChoiceKind, Expr, Field, FunctionKind, Step, StepKind, Type, VariableKind,
};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{self, FailureReason, GivenFunction, Path, TestAnswer, TestItem};

/// Lowers `given x = 1`.
pub(super) fn given(
    cx: &mut Cx<'_>,
    name: &Ident,
    written: &syntax::Expr,
) -> Option<(VarId, Expr)> {
    let id = variable(cx, "variable", name, |_| true)?;
    let (ty, kind) = {
        let variable = &cx.chart.variables[id.index()];
        (variable.ty.clone(), variable.kind.clone())
    };
    let lowered = constant(cx, written, &ty);
    if let VariableKind::Param { range: Some((low, high)) } = &kind
        && let Some(value) = expr::value_of(&lowered)
        && (data::above(low, &value) || data::above(&value, high))
    {
        let message = format!("this lies outside of the range of `{}`", name.node);
        cx.report(TYPE_ERROR.at(written.span, message));
    }
    Some((id, lowered))
}

/// Lowers all items except `given x` and `at`; `None` if a name is unknown, which is reported.
pub(super) fn item<'s>(
    cx: &mut Cx<'s>,
    env: &mut Env,
    item: &'s TestItem,
    span: Span,
) -> Option<Move> {
    match item {
        TestItem::GivenFunction(given) => function(cx, given),
        TestItem::Send(path, arguments) => {
            let Some(event) = data::event_named(cx, path) else {
                for argument in arguments {
                    expr::expr(cx, env, argument, None);
                }
                return None;
            };
            let fields = cx.chart.events[event.index()].fields.clone();
            let what = format!("event `{}`", path.text());
            let arguments = expr::arguments(cx, env, &what, &fields, arguments, path.span);
            Some(Move::Send(event, arguments))
        }
        TestItem::Turn(count) => Some(Move::Turns(count.as_ref().map_or(1, |n| n.node))),
        TestItem::Set(name, value) => {
            let is_input = |kind: &VariableKind| matches!(kind, VariableKind::Input);
            let id = variable(cx, "input", name, is_input)?;
            let ty = cx.chart.variables[id.index()].ty.clone();
            Some(Move::Set(name.node.clone(), expr::expect(cx, env, value, &ty)))
        }
        TestItem::Wait(time) => Some(Move::Wait(expr::expect(cx, env, time, &Type::Duration))),
        TestItem::Answers(name, said) => {
            let choice = if let TestAnswer::Option(path, _) = said { Some(path) } else { None };
            let (asked, own) = asked(cx, name, choice)?;
            let answer = match own {
                Some(step) => answer(cx, env, step, said, &name.step),
                None => answer_of_child(cx, env, said),
            };
            Some(Move::Answer(asked, answer?))
        }
        TestItem::Fails(name, why) => {
            let (asked, _) = asked(cx, name, None)?;
            Some(Move::Fail(asked, reason(cx, why)?))
        }
        TestItem::Returns(path, value) => {
            let tool = tool(cx, path)?;
            let ty = cx.chart.tools[tool].result.clone();
            let name = cx.chart.tools[tool].name.clone();
            Some(Move::Return(name, expr::expect(cx, env, value, &ty)))
        }
        TestItem::ToolFails(path, why) => {
            let tool = tool(cx, path)?;
            Some(Move::ToolFail(cx.chart.tools[tool].name.clone(), reason(cx, why)?))
        }
        TestItem::Expect(written) => {
            let expected = expectation::expected(cx, env, &written.what, span)?;
            Some(Move::Expect(expected, !written.negated))
        }
        TestItem::Given(..) | TestItem::At(_) | TestItem::Bad(_) => None,
    }
}

/// The variable with this name, if its kind is allowed here; reports any other.
fn variable(
    cx: &mut Cx<'_>,
    what: &str,
    name: &Ident,
    fits: impl Fn(&VariableKind) -> bool,
) -> Option<VarId> {
    if let Some((id, place)) = cx.names.variables.get(&name.node).copied() {
        cx.record_use(name.span, place, NameKind::Variable);
        if fits(&cx.chart.variables[id.index()].kind) {
            return Some(id);
        }
        let message = format!("`{}` is no {what}: the host cannot set it", name.node);
        let finding = TYPE_ERROR.at(name.span, message).related(place, "declared here");
        cx.report(finding.help("`given` says what a param or a var begins with"));
        return None;
    }
    let variables = cx.chart.variables.iter().filter(|v| fits(&v.kind));
    let known: Vec<String> = variables.map(|v| v.name.clone()).collect();
    cx.unknown(what, &name.node, name.span, known.iter().map(String::as_str));
    None
}

/// Lowers `given fn f(a) = 1`.
fn function(cx: &mut Cx<'_>, given: &GivenFunction) -> Option<Move> {
    let name = &given.name;
    let Some((id, place)) = cx.names.functions.get(&name.node).copied() else {
        let known: Vec<String> = cx.names.functions.keys().cloned().collect();
        cx.unknown("host function", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    cx.record_use(name.span, place, NameKind::Function);
    let declared = cx.chart.functions[id.index()].clone();
    let what = format!("`{}`", name.node);
    let arguments = given.arguments.as_ref().map(|written| {
        let env = &mut Env::constant();
        expr::arguments(cx, env, &what, &declared.params, written, name.span)
    });
    let result = match (&given.result, &declared.kind) {
        (Ok(value), FunctionKind::Pure { result, .. }) => Ok(constant(cx, value, result)),
        (Ok(value), FunctionKind::Effect) => {
            let message = format!("`{}` is a `do`: it gives no value", name.node);
            let finding = TYPE_ERROR.at(value.span, message).related(place, "declared here");
            cx.report(finding.help("it needs no `given`; to let it fail, write `fails \"why\"`"));
            return None;
        }
        (Err(FailureReason::Text(text)), _) => Err(text.node.clone()),
        (Err(FailureReason::Kind(word)), _) => Err(word.node.clone()),
    };
    Some(Move::Function { name: name.node.clone(), arguments, result })
}

/// The address of a step that asks, and the step itself if it belongs to the tested chart. The steps of charts that this one runs are
/// looked up when the test is played.
fn asked<'s>(
    cx: &mut Cx<'s>,
    written: &'s syntax::StepRef,
    choice: Option<&'s Path>,
) -> Option<(StepAddress, Option<StepId>)> {
    let syntax::StepRef { path, step, element } = written;
    let own = match path.first() {
        None => Some(asking(cx, step)?),
        Some(first) => {
            let runs = |step: &Step| matches!(step.kind, StepKind::Run(_));
            let steps = cx.chart.steps.iter().filter(|step| runs(step));
            let known: Vec<String> = steps.map(|step| step.name.clone()).collect();
            if !known.contains(&first.node) {
                let known = known.iter().map(String::as_str);
                cx.unknown("`run` step", &first.node, first.span, known);
                return None;
            }
            if let Some((run, place)) = cx.names.steps.get(&first.node).copied() {
                cx.record_use(first.span, place, NameKind::Step);
                let names = path[1..].iter().chain([step]).collect();
                cx.inner.push(Inner { chart: cx.map.name, step: run, names, choice });
            }
            None
        }
    };
    if let (Some(id), Some(nth)) = (own, element)
        && cx.chart.steps[id.index()].each.is_none()
    {
        let message = format!("`{}` has no `each`, so it has no elements", step.node);
        cx.report(TYPE_ERROR.at(nth.span, message).help("leave the brackets out"));
        return None;
    }
    let child: Vec<&str> = path.iter().map(|name| name.node.as_str()).collect();
    let (child, step) = (child.join("/"), step.node.clone());
    Some((StepAddress { child, step, element: element.as_ref().map(|nth| nth.node) }, own))
}

/// Lowers an answer to a step of a chart that the tested one runs. The type of the answer is known only there.
fn answer_of_child(cx: &mut Cx<'_>, env: &mut Env, said: &TestAnswer) -> Option<Answer> {
    match said {
        TestAnswer::Text(text) => Some(Answer::Text(text.node.clone())),
        TestAnswer::Value(value) => Some(Answer::Value(expr::expect(cx, env, value, &Type::Json))),
        TestAnswer::Option(path, arguments) if arguments.is_empty() => {
            Some(Answer::Text(path.text()))
        }
        TestAnswer::Option(path, _) => {
            let message = "an option of another chart is given without arguments";
            let help = "write the answer as a text: `{\"choice\": \"name\", \"arguments\": {…}}`";
            cx.report(TYPE_ERROR.at(path.span, message).help(help));
            None
        }
    }
}

/// The step with this name, if a model or a person answers it; reports any other.
pub(super) fn asking(cx: &mut Cx<'_>, name: &Ident) -> Option<StepId> {
    let asks = |kind: &StepKind| match kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => true,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(..) => false,
    };
    let Some((id, place)) = cx.names.steps.get(&name.node).copied() else {
        let steps = cx.chart.steps.iter().filter(|step| asks(&step.kind));
        let known: Vec<String> = steps.map(|step| step.name.clone()).collect();
        cx.unknown("step", &name.node, name.span, known.iter().map(String::as_str));
        return None;
    };
    cx.record_use(name.span, place, NameKind::Step);
    if asks(&cx.chart.steps[id.index()].kind) {
        return Some(id);
    }
    let message = format!("`{}` asks nobody", name.node);
    let finding = TYPE_ERROR.at(name.span, message).related(place, "declared here");
    cx.report(
        finding
            .help("`llm`, `ask` and `human` steps are answered; a tool with `tool a.b returns …`"),
    );
    None
}

/// The index of a declared tool; reports an unknown one.
fn tool(cx: &mut Cx<'_>, path: &Path) -> Option<usize> {
    let name = path.text();
    cx.record_tool_use(&path.names);
    if let Some((id, _)) = cx.names.tools.get(&name) {
        return Some(id.index());
    }
    let known: Vec<String> = cx.names.tools.keys().cloned().collect();
    cx.unknown("tool", &name, path.span, known.iter().map(String::as_str));
    None
}

fn reason(cx: &mut Cx<'_>, why: &FailureReason) -> Option<Reason> {
    match why {
        FailureReason::Text(text) => Some(Reason::Text(text.node.clone())),
        FailureReason::Kind(word) => {
            let known = REASONS.iter().find(|known| **known == word.node);
            if known.is_none() {
                cx.unknown("kind of failure", &word.node, word.span, REASONS);
            }
            known.map(|known| Reason::Kind(known))
        }
    }
}

fn answer(
    cx: &mut Cx<'_>,
    env: &mut Env,
    id: StepId,
    said: &TestAnswer,
    name: &Ident,
) -> Option<Answer> {
    let (returns, is_ask, is_llm) = {
        let step = &cx.chart.steps[id.index()];
        let is_ask = matches!(step.kind, StepKind::Ask { .. });
        (step.one_returns().clone(), is_ask, matches!(step.kind, StepKind::Llm))
    };
    match said {
        TestAnswer::Text(text) => Some(Answer::Text(text.node.clone())),
        TestAnswer::Value(value) if is_ask => {
            Some(Answer::Value(expr::expect(cx, env, value, &Type::Json)))
        }
        TestAnswer::Value(value) => Some(Answer::Value(expr::expect(cx, env, value, &returns))),
        TestAnswer::Option(path, arguments) if is_ask => option(cx, env, path, arguments),
        TestAnswer::Option(path, arguments)
            if cx.chart.steps[id.index()].tools.is_some()
                && cx.names.tools.contains_key(&path.text()) =>
        {
            tool_call(cx, env, path, arguments)
        }
        TestAnswer::Option(path, arguments)
            if is_llm && returns == Type::Json && path.text() == "noop" && arguments.is_empty() =>
        {
            Some(Answer::Noop)
        }
        TestAnswer::Option(path, _) => {
            let ty = cx.type_name(&returns);
            let message = format!("`{}` chooses no option: it is answered by a value", name.node);
            let help = match returns {
                Type::Json if is_llm => {
                    "write `noop`, a map such as `{\"action\": \"noop\"}`, or a text".to_owned()
                }
                Type::Named(_) => format!("write it as in `{ty}.{}`, or a text", path.text()),
                _ => {
                    format!("a `{ty}` is wanted, or a text, which is taken word for word")
                }
            };
            cx.report(TYPE_ERROR.at(path.span, message).help(help));
            None
        }
    }
}

/// Lowers a call of a tool by the model of an `llm` step.
fn tool_call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    path: &Path,
    written: &[syntax::Expr],
) -> Option<Answer> {
    let name = path.text();
    let (tool, _) = cx.names.tools.get(&name).copied()?;
    cx.record_tool_use(&path.names);
    let fields = cx.chart.tools[tool.index()].params.clone();
    let what = format!("tool `{name}`");
    let values = expr::arguments(cx, env, &what, &fields, written, path.span);
    let arguments = fields.into_iter().map(|field| field.name).zip(values).collect();
    Some(Answer::Option { name, tool: true, arguments })
}

/// Lowers the choice of an option or a tool, with its arguments.
fn option(cx: &mut Cx<'_>, env: &mut Env, path: &Path, written: &[syntax::Expr]) -> Option<Answer> {
    let name = path.text();
    cx.record_offer_use(path);
    let mut fields: Option<Vec<Field>> = None;
    // Several states may have an option with this name. One with the same number of arguments is preferred.
    for choice in &cx.chart.choices {
        if let (ChoiceKind::Option(declared), true) = (&choice.kind, choice.name == name)
            && (fields.is_none() || declared.len() == written.len())
        {
            fields = Some(declared.clone());
        }
    }
    let tool = cx.names.tools.get(&name).map(|(id, _)| *id);
    let is_tool = fields.is_none() && tool.is_some();
    let fields = fields.or_else(|| Some(cx.chart.tools[tool?.index()].params.clone()));
    let Some(fields) = fields else {
        let options = cx.chart.choices.iter();
        let options = options.filter(|choice| matches!(choice.kind, ChoiceKind::Option(_)));
        let known: Vec<String> = options
            .map(|choice| choice.name.clone())
            .chain(cx.names.tools.keys().cloned())
            .collect();
        cx.unknown("option", &name, path.span, known.iter().map(String::as_str));
        for argument in written {
            expr::expr(cx, env, argument, None);
        }
        return None;
    };
    let what = if is_tool { format!("tool `{name}`") } else { format!("option `{name}`") };
    let values = expr::arguments(cx, env, &what, &fields, written, path.span);
    let arguments = fields.into_iter().map(|field| field.name).zip(values).collect();
    Some(Answer::Option { name, tool: is_tool, arguments })
}
