//! Turns a trace into rows, one for each decision: an answer or an event, and the transition that followed.
//!
//! A decision and its result are different lines of the trace, and the result may be missing. So a row stays open until the next line
//! that is a decision; a transition at the same time completes it:
//!
//! ```text
//! answer triage, option close, at 900 ms     row `close`, open
//! taken `may close` open -> solved, 900 ms   the row gets `open -> solved`, and is not open any more
//! taken `when` solved -> done, 900 ms        no row is open: a row of its own
//! ```

use super::super::wording::{action_call, more_tokens, outcome, trigger};
use super::Filter;
use super::read::Read;
use super::tell::{decision, fallback, not_taken, number, reason, rung, state, time, value};
use chartc_check::notation;
use chartc_runtime::trace::{Line, LineName, What};
use std::collections::BTreeSet;

/// The kind of a row, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowStyle {
    Plain,
    /// An input, such as an event or a turn.
    Input,
    /// A failure, refusal or fallback.
    Bad,
    /// A detail.
    Faint,
}

/// A decision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StoryRow {
    pub(super) turn: Option<u32>,
    /// The last of several consecutive turns without decisions, which share the row.
    pub(super) until: Option<u32>,
    is_silent: bool,
    pub(super) at_ms: u64,
    /// The number of the trace line that the row is made from, by which rows are ordered.
    seq: u64,
    /// The path of the step, followed by `#` and the number of the attempt from the second on.
    pub(super) step: String,
    pub(super) decision: String,
    /// The states that the transition left and entered; empty if no transition was taken.
    pub(super) way: String,
    pub(super) why: String,
    pub(super) style: RowStyle,
    child: String,
    /// Whether a transition taken next, at the same time, is the result of this decision.
    is_open: bool,
}

/// The rows of a trace, in order.
pub(super) fn rows(trace: &Read, filter: Filter<'_>) -> Vec<StoryRow> {
    let mut rows = Vec::new();
    for (line, turn) in trace.told() {
        add(&mut rows, line, turn);
    }
    silent(&mut rows, trace);
    let is_wanted = |row: &StoryRow| {
        filter.turn.is_none_or(|turn| row.turn == Some(turn))
            && filter.step.is_none_or(|step| row.step.split(" #").next() == Some(step))
    };
    rows.retain(is_wanted);
    // Consecutive turns without decisions share a row.
    rows.dedup_by(|row, before| {
        let both = row.is_silent && before.is_silent;
        if both {
            before.until = row.turn;
        }
        both
    });
    rows
}

/// Adds a row for each turn without decisions.
fn silent(rows: &mut Vec<StoryRow>, trace: &Read) {
    let told: BTreeSet<u32> = rows.iter().filter_map(|row| row.turn).collect();
    let mut silent: Vec<StoryRow> = Vec::new();
    for (line, turn) in trace.told() {
        if let What::Turn { turn: nth } = line.what
            && line.child.is_empty()
            && !told.contains(&nth)
        {
            let row = StoryRow {
                decision: "nothing".into(),
                is_silent: true,
                ..plain(line, turn, "", "")
            };
            silent.push(row.styled(RowStyle::Faint));
        }
    }
    rows.extend(silent);
    rows.sort_by_key(|row| row.seq);
}

fn plain(line: &Line, turn: Option<u32>, step: &str, decision: &str) -> StoryRow {
    let way = |name: &str| match (line.child.as_str(), name) {
        ("", name) => name.to_owned(),
        (child, "") => child.to_owned(),
        (child, name) => format!("{child}/{name}"),
    };
    StoryRow {
        turn,
        until: None,
        is_silent: false,
        at_ms: line.at_ms,
        seq: line.seq,
        step: way(step),
        decision: decision.to_owned(),
        way: String::new(),
        why: String::new(),
        style: RowStyle::Plain,
        child: line.child.clone(),
        is_open: false,
    }
}

impl StoryRow {
    fn styled(mut self, style: RowStyle) -> Self {
        self.style = style;
        self
    }

    fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    fn attempt(mut self, attempt: u32) -> Self {
        if attempt > 1 {
            self.step.push_str(&format!(" #{attempt}"));
        }
        self
    }

    fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    fn add_why(&mut self, why: &str) {
        if !self.why.is_empty() && !why.is_empty() {
            self.why.push_str("; ");
        }
        self.why.push_str(why);
    }
}

