//! The tables of `chartc check --cost`: model calls of a turn and of a run.

use super::columns::columns;
use super::output::StyledText;
use crate::costs::{amount_text, bound, driver, formula, name, path};
use chartc_check::compile::Checked;
use chartc_check::facts::Facts;
use chartc_check::notation;
use chartc_check::turn::cost::{CallBound, Cost, Driver, RunCost, cost};
use chartc_check::turn::money::{Most, money};
use chartc_core::machine::LimitKind;
use chartc_core::model::Chart;
use serde::Serialize;

/// The maximum number of turns in the text. The most expensive come first.
const ROWS: usize = 20;

/// Formats the cost of each chart as text.
pub(super) fn human(charts: &[Checked]) -> StyledText {
    let mut out = StyledText::default();
    for checked in charts {
        let chart = checked.chart();
        let found = cost(chart, &Facts::new(chart));
        if !out.is_empty() {
            out.line("");
        }
        out.line(format!("{}: model calls of {}", checked.source(), chart.name));
        table(&mut out, chart, &found);
    }
    out
}

fn table(out: &mut StyledText, chart: &Chart, found: &Cost) {
    let mut turns: Vec<_> = found.turns.iter().collect();
    turns.sort_by_key(|t| (std::cmp::Reverse(t.worst), t.leaf));
    let more = turns.len().saturating_sub(ROWS);
    turns.truncate(ROWS);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for turn in turns {
        let why: Vec<String> = turn.drivers.iter().take(4).map(|d| driver(chart, d)).collect();
        let rest = if turn.drivers.len() > 4 { " + …" } else { "" };
        rows.push(vec![
            path(chart, turn.leaf).to_owned(),
            turn.least.to_string(),
            turn.worst.to_string(),
            why.join(" + ") + rest,
        ]);
    }
    if more > 0 {
        rows.push(vec![format!("and {more} more"), String::new(), String::new(), String::new()]);
    }
    for event in &found.events {
        let why = driver(chart, event);
        rows.push(vec![
            format!("a question of {}", name(chart, event.step)),
            "0".into(),
            event.calls().to_string(),
            why,
        ]);
    }
    let (least, way) = match &found.run.least {
        Some((calls, lines)) => (calls.to_string(), lines.len()),
        None => ("-".into(), 0),
    };
    let worst = if found.run.worst == CallBound::Formula {
        formula(chart, LimitKind::Calls)
    } else {
        found.run.worst.calls().map_or("unbounded".into(), |n| n.to_string())
    };
    let by = match (found.run.least.is_some(), bound(chart, &found.run)) {
        (true, by) => {
            format!("least over {way} {}; worst: {by}", if way == 1 { "line" } else { "lines" })
        }
        (false, by) => format!("no end is `ok`; worst: {by}"),
    };
    rows.push(vec!["a run, to an end that is ok".into(), least, worst, by]);
    if let Some(found) = money(chart, &found.run).filter(|_| !chart.clients.is_empty()) {
        let known = |amount: Option<f64>| amount.map_or("-".into(), amount_text);
        let most = found.most.known().map_or("unbounded".into(), amount_text);
        let (most, by) = match found.most {
            Most::NoCalls => (most, "no step calls a model".into()),
            Most::Cost(cost) => (most, format!("limits {{ cost {cost:?} }}")),
            Most::Tokens { tokens, price } => {
                (most, format!("limits {{ tokens {tokens} }}, {price:?} for a million"))
            }
            Most::CostOf(cost) => {
                (notation::expression(chart, cost), "limits { cost … } over params".into())
            }
            Most::TokensOf { tokens, price } => {
                let tokens = notation::expression(chart, tokens);
                (format!("({tokens}) * {price:?} / 1e6"), "limits { tokens … } over params".into())
            }
            Most::Answers(answers) => {
                let answers = amount_text(answers);
                (most, format!("answers cost {answers} at most, nothing bounds the prompts"))
            }
            Most::Unbounded => (most, "no limit of cost or tokens".into()),
        };
        rows.push(vec!["money of such a run".into(), known(found.least), most, by]);
    }
    out.add(&columns(&["a turn that begins in", "least", "worst", ""], &rows, &[1, 2]));
}

#[derive(Serialize)]
struct Document<'c> {
    version: u32,
    charts: Vec<Figures<'c>>,
}

#[derive(Serialize)]
struct Figures<'c> {
    file: &'c str,
    chart: &'c str,
    turns: Vec<Turn<'c>>,
    events: Vec<By<'c>>,
    run: JsonRunCost,
}

#[derive(Serialize)]
struct Turn<'c> {
    state: &'c str,
    least: u64,
    worst: u64,
    steps: Vec<By<'c>>,
}

#[derive(Serialize)]
struct By<'c> {
    step: &'c str,
    times: u64,
    retries: u64,
    tools: u64,
    calls: u64,
}

#[derive(Serialize)]
struct JsonRunCost {
    least: Option<u64>,
    worst: Option<u64>,
    bound: String,
    /// The cost in the unit of the prices; absent if a price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<Amounts>,
}

#[derive(Serialize)]
struct Amounts {
    least: Option<f64>,
    most: Option<f64>,
    /// The maximum as an expression over params, if it is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
}

fn amounts(chart: &Chart, run: &RunCost) -> Option<Amounts> {
    let found = money(chart, run).filter(|_| !chart.clients.is_empty())?;
    let formula = match found.most {
        Most::CostOf(cost) => Some(notation::expression(chart, cost)),
        Most::TokensOf { tokens, price } => {
            Some(format!("({}) * {price:?} / 1e6", notation::expression(chart, tokens)))
        }
        _ => None,
    };
    Some(Amounts { least: found.least, most: found.most.known(), formula })
}

fn steps<'c>(chart: &'c Chart, drivers: &[Driver]) -> Vec<By<'c>> {
    let by = |d: &Driver| {
        let step = name(chart, d.step);
        By { step, times: d.times, retries: d.retries, tools: d.tools, calls: d.calls() }
    };
    drivers.iter().map(by).collect()
}

/// Formats the cost of each chart as JSON: `{"version":1,"charts":[…]}`. Later versions only add fields. `null` means that a run has no
/// end, or no bound.
pub(super) fn json(charts: &[Checked]) -> String {
    let figures = |checked: &Checked| {
        let chart = checked.chart();
        let found = cost(chart, &Facts::new(chart));
        let bound = bound(chart, &found.run);
        (found, bound)
    };
    let all: Vec<(Cost, String)> = charts.iter().map(figures).collect();
    let charts = charts
        .iter()
        .zip(&all)
        .map(|(checked, (found, bound))| {
            let chart = checked.chart();
            let turns = found.turns.iter().map(|t| Turn {
                state: path(chart, t.leaf),
                least: t.least,
                worst: t.worst,
                steps: steps(chart, &t.drivers),
            });
            Figures {
                file: checked.source(),
                chart: &chart.name,
                turns: turns.collect(),
                events: steps(chart, &found.events),
                run: JsonRunCost {
                    least: found.run.least.as_ref().map(|(calls, _)| *calls),
                    worst: found.run.worst.calls(),
                    bound: bound.clone(),
                    money: amounts(chart, &found.run),
                },
            }
        })
        .collect();
    let text = serde_json::to_string_pretty(&Document { version: 1, charts });
    text.expect("strings and numbers always serialize") + "\n"
}
