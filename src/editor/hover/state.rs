//! Describes states and charts.

use super::View;
use super::data::fields;
use super::markdown::{Markdown, code};
use crate::costs;
use chartc_check::compile::Compilation;
use chartc_check::lint::words::{self, TransitionHead};
use chartc_check::lower::Lowered;
use chartc_check::notation;
use chartc_check::turn::cost::{Cost, Driver};
use chartc_check::turn::money::money;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, Limits, StateKind, StepKind};

/// The numbers of model calls of a chart. `None` if it has errors, because the numbers would mean little, or if computing them would take
/// long.
pub(in crate::editor) fn figures<'c>(done: &'c Compilation, one: &Lowered) -> Option<&'c Cost> {
    let mut sound = done.charts.iter().chain(&done.tested);
    sound.find(|sound| sound.map().name == one.map.name)?.cost()
}

/// The trigger of a transition, as code.
fn head(chart: &Chart, id: TransitionId) -> String {
    match words::head(chart, id) {
        TransitionHead::Line(words) => code(&words),
        TransitionHead::Outcome(what, step) => format!("{} of {}", code(what), code(step)),
    }
}

/// A row for a transition. If `comes`, it shows the source, the trigger and the place; otherwise the trigger, the targets and the place.
pub(super) fn line(view: &View<'_>, id: TransitionId, comes: bool) -> String {
    let chart = &view.one.chart;
    let row = chart.transition(id);
    let mut text = String::new();
    if comes {
        text.push_str(&code(costs::path(chart, row.source)));
        text.push(' ');
    }
    text.push_str(&head(chart, id));
    if !comes && !row.targets.is_empty() {
        let all: Vec<String> =
            row.targets.iter().map(|target| code(&chart.state(target.state).path)).collect();
        text.push_str(&format!(" → {}", all.join(", ")));
    }
    text.push_str(&format!(" {}", view.place(view.one.map.transition(id).whole)));
    text
}

/// The limits of a state or a chart, as written.
pub(in crate::editor) fn limits(chart: &Chart, limits: &Limits) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |kind: LimitKind, name: &str, fixed: Option<String>, warn: Option<String>| {
        let formula = limits.formula(kind).map(|expr| notation::expression(chart, expr));
        if let Some(bound) = fixed.or(formula) {
            let warn = warn.map_or_else(String::new, |warn| format!(" warn {warn}"));
            all.push(format!("{name} {bound}{warn}"));
        }
    };
    let whole = |n: Option<i64>| n.map(|n| n.to_string());
    let money = |n: Option<f64>| n.map(|n| format!("{n:?}"));
    let time = |n: Option<u64>| n.map(notation::duration);
    add(LimitKind::Turns, "turns", whole(limits.turns), whole(limits.turns_warn));
    add(LimitKind::Calls, "calls", whole(limits.calls), whole(limits.calls_warn));
    add(LimitKind::Tokens, "tokens", whole(limits.tokens), whole(limits.tokens_warn));
    add(LimitKind::Cost, "cost", money(limits.cost), money(limits.cost_warn));
    add(LimitKind::Time, "time", time(limits.time), time(limits.time_warn));
    all
}

/// Formats the steps that call, as in `ask next 1 + 1 retry`.
pub(in crate::editor) fn drivers(chart: &Chart, drivers: &[Driver]) -> String {
    let all: Vec<String> = drivers.iter().take(4).map(|d| costs::driver(chart, d)).collect();
    let rest = if drivers.len() > 4 { " + …" } else { "" };
    all.join(" + ") + rest
}

/// Describes a state.
pub(super) fn state(markdown: &mut Markdown, view: &View<'_>, id: StateId) {
    let chart = &view.one.chart;
    let row = chart.state(id);
    let path = notation::path(&row.path);
    markdown.code(
        "chart",
        &match &row.kind {
            StateKind::Atomic | StateKind::Compound { .. } => format!("state {path}"),
            StateKind::Parallel => format!("parallel {path}"),
            StateKind::Final { params, status } => {
                format!("final {path}{} : {}", fields(chart, params), status.word())
            }
            StateKind::History { deep, default } => {
                let deep = if *deep { " deep" } else { "" };
                let all: Vec<String> =
                    default.iter().map(|s| chart.state(*s).path.clone()).collect();
                format!("history {path}{deep} -> {}", all.join(", "))
            }
        },
    );
    markdown.docs(&row.doc);
    if let StateKind::Compound { initial } = &row.kind {
        let all: Vec<String> = initial.iter().map(|s| code(&chart.state(*s).path)).collect();
        let children = chart.children(id).count();
        let s = if children == 1 { "" } else { "ren" };
        markdown.line(format!("{children} child{s}; begins in {}.", all.join(", ")));
    }
    if row.kind == StateKind::Parallel {
        let all: Vec<String> = chart.children(id).map(|s| code(&chart.state(s).path)).collect();
        markdown.line(format!("Active together: {}.", all.join(", ")));
    }
    let lines = || (0..chart.transitions.len()).map(TransitionId::at);
    let mut into: Vec<TransitionId> = lines()
        .filter(|line| {
            let row = chart.transition(*line);
            row.targets.iter().any(|target| target.state == id)
        })
        .collect();
    // A `from` line is a transition of each of its states: list it once.
    into.dedup_by_key(|line| view.one.map.transition(*line).whole);
    let begins = chart.state_ids().filter(|parent| match &chart.state(*parent).kind {
        StateKind::Compound { initial } => initial.contains(&id),
        _ => false,
    });
    let begins = begins.map(|parent| format!("{} begins here", code(costs::path(chart, parent))));
    let lines = into.into_iter().map(|id| line(view, id, true));
    markdown.list("Entered", begins.chain(lines).collect::<Vec<_>>());
    let mut from: Vec<TransitionId> = row.transitions.clone();
    let outcomes = row.steps.iter().flat_map(|step| &chart.steps[step.index()].outcomes);
    from.extend(outcomes.copied().filter(|line| !row.transitions.contains(line)));
    from.retain(|line| !chart.transition(*line).targets.is_empty());
    from.sort_unstable();
    from.dedup();
    markdown.list("Leads to", from.into_iter().map(|id| line(view, id, false)));
    markdown.list("Also left by enclosing states", above(view, id));
    markdown.list("Limits", limits(chart, &row.limits).iter().map(|limit| code(limit)));
    calls(markdown, view, id);
}

