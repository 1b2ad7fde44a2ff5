//! Findings about conditions that always or never hold, and about counters that bound no loop.
//!
//! The problem: `n < 3` in place of `n > 3` is a valid chart, in which a line is never taken or a loop never ends. The idea: prove that a
//! condition has the same value whenever it is evaluated. There are three proofs: from the condition itself (`decide`), from the bounds of
//! its variables (`Facts::ranges`), and from the states that may be active where it is evaluated (`ScopeCondition::is_closed_by`,
//! `is_opened_by`).
//!
//! For counters, a proof must include the loop. `LOST_COUNT` and a part of `UNCOUNTED_LINE` report what the facts find in the graph of
//! moves (`loops`, `counters`). `BACKWARD_COUNT` looks at one transition and its guard (`miscounts`), and also reports `LONG_STRIDE` and
//! `UNASKED_COUNT`; an example is above it.
//!
//! One line of the text may be several transitions (`each after`). It is reported once, and only if the finding holds for all of them. For
//! example:
//!
//! ```text
//! var n: Int = 0
//! state a {
//!   on go { n = n + 1 }
//!   on back if n < 0 -> b                 `n` is never less than 0: the line is never taken
//!   on stop if n == 1 and n == 2 -> b     never holds, whatever `n` is
//!   on quit if n > 3 or n <= 3 -> b       always holds
//! }
//! ```

use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::is_impossible;
use crate::analysis::facts::counters::{
    self, CounterBound, Owner, Writer, can_return, is_lasting, step, uncounted,
};
use crate::analysis::facts::cover::shadows;
use crate::analysis::facts::loops::{self, GuardOwner, Lost, LostReason, lost};
use crate::analysis::facts::ranges::Range;
use crate::analysis::facts::reach::{ScopeCondition, scope};
use crate::analysis::facts::usage::{reads, walk};
use crate::analysis::facts::values::declared_of_data;
use crate::notation;
use crate::rules::{self, LONG_STRIDE, UNASKED_COUNT};
use crate::syntax::diagnostic::{Broken, Diagnostic};
use crate::syntax::source::Span;
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static IMPOSSIBLE_GUARD: Lint =
    Lint { rule: &rules::IMPOSSIBLE_GUARD, needs_whole: false, run: find_impossible_guard };

/// The maximum number of variables whose bounds are shown.
const BOUNDS: usize = 3;

fn find_impossible_guard(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (spans, acts) = (map.transition(id), facts.scopes.transition(id));
        let Some(guard) = &transition.guard else { continue };
        let place = spans.guard.unwrap_or(spans.trigger);
        let home = (&scope(chart, transition), Some(acts));
        let payload = notation::payload(transition);
        let known = declared_of_data(chart, Some(&transition.trigger), guard);
        let guard = (Some(guard), &*payload, &*known);
        let one = check(context, guard, home, place, "line is never taken")
            .map(|one| one.breaks(Broken::Construct(spans.whole)));
        found.extend(one.map(|one| (id, one)));
    }
    let lines = context.whole_lines(found, |_| true).into_values();
    diagnostics.extend(lines.filter_map(|all| all.into_iter().next()).map(|(_, one)| one));
    for ((step, spans), acts) in chart.steps.iter().zip(&map.steps).zip(&facts.scopes.steps) {
        let place = spans.guard.unwrap_or(spans.name);
        let home = ScopeCondition::in_state(step.state);
        let home = (&home, Some(acts));
        diagnostics.extend(check(
            context,
            (step.guard.as_ref(), &[], &[]),
            home,
            place,
            "step never runs",
        ));
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        let home = ScopeCondition::in_state(permission.from.unwrap_or(StateId::at(0)));
        let guard = permission.guard.as_ref();
        let home = (&home, None);
        diagnostics.extend(check(
            context,
            (guard, &[], &[]),
            home,
            *span,
            "permission is never given",
        ));
    }
}

