//! `limits { }` of the chart and of states.

use super::context::Cx;
use super::declare::{constant, count, money};
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::model::Type;
use chartc_text::rules::duplicate_name;
use chartc_text::rules::illegal_structure;
use chartc_text::rules::type_error;
use chartc_text::span::Span;
use chartc_text::syntax::{Limit, Noted};
use std::collections::BTreeMap;

const KINDS: [&str; 5] = ["calls", "tokens", "cost", "time", "turns"];

/// Lowers all `limits` blocks of a state.
pub(super) fn limits(cx: &mut Cx<'_>, state: StateId, blocks: &[&[Noted<Limit>]]) {
    let mut seen: BTreeMap<(&str, bool), Span> = BTreeMap::new();
    for noted in blocks.iter().copied().flatten() {
        let limit = &noted.node;
        let name = limit.what.node.as_str();
        if let Some(first) = seen.get(&(name, limit.per_turn)) {
            cx.findings.push(duplicate_name::twice("limit", name, limit.what.span, *first));
            continue;
        }
        seen.insert((name, limit.per_turn), limit.what.span);
        if limit.per_turn {
            per_turn(cx, state, limit, noted.span);
        } else {
            whole_run(cx, state, limit);
        }
    }
}

fn per_turn(cx: &mut Cx<'_>, state: StateId, limit: &Limit, span: Span) {
    if limit.what.node != "calls" || state.0 != 0 {
        let finding = illegal_structure::RULE
            .at(span, "only `calls` of the chart itself are limited per turn")
            .help("write `calls N per turn` in the chart's own `limits`");
        cx.report(finding);
        return;
    }
    if let Some(warn) = &limit.warn {
        let message = "a limit per turn has no soft bound: it only ends the walk";
        cx.report(illegal_structure::RULE.at(warn.span, message));
    }
    cx.map.states[state.index()].per_turn = Some(limit.bound.span);
    if let Some(bound) = count(cx, &limit.bound, "`calls`") {
        cx.chart.calls_per_turn =
            if bound == 0 { None } else { Some(u32::try_from(bound).unwrap_or(u32::MAX)) };
    }
}

fn whole_run(cx: &mut Cx<'_>, state: StateId, limit: &Limit) {
    let name = limit.what.node.as_str();
    match name {
        "calls" | "turns" | "tokens" => {
            let bound = count(cx, &limit.bound, &format!("`{name}`"));
            let warn = limit.warn.as_ref().and_then(|w| count(cx, w, "`warn`"));
            refuse_late(cx, limit, bound.zip(warn).is_some_and(|(bound, warn)| warn > bound));
            refuse_nothing(cx, limit, name == "turns" && bound == Some(0), warn == Some(0));
            let spans = &mut cx.map.states[state.index()];
            match name {
                "calls" => spans.calls = Some(limit.bound.span),
                "turns" => spans.turns = Some(limit.bound.span),
                _ => spans.tokens = Some(limit.bound.span),
            }
            let limits = &mut cx.chart.states[state.index()].limits;
            match name {
                "calls" => (limits.calls, limits.calls_warn) = (bound, warn),
                "turns" => (limits.turns, limits.turns_warn) = (bound, warn),
                _ => (limits.tokens, limits.tokens_warn) = (bound, warn),
            }
        }
        "time" => {
            cx.map.states[state.index()].time = Some(limit.bound.span);
            let bound = duration(cx, &limit.bound);
            let warn = limit.warn.as_ref().and_then(|w| duration(cx, w));
            refuse_late(cx, limit, bound.zip(warn).is_some_and(|(bound, warn)| warn > bound));
            refuse_nothing(cx, limit, bound == Some(0), warn == Some(0));
            let limits = &mut cx.chart.states[state.index()].limits;
            (limits.time, limits.time_warn) = (bound, warn);
        }
        "cost" => {
            cx.map.states[state.index()].cost = Some(limit.bound.span);
            let bound = money(cx, &limit.bound, "`cost`");
            let warn = limit.warn.as_ref().and_then(|w| money(cx, w, "`cost`"));
            refuse_late(cx, limit, bound.zip(warn).is_some_and(|(bound, warn)| warn > bound));
            refuse_nothing(cx, limit, false, warn == Some(0.0));
            let limits = &mut cx.chart.states[state.index()].limits;
            (limits.cost, limits.cost_warn) = (bound, warn);
        }
        _ => cx.unknown("limit", name, limit.what.span, KINDS),
    }
}

/// Reports limits of 0 turns or no time, with which a state cannot be active, and soft bounds of 0, which are reached before
/// anything is spent. Calls, tokens and cost may be limited to 0: then no call is made.
fn refuse_nothing(cx: &mut Cx<'_>, limit: &Limit, bound: bool, warn: bool) {
    let what = &limit.what.node;
    if bound {
        let finding = illegal_structure::RULE
            .at(limit.bound.span, format!("a limit of 0 {what} allows nothing"))
            .help("leave the limit out, or give at least 1");
        cx.report(finding);
    }
    if let (true, Some(warn)) = (warn, &limit.warn) {
        let finding = illegal_structure::RULE
            .at(warn.span, format!("a soft bound of 0 {what} is reached before anything happens"))
            .help("leave `warn` out, or give it more than 0");
        cx.report(finding);
    }
}

fn refuse_late(cx: &mut Cx<'_>, limit: &Limit, late: bool) {
    if let (true, Some(warn)) = (late, &limit.warn) {
        let finding = type_error::RULE
            .at(warn.span, "the soft bound lies above the hard one, which is reached first")
            .related(limit.bound.span, "the hard bound");
        cx.report(finding);
    }
}

fn duration(cx: &mut Cx<'_>, written: &chartc_text::syntax::Expr) -> Option<u64> {
    match constant(cx, written, &Type::Duration, "`time`")? {
        Value::Duration(ms) => Some(ms),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => None,
    }
}
