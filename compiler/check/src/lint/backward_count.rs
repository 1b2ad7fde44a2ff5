//! Transitions that count in a way that does not bound their loop. For example, with `var n: Int = 0`:
//!
//! ```text
//! done if n >= 3 -> writing { n = n + 1 }   // C0418: once `n >= 3` holds, counting up keeps it true
//! done if n < 3 -> writing { n = n + 5 }    // C0419: the first step exceeds the bound, so the line is taken only once
//! done if n < 3 -> writing { n = n + 1 }    // correct: at most three times
//! error -> writing { n = n + 1 }            // C0423: counts, and does not test the bound
//! ```

use crate::facts::Facts;
use crate::facts::counter::{self, CounterBound, is_lasting, step};
use crate::facts::counting::can_return;
use crate::facts::loops::Lost;
use crate::facts::uses::{reads, walk, written};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, CompareOp, Expr, ExprKind, Transition, Trigger, VariableKind,
};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::BACKWARD_COUNT;
use chartc_text::rules::{LONG_STRIDE, UNASKED_COUNT};
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &BACKWARD_COUNT, needs_whole: true, run };

/// Reports C0418, C0419 and C0423 from one analysis.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    diagnostics.extend(miscounts(chart, facts).iter().map(|found| match found.fault {
        Fault::Backward => told(context, found),
        Fault::Stride(room) => stride(context, found, room),
        Fault::Unasked(twin) => unasked(context, found, twin),
    }));
}

fn told(context: &Context<'_>, found: &Miscount) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let spans = map.transition(found.transition);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::transition(chart, found.transition);
    let way = if found.by > 0 { "up" } else { "down" };
    let message = format!(
        "this bounds nothing: once `{}` holds, {line} counts `{name}` {way}, and it stays true",
        guard(context, found.transition)
    );
    BACKWARD_COUNT
        .at(spans.guard.unwrap_or(spans.trigger), message)
        .help("reverse the comparison, or count the other way")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// The finding, placed at the assignment, that a counter moves away from the bound of another transition or a step.
pub(super) fn away(context: &Context<'_>, at: Span, found: &Lost, guard: &str) -> Diagnostic {
    let name = &context.chart.variables[found.counter.index()].name;
    let goes = if found.holds { "stays true" } else { "never becomes true" };
    BACKWARD_COUNT
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
        let bounds = bounds(chart, guard);
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
    let mut asking: BTreeMap<VarId, Option<TransitionId>> = BTreeMap::new();
    let counting = |(_, transition): &(usize, &Transition)| is_counting(chart, transition);
    if chart.transitions.iter().enumerate().filter(counting).count() > MOST {
        return Vec::new();
    }
    let transitions = chart.transitions.iter().enumerate();
    for (i, transition) in transitions.clone() {
        for bound in transition.guard.iter().flat_map(|guard| bounds(chart, guard)) {
            let up = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual);
            let counts = counts(transition, bound.counter).is_some_and(|by| up != (by > 0));
            let twin = counts.then(|| TransitionId::at(i));
            // One transition that tests the counter without counting it is enough to leave the counter out.
            asking.entry(bound.counter).and_modify(|t| *t = t.and(twin)).or_insert(twin);
        }
    }
    asking.retain(|_, twin| twin.is_some());
    if asking.is_empty() {
        return Vec::new();
    }
    // Any other test of the counter may bound it: other conditions, and guards that do not compare it with a bound.
    let steps = chart.steps.iter().filter_map(|step| step.guard.as_ref());
    let blocks = written(chart).flat_map(|block| conditions(block));
    let mut elsewhere = BTreeSet::new();
    for guard in steps.chain(blocks) {
        reads(chart, guard, &mut elsewhere);
    }
    let mut found = Vec::new();
    for (i, transition) in transitions {
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
            .flat_map(|guard| bounds(chart, guard))
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
fn bounds<'e>(chart: &'e Chart, guard: &'e Expr) -> Vec<CounterBound<'e>> {
    let mut found = counter::bounds(chart, guard);
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
    all.any(|guard| bounds(chart, guard).into_iter().any(further))
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