/// Reports a condition that never holds. `payload` contains the names of the event's fields, `known` what the ranges of data say, `home` is the scope of the condition, and
/// `acts` is the scope in which its transition or step may act, if that is known.
fn check(
    context: &Context<'_>,
    (guard, payload, known): (Option<&Expr>, &[&str], &[Expr]),
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
    let is_never = !is_decided && is_impossible(chart, &[(guard, true)])
        || !known.is_empty() && is_impossible(chart, &with(known, (guard, true)));
    if is_never {
        return Some(
            rules::IMPOSSIBLE_GUARD
                .at(span, format!("`{}` can never hold, so this {so}", text()))
                .help(help),
        );
    }
    if is_dead(context, guard) {
        let message = format!("`{}` never becomes true, so this {so}", text());
        return Some(shown_bounds(
            context,
            guard,
            rules::IMPOSSIBLE_GUARD.at(span, message).help(help),
        ));
    }
    let parts = if context.all_read { alternatives(guard) } else { Vec::new() };
    if let Some(part) = parts.into_iter().find(|part| is_dead(context, part)) {
        let part_text = words::short(&notation::expression_in(chart, part, payload));
        let message =
            format!("`{part_text}` never becomes true, so this part of `{}` does nothing", text());
        let found = rules::IMPOSSIBLE_GUARD
            .at(span, message)
            .help("correct the condition, or remove the part");
        return Some(shown_bounds(context, part, found));
    }
    if home.is_closed_by(chart, guard) {
        let message =
            format!("`{}` asks for states that are not active here, so this {so}", text());
        return Some(rules::IMPOSSIBLE_GUARD.at(span, message).help(help));
    }
    None
}

/// A goal with what is known besides.
fn with<'e>(known: &'e [Expr], goal: (&'e Expr, bool)) -> Vec<(&'e Expr, bool)> {
    known.iter().map(|known| (known, true)).chain([goal]).collect()
}

/// Whether a condition never holds within the bounds of its variables.
fn is_dead(context: &Context<'_>, condition: &Expr) -> bool {
    let Context { chart, facts, .. } = context;
    facts.ranges.bear_on(chart, condition) && facts.ranges.forbid(chart, condition)
}

/// The alternatives of a condition: the operands of its `or`s, none of which is an `or` itself. Empty if there is no `or`.
fn alternatives(condition: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut open = vec![(condition, false)];
    while let Some((condition, is_part)) = open.pop() {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::Or, a, b) => open.extend([(&**b, true), (&**a, true)]),
            ExprKind::Binary(BinaryOp::And, a, b) if !is_part => {
                open.extend([(&**b, false), (&**a, false)]);
            }
            _ if is_part => found.push(condition),
            _ => {}
        }
    }
    found
}

