//! Conditions that never hold.

use super::{Context, Lint, words};
use crate::facts::guard::{Verdict, decide};
use crate::facts::range::Range;
use crate::facts::scope::{ScopeCondition, scope};
use crate::notation;
use chartc_core::arena::{StateId, VarId};
use chartc_core::model::Expr;
use chartc_text::diagnostic::{Broken, Diagnostic};
use chartc_text::rules::IMPOSSIBLE_GUARD;
use chartc_text::span::Span;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &IMPOSSIBLE_GUARD, needs_whole: false, run };

/// The maximum number of variables whose bounds are shown.
const BOUNDS: usize = 3;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // `each after` expands to several transitions with the same span: reported once, and only if none of them can be taken.
    let mut found: BTreeMap<Span, Vec<Diagnostic>> = BTreeMap::new();
    for ((transition, spans), acts) in
        chart.transitions.iter().zip(&map.transitions).zip(&facts.scopes.transitions)
    {
        let Some(guard) = &transition.guard else { continue };
        let place = spans.guard.unwrap_or(spans.trigger);
        let home = (&scope(chart, transition), Some(acts));
        let payload = notation::payload(transition);
        let one = check(context, (Some(guard), &payload), home, place, "line is never taken")
            .map(|one| one.breaks(Broken::Construct(spans.whole)));
        if let Some(one) = one {
            found.entry(spans.whole).or_default().push(one);
        }
    }
    let mut written: BTreeMap<Span, usize> = BTreeMap::new();
    if !found.is_empty() {
        for spans in map.transitions.iter().filter(|spans| found.contains_key(&spans.whole)) {
            *written.entry(spans.whole).or_default() += 1;
        }
    }
    let whole = |(place, all): &(Span, Vec<Diagnostic>)| written.get(place) == Some(&all.len());
    let all = found.into_iter().filter(whole);
    diagnostics.extend(all.filter_map(|(_, all)| all.into_iter().next()));
    for ((step, spans), acts) in chart.steps.iter().zip(&map.steps).zip(&facts.scopes.steps) {
        let place = spans.guard.unwrap_or(spans.name);
        let home = ScopeCondition::in_state(step.state);
        let home = (&home, Some(acts));
        diagnostics.extend(check(
            context,
            (step.guard.as_ref(), &[]),
            home,
            place,
            "step never runs",
        ));
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        let home = ScopeCondition::in_state(permission.from.unwrap_or(StateId::at(0)));
        let guard = permission.guard.as_ref();
        let home = (&home, None);
        diagnostics.extend(check(context, (guard, &[]), home, *span, "permission is never given"));
    }
}

/// Reports a condition that never holds. `payload` contains the names of the event's fields, `home` is the scope of the condition, and
/// `acts` is the scope in which its transition or step may act, if that is known.
fn check(
    context: &Context<'_>,
    (guard, payload): (Option<&Expr>, &[&str]),
    (home, acts): (&ScopeCondition, Option<&ScopeCondition>),
    span: Span,
    so: &str,
) -> Option<Diagnostic> {
    let guard = guard?;
    let Context { chart, facts, .. } = context;
    let text = || words::short(&notation::expression_in(chart, guard, payload));
    let help = "correct the condition, or remove what depends on it";
    // If there are states in which it may act, the facts have established that its condition is satisfiable.
    let is_decided = facts.ranges.is_empty() && acts.is_some_and(|acts| !acts.within.is_empty());
    if !is_decided && decide(chart, &[(guard, true)]) == Verdict::Never {
        return Some(
            IMPOSSIBLE_GUARD
                .at(span, format!("`{}` can never hold, so this {so}", text()))
                .help(help),
        );
    }
    if facts.ranges.bear_on(chart, guard) && facts.ranges.forbid(chart, guard) {
        let message = format!("`{}` never becomes true, so this {so}", text());
        let found = IMPOSSIBLE_GUARD.at(span, message).help(help);
        let read = facts.ranges.read(chart, guard).into_iter();
        return Some(read.take(BOUNDS).fold(found, |found, (id, range)| {
            found.related(context.map.variables[id.index()], bounds(context, id, range))
        }));
    }
    if home.is_closed_by(chart, guard) {
        let message =
            format!("`{}` asks for states that are not active here, so this {so}", text());
        return Some(IMPOSSIBLE_GUARD.at(span, message).help(help));
    }
    None
}

/// Describes the bounds of a variable.
fn bounds(context: &Context<'_>, id: VarId, range: Range) -> String {
    let name = &context.chart.variables[id.index()].name;
    match (range.low, range.high) {
        (Some(low), Some(high)) if low == high => format!("`{name}` stays {low}"),
        (Some(low), Some(high)) => format!("`{name}` stays between {low} and {high}"),
        (Some(low), None) => format!("`{name}` is never less than {low}"),
        (None, Some(high)) => format!("`{name}` is never more than {high}"),
        (None, None) => format!("`{name}` is here"),
    }
}
