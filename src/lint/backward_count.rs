//! Lines that count away from the bound that they ask for.

use crate::diagnostic::Diagnostic;
use crate::facts::Facts;
use crate::facts::counter::{self, Bound, is_lasting, step};
use crate::facts::counting::comes_back;
use crate::facts::rounds::Lost;
use crate::facts::uses::{reads, walk, written};
use crate::lint::{Context, Lint, words};
use crate::rules::backward_count::RULE;
use crate::rules::{long_stride, unasked_count};
use crate::span::Span;
use chartc_core::arena::{TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, CompareOp, Expr, ExprKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

/// With the other two ways to count wrongly, so that counts are looked at once.
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
    let spans = map.line(found.line);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::line(chart, found.line);
    let way = if found.by > 0 { "up" } else { "down" };
    let message = format!(
        "this bounds nothing: once `{}` holds, {line} counts `{name}` {way}, and it goes on holding",
        guard(context, found.line)
    );
    RULE.at(spans.guard.unwrap_or(spans.trigger), message)
        .help("turn the comparison round, or count the other way")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// A count that goes away from what another line or a step asks for, at the count.
pub(super) fn away(context: &Context<'_>, at: Span, found: &Lost, guard: &str) -> Diagnostic {
    let name = &context.chart.variables[found.counter.index()].name;
    let goes = if found.holds { "goes on holding" } else { "never comes to hold" };
    RULE.at(at, format!("this counts `{name}` the wrong way: `{guard}` {goes}"))
        .help("count the other way, or turn the comparison round")
}

/// The condition of a line, in short.
pub(super) fn guard(context: &Context<'_>, line: TransitionId) -> String {
    words::guard(context.chart, line).unwrap_or_default()
}

/// The finding.
fn stride(context: &Context<'_>, found: &Miscount, room: i64) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "{} is taken once at most: it counts `{}` by {}, and `{}` leaves room for {room}",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name,
        found.by.unsigned_abs(),
        guard(context, found.line)
    );
    long_stride::RULE
        .at(map.line(found.line).whole, message)
        .help("correct the step or the bound; what may happen once only needs no count")
        .related(map.variables[found.counter.index()], "the count begins here")
}

/// The finding; `twin` is a line that asks.
fn unasked(context: &Context<'_>, found: &Miscount, twin: TransitionId) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let message = format!(
        "this bounds nothing: {} counts `{}` and leads back, and does not ask how far the count is",
        words::line(chart, found.line),
        chart.variables[found.counter.index()].name
    );
    unasked_count::RULE
        .at(map.line(found.line).whole, message)
        .help(format!("add the condition, such as `if {}`", guard(context, twin)))
        .related(map.line(twin).whole, "this line asks")
}

/// Lines that are looked at; a chart with more is built by a program.
const MOST: usize = 64;

/// What is wrong with a line that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It counts only when the counter is past the bound already, and away from it.
    Backward,
    /// The first step is longer than all that the bound allows, which is this much.
    Stride(i64),
    /// It counts and asks for no bound, as this other line that counts does.
    Unasked(TransitionId),
}

/// A line that counts wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Miscount {
    /// The line.
    line: TransitionId,
    /// Its counter.
    counter: VarId,
    /// By how much it counts; never 0.
    by: i64,
    /// How.
    fault: Fault,
}

/// Every such line, ascending.
fn miscounts(chart: &Chart, facts: &Facts) -> Vec<Miscount> {
    let mut found = Vec::new();
    if !chart.transitions.iter().any(|line| is_counting(chart, line)) {
        return found;
    }
    let counting = |(_, line): &(usize, &Transition)| is_counting(chart, line);
    for (i, line) in chart.transitions.iter().enumerate().filter(counting).take(MOST) {
        let id = TransitionId::at(i);
        let Some(guard) = line.guard.as_ref().filter(|_| facts.reach.takes(id)) else { continue };
        let bounds = bounds(chart, guard);
        for bound in &bounds {
            let Some(by) = counts(line, bound.counter) else { continue };
            let up = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual);
            // What else asks for it may bound it.
            let mut asked = 0;
            walk(chart, guard, &mut |e| {
                asked += usize::from(e.kind == ExprKind::Variable(bound.counter));
            });
            let alone = asked == 1;
            let fault = if up == (by > 0) {
                let open = alone && !is_bounded_elsewhere(chart, id, bound, up);
                (open && comes_back(chart, facts, id, bound.counter)).then_some(Fault::Backward)
            } else {
                room(chart, facts, bound)
                    .filter(|room| by.unsigned_abs() > 1 && by.unsigned_abs() > room.unsigned_abs())
                    .map(Fault::Stride)
            };
            found.extend(fault.map(|fault| Miscount {
                line: id,
                counter: bound.counter,
                by,
                fault,
            }));
        }
    }
    found.extend(miscounted(chart, facts));
    found.sort_by_key(|miscount| miscount.line);
    found
}