/// Adds the bounds of the variables that a condition reads to a finding.
fn shown_bounds(context: &Context<'_>, condition: &Expr, found: Diagnostic) -> Diagnostic {
    let read = context.facts.ranges.read(context.chart, condition).into_iter();
    read.take(BOUNDS).fold(found, |found, (id, range)| {
        found.related(context.map.variables[id.index()], bounds(context, id, range))
    })
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

// Conditions that always hold.

pub(super) static NEEDLESS_GUARD: Lint =
    Lint { rule: &rules::NEEDLESS_GUARD, needs_whole: false, run: find_needless_guard };

fn find_needless_guard(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    transitions(context, diagnostics);
    let Context { chart, facts, map, .. } = context;
    for ((step, spans), place) in chart.steps.iter().zip(&map.steps).zip(&facts.scopes.steps) {
        if let Some(guard) = step.guard.as_ref().filter(|_| !place.within.is_empty())
            && always(context, guard, &ScopeCondition::in_state(step.state))
        {
            diagnostics.push(report_needless(
                context,
                guard,
                &notation::expression(chart, guard),
                spans.guard.unwrap_or(spans.name),
            ));
        }
    }
    for (permission, span) in chart.permissions.iter().zip(&map.permissions) {
        let home = ScopeCondition::in_state(permission.from.unwrap_or(StateId::at(0)));
        if let Some(guard) = permission.guard.as_ref().filter(|g| always(context, g, &home)) {
            diagnostics.push(report_needless(
                context,
                guard,
                &notation::expression(chart, guard),
                *span,
            ));
        }
    }
    for (component, span) in chart.components.iter().zip(&map.components) {
        for insert in &component.inserts {
            let home = ScopeCondition::in_state(chart.steps[insert.step.index()].state);
            if let Some(guard) = insert.guard.as_ref().filter(|g| always(context, g, &home)) {
                diagnostics.push(report_needless(
                    context,
                    guard,
                    &notation::expression(chart, guard),
                    *span,
                ));
            }
        }
    }
}

/// Reports the guards of transitions that always hold.
fn transitions(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let ids = (0..chart.transitions.len()).map(TransitionId::at);
    let told = ids.filter(|id| is_told(context, *id)).map(|id| (id, ()));
    let lines = context.whole_lines(told, |_| true);
    if lines.is_empty() {
        return;
    }
    let hidden = shadows(chart, facts).0;
    for all in lines.into_values() {
        let by = |others: &[TransitionId]| all.iter().any(|(id, ())| others.contains(id));
        let mut hidden = hidden.iter().filter(|shadow| by(&shadow.by));
        // C0302 reports a transition that several others shadow together.
        if hidden.clone().any(|s| s.by.len() > 1) {
            continue;
        }
        let (transition, spans) = (chart.transition(all[0].0), map.transition(all[0].0));
        let Some(guard) = &transition.guard else { continue };
        let text = notation::expression_in(chart, guard, &notation::payload(transition));
        let place = spans.guard.unwrap_or(spans.trigger);
        let mut told = report_needless(context, guard, &text, place);
        if let Some(first) = hidden.next() {
            told = told.related(
                map.transition(first.transition).whole,
                "never taken: the line above always is",
            );
        }
        diagnostics.push(told);
    }
}

/// Whether C0311 reports the guard of a transition.
pub(super) fn is_told(context: &Context<'_>, id: TransitionId) -> bool {
    let Context { chart, facts, .. } = context;
    let transition = chart.transition(id);
    let other = transition.trigger == Trigger::When || !facts.reach.can_take(id);
    !other
        && transition.guard.as_ref().is_some_and(|guard| {
            let known = declared_of_data(chart, Some(&transition.trigger), guard);
            always(context, guard, &scope(chart, transition))
                || !known.is_empty() && is_impossible(chart, &with(&known, (guard, false)))
        })
}

/// Whether a condition always holds when it is evaluated, and is not a literal `true`.
fn always(context: &Context<'_>, guard: &Expr, home: &ScopeCondition) -> bool {
    let Context { chart, facts, .. } = context;
    guard.kind != ExprKind::Bool(true)
        && (home.is_opened_by(chart, guard)
            || facts.ranges.bear_on(chart, guard) && facts.ranges.require(chart, guard))
}

fn report_needless(context: &Context<'_>, guard: &Expr, text: &str, span: Span) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let text = words::short(text);
    let mut found = rules::NEEDLESS_GUARD
        .at(span, format!("`{text}` always holds, so this condition does nothing"))
        .help("correct the condition, or remove it");
    let mut ranges = BTreeSet::new();
    walk(chart, guard, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            ranges.insert(id);
        }
    });
    for id in ranges {
        let ranged =
            matches!(chart.variables[id.index()].kind, VariableKind::Param { range: Some(_) });
        if ranged {
            found = found.related(map.variables[id.index()], "its range");
        }
    }
    let by_itself = is_impossible(chart, &[(guard, false)]);
    if by_itself { found } else { shown_bounds(context, guard, found).about(span) }
}