/// The transitions of ancestors that leave a state, those of the nearest ancestor first.
fn above(view: &View<'_>, id: StateId) -> Vec<String> {
    let chart = &view.one.chart;
    let row = chart.state(id);
    let stays = match &row.kind {
        // In a final state of the root the run is over, and a history is never active.
        StateKind::Final { .. } => row.parent == Some(StateId::at(0)),
        StateKind::History { .. } => true,
        StateKind::Atomic | StateKind::Compound { .. } | StateKind::Parallel => false,
    };
    let around = chart.ancestors(id).filter(|up| *up != id && !stays);
    let lines = around.flat_map(|up| chart.state(up).transitions.iter().copied());
    lines
        .filter(|line| !chart.transition(*line).targets.is_empty())
        .map(|id| {
            let source = code(costs::path(chart, chart.transition(id).source));
            format!("{source} {}", line(view, id, false))
        })
        .collect()
}

/// Adds the maximum number of model calls of turns that begin in a state.
fn calls(markdown: &mut Markdown, view: &View<'_>, id: StateId) {
    let chart = &view.one.chart;
    let Some(found) = figures(view.done, view.one) else { return };
    let inside = found.turns.iter().filter(|turn| chart.contains(id, turn.leaf));
    let Some(worst) = inside.max_by_key(|turn| (turn.worst, std::cmp::Reverse(turn.leaf))) else {
        return;
    };
    if worst.worst == 0 {
        markdown.line("A turn that begins here calls no model.");
        return;
    }
    let leaf = if worst.leaf == id {
        "here".to_owned()
    } else {
        format!("in {}", code(&chart.state(worst.leaf).path))
    };
    let plural = if worst.worst == 1 { "" } else { "s" };
    markdown.line(format!(
        "A turn that begins {leaf} makes at most {} model call{plural}: {}.",
        worst.worst,
        code(&drivers(chart, &worst.drivers))
    ));
}

/// Describes a chart.
pub(super) fn chart(markdown: &mut Markdown, view: &View<'_>) {
    let chart = &view.one.chart;
    markdown.code("chart", &format!("chart {}", notation::name(&chart.name)));
    markdown.docs(&chart.doc);
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let asks = chart
        .steps
        .iter()
        .filter(|step| matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. }));
    markdown.line(format!(
        "{}, {}, {}, {} of a model.",
        count(chart.states.len().saturating_sub(1), "state"),
        count(chart.transitions.len(), "transition"),
        count(chart.steps.len(), "step"),
        asks.count()
    ));
    let root = chart.states.first();
    let limits = root.map_or_else(Vec::new, |root| limits(chart, &root.limits));
    markdown.list("Limits", limits.iter().map(|limit| code(limit)));
    let Some(found) = figures(view.done, view.one) else { return };
    let worst = found.turns.iter().max_by_key(|turn| (turn.worst, std::cmp::Reverse(turn.leaf)));
    let mut rows = Vec::new();
    if let Some(worst) = worst {
        let leaf = code(costs::path(chart, worst.leaf));
        rows.push(format!("a turn: at most {}, beginning in {leaf}", worst.worst));
    }
    let most = found.run.worst.calls().map_or("without a bound".into(), |n| format!("at most {n}"));
    let by = costs::bound(chart, &found.run);
    rows.push(format!("a run: {most} ({})", code(&by)));
    markdown.list("Model calls", rows);
    if let Some(found) = money(chart, &found.run)
        && !chart.clients.is_empty()
        && let Some(most) = found.most.known()
    {
        markdown.line(format!("A run costs at most {}.", costs::amount_text(most)));
    }
}
