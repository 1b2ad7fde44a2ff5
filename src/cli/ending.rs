//! The closing lines of a run on the command line, and its exit code.

use super::Exit;
use super::output::{complain, print_json, say};
use super::wording::json;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Status;
use chartc_core::tables::StepRowKind;
use chartc_runtime::budget::Usage;
use chartc_runtime::trace::Sink;
use chartc_runtime::{Session, TurnReport};

/// Prints the closing line of a run, and returns its exit code. `nobody` says that no oracle was chosen.
pub(super) fn close<M: Machine, T: Sink>(
    session: &Session<M, T>,
    last: Option<TurnReport>,
    fault: Option<String>,
    nobody: bool,
) -> miette::Result<Exit> {
    let states = match session.configuration() {
        states if states.concat().is_empty() => session.machine().tables().name.to_owned(),
        states => states.join(", "),
    };
    let mut counts =
        format!("{}, {}", number(session.turns(), "turn"), number(session.calls(), "model call"));
    counts += &spent(session.spent());
    let failed = last.and_then(|turn| turn.failed);
    let how = match (session.status(), &failed) {
        (Some(status), _) => format!("ended {}", status.word()),
        (None, Some(step)) => format!("stopped, the last turn failed at {step}"),
        (None, None) => "stopped".into(),
    };
    say(format!("{states}: {how} ({counts})"))?;
    if let Some(summary) = session.summary() {
        say(summary)?;
    }
    if session.status().is_some() {
        let result: Value = Value::Map(session.machine().result().into_iter().collect());
        if result != Value::Map(Map::new()) {
            print_json(&format!("{}\n", json(&result)))?;
        }
    }
    if let Some(fault) = fault {
        complain(format!("error: {fault}"));
        return Ok(Exit::Findings);
    }
    if let Some(step) = waits_for_a_turn(session) {
        complain(format!(
            "help: `{step}` starts in a turn, and no turn has begun: add `--turns N`, or the line {{\"event\": \"turn\"}} to the events"
        ));
    }
    if nobody && session.calls() > 0 {
        complain(
            "help: this chart asks a model; say who answers: --llm script:FILE, --llm first, --llm random:SEED, or --llm deny to \
             go on without",
        );
        return Ok(Exit::Findings);
    }
    Ok(match session.status() {
        Some(Status::Ok | Status::Partial | Status::Canceled) => Exit::Clean,
        Some(Status::Stuck | Status::Limit | Status::Error) => Exit::Findings,
        None if failed.is_some() => Exit::Findings,
        None => Exit::Clean,
    })
}

/// The name of a step of an active state that would start in a turn, if the run has not ended and had no turn.
fn waits_for_a_turn<M: Machine, T: Sink>(session: &Session<M, T>) -> Option<&str> {
    if session.status().is_some() || session.turns() > 0 || session.machine().is_walking() {
        return None;
    }
    let machine = session.machine();
    let starts_in_a_turn = |kind: StepRowKind| match kind {
        StepRowKind::Llm | StepRowKind::Code | StepRowKind::Call | StepRowKind::Human => true,
        StepRowKind::Ask { on, .. } => on.is_none(),
        StepRowKind::Run { on_entry, .. } => !on_entry,
    };
    let steps = machine.tables().steps;
    let step = steps.iter().find(|row| starts_in_a_turn(row.kind) && machine.is_active(row.state));
    step.map(|row| row.name)
}

/// Formats tokens and money, with a comma before them; empty if no tokens are known.
fn spent(usage: Usage) -> String {
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    if tokens == 0 {
        return String::new();
    }
    match usage.cost {
        Some(cost) if cost > 0 => format!(", {tokens} tokens, {:.4} spent", cost as f64 / 1e6),
        Some(_) | None => format!(", {tokens} tokens"),
    }
}

fn number(count: u32, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