// Conditions on counters that bound nothing, because no cycle through them changes the counter effectively.

pub(super) static LOST_COUNT: Lint =
    Lint { rule: &rules::LOST_COUNT, needs_whole: true, run: find_lost_count };

/// Also reports, from the same analysis, counters that move away from the bound of another transition or step.
fn find_lost_count(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    let mut told = BTreeSet::new();
    for found in lost(chart, facts) {
        let one = finding(context, &found);
        // For a transition that counts against its own guard, C0418 is reported at the guard, too.
        let own = matches!((found.owner, found.why), (GuardOwner::Transition(transition), LostReason::WrongDirection(writer))
            if writer.owner == Owner::Transition(transition));
        let asked = asked(context, found.owner).0;
        if told.insert(one.span) {
            let about = if own { asked } else { one.span };
            diagnostics.push(one.about(about));
        }
    }
}

/// The finding for a condition that bounds nothing, in the words for its reason.
fn finding(context: &Context<'_>, found: &Lost) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = &chart.variables[found.counter.index()].name;
    let (asked, guard) = asked(context, found.owner);
    let comes = if found.holds { "always holds" } else { "never holds" };
    match found.why {
        LostReason::Reset(writer) => {
            let message = format!(
                "each iteration resets `{name}`, so `{guard}` {comes} when it is evaluated"
            );
            rules::LOST_COUNT
                .at(place(context, found.counter, writer), message)
                .help("reset it where the loop begins, on the line that enters it")
                .related(asked, "this condition bounds nothing")
        }
        LostReason::WrongDirection(writer) => {
            let at = place(context, found.counter, writer);
            away(context, at, found, &guard).related(asked, "this condition bounds nothing")
        }
        LostReason::Elsewhere(writer) => {
            let message = format!("this bounds nothing: no cycle through here counts `{name}`");
            rules::LOST_COUNT
                .at(asked, message)
                .help(format!("count it in the loop: `{name} = {name} + 1`"))
                .related(place(context, found.counter, writer), "counted here only")
        }
        LostReason::Turn(writer) => {
            let message = format!(
                "this bounds nothing: `{name}` begins afresh in each turn, so `{guard}` {comes}"
            );
            rules::LOST_COUNT
                .at(asked, message)
                .help("count in a variable that outlasts the turn")
                .related(place(context, found.counter, writer), "counted here, until the turn ends")
        }
        LostReason::Never(writer) => {
            let message = format!("this bounds nothing: nothing counts `{name}`");
            rules::LOST_COUNT
                .at(asked, message)
                .help(format!("count it in the loop: `{name} = {name} + 1`"))
                .related(place(context, found.counter, writer), "only ever set to a constant")
        }
    }
    .related(map.variables[found.counter.index()], "it begins here")
}

/// The span and the shortened text of a condition.
fn asked(context: &Context<'_>, asker: GuardOwner) -> (Span, String) {
    let Context { chart, map, .. } = context;
    let text = |guard: &Option<chartc_core::model::Expr>| {
        guard.as_ref().map(|guard| words::short(&notation::expression(chart, guard)))
    };
    let (span, text) = match asker {
        GuardOwner::Transition(id) => {
            let spans = map.transition(id);
            (spans.guard.unwrap_or(spans.trigger), words::guard(chart, id))
        }
        GuardOwner::Step(id) => {
            let spans = map.step(id);
            (spans.guard.unwrap_or(spans.name), text(&chart.steps[id.index()].guard))
        }
        GuardOwner::Permission(i) => (map.permissions[i], text(&chart.permissions[i].guard)),
    };
    (span, text.unwrap_or_default())
}

