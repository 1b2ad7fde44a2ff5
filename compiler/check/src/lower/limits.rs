//! Lowers `limits { }` of the chart and of states.

use super::context::Cx;
use super::declare::count;
use super::expr::{self, Env};
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{ComputedLimit, Expr, Limits, Type};
use chartc_text::rules::duplicate_name;
use chartc_text::rules::{ILLEGAL_STRUCTURE, TYPE_ERROR};
use chartc_text::span::Span;
use chartc_text::syntax::{self, Limit, Noted};
use std::collections::BTreeMap;

static KINDS: [(&str, LimitKind, Type); 5] = [
    ("calls", LimitKind::Calls, Type::Int),
    ("tokens", LimitKind::Tokens, Type::Int),
    ("cost", LimitKind::Cost, Type::Float),
    ("time", LimitKind::Time, Type::Duration),
    ("turns", LimitKind::Turns, Type::Int),
];

/// The names of the quantities that can be limited.
pub fn limit_names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, ..)| *name)
}

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
        let finding = ILLEGAL_STRUCTURE
            .at(span, "only `calls` of the chart itself are limited per turn")
            .help("write `calls N per turn` in the chart's own `limits`");
        cx.report(finding);
        return;
    }
    if let Some(warn) = &limit.warn {
        let message = "a limit per turn has no soft bound: it only ends the walk";
        cx.report(ILLEGAL_STRUCTURE.at(warn.span, message));
    }
    cx.map.states[state.index()].per_turn = Some(limit.bound.span);
    if let Some(bound) = count(cx, &limit.bound, "`calls`") {
        // `calls 0 per turn` means that there is no bound.
        cx.chart.calls_per_turn =
            if bound == 0 { None } else { Some(u32::try_from(bound).unwrap_or(u32::MAX)) };
    }
}

fn whole_run(cx: &mut Cx<'_>, state: StateId, limit: &Limit) {
    let name = limit.what.node.as_str();
    let Some((kind, ty)) = KINDS.iter().find(|(known, ..)| *known == name).map(|(_, k, t)| (*k, t))
    else {
        return cx.unknown("limit", name, limit.what.span, limit_names());
    };
    let bound = bound(cx, &limit.bound, ty, &format!("`{name}`"));
    let warn = limit.warn.as_ref().and_then(|warn| self::bound(cx, warn, ty, "`warn`"));
    let late = match (&bound, &warn) {
        (Some(LimitValue::Fixed(bound)), Some(LimitValue::Fixed(warn))) => {
            number(warn) > number(bound)
        }
        _ => false,
    };
    let is_none = |bound: &Option<LimitValue>| matches!(bound, Some(LimitValue::Fixed(n)) if number(n) == 0.0);
    refuse_late(cx, limit, late);
    let needed = matches!(kind, LimitKind::Turns | LimitKind::Time);
    refuse_nothing(cx, limit, needed && is_none(&bound), is_none(&warn));
    cx.map.states[state.index()].limit(kind, limit.bound.span);
    let limits = &mut cx.chart.states[state.index()].limits;
    for (bound, is_soft) in [(bound, false), (warn, true)] {
        match bound {
            Some(LimitValue::Fixed(value)) => set(limits, kind, is_soft, &value),
            Some(LimitValue::Over(value)) => {
                limits.computed.push(ComputedLimit { kind, is_soft, value });
            }
            None => {}
        }
    }
}

/// A bound: a value, or an expression over params.
enum LimitValue {
    Fixed(Value),
    Over(Expr),
}

/// Lowers a bound: a literal that is not negative, or an expression over params.
fn bound(cx: &mut Cx<'_>, written: &syntax::Expr, want: &Type, what: &str) -> Option<LimitValue> {
    let before = cx.findings.len();
    let lowered = expr::expect(cx, &mut Env::params(), written, want);
    if let Some(value) = expr::value_of(&lowered) {
        if number(&value) >= 0.0 {
            return Some(LimitValue::Fixed(value));
        }
        cx.report(TYPE_ERROR.at(written.span, format!("{what} cannot be negative")));
        return None;
    }
    (cx.findings.len() == before && !expr::is_faulty(&lowered)).then_some(LimitValue::Over(lowered))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(n) => *n as f64,
        Value::Float(x) => *x,
        Value::Duration(ms) => *ms as f64,
        _ => f64::NAN,
    }
}

fn set(limits: &mut Limits, kind: LimitKind, is_soft: bool, value: &Value) {
    let count = |value: &Value| if let Value::Int(n) = value { Some(*n) } else { None };
    let money = |value: &Value| if let Value::Float(x) = value { Some(*x) } else { None };
    let time = |value: &Value| if let Value::Duration(ms) = value { Some(*ms) } else { None };
    match (kind, is_soft) {
        (LimitKind::Calls, false) => limits.calls = count(value),
        (LimitKind::Calls, true) => limits.calls_warn = count(value),
        (LimitKind::Turns, false) => limits.turns = count(value),
        (LimitKind::Turns, true) => limits.turns_warn = count(value),
        (LimitKind::Tokens, false) => limits.tokens = count(value),
        (LimitKind::Tokens, true) => limits.tokens_warn = count(value),
        (LimitKind::Cost, false) => limits.cost = money(value),
        (LimitKind::Cost, true) => limits.cost_warn = money(value),
        (LimitKind::Time, false) => limits.time = time(value),
        (LimitKind::Time, true) => limits.time_warn = time(value),
    }
}

/// Reports limits of 0 turns or no time, with which a state cannot be active, and soft bounds of 0, which are reached before
/// anything is spent. Calls, tokens and cost may be limited to 0: then no call is made.
fn refuse_nothing(cx: &mut Cx<'_>, limit: &Limit, bound: bool, warn: bool) {
    let what = &limit.what.node;
    if bound {
        let finding = ILLEGAL_STRUCTURE
            .at(limit.bound.span, format!("a limit of 0 {what} allows nothing"))
            .help("leave the limit out, or give at least 1");
        cx.report(finding);
    }
    if let (true, Some(warn)) = (warn, &limit.warn) {
        let finding = ILLEGAL_STRUCTURE
            .at(warn.span, format!("a soft bound of 0 {what} is reached before anything happens"))
            .help("leave `warn` out, or give it more than 0");
        cx.report(finding);
    }
}

fn refuse_late(cx: &mut Cx<'_>, limit: &Limit, late: bool) {
    if let (true, Some(warn)) = (late, &limit.warn) {
        let finding = TYPE_ERROR
            .at(warn.span, "the soft bound lies above the hard one, which is reached first")
            .related(limit.bound.span, "the hard bound");
        cx.report(finding);
    }
}
