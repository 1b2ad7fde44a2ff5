//! Builds tests.

use super::{Cx, child, first_of};
use crate::front::chart::grammar::Rule;
use crate::front::chart::recover::BodyKind;
use crate::span::{Ident, Spanned};
use crate::syntax::{
    Assertion, Expectation, Expr, FailureReason, GivenFunction, Path, Scenario, StepRef,
    TestAnswer, TestItem,
};
use pest::iterators::Pair;

type P<'i> = Pair<'i, Rule>;

pub(super) fn scenario(cx: &mut Cx<'_>, pair: P<'_>) -> Scenario {
    let span = cx.span(&pair);
    let mut name = Spanned::new(String::new(), span);
    let mut chart = Ident::new(String::new(), span);
    let mut body = Vec::new();
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::line_string => name = cx.plain_text(&part),
            Rule::name => chart = cx.ident(&part),
            Rule::kw_test | Rule::kw_for => {}
            _ => body.push(part),
        }
    }
    let end = body.last().map_or(0, |last| last.as_span().start());
    let items = cx.items(body, BodyKind::Test, |cx, pair| Some(item(cx, pair)));
    let end = cx.rest(end);
    Scenario { name, chart, items, end }
}

fn item(cx: &mut Cx<'_>, pair: P<'_>) -> TestItem {
    let span = cx.span(&pair);
    let made = match pair.as_rule() {
        Rule::given => given(cx, pair),
        Rule::test_at => Some(TestItem::At(Parts::from_pair(cx, pair).paths)),
        Rule::test_send => {
            let parts = Parts::from_pair(cx, pair);
            let arguments = parts.arguments.unwrap_or_default();
            parts.paths.into_iter().next().map(|event| TestItem::Send(event, arguments))
        }
        Rule::test_turn => Some(TestItem::Turn(None)),
        Rule::test_turns => {
            let count = child(pair, Rule::int);
            let (count, span) = (cx.int(&count), cx.span(&count));
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            Some(TestItem::Turn(Some(Spanned::new(count, span))))
        }
        Rule::test_set => {
            let (name, value) = assign(cx, child(pair, Rule::assign));
            Some(TestItem::Set(name, value))
        }
        Rule::test_wait => Some(TestItem::Wait(cx.expr(child(pair, Rule::expr)))),
        Rule::answers => answers(cx, pair),
        Rule::fails => {
            let Parts { asked, why, .. } = Parts::from_pair(cx, pair);
            asked.zip(why).map(|(step, why)| TestItem::Fails(step, why))
        }
        Rule::returned => {
            let Parts { paths, expr, why, .. } = Parts::from_pair(cx, pair);
            match (paths.into_iter().next(), expr, why) {
                (Some(tool), Some(value), _) => Some(TestItem::Returns(tool, value)),
                (Some(tool), None, Some(why)) => Some(TestItem::ToolFails(tool, why)),
                _ => None,
            }
        }
        Rule::expectation => expectation(cx, pair).map(TestItem::Expect),
        _ => None,
    };
    made.unwrap_or(TestItem::Bad(span))
}

/// The parts that items of a test are made of. Each item has some of them.
#[derive(Default)]
struct Parts {
    name: Option<Ident>,
    asked: Option<StepRef>,
    paths: Vec<Path>,
    arguments: Option<Vec<Expr>>,
    expr: Option<Expr>,
    text: Option<Spanned<String>>,
    why: Option<FailureReason>,
    is_only: bool,
}

impl Parts {
    fn from_pair(cx: &mut Cx<'_>, pair: P<'_>) -> Self {
        let mut parts = Self::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => parts.name = Some(cx.ident(&part)),
                Rule::asked => parts.asked = asked(cx, part),
                Rule::prompt_of => parts.name = Some(cx.ident(&child(part, Rule::name))),
                Rule::path => parts.paths.push(cx.path(part)),
                Rule::call_args => parts.arguments = Some(cx.arguments(part)),
                Rule::expr => parts.expr = Some(cx.expr(part)),
                Rule::line_string => parts.text = Some(cx.plain_text(&part)),
                Rule::why => parts.why = why(cx, part),
                Rule::kw_only => parts.is_only = true,
                _ => {}
            }
        }
        parts
    }
}