/// The span of an assignment.
pub(super) fn place(context: &Context<'_>, counter: VarId, writer: Writer) -> Span {
    let Context { chart, map, .. } = context;
    let whole = match writer.owner {
        Owner::Transition(id) => map.transition(id).whole,
        Owner::State(id) => map.state(id).whole,
        Owner::Step(id) => map.step(id).whole,
    };
    let within = |inner: Span, outer: Span| {
        inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
    };
    // The parts of the state that are not its own blocks.
    let mut parts: Vec<Span> = Vec::new();
    if let Owner::State(id) = writer.owner {
        parts.extend(map.transitions.iter().map(|l| l.whole).filter(|s| within(*s, whole)));
        parts.extend(map.steps.iter().map(|s| s.whole).filter(|s| within(*s, whole)));
        let below = (id.0 + 1..chart.state(id).end.0).map(|s| map.states[s as usize].whole);
        parts.extend(below);
    }
    let mut own: Vec<Span> = map
        .assignments
        .iter()
        .filter(|(id, span)| *id == counter && within(*span, whole))
        .map(|(_, span)| *span)
        .filter(|span| !parts.iter().any(|part| within(*span, *part)))
        .collect();
    own.sort_by_key(|span| span.start);
    own.dedup();
    if let Some(span) = own.get(writer.nth).or(own.first()) {
        return *span;
    }
    // The block of a transition that is written as an arrow is behind its span.
    let behind = map.assignments.iter().filter(|(id, span)| {
        *id == counter && span.file == whole.file && span.start >= whole.start
    });
    behind.map(|(_, span)| *span).min_by_key(|span| span.start).unwrap_or(whole)
}

// Transitions that count in a way that does not bound their loop. For example, with `var n: Int = 0`:
//
// ```text
// done if n >= 3 -> writing { n = n + 1 }   // C0418: once `n >= 3` holds, counting up keeps it true
// done if n < 3 -> writing { n = n + 5 }    // C0419: the first step exceeds the bound, so the line is taken only once
// done if n < 3 -> writing { n = n + 1 }    // correct: at most three times
// error -> writing { n = n + 1 }            // C0423: counts, and does not test the bound
// ```

pub(super) static BACKWARD_COUNT: Lint =
    Lint { rule: &rules::BACKWARD_COUNT, needs_whole: true, run: find_backward_count };

/// Reports C0418, C0419 and C0423 from one analysis.
fn find_backward_count(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    diagnostics.extend(miscounts(chart, facts).iter().map(|found| match found.fault {
        Fault::Backward => report_backward(context, found),
        Fault::Stride(room) => stride(context, found, room),
        Fault::Unasked(twin) => unasked(context, found, twin),
    }));
}

fn report_backward(context: &Context<'_>, found: &Miscount) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let spans = map.transition(found.transition);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::transition(chart, found.transition);
    let way = if found.by > 0 { "up" } else { "down" };
    let message = format!(
        "this bounds nothing: once `{}` holds, {line} counts `{name}` {way}, and it stays true",
        guard(context, found.transition)
    );
    rules::BACKWARD_COUNT
        .at(spans.guard.unwrap_or(spans.trigger), message)
        .help("reverse the comparison, or count the other way")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// The finding, placed at the assignment, that a counter moves away from the bound of another transition or a step.
pub(super) fn away(context: &Context<'_>, at: Span, found: &Lost, guard: &str) -> Diagnostic {
    let name = &context.chart.variables[found.counter.index()].name;
    let goes = if found.holds { "stays true" } else { "never becomes true" };
    rules::BACKWARD_COUNT
        .at(at, format!("this counts `{name}` the wrong way: `{guard}` {goes}"))
        .help("count the other way, or reverse the comparison")
}

/// The text of the guard of a transition, shortened.
pub(super) fn guard(context: &Context<'_>, transition: TransitionId) -> String {
    words::guard(context.chart, transition).unwrap_or_default()
}

/// The finding that one step of the count is greater than the bound allows.
fn stride(context: &Context<'_>, found: &Miscount, room: i64) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "{} is taken once at most: it counts `{}` by {}, and `{}` leaves room for {room}",
        words::transition(chart, found.transition),
        chart.variables[found.counter.index()].name,
        found.by.unsigned_abs(),
        guard(context, found.transition)
    );
    LONG_STRIDE
        .at(map.transition(found.transition).whole, message)
        .help("correct the step or the bound; what may happen once only needs no count")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// The finding that a transition counts without testing the bound, which its `twin` tests.
fn unasked(context: &Context<'_>, found: &Miscount, twin: TransitionId) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "this bounds nothing: {} counts `{}` and leads back, and does not ask how far the count is",
        words::transition(chart, found.transition),
        chart.variables[found.counter.index()].name
    );
    UNASKED_COUNT
        .at(map.transition(found.transition).whole, message)
        .help(format!("add the condition, such as `if {}`", guard(context, twin)))
        .related(map.transition(twin).whole, "this line asks")
}