/// Adds or completes a row from a trace line.
fn add(rows: &mut Vec<StoryRow>, line: &Line, turn: Option<u32>) {
    let row = |step: &str, decision: &str| plain(line, turn, step, decision);
    let made = match &line.what {
        What::Run { chart, .. } if !line.child.is_empty() => {
            row("", &format!("runs {chart}")).styled(RowStyle::Faint)
        }
        What::Resumed { oracle, .. } => {
            row("", "goes on").why(format!("answered by {oracle}")).styled(RowStyle::Input)
        }
        What::Input { name, value: given } => {
            row("", &format!("{name} = {}", value(given))).styled(RowStyle::Faint)
        }
        What::Event { event, data } => row("", format!("event {event} {}", value(data)).trim_end())
            .styled(RowStyle::Input)
            .open(),
        What::Delivered { event } => row("", &format!("event {event}"))
            .why("sent by the chart")
            .styled(RowStyle::Input)
            .open(),
        What::Posted { event, to } => row("", &format!("sends {event} to {to}")),
        What::Undelivered { event, to } => row("", &format!("sends {event} to {to}"))
            .why("it cannot take it")
            .styled(RowStyle::Bad),
        What::SendCanceled { event } => {
            row("", &format!("takes {event} back")).styled(RowStyle::Faint)
        }
        What::Answer { step, attempt, rung: found, repairs, option, value, .. } => {
            let mut row = row(step, &decision(option.as_ref(), value)).attempt(*attempt).open();
            row.add_why(&rung(found, repairs));
            row.add_why(&reason(value));
            row
        }
        What::Unusable { step, attempt, why, .. } => {
            // The machine may reject an answer that was already traced as usable.
            if let Some(last) = rows.last_mut().filter(|last| last.is_answer(line, step, *attempt))
            {
                last.style = RowStyle::Bad;
                last.is_open = false;
                last.why.clone_from(why);
                return;
            }
            row(step, "no usable answer").attempt(*attempt).why(why).styled(RowStyle::Bad)
        }
        What::CallFailed { step, attempt, error, why, .. } => {
            row(step, &format!("failed: {error}")).attempt(*attempt).why(why).styled(RowStyle::Bad)
        }
        What::Waiting { step, attempt, until_ms, .. } => {
            let wait = time(until_ms.saturating_sub(line.at_ms));
            row(step, &format!("waits {wait}")).attempt(*attempt).styled(RowStyle::Faint)
        }
        What::NotRetried { step, attempt, wanted_ms, most_ms, .. } => {
            let why = format!("wait {} wanted, {} at most", time(*wanted_ms), time(*most_ms));
            row(step, "not tried again").attempt(*attempt).why(&why).styled(RowStyle::Bad)
        }
        What::Cancelled { step, attempt, .. } => row(step, "given up")
            .attempt(*attempt)
            .why("its state was left")
            .styled(RowStyle::Faint),
        What::Dropped { step, attempt, .. } => row(step, "too late")
            .attempt(*attempt)
            .why("the answer is dropped")
            .styled(RowStyle::Bad),
        // The row of the answer already names the tool that the model calls.
        What::ToolCall { tool, .. } if rows.last().is_some_and(|last| last.is_call(tool)) => return,
        What::ToolCall { step, tool, arguments, .. } => {
            row(step, format!("{tool} {}", value(arguments)).trim_end())
        }
        What::ToolResult { step, tool, value: result, .. } => {
            row(step, format!("{tool} returns {}", value(result)).trim_end()).open()
        }
        What::ToolFailed { step, tool, error, why, .. } => {
            row(step, &format!("{tool} failed: {error}")).why(why).styled(RowStyle::Bad)
        }
        What::Forbidden { step, state: at, tool } => {
            let why = format!("it may not be called in {}", state(at));
            row(step, tool).why(why).styled(RowStyle::Bad)
        }
        What::Unasked { option } => row("", option).why("the only option").open(),
        What::Fallback { step, why } => {
            let decision = if why == "no_line" { "stays" } else { "else" };
            row(step, decision).why(fallback(why)).styled(RowStyle::Bad).open()
        }
        What::WalkEnded { why, step, .. } if why == "failed" => {
            let at = step.as_deref().unwrap_or_default();
            row(at, "the turn fails").styled(RowStyle::Bad)
        }
        What::Usage { step, output_tokens, allowed: Some(most), .. } => {
            row(step, "too many tokens")
                .why(more_tokens(*output_tokens, *most))
                .styled(RowStyle::Bad)
        }
        What::Taken { line: taken, held } => return take(rows, line, turn, (taken, held)),
        What::Denied { line: denied } => {
            let mut row = row("", "denied").why("no `allow` line permits it").styled(RowStyle::Bad);
            row.way = super::tell::way(denied);
            row
        }
        What::Refused { event } => {
            let is_of = |last: &&mut StoryRow| last.decision.starts_with(&format!("event {event}"));
            if let Some(last) = rows.last_mut().filter(is_of) {
                last.add_why("nothing handles it now");
                last.style = RowStyle::Bad;
                return;
            }
            row("", &format!("event {event}")).why("nothing handles it now").styled(RowStyle::Bad)
        }
        What::NotTaken { input, why, .. } => {
            let what = if input == "turn" { "a turn".to_owned() } else { format!("event {input}") };
            row("", &what).why(not_taken(why)).styled(RowStyle::Bad)
        }
        What::Error { error } => {
            row("", &notation::machine_event(error)).styled(RowStyle::Bad).open()
        }
        What::Warned { limit } => {
            row("", &format!("limit.warn.{limit}")).styled(RowStyle::Bad).open()
        }
        What::Acted { step, action, arguments, value: brought, changes, failed, why } => {
            let row = row(step, &action_call(action, arguments))
                .why(outcome((brought, changes), (failed, why)));
            if failed.is_empty() { row } else { row.styled(RowStyle::Bad) }
        }
        What::NotActed { step, failed, why } => {
            row(step, "no action").why(format!("{failed}: {why}")).styled(RowStyle::Bad)
        }
        What::HostNote { about, text } => row(about, "note").why(text).styled(RowStyle::Faint),
        What::World { event, data } => row("world", event).why(value(data)).styled(RowStyle::Faint),
        What::Note { text, call: None } => row("", "note").why(text).styled(RowStyle::Faint),
        What::Ended { status, result, summary } => {
            let why = summary.clone().unwrap_or_else(|| value(result));
            row("", &format!("ended {status}")).why(why).styled(RowStyle::Input)
        }
        _ => return,
    };
    rows.push(made);
}