fn why(cx: &mut Cx<'_>, pair: P<'_>) -> Option<FailureReason> {
    let part = pair.into_inner().next()?;
    Some(match part.as_rule() {
        Rule::name => FailureReason::Kind(cx.ident(&part)),
        _ => FailureReason::Text(cx.plain_text(&part)),
    })
}

fn assign(cx: &mut Cx<'_>, pair: P<'_>) -> (Ident, Expr) {
    let mut parts = pair.into_inner();
    let name = parts.next().expect("an assignment names a variable");
    let name = cx.ident(&name);
    let expr = first_of(parts, Rule::expr);
    (name, cx.expr(expr))
}

fn given(cx: &mut Cx<'_>, pair: P<'_>) -> Option<TestItem> {
    let what = pair.into_inner().find(|p| matches!(p.as_rule(), Rule::assign | Rule::given_fn))?;
    if what.as_rule() == Rule::assign {
        let (name, value) = assign(cx, what);
        return Some(TestItem::Given(name, value));
    }
    let Parts { name, arguments, expr, why, .. } = Parts::from_pair(cx, what);
    let result = match (expr, why) {
        (Some(value), _) => Ok(value),
        (None, Some(why)) => Err(why),
        (None, None) => return None,
    };
    Some(TestItem::GivenFunction(GivenFunction { name: name?, arguments, result }))
}

fn asked(cx: &mut Cx<'_>, pair: P<'_>) -> Option<StepRef> {
    let (mut path, mut element) = (Vec::new(), None);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => path.push(cx.ident(&part)),
            Rule::int => element = Some(Spanned::new(cx.count(&part), cx.span(&part))),
            _ => {}
        }
    }
    let step = path.pop()?;
    Some(StepRef { path, step, element })
}

fn answers(cx: &mut Cx<'_>, pair: P<'_>) -> Option<TestItem> {
    let mut step = None;
    let mut said = None;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::asked => step = asked(cx, part),
            Rule::line_string => said = Some(TestAnswer::Text(cx.plain_text(&part))),
            Rule::option_use => {
                let Parts { paths, arguments, .. } = Parts::from_pair(cx, part);
                let option = paths.into_iter().next()?;
                said = Some(TestAnswer::Option(option, arguments.unwrap_or_default()));
            }
            Rule::expr => said = Some(TestAnswer::Value(cx.expr(part))),
            _ => {}
        }
    }
    Some(TestItem::Answers(step?, said?))
}

fn expectation(cx: &mut Cx<'_>, pair: P<'_>) -> Option<Expectation> {
    let mut negated = false;
    let mut what = None;
    for part in pair.into_inner() {
        let rule = part.as_rule();
        match rule {
            Rule::kw_expect => {}
            Rule::kw_not => negated = true,
            Rule::expr => what = Some(Assertion::Holds(cx.expr(part))),
            Rule::told_ended => {
                let status = part.into_inner().find(|p| p.as_rule() == Rule::end_status);
                let status = status.map(|p| Spanned::new(p.as_str().to_owned(), cx.span(&p)));
                what = Some(Assertion::Ended(status));
            }
            Rule::told_text => {
                let is_prompt = part.clone().into_inner().any(|p| p.as_rule() == Rule::prompt_of);
                let Parts { name, text, .. } = Parts::from_pair(cx, part);
                let (name, text) = (name?, text?);
                what = Some(if is_prompt {
                    Assertion::Prompt(name, text)
                } else {
                    Assertion::Text(name, text)
                });
            }
            _ => {
                let Parts { name, mut paths, arguments, is_only, .. } = Parts::from_pair(cx, part);
                what = Some(match rule {
                    Rule::told_at => Assertion::At(paths),
                    Rule::told_offered => Assertion::Offered(paths, is_only),
                    Rule::told_denied => Assertion::Denied(paths.pop()),
                    Rule::told_called => Assertion::Called(paths.pop()?, arguments),
                    _ => Assertion::Asked(name?),
                });
            }
        }
    }
    Some(Expectation { negated, what: what? })
}
