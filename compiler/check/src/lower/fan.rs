//! `each x in xs` of a step: its work is done for each element of a list.

use super::context::Cx;
use super::expr::{self, Bound, Env, element_of};
use chartc_core::arena::{LocalId, StepId};
use chartc_core::model::{Each, ExprKind, Local, Lost, StepKind, Type};
use chartc_text::rules::{ILLEGAL_STRUCTURE, NOT_YET, TYPE_ERROR};
use chartc_text::span::{Span, Spanned};
use chartc_text::syntax::{self, Noted, StepItem};

/// The type of a step's answer: with an `each`, a list of what each element returns.
pub(super) fn answer(items: &[Noted<StepItem>], is_each: bool, returns: Type) -> Type {
    if !is_each {
        return returns;
    }
    let has_none = items.iter().any(|item| matches!(item.node, StepItem::Lost(Lost::None)));
    let is_optional = matches!(returns, Type::Optional(_) | Type::Json);
    let element =
        if has_none && !is_optional { Type::Optional(Box::new(returns)) } else { returns };
    Type::List(Box::new(element))
}

/// Lowers `each x in xs`, and adds the name of an element to the scope of what follows. Returns whether the step has one.
pub(super) fn begin(cx: &mut Cx<'_>, env: &mut Env, step: &syntax::Step, id: StepId) -> bool {
    let Some(written) = &step.each else { return false };
    let syntax::Each { name, list } = written.as_ref();
    let lowered = expr::expr(cx, env, list, None);
    cx.map.steps[id.index()].list = Some(list.span);
    let is_list = matches!(lowered.ty, Type::List(_) | Type::Json);
    let element = if is_list {
        element_of(cx, &lowered, list.span)
    } else {
        let message = format!("`each` goes through a list, this is {}", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(list.span, message));
        Type::Json
    };
    cx.record_binding(name, &element);
    env.locals.push(Bound::local(name, element));
    let whole = &cx.chart.steps[id.index()].returns;
    let one = if let Type::List(one) = whole { one.as_ref().clone() } else { whole.clone() };
    let has_none = step.items.iter().any(|item| matches!(item.node, StepItem::Lost(Lost::None)));
    // A `none` in the list stands for a lost element, so the answer for one element is not optional itself.
    let returns = if let (Type::Optional(inner), true) = (&one, has_none) {
        inner.as_ref().clone()
    } else {
        one
    };
    cx.chart.steps[id.index()].each = Some(Each {
        local: Local { id: LocalId(0), name: name.node.clone() },
        list: lowered,
        returns,
        at_a_time: Each::AT_A_TIME,
        most: Each::MOST,
        enough: None,
        lost: Lost::Fail,
    });
    true
}

/// Lowers an item of a step that belongs to its `each`.
pub(super) fn item(cx: &mut Cx<'_>, id: StepId, item: &StepItem, span: Span) {
    let Some(each) = &mut cx.chart.steps[id.index()].each else {
        let finding = ILLEGAL_STRUCTURE
            .at(span, "this belongs in a step with `each`")
            .help("write `each x in xs` after the name of the step, or leave the line out");
        cx.report(finding);
        return;
    };
    let positive =
        |count: &Spanned<u32>| if count.node == 0 { Err(count.span) } else { Ok(count.node) };
    let zero = match item {
        StepItem::AtATime(count) => positive(count).map(|n| each.at_a_time = n),
        StepItem::UpTo(count) => {
            cx.map.steps[id.index()].up_to = Some(count.span);
            positive(count).map(|n| each.most = n)
        }
        StepItem::Enough(count) => positive(count).map(|n| each.enough = Some(n)),
        StepItem::Lost(lost) => {
            each.lost = *lost;
            Ok(())
        }
        _ => Ok(()),
    };
    if let Err(span) = zero {
        let finding = ILLEGAL_STRUCTURE.at(span, "with 0 no element would be done");
        cx.report(finding.help("write a number from 1, or leave the line out"));
    }
}

/// Reports what a step with `each` cannot have.
pub(super) fn check(cx: &mut Cx<'_>, id: StepId, node: &syntax::Step) {
    let Some(written) = &node.each else { return };
    let step = &cx.chart.steps[id.index()];
    let Some(each) = &step.each else { return };
    let is_plain = matches!(each.list.kind, ExprKind::Unknown(_));
    if step.tools.is_some() {
        let finding = NOT_YET
            .at(written.name.span, "the model of a step with `each` cannot call tools yet")
            .help("call the tool in a `call` step with `each`, and give its answers to this one");
        cx.report(finding);
        return;
    }
    let has_type = node.items.iter().any(|item| matches!(item.node, StepItem::Returns(..)));
    if matches!(step.kind, StepKind::Llm) && !has_type && !is_plain {
        let finding = ILLEGAL_STRUCTURE
            .at(
                node.name.span,
                "an `llm` step with `each` needs a `returns` line, the type for one element",
            )
            .help("add a line such as `returns Text`");
        cx.report(finding);
        return;
    }
    if let StepKind::Run(run) = &step.kind
        && run.on_entry
    {
        let finding = ILLEGAL_STRUCTURE
            .at(written.name.span, "a step with `each` does not start `at entry`")
            .help("let it start in a turn: leave `at entry` out");
        cx.report(finding);
        return;
    }
    if let Some(enough) = each.enough.filter(|enough| *enough > each.most) {
        let message =
            format!("`enough {enough}` is more than the {} elements it may have", each.most);
        cx.report(ILLEGAL_STRUCTURE.at(node.name.span, message));
    }
}