impl StoryRow {
    fn is_call(&self, tool: &str) -> bool {
        self.is_open
            && self
                .decision
                .strip_prefix(tool)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
    }

    fn is_answer(&self, line: &Line, step: &str, attempt: u32) -> bool {
        let own = plain(line, None, step, "").attempt(attempt);
        self.step == own.step && self.is_open && self.at_ms == line.at_ms
    }
}

/// Adds a transition that was taken: as the result of the last row if both happened at the same time, else as a row of its own.
fn take(
    rows: &mut Vec<StoryRow>,
    line: &Line,
    turn: Option<u32>,
    (taken, held): (&LineName, &[String]),
) {
    let (why, held) = (trigger(&taken.trigger, held), held.join("; "));
    let way = super::tell::way(taken);
    let open = rows.last_mut().filter(|last| {
        last.is_open && last.child == line.child && last.at_ms == line.at_ms && last.way.is_empty()
    });
    if let Some(last) = open {
        last.way = way;
        last.is_open = false;
        // The trigger `may ship` adds nothing to the answer `ship`, nor `on go` to the event `go`.
        let name = taken.trigger.split_once(' ').map_or("", |(_, name)| name);
        let decision = last.decision.strip_prefix("event ").unwrap_or(&last.decision);
        let decision = decision.split([' ', '(']).next().unwrap_or_default();
        let is_said = name == decision || last.step.split(" #").next() == Some(name);
        last.add_why(if is_said { &held } else { &why });
        return;
    }
    let mut row = plain(line, turn, "", "").why(&why);
    row.way = way;
    rows.push(row);
}

/// The message that the filter selects nothing.
pub(super) fn nothing(filter: Filter<'_>) -> String {
    match (filter.turn, filter.step) {
        (Some(turn), Some(step)) => format!("nothing of `{step}` in turn {turn}"),
        (Some(turn), None) => format!("there is no turn {turn}"),
        (None, Some(step)) => format!("there is no decision of a step `{step}`"),
        (None, None) => number(0, "decision"),
    }
}
