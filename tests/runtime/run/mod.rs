//! Charts that run: against scripts, chance and nobody, from the library and from the command line.

mod acting;
mod agents;
mod answers;
mod askers;
mod bounded;
mod budgets;
mod chance;
mod children;
mod doubt;
mod driver;
mod engine;
mod fanout;
mod history;
mod nothing_to_spend;
mod patience;
mod phases;
mod replay;
mod researcher;
mod resumed;
mod session;
mod simulate;
mod spending;
mod step_tools;
mod together;
mod viable;

use chartc::load::Memory;
use chartc_core::expr::Value;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Oracle, Script};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{RunError, Session};
use std::sync::Arc;
use test_support::project::root;

/// The only chart of a text without errors.
fn chart(text: &str) -> Arc<Chart> {
    named("test.chart", text)
}

fn named(name: &str, text: &str) -> Arc<Chart> {
    let done = chartc::check(&[name.to_owned()], &Memory::of(name, text));
    let found: Vec<String> = done
        .diagnostics
        .iter()
        .filter(|d| d.severity == chartc::diagnostic::Severity::Error)
        .map(|d| format!("{}: {}", d.rule.code, d.message))
        .collect();
    assert_eq!(found, [""; 0], "{text}");
    done.charts[0].chart().clone()
}

fn shipped(name: &str) -> Arc<Chart> {
    let text = std::fs::read_to_string(root().join("charts").join(name));
    named(name, &text.expect("a chart we ship"))
}

/// How a run went.
struct Ran {
    lines: Vec<Line>,
    states: Vec<String>,
    status: Option<&'static str>,
    error: Option<String>,
}

impl Ran {
    /// The lines of a kind, as JSON without the fields that every line has.
    fn of(&self, kinds: &[&str]) -> Vec<String> {
        let rows =
            self.lines.iter().map(|l| serde_json::to_value(&l.what).expect("a line is JSON"));
        // By their names, whatever their order is.
        let rows = rows.map(|mut row| {
            row.sort_all_objects();
            row
        });
        rows.filter(|row| kinds.contains(&row["kind"].as_str().unwrap_or_default()))
            .map(|row| row.to_string())
            .collect()
    }

    /// The targets of the lines taken, in order; for a line that stays its first words.
    fn moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        for line in &self.lines {
            if let What::Taken { line, .. } = &line.what {
                let stays = line.targets.is_empty();
                moves.push(if stays { line.trigger.clone() } else { line.targets.join("|") });
            }
        }
        moves
    }
}

type Run<'p> = Session<Interpreter<Script>, Vec<Line>>;

/// Runs a chart in virtual time; `script` is for its questions, unless `oracle` is given, and for its functions.
fn run(
    chart: &Arc<Chart>,
    params: &[(&str, Value)],
    script: &str,
    oracle: Option<Arc<dyn Oracle>>,
    play: impl AsyncFnOnce(&mut Run<'_>) -> Result<(), RunError>,
) -> Ran {
    let clock = Arc::new(VirtualClock::new());
    let script = Script::parse("script", script, clock.clone()).expect("a script");
    let plan = Plan::new(chart);
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let machine = Interpreter::new(&plan, script.clone(), params).expect("params that fit");
    let tools = Arc::new(script.clone());
    let oracle = oracle.unwrap_or_else(|| Arc::new(script));
    let mut session = Session::new(machine, oracle, clock, Vec::new()).with_tools(tools);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let error = runtime.block_on(play(&mut session)).err().map(|e| e.to_string());
    let states = session.configuration();
    let status = session.status().map(chartc_core::machine::Status::word);
    let (_, lines) = session.into_parts();
    Ran { lines, states, status, error }
}
