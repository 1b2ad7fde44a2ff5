//! Writes the code that says for traces which alternatives of a guard hold. For example, for the guard `a or b` it says whether `a`, `b` or
//! both were true.

use super::Context;
use super::body::{self, Arms, Methods};
use super::code::{Fragment, Use, code};
use super::tables::transition_comment;
use chartc_core::arena::TransitionId;
use chartc_core::semantics::unroll::Place;

/// Writes the alternatives that traces report, each as the statements before its `Result` and the `Result`.
fn alternatives(
    context: &Context<'_>,
    transition: TransitionId,
    place: Option<&Place>,
) -> Vec<(Fragment, Fragment)> {
    if context.tables.transitions[transition.index()].alternatives.len == 0 {
        return Vec::new();
    }
    let all = context.chart.alternatives(transition).into_iter().map(|alternative| {
        let (before, condition) = body::guard(context, transition, alternative, place);
        (before, condition.result(true))
    });
    all.collect()
}

/// Adds `Program::held`, if a guard has alternatives.
pub(super) fn hook(context: &Context<'_>, methods: &mut Methods, program: &mut Methods) {
    let place = ("place", "(u32, u32)");
    let mut arms = Arms::new("line_alternative", place, "place", "bool", "false");
    for i in 0..context.chart.transitions.len() {
        let all = alternatives(context, TransitionId::at(i), None);
        for (nth, (before, result)) in all.into_iter().enumerate() {
            let title = format!("{}, alternative {nth}", transition_comment(context, i));
            arms.pattern(&format!("({i}, {nth})"), &title, before, result);
        }
    }
    let Some(method) = arms.emit(context, methods) else { return };
    let call = method.call("self", "(line.0, nth)");
    let body = format!(
        "let alternatives = TABLES.transitions[line.index()].alternatives;
        program::held(alternatives.len, |nth| {call})"
    );
    let function = program.add("held", body.into()).arg("line", "arena::TransitionId");
    let view = if method.reads(Use::View) { "view" } else { "_view" };
    function.arg(view, "&program::View<'_>").ret("u64");
}

/// Writes the body of a method that says which alternatives hold in a place; `None` for a guard without alternatives.
pub(super) fn held(
    context: &Context<'_>,
    transition: TransitionId,
    place: &Place,
) -> Option<Fragment> {
    let all = alternatives(context, transition, Some(place));
    if all.is_empty() {
        return None;
    }
    let (count, error) = (all.len(), context.error());
    let mut arms = Fragment::default();
    for (nth, (before, result)) in all.into_iter().enumerate() {
        arms += code!("{nth} => {{ {before}\n{result} }}\n", before, result);
    }
    Some(code!(
        "program::held({count}, |nth| -> Result<bool, {error}> {{ match nth {{ {arms} _ => Ok(false) }} }})",
        arms
    ))
}