/// The maximum number of counting transitions that are examined, because each of them takes a pass over the chart.
const MOST: usize = 64;

/// A mistake in the counting of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The transition counts only if the counter is beyond the bound, and counts away from it.
    Backward,
    /// The increment is greater than the distance from the counter's least value to the bound, which is this number.
    Stride(i64),
    /// The transition counts without testing the bound. This other transition counts, too, and tests it.
    Unasked(TransitionId),
}

/// A transition that counts wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Miscount {
    transition: TransitionId,
    counter: VarId,
    /// The increment; never 0.
    by: i64,
    fault: Fault,
}

/// Finds the transitions that count wrongly, in document order.
fn miscounts(chart: &Chart, facts: &Facts) -> Vec<Miscount> {
    let mut found = Vec::new();
    if !chart.transitions.iter().any(|transition| is_counting(chart, transition)) {
        return found;
    }
    let counting = |(_, transition): &(usize, &Transition)| is_counting(chart, transition);
    for (i, transition) in chart.transitions.iter().enumerate().filter(counting).take(MOST) {
        let id = TransitionId::at(i);
        let Some(guard) = transition.guard.as_ref().filter(|_| facts.reach.can_take(id)) else {
            continue;
        };
        let bounds = bounds_of_count(chart, guard);
        for bound in &bounds {
            let Some(by) = counts(transition, bound.counter) else { continue };
            let up = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual);
            // Another test of the counter in the guard may bound it.
            let mut asked = 0;
            walk(chart, guard, &mut |e| {
                asked += usize::from(e.kind == ExprKind::Variable(bound.counter));
            });
            let alone = asked == 1;
            // Counting in the direction in which the comparison holds keeps it true.
            let fault = if up == (by > 0) {
                // Another bound in the same direction may end the loop.
                let open = alone && !is_bounded_elsewhere(chart, id, bound, up);
                (open && can_return(chart, facts, id, bound.counter)).then_some(Fault::Backward)
            } else {
                room(chart, facts, bound)
                    .filter(|room| by.unsigned_abs() > 1 && by.unsigned_abs() > room.unsigned_abs())
                    .map(Fault::Stride)
            };
            found.extend(fault.map(|fault| Miscount {
                transition: id,
                counter: bound.counter,
                by,
                fault,
            }));
        }
    }
    found.extend(miscounted(chart, facts));
    found.sort_by_key(|miscount| miscount.transition);
    found
}