/// Lines by which a step or a model leads back and counts without asking, where every line that asks for the counter counts it, too.
fn miscounted(chart: &Chart, facts: &Facts) -> Vec<Miscount> {
    let mut asking: BTreeMap<VarId, Option<TransitionId>> = BTreeMap::new();
    let counting = |(_, line): &(usize, &Transition)| is_counting(chart, line);
    if chart.transitions.iter().enumerate().filter(counting).count() > MOST {
        return Vec::new();
    }
    let lines = chart.transitions.iter().enumerate();
    for (i, line) in lines.clone() {
        for bound in line.guard.iter().flat_map(|guard| bounds(chart, guard)) {
            let up = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual);
            let counts = counts(line, bound.counter).is_some_and(|by| up != (by > 0));
            let twin = counts.then(|| TransitionId::at(i));
            asking.entry(bound.counter).and_modify(|t| *t = t.and(twin)).or_insert(twin);
        }
    }
    asking.retain(|_, twin| twin.is_some());
    if asking.is_empty() {
        return Vec::new();
    }
    // Whoever else asks for the counter may bound it: other conditions, and what a condition does not compare with a bound.
    let steps = chart.steps.iter().filter_map(|step| step.guard.as_ref());
    let blocks = written(chart).flat_map(|block| conditions(block));
    let mut elsewhere = BTreeSet::new();
    for guard in steps.chain(blocks) {
        reads(chart, guard, &mut elsewhere);
    }
    let mut found = Vec::new();
    for (i, line) in lines {
        let id = TransitionId::at(i);
        let moves = line.trigger.step().is_some() || matches!(line.trigger, Trigger::Choice(_));
        let mut read = BTreeSet::new();
        line.guard.iter().for_each(|guard| {
            reads(chart, guard, &mut read);
        });
        let compared: Vec<VarId> = line
            .guard
            .iter()
            .flat_map(|guard| bounds(chart, guard))
            .map(|bound| bound.counter)
            .collect();
        elsewhere.extend(read.iter().filter(|id| !compared.contains(id)));
        if !moves || line.targets.is_empty() || !facts.reach.takes(id) {
            continue;
        }
        for (counter, twin) in asking.iter().filter(|(id, _)| !read.contains(id)) {
            let Some((by, twin)) = counts(line, *counter).zip(*twin) else { continue };
            let along =
                counts(chart.transition(twin), *counter).is_some_and(|n| (n > 0) == (by > 0));
            if along && comes_back(chart, facts, id, *counter) {
                found.push(Miscount {
                    line: id,
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

/// The conditions within a block.
fn conditions(actions: &[Action]) -> Vec<&Expr> {
    let mut found = Vec::new();
    Action::walk(actions, &mut |action| {
        if let Action::If(condition, ..) = action {
            found.push(condition);
        }
    });
    found
}

/// Whether the line sets a counter from itself.
fn is_counting(chart: &Chart, line: &Transition) -> bool {
    let counter = |action: &Action| matches!(action, Action::Assign(id, value) if is_lasting(chart, *id) && step(*id, value).is_some());
    line.actions.iter().any(counter)
}

/// The comparisons that all have to hold for the condition to, of counters that outlast a turn.
fn bounds<'e>(chart: &'e Chart, guard: &'e Expr) -> Vec<Bound<'e>> {
    let mut found = counter::bounds(chart, guard);
    found.retain(|bound| is_lasting(chart, bound.counter));
    found
}

/// By how much the line counts, if it does nothing else to the counter.
fn counts(line: &Transition, counter: VarId) -> Option<i64> {
    let mut by = None;
    let mut sets = 0;
    Action::walk(&line.actions, &mut |action| {
        if let Action::Assign(id, value) = action
            && *id == counter
        {
            sets += 1;
            by = step(counter, value);
        }
    });
    by.filter(|by| sets == 1 && *by != 0)
}

/// Whether another condition asks whether the counter has gone on to some other bound.
fn is_bounded_elsewhere(chart: &Chart, own: TransitionId, of: &Bound<'_>, up: bool) -> bool {
    let lines = chart.transitions.iter().enumerate();
    let lines = lines.filter(|(i, _)| TransitionId::at(*i) != own).map(|(_, l)| &l.guard);
    let guards = lines.chain(chart.steps.iter().map(|step| &step.guard)).flatten();
    let further = |bound: Bound<'_>| {
        let same = matches!(bound.op, CompareOp::Greater | CompareOp::GreaterEqual) == up;
        bound.counter == of.counter && same && bound.than != of.than
    };
    let mut all = guards.chain(chart.predicates.iter().map(|p| &p.expr));
    all.any(|guard| bounds(chart, guard).into_iter().any(further))
}

/// How far it is from the counter's least value to the bound, at most; for one that counts down from its greatest.
fn room(chart: &Chart, facts: &Facts, bound: &Bound<'_>) -> Option<i64> {
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
        CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => None,
    };
    room.filter(|room| *room > 0)
}
