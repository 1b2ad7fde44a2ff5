//! What stands in a state: its name, steps, blocks and the lines that move nothing.

use super::place::{Origin, Places, homes};
use super::style::Look;
use super::text::{html, short, wrap};
use super::words;
use crate::notation;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{
    AskOn, Chart, Expr, Failure, Limits, Otherwise, State, StateKind, Status, StepKind,
};

/// Characters of one line in a state's label.
const WIDTH: usize = 38;
/// Characters of an action block or advice before it is cut; the tooltip of an edge has it whole.
const LONG: usize = 76;

/// One entry of a state's label: a coloured first word and what follows.
struct Row {
    word: &'static str,
    colour: &'static str,
    text: String,
}

const QUIET: &str = "#475569";

fn row(word: &'static str, colour: &'static str, text: String) -> Row {
    Row { word, colour, text }
}

/// Rows of every state, in document order.
pub(super) struct Labels {
    rows: Vec<Vec<Row>>,
}

impl Labels {
    pub(super) fn of(places: &Places<'_>) -> Self {
        let chart = places.chart;
        let mut rows: Vec<Vec<Row>> = chart.states.iter().map(|s| blocks(chart, s)).collect();
        for (index, step) in chart.steps.iter().enumerate() {
            for home in places.homes(StepId::at(index)) {
                rows[home.index()].push(step_row(chart, StepId::at(index), step.state));
            }
        }
        let (of, copies) = places.copies();
        for (index, line) in chart.transitions.iter().enumerate() {
            let id = chartc_core::arena::TransitionId::at(index);
            if !line.targets.is_empty() || copies.contains(&id) {
                continue;
            }
            let look = Look::of(&line.trigger);
            let mut text = words::title(chart, line);
            if let Some(guard) = words::guard(chart, line) {
                text.push_str(&format!(" [{guard}]"));
            }
            if !line.actions.is_empty() {
                text.push_str(&format!(" / {}", words::actions(chart, line)));
            }
            let word = if of.contains_key(&id) { "each" } else { "" };
            let at = of.get(&id).map(|s| vec![Origin::State(*s)]);
            for origin in at.unwrap_or_else(|| places.origins(line)) {
                let (Origin::State(state) | Origin::Any(state)) = origin;
                rows[state.index()].push(row(word, look.colour(), short(&text, LONG)));
            }
        }
        Self { rows }
    }

    /// Whether there is anything besides the name.
    pub(super) fn is_empty(&self, state: StateId) -> bool {
        self.rows[state.index()].is_empty()
    }

    /// The HTML-like label of a state, `title` first, with its angle brackets.
    pub(super) fn html(&self, state: StateId, title: &str, flush_left: bool) -> String {
        let rows = &self.rows[state.index()];
        if rows.is_empty() {
            return format!("<{title}>");
        }
        let align = if flush_left { "left" } else { "center" };
        let mut out = format!(
            "<<table border=\"0\" cellborder=\"0\" cellpadding=\"2\" cellspacing=\"0\"><tr><td align=\"{align}\">{title}</td></tr>"
        );
        if !flush_left {
            out.push_str("<hr/>");
        }
        for row in rows {
            out.push_str("<tr><td align=\"left\" balign=\"left\"><font point-size=\"9\">");
            let colour = row.colour;
            let lead = if row.word.is_empty() { String::new() } else { format!("{} ", row.word) };
            let lines = wrap(&format!("{lead}{}", row.text), WIDTH);
            for (n, line) in lines.iter().enumerate() {
                let (word, rest) = match line.strip_prefix(lead.trim_end()) {
                    Some(rest) if n == 0 && !lead.is_empty() => (lead.trim_end(), rest),
                    _ => ("", line.as_str()),
                };
                if n > 0 {
                    out.push_str("<br/>&nbsp;&nbsp;");
                }
                if lead.is_empty() {
                    out.push_str(&format!("<font color=\"{colour}\">{}</font>", html(rest)));
                    continue;
                }
                if !word.is_empty() {
                    let word = html(word);
                    out.push_str(&format!("<font color=\"{colour}\"><b>{word}</b></font>"));
                }
                out.push_str(&html(rest));
            }
            out.push_str("</font></td></tr>");
        }
        out.push_str("</table>>");
        out
    }
}