/// Finds transitions of steps and options that loop back and count a variable without testing it, although each transition that tests it
/// also counts it.
fn miscounted(chart: &Chart, facts: &Facts) -> Vec<Miscount> {
    let counting = |(_, transition): &(usize, &Transition)| is_counting(chart, transition);
    if chart.transitions.iter().enumerate().filter(counting).count() > MOST {
        return Vec::new();
    }
    let asking = counted_by_all(chart);
    if asking.is_empty() {
        return Vec::new();
    }
    // Any other test of the counter may bound it: other conditions, and guards that do not compare it with a bound.
    let steps = chart.steps.iter().filter_map(|step| step.guard.as_ref());
    let blocks = chart.bodies().flat_map(|block| conditions(block));
    let mut elsewhere = BTreeSet::new();
    let lines = chart.tool_lines().filter_map(|line| line.guard.as_ref());
    for guard in steps.chain(blocks).chain(lines) {
        reads(chart, guard, &mut elsewhere);
    }
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let moves =
            transition.trigger.step().is_some() || matches!(transition.trigger, Trigger::Choice(_));
        let mut read = BTreeSet::new();
        transition.guard.iter().for_each(|guard| {
            reads(chart, guard, &mut read);
        });
        let compared: Vec<VarId> = transition
            .guard
            .iter()
            .flat_map(|guard| bounds_of_count(chart, guard))
            .map(|bound| bound.counter)
            .collect();
        elsewhere.extend(read.iter().filter(|id| !compared.contains(id)));
        if !moves || transition.targets.is_empty() || !facts.reach.can_take(id) {
            continue;
        }
        for (counter, twin) in asking.iter().filter(|(id, _)| !read.contains(id)) {
            let Some((by, twin)) = counts(transition, *counter).zip(*twin) else { continue };
            let along =
                counts(chart.transition(twin), *counter).is_some_and(|n| (n > 0) == (by > 0));
            if along && can_return(chart, facts, id, *counter) {
                found.push(Miscount {
                    transition: id,
                    counter: *counter,
                    by,
                    fault: Fault::Unasked(twin),
                });
            }
        }
    }
    found.retain(|miscount| !elsewhere.contains(&miscount.counter));
    found
}

/// The counters that each transition which tests them also counts, each with one of these transitions.
fn counted_by_all(chart: &Chart) -> BTreeMap<VarId, Option<TransitionId>> {
    let mut asking: BTreeMap<VarId, Option<TransitionId>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        for bound in transition.guard.iter().flat_map(|guard| bounds_of_count(chart, guard)) {
            let up = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual);
            let counts = counts(transition, bound.counter).is_some_and(|by| up != (by > 0));
            let twin = counts.then(|| TransitionId::at(i));
            // One transition that tests the counter without counting it is enough to leave the counter out.
            asking.entry(bound.counter).and_modify(|t| *t = t.and(twin)).or_insert(twin);
        }
    }
    asking.retain(|_, twin| twin.is_some());
    asking
}

/// The conditions of the `if` actions in a block.
fn conditions(actions: &[Action]) -> Vec<&Expr> {
    let mut found = Vec::new();
    Action::walk(actions, &mut |action| {
        if let Action::If(condition, ..) = action {
            found.push(condition);
        }
    });
    found
}

/// Whether the transition adds to or subtracts from a counter.
fn is_counting(chart: &Chart, transition: &Transition) -> bool {
    let counter = |action: &Action| matches!(action, Action::Assign(id, value) if is_lasting(chart, *id) && step(*id, value).is_some());
    transition.actions.iter().any(counter)
}

/// The comparisons of lasting counters that the guard implies.
fn bounds_of_count<'e>(chart: &'e Chart, guard: &'e Expr) -> Vec<CounterBound<'e>> {
    let mut found = counters::bounds(chart, guard);
    found.retain(|bound| is_lasting(chart, bound.counter));
    found
}

/// The transition's increment of the counter, if it sets it exactly once.
fn counts(transition: &Transition, counter: VarId) -> Option<i64> {
    let mut by = None;
    let mut sets = 0;
    Action::walk(&transition.actions, &mut |action| {
        if let Action::Assign(id, value) = action
            && *id == counter
        {
            sets += 1;
            by = step(counter, value);
        }
    });
    by.filter(|by| sets == 1 && *by != 0)
}

