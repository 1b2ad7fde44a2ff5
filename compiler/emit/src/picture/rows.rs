//! The rows in a state, below its name: blocks, steps, and the transitions without a target.

use super::look::Look;
use super::place::{Origin, Places, homes};
use super::text::short;
use super::words;
use chartc_check::notation;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    AskOn, Chart, Each, Expr, Failure, Limits, Lost, Otherwise, State, StateKind, StepKind,
};

/// The maximum number of characters of an action block or of advice.
pub(crate) const LONG: usize = 76;

/// A row: an optional emphasised word, and the text after it.
pub(crate) struct LabelRow {
    pub(crate) word: &'static str,
    /// The look of the word; `None` for a faint word.
    pub(crate) look: Option<Look>,
    pub(crate) text: String,
    /// Whether the row is a step for each element of a list.
    pub(crate) is_many: bool,
}

fn row(word: &'static str, look: Option<Look>, text: String) -> LabelRow {
    LabelRow { word, look, text, is_many: false }
}

/// The bounds of a step for each element, as far as they differ from the defaults.
fn bounds(each: &Each) -> String {
    let mut parts = Vec::new();
    if each.most != Each::MOST {
        parts.push(format!("up to {}", each.most));
    }
    if let Some(enough) = each.enough {
        parts.push(format!("enough {enough}"));
    }
    if each.at_a_time != Each::AT_A_TIME {
        parts.push(format!("{} at a time", each.at_a_time));
    }
    match each.lost {
        Lost::Fail => {}
        Lost::Skip => parts.push("else skip".to_owned()),
        Lost::None => parts.push("else none".to_owned()),
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The rows of every state, in document order.
pub(crate) struct Rows {
    rows: Vec<Vec<LabelRow>>,
}

impl Rows {
    pub(crate) fn new(places: &Places<'_>) -> Self {
        let chart = places.chart;
        let mut rows: Vec<Vec<LabelRow>> =
            chart.states.iter().map(|s| blocks(chart, s, LONG)).collect();
        for index in 0..chart.steps.len() {
            for home in places.homes(StepId::at(index)) {
                let guard = |g: &str| format!(" [{}]", short(g, LONG));
                rows[home.index()].push(step(chart, StepId::at(index), guard));
            }
        }
        let (of, copies) = places.copies();
        for (index, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(index);
            // A transition with targets is an edge. Of the transitions of an `each` line only the first is listed.
            if !transition.targets.is_empty() || copies.contains(&id) {
                continue;
            }
            let look = Look::from_trigger(&transition.trigger);
            let mut text = words::title(chart, transition);
            if let Some(guard) = words::guard(chart, transition) {
                text.push_str(&format!(" [{guard}]"));
            }
            if !transition.actions.is_empty() {
                text.push_str(&format!(" / {}", words::actions(chart, transition)));
            }
            let word = if of.contains_key(&id) { "each" } else { "" };
            let at = of.get(&id).map(|s| vec![Origin::State(*s)]);
            for origin in at.unwrap_or_else(|| places.origins(transition)) {
                let (Origin::State(state) | Origin::Any(state)) = origin;
                rows[state.index()].push(row(word, Some(look), short(&text, LONG)));
            }
        }
        Self { rows }
    }

    pub(crate) fn at(&self, state: StateId) -> &[LabelRow] {
        &self.rows[state.index()]
    }
}

/// The rows of entry and exit actions, advice and limits. The texts have at most `long` characters.
pub(crate) fn blocks(chart: &Chart, state: &State, long: usize) -> Vec<LabelRow> {
    let mut rows = Vec::new();
    for (word, blocks) in [("enter", &state.entry), ("exit", &state.exit)] {
        for block in blocks {
            let text = words::joined(chart, block, &[]);
            rows.push(row(word, None, short(&text, long)));
        }
    }
    if !state.default_actions.is_empty() {
        let word =
            if matches!(state.kind, StateKind::History { .. }) { "first" } else { "initial" };
        let text = words::joined(chart, &state.default_actions, &[]);
        rows.push(row(word, None, short(&text, long)));
    }
    if let Some(advice) = &state.advice {
        let text = notation::template(chart, advice, &[]);
        rows.push(row("advice", None, short(&text, long)));
    }
    let limits = limits(chart, &state.limits);
    if !limits.is_empty() {
        rows.push(row("limits", None, limits));
    }
    rows
}

fn limits(chart: &Chart, limits: &Limits) -> String {
    let part = |(kind, most, warn): (LimitKind, Option<String>, Option<String>)| {
        let computed = |is_soft: bool| {
            let found = limits.computed.iter().find(|c| c.kind == kind && c.is_soft == is_soft);
            found.map(|limit| notation::expression(chart, &limit.value))
        };
        let warn = warn.or_else(|| computed(true)).map(|w| format!(" warn {w}"));
        let most = most.or_else(|| computed(false))?;
        Some(format!("{} {most}{}", kind.name(), warn.unwrap_or_default()))
    };
    let count = |n: Option<i64>| n.map(|n| n.to_string());
    let cost = |c: Option<f64>| c.map(|c| format!("{c:?}"));
    let time = |t: Option<u64>| t.map(notation::duration);
    let parts = [
        (LimitKind::Calls, count(limits.calls), count(limits.calls_warn)),
        (LimitKind::Tokens, count(limits.tokens), count(limits.tokens_warn)),
        (LimitKind::Cost, cost(limits.cost), cost(limits.cost_warn)),
        (LimitKind::Time, time(limits.time), time(limits.time_warn)),
        (LimitKind::Turns, count(limits.turns), count(limits.turns_warn)),
    ];
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join("  ")
}

/// The row of a step, without its outcomes. `guard` writes its condition.
pub(crate) fn step(chart: &Chart, id: StepId, guard: impl Fn(&str) -> String) -> LabelRow {
    let step = &chart.steps[id.index()];
    let state = step.state;
    let mut name = notation::name(&step.name);
    if let Some(each) = &step.each {
        let list = notation::expression(chart, &each.list);
        name.push_str(&format!(" each {} in {list}", notation::name(&each.local.name)));
    }
    let (word, look, mut text) = match &step.kind {
        StepKind::Llm => ("llm", Some(Look::Done), name),
        StepKind::Code(_) => ("code", None, name),
        StepKind::Call(tool, _) => {
            ("call", Some(Look::Done), format!("{name} {}", chart.tools[tool.index()].name))
        }
        StepKind::Human(_) => ("human", Some(Look::Done), name),
        StepKind::Run(run) => {
            let entry = if run.on_entry { " at entry" } else { "" };
            ("run", Some(Look::Done), format!("{name} {}{entry}{}", run.chart, run.forward.words()))
        }
        StepKind::Ask { on, always, otherwise } => {
            let mut text = name;
            match on {
                AskOn::Turn => text.push_str(" on turn"),
                AskOn::Event(events) => {
                    text.push_str(&format!(" on {}", notation::event_pattern(chart, events)));
                }
            }
            if *always {
                text.push_str(" always");
            }
            if matches!(otherwise, Otherwise::Stay) {
                text.push_str(" else stay");
            }
            ("ask", Some(Look::Choice), text)
        }
    };
    let is_home = state.0 == 0 || !matches!(chart.state(state).kind, StateKind::Atomic);
    let (_, rest) = if is_home {
        homes(chart, state, step.guard.as_ref())
    } else {
        (Vec::new(), step.guard.iter().collect())
    };
    if !rest.is_empty() {
        let rest: Vec<String> = rest.iter().map(|e| conjunct(chart, e, rest.len())).collect();
        text.push_str(&guard(&rest.join(" and ")));
    }
    let is_ask = matches!(step.kind, StepKind::Ask { .. });
    text.push_str(&step.each.as_ref().map_or(String::new(), bounds));
    // The chart's own default is not repeated at each step.
    if step.failure.then == Failure::Skip && step.failure != chart.defaults && !is_ask {
        text.push_str(" (skip on failure)");
    }
    if let Some(tools) = step.tools {
        text.push_str(&format!(" (tools {})", chart.tool_sets[tools.set.index()].name));
    }
    let always = chartc_core::model::ExprKind::Bool(true);
    if step.ends_turn.as_ref().is_some_and(|e| e.kind == always) {
        text.push_str(" (ends turn)");
    }
    LabelRow { is_many: step.each.is_some(), ..row(word, look, text) }
}

fn conjunct(chart: &Chart, expr: &Expr, of: usize) -> String {
    let text = notation::expression(chart, expr);
    // These bind more loosely than the `and` between the conjuncts.
    let is_or = matches!(
        &expr.kind,
        chartc_core::model::ExprKind::Binary(chartc_core::model::BinaryOp::Or, ..)
            | chartc_core::model::ExprKind::If(..)
    );
    if of > 1 && is_or { format!("({text})") } else { text }
}