/// A state's name as the first row shows it.
pub(super) fn title(chart: &Chart, id: StateId) -> String {
    let state = chart.state(id);
    let name = wrap(&state.name, WIDTH).iter().map(|l| html(l)).collect::<Vec<_>>().join("<br/>");
    let bold = format!("<b>{name}</b>");
    match &state.kind {
        StateKind::Parallel => {
            format!("{bold}<font color=\"{QUIET}\" point-size=\"9\"> parallel</font>")
        }
        StateKind::Final { params, status } => {
            let mut out = bold;
            if !params.is_empty() {
                let params: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
                let params = short(&format!("({})", params.join(", ")), WIDTH);
                out.push_str(&format!("<font point-size=\"9\">{}</font>", html(&params)));
            }
            if *status != Status::Ok {
                out.push_str(&format!("<br/><font point-size=\"9\">{}</font>", status.word()));
            }
            out
        }
        StateKind::History { deep, .. } => (if *deep { "H*" } else { "H" }).to_string(),
        StateKind::Atomic | StateKind::Compound { .. } => bold,
    }
}

fn blocks(chart: &Chart, state: &State) -> Vec<Row> {
    let mut rows = Vec::new();
    for (word, block) in [("enter", &state.entry), ("exit", &state.exit)] {
        if !block.is_empty() {
            let text = words::joined(chart, block, &[]);
            rows.push(row(word, QUIET, short(&text, LONG)));
        }
    }
    if let Some(advice) = &state.advice {
        let text = notation::template(chart, advice, &[]);
        rows.push(row("advice", QUIET, short(&text, LONG)));
    }
    let limits = limits(&state.limits);
    if !limits.is_empty() {
        rows.push(row("limits", QUIET, limits));
    }
    rows
}

fn limits(limits: &Limits) -> String {
    let count = |name: &str, n: Option<i64>| n.map(|n| format!("{name} {n}"));
    let parts = [
        count("calls", limits.calls),
        count("tokens", limits.tokens),
        limits.cost.map(|c| format!("cost {c:?}")),
        limits.time.map(|t| format!("time {}", notation::duration(t))),
        count("turns", limits.turns),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

fn step_row(chart: &Chart, id: StepId, state: StateId) -> Row {
    let step = &chart.steps[id.index()];
    let name = notation::name(&step.name);
    let (word, colour, mut text) = match &step.kind {
        StepKind::Llm => ("llm", Look::Done.colour(), name),
        StepKind::Code(_) => ("code", QUIET, name),
        StepKind::Call(tool, _) => {
            ("call", Look::Done.colour(), format!("{name} {}", chart.tools[tool.index()].name))
        }
        StepKind::Human(_) => ("human", Look::Done.colour(), name),
        StepKind::Run(child, _) => ("run", Look::Done.colour(), format!("{name} {child}")),
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
            ("ask", Look::Choice.colour(), text)
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
        text.push_str(&format!(" [{}]", short(&rest.join(" and "), LONG)));
    }
    let is_ask = matches!(step.kind, StepKind::Ask { .. });
    if step.failure.then == Failure::Skip && step.failure != chart.defaults && !is_ask {
        text.push_str(" (skip on failure)");
    }
    let always = chartc_core::model::ExprKind::Bool(true);
    if step.ends_turn.as_ref().is_some_and(|e| e.kind == always) {
        text.push_str(" (ends turn)");
    }
    row(word, colour, text)
}

fn conjunct(chart: &Chart, expr: &Expr, of: usize) -> String {
    let text = notation::expression(chart, expr);
    let is_or = matches!(
        &expr.kind,
        chartc_core::model::ExprKind::Binary(chartc_core::model::BinaryOp::Or, ..)
            | chartc_core::model::ExprKind::If(..)
    );
    if of > 1 && is_or { format!("({text})") } else { text }
}