/// Whether another condition compares the counter in the same direction with a different bound.
fn is_bounded_elsewhere(chart: &Chart, own: TransitionId, of: &CounterBound<'_>, up: bool) -> bool {
    let transitions = chart.transitions.iter().enumerate();
    let lines = transitions.filter(|(i, _)| TransitionId::at(*i) != own).map(|(_, l)| &l.guard);
    let guards = lines.chain(chart.steps.iter().map(|step| &step.guard)).flatten();
    let further = |bound: CounterBound<'_>| {
        let same = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual) == up;
        bound.counter == of.counter && same && bound.than != of.than
    };
    let mut all = guards.chain(chart.predicates.iter().map(|p| &p.expr));
    all.any(|guard| bounds_of_count(chart, guard).into_iter().any(further))
}

/// The greatest possible distance from the counter's least value to the bound; if it counts down, from its greatest value. `None` if one of
/// them is unknown or the distance is not positive.
fn room(chart: &Chart, facts: &Facts, bound: &CounterBound<'_>) -> Option<i64> {
    let range = facts.ranges.get(bound.counter)?;
    let (low, high) = if let ExprKind::Int(n) = bound.than.kind {
        (n, n)
    } else if let ExprKind::Variable(id) = bound.than.kind
        && let VariableKind::Param { range: Some((Value::Int(low), Value::Int(high))) } =
            &chart.variables[id.index()].kind
    {
        (*low, *high)
    } else {
        return None;
    };
    let room = match bound.op {
        CompareOp::Less | CompareOp::LessEqual => high.checked_sub(range.low?),
        CompareOp::Greater | CompareOp::GreaterEqual => range.high?.checked_sub(low),
        _ => None,
    };
    room.filter(|room| *room > 0)
}

// Transitions that loop while a counter is below its bound and do not count.

pub(super) static UNCOUNTED_LINE: Lint =
    Lint { rule: &rules::UNCOUNTED_LINE, needs_whole: true, run: find_uncounted_line };

fn find_uncounted_line(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut told = BTreeSet::new();
    for found in uncounted(chart, facts) {
        let spans = map.transition(found.transition);
        // One line may define several transitions, and is reported once.
        if !told.insert(spans.whole) {
            continue;
        }
        let name = &chart.variables[found.counter.index()].name;
        let goal = chart.transition(found.transition).targets.first();
        let goal = goal.map_or_else(String::new, |t| words::state(chart, t.state));
        let other = words::transition(chart, found.counting);
        let message = format!(
            "this bounds nothing: {} leads to {goal} without counting `{name}`, and nothing on the way back counts it",
            words::transition(chart, found.transition)
        );
        let place = spans.guard.unwrap_or(spans.trigger);
        let help = format!("count it, as {other} does: `{name} = {name} + 1`");
        let other = map.transition(found.counting).whole;
        diagnostics.push(
            rules::UNCOUNTED_LINE.at(place, message).help(help).related(other, "this line counts"),
        );
    }
    for found in loops::uncounted(chart, facts) {
        let spans = map.transition(found.transition);
        if told.insert(spans.whole) {
            diagnostics.push(past(context, &found));
        }
    }
}

/// The finding for a loop that goes through the condition and does not count.
fn past(context: &Context<'_>, found: &loops::Uncounted) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let spans = map.transition(found.transition);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::transition(chart, found.transition);
    let around: Vec<StateId> = found
        .way
        .iter()
        .chain([&found.transition].into_iter().filter(|_| found.leads_back))
        .flat_map(|transition| chart.transition(*transition).targets.iter().map(|t| t.state))
        .collect();
    let message = format!(
        "this bounds nothing: no cycle through {} counts `{name}` before it comes back to {line}",
        words::states(chart, &around[..around.len().min(1)])
    );
    let place = spans.guard.unwrap_or(spans.trigger);
    let mut one = rules::UNCOUNTED_LINE
        .at(place, message)
        .help(format!("count it in the loop: `{name} = {name} + 1`"))
        .related(self::place(context, found.counter, found.counted), "counted here only");
    for transition in found.way.iter().take(4) {
        one = one.related(map.transition(*transition).whole, "part of the cycle");
    }
    one
}
