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

use super::super::output::{StyledText, cut, padded, width};
use super::super::screen::{action_call, more_tokens, outcome, trigger};
use super::read::{Filter, Read, number, state, time};
use super::summary::Summary;
use crate::report::Terminal;
use chartc_compiler::notation;
use chartc_core::expr::Value;
use chartc_runtime::trace::{Line, LineName, What};
use std::collections::{BTreeMap, BTreeSet};

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
    if let What::Taken { line: taken, held } = &line.what {
        take(rows, line, turn, (taken, held));
    } else if !amend(rows, line) {
        rows.extend(input_row(line, turn));
    }
}

/// Adds the trace line to the last row, if it belongs there. Returns whether it does.
fn amend(rows: &mut [StoryRow], line: &Line) -> bool {
    let Some(last) = rows.last_mut() else { return false };
    match &line.what {
        // The machine may reject an answer that was already traced as usable.
        What::Unusable { step, attempt, why, .. } if last.is_answer(line, step, *attempt) => {
            last.style = RowStyle::Bad;
            last.is_open = false;
            last.why.clone_from(why);
            true
        }
        // The row of the answer already names the tool that the model calls.
        What::ToolCall { tool, .. } => last.is_call(tool),
        What::Refused { event } if last.decision.starts_with(&format!("event {event}")) => {
            last.add_why("nothing handles it now");
            last.style = RowStyle::Bad;
            true
        }
        _ => false,
    }
}

/// The row of an input or its effect, or of another line.
fn input_row(line: &Line, turn: Option<u32>) -> Option<StoryRow> {
    let row = |step: &str, decision: &str| plain(line, turn, step, decision);
    Some(match &line.what {
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
        What::Denied { line: denied } => {
            let mut row = row("", "denied").why("no `allow` line permits it").styled(RowStyle::Bad);
            row.way = way(denied);
            row
        }
        What::Refused { event } => {
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
        What::Ended { status, result, summary } => {
            let why = summary.clone().unwrap_or_else(|| value(result));
            row("", &format!("ended {status}")).why(why).styled(RowStyle::Input)
        }
        _ => return step_row(line, turn),
    })
}

/// The row of a step and its answer, or of another line.
fn step_row(line: &Line, turn: Option<u32>) -> Option<StoryRow> {
    let row = |step: &str, decision: &str| plain(line, turn, step, decision);
    Some(match &line.what {
        What::Answer { step, attempt, rung: found, repairs, option, value, .. } => {
            let mut row = row(step, &decision(option.as_ref(), value)).attempt(*attempt).open();
            row.add_why(&rung(found, repairs));
            row.add_why(&reason(value));
            row
        }
        What::Unusable { step, attempt, why, .. } => {
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
        _ => return action_row(line, turn),
    })
}

/// The row of a tool, an action or a note, if the line is one.
fn action_row(line: &Line, turn: Option<u32>) -> Option<StoryRow> {
    let row = |step: &str, decision: &str| plain(line, turn, step, decision);
    Some(match &line.what {
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
        _ => return None,
    })
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
    let way = self::way(taken);
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

// Formats the decisions of a run as a table, followed by the costs of its states.

/// The column headings.
const HEAD: [&str; 6] = ["turn", "time", "step", "decision", "from -> to", "why"];
/// The maximum widths of the columns step, decision and move, if other columns need the space.
const MOST: [usize; 3] = [16, 30, 44];
/// The minimum width of the column `why`.
const WHY: usize = 26;

/// Formats a trace as a table, `terminal.width` columns wide if possible.
pub(super) fn table(trace: &Read, filter: Filter<'_>, terminal: Terminal) -> StyledText {
    let mut out = head(trace, terminal);
    let found = rows(trace, filter);
    if found.is_empty() {
        out.line(nothing(filter));
        return out;
    }
    let cells: Vec<[String; 6]> = cells(&found);
    let widths = widths(&cells, terminal.width);
    let line = |cells: &[String; 6]| {
        let mut text = String::new();
        for (cell, most) in cells.iter().zip(widths) {
            text.push_str(&padded(&cut(cell, most), most));
            text.push_str("  ");
        }
        text.trim_end().to_owned()
    };
    out.styled("1", line(&HEAD.map(str::to_owned)));
    for (row, cells) in found.iter().zip(&cells) {
        let code = match row.style {
            RowStyle::Plain if row.way.contains("->") => "32",
            RowStyle::Plain => "",
            RowStyle::Input => "1",
            RowStyle::Bad => "31",
            RowStyle::Faint => "2",
        };
        out.styled(code, line(cells));
    }
    if filter.turn.is_none() && filter.step.is_none() {
        out.line("");
        out.add(&Summary::from_traces(std::slice::from_ref(trace)).states());
    }
    out
}

/// The first line: the chart, and how the run ended.
fn head(trace: &Read, terminal: Terminal) -> StyledText {
    let run = trace.lines.iter().find_map(|line| {
        let What::Run { chart, oracle, .. } = &line.what else { return None };
        line.child.is_empty().then_some((chart, oracle))
    });
    let (chart, who) = match run {
        Some((chart, oracle)) => (chart.as_str(), format!(", answered by {oracle}")),
        None => ("a chart without its `run` line", String::new()),
    };
    let end = trace.lines.iter().rev().find_map(|line| {
        let What::Ended { status, .. } = &line.what else { return None };
        line.child.is_empty().then(|| format!("ended {status}"))
    });
    let turns = trace.turns.iter().flatten().max().copied().unwrap_or(0);
    let calls =
        trace.lines.iter().filter(|line| matches!(line.what, What::Question { .. })).count();
    let text = format!(
        "{chart}: {} after {}, {}{}{who}",
        end.unwrap_or_else(|| "not ended".into()),
        number(u64::from(turns), "turn"),
        number(calls as u64, "question"),
        match trace.end() {
            0 => String::new(),
            ms => format!(" and {}", time(ms)),
        },
    );
    let mut head = StyledText::on(terminal);
    head.styled("1", cut(&text, terminal.width));
    head.line("");
    head
}

/// The cells of the rows. Turn and time are shown only where they change.
fn cells(rows: &[StoryRow]) -> Vec<[String; 6]> {
    let mut last: Option<(Option<u32>, u64)> = None;
    let mut out: Vec<[String; 6]> = Vec::new();
    for row in rows {
        let is_new = last.map(|(turn, _)| turn) != Some(row.turn);
        let turn = row.turn.filter(|_| is_new).map(|turn| match row.until {
            Some(until) => format!("{turn}-{until}"),
            None => turn.to_string(),
        });
        let is_later = last.is_none_or(|(_, at)| at != row.at_ms);
        last = Some((row.turn, row.at_ms));
        out.push([
            turn.unwrap_or_default(),
            if is_later { time(row.at_ms) } else { String::new() },
            row.step.clone(),
            row.decision.clone(),
            row.way.clone(),
            row.why.clone(),
        ]);
    }
    out
}

/// The widths of the columns: those of their widest cells if there is room. Otherwise the widest columns are narrowed, and the last one
/// gets the rest.
fn widths(cells: &[[String; 6]], total: usize) -> [usize; 6] {
    let mut widths = HEAD.map(width);
    for row in cells {
        for (cell, most) in row.iter().zip(&mut widths) {
            *most = width(cell).max(*most);
        }
    }
    let gaps = 2 * 5;
    let needed = |widths: &[usize; 6]| widths.iter().sum::<usize>() + gaps;
    if needed(&widths) > total {
        for (at, most) in (2..5).zip(MOST) {
            widths[at] = widths[at].min(most);
        }
        let others: usize = widths[..5].iter().sum::<usize>() + gaps;
        widths[5] = widths[5].min(total.saturating_sub(others).max(WHY));
    }
    // Narrow the decision first, then the reason, the step and the move, which says most.
    for (at, least) in [(3, 18), (5, 20), (2, 10), (4, 12)] {
        let over = needed(&widths).saturating_sub(total);
        widths[at] = widths[at].saturating_sub(over).max(least.min(widths[at]));
    }
    widths
}

// Lists the inputs without effect, each with the transitions that could have been taken and the reasons why they were not.

/// An input to a chart, and what the trace says about its effect.
struct Input {
    title: String,
    at_ms: u64,
    turn: Option<u32>,
    child: String,
    /// The leaves when the input came, as far as the trace says.
    at: String,
    reasons: Vec<String>,
    steps: Vec<String>,
    has_moved: bool,
}

/// Formats the inputs without effect, each with its reasons.
pub(super) fn why(trace: &Read, filter: Filter<'_>, terminal: Terminal) -> StyledText {
    let inputs = inputs(trace);
    let wanted = inputs.iter().filter(|input| {
        filter.turn.is_none_or(|turn| input.turn == Some(turn))
            && filter.step.is_none_or(|step| input.steps.iter().any(|s| s == step))
    });
    let (moved, stayed): (Vec<&Input>, Vec<&Input>) = wanted.partition(|input| input.has_moved);
    let mut out = StyledText::on(terminal);
    out.line(format!(
        "{} of {} moved nothing",
        stayed.len(),
        number((moved.len() + stayed.len()) as u64, "input")
    ));
    for input in stayed {
        let time = if input.at_ms > 0 { format!("{}  ", time(input.at_ms)) } else { String::new() };
        let child =
            if input.child.is_empty() { String::new() } else { format!("{}: ", input.child) };
        let at = if input.at.is_empty() { String::new() } else { format!("  in {}", input.at) };
        let head = cut(&format!("{time}{child}{}{at}", input.title), terminal.width);
        out.line("");
        out.styled("1", head);
        if input.reasons.is_empty() {
            out.line("  no active state has a transition for it");
        }
        for reason in &input.reasons {
            out.line(format!("  {reason}"));
        }
    }
    out
}

/// The inputs of a trace, in order. An input of a child chart is an entry of its own.
fn inputs(trace: &Read) -> Vec<Input> {
    let mut all: Vec<Input> = Vec::new();
    // The current input and the active states of each chart.
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    let mut states: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (line, turn) in trace.told() {
        let at = states.entry(&line.child).or_default();
        follow(at, line);
        let title = title(&line.what);
        if let Some(title) = title {
            open.insert(&line.child, all.len());
            all.push(Input {
                title,
                at_ms: line.at_ms,
                turn,
                child: line.child.clone(),
                at: leaves(at).join(", "),
                reasons: Vec::new(),
                steps: Vec::new(),
                has_moved: false,
            });
        }
        let input = open.get(line.child.as_str()).map(|index| &mut all[*index]);
        if let Some(input) = input {
            input.take(line);
        }
    }
    all
}

/// The title of an input; `None` if the line is not an input.
fn title(what: &What) -> Option<String> {
    if let What::Turn { turn } = what {
        return Some(format!("turn {turn}"));
    }
    if let What::Event { event, data } = what {
        return Some(format!("event {event} {}", value(data)).trim_end().to_owned());
    }
    if let What::Delivered { event } = what {
        return Some(format!("event {event}, sent by the chart"));
    }
    let What::NotTaken { input, .. } = what else { return None };
    Some(if input == "turn" { "a turn".into() } else { format!("event {input}") })
}

/// Updates the active states.
fn follow(active: &mut Vec<String>, line: &Line) {
    if let What::Entered { state } = &line.what {
        active.push(state.clone());
    }
    if let What::Exited { state } = &line.what {
        active.retain(|s| s != state);
    }
}

/// The leaves: the active states without active children.
fn leaves(active: &[String]) -> Vec<String> {
    let is_above = |state: &String| {
        state.is_empty()
            || active.iter().any(|other| {
                other.strip_prefix(state.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
    };
    active.iter().filter(|state| !is_above(state)).map(|state| place(state)).collect()
}

impl Input {
    /// Adds what a trace line says about the effect of the input.
    fn take(&mut self, told: &Line) {
        let reason = match &told.what {
            What::Taken { line, .. } if !line.targets.is_empty() => {
                self.has_moved = true;
                return;
            }
            What::Taken { line: taken, .. } => format!("{}: taken, and it stays", line(taken)),
            What::Lost { line: lost, why } => format!("{}: {}", line(lost), loss(why)),
            What::Denied { line: denied } => {
                format!("{}: no `allow` line permits its target", line(denied))
            }
            What::Refused { event } => {
                format!("`{event}`: no active state has a transition for it")
            }
            What::PassedOn { event } => {
                format!(
                    "`{event}`: this chart has no transition for it; its child charts are offered it"
                )
            }
            What::NotTaken { why, .. } => not_taken(why).to_owned(),
            What::Skipped { step } => format!("step `{step}`: skipped, its `if` is false"),
            What::Unusable { step, why, .. } => format!("step `{step}`: no usable answer: {why}"),
            What::CallFailed { step, error, why, .. } => format!("step `{step}`: {error}: {why}"),
            What::Cancelled { step, .. } => format!("step `{step}`: given up"),
            What::Fallback { step, why } => format!("step `{step}`: {}", fallback(why)),
            What::Answer { step, option, value: said, .. } => {
                self.steps.push(step.clone());
                format!("step `{step}` answered {}", decision(option.as_ref(), said))
            }
            What::Forbidden { step, state, tool } => {
                format!("step `{step}`: `{tool}` may not be called in {}", place(state))
            }
            What::ToolFailed { step, tool, why, .. } => {
                format!("step `{step}`: `{tool}` failed: {why}")
            }
            What::Failed { step, element: None } => format!("step `{step}` failed"),
            What::Failed { step, element: Some(nth) } => format!("`{step}[{nth}]` failed"),
            What::WalkEnded { why, step, region } => match walk_end(why, step.as_deref(), region) {
                Some(reason) => reason,
                None => return,
            },
            What::Error { error } => format!("{} was raised", notation::machine_event(error)),
            What::Acted { action, failed, why, .. } if !failed.is_empty() => {
                format!("`{action}` failed: {failed}: {why}")
            }
            What::NotActed { step, failed, why } => {
                format!("step `{step}` brought no action: {failed}: {why}")
            }
            What::Note { text, call: None } | What::HostNote { text, .. } => text.clone(),
            _ => return,
        };
        let text = cut(&reason, 400);
        if self.reasons.last() != Some(&text) {
            self.reasons.push(text);
        }
    }
}

/// Formats why the walk of a turn ended, if that is worth telling.
fn walk_end(why: &str, step: Option<&str>, region: &str) -> Option<String> {
    Some(match (why, step) {
        ("failed", Some(step)) => format!("the turn ended at `{step}`, which failed"),
        ("calls", _) if !region.is_empty() => {
            format!("region `{region}` has used up its model calls of the turn")
        }
        ("calls", _) => "the turn ended: its model calls are used up".into(),
        ("ends_turn", _) => "the turn ended: a step says that it ends there".into(),
        _ => return None,
    })
}

// Formats parts of a trace as text.

/// Formats a value on one line: a text verbatim, anything else as JSON.
pub(super) fn value(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.is_empty() => String::new(),
        _ => serde_json::to_string(value).unwrap_or_default(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats the answer of a model: an option with its arguments, an action, or a value.
pub(super) fn decision(option: Option<&String>, said: &Value) -> String {
    match (option, said) {
        (Some(option), Value::List(arguments)) => {
            let arguments: Vec<String> = arguments.iter().map(value).collect();
            format!("{option}({})", arguments.join(", "))
        }
        (Some(option), Value::None) => option.clone(),
        (Some(option), other) => format!("{option} {}", value(other)),
        (None, Value::Map(map)) => match map.get("action") {
            Some(Value::Text(action)) => action.clone(),
            Some(_) | None => value(said),
        },
        (None, other) => value(other),
    }
}

/// The reason that the model gives for an action; empty if it gives none.
pub(super) fn reason(said: &Value) -> String {
    if let Value::Map(map) = said
        && let (Some(Value::Text(_)), Some(Value::Text(why))) =
            (map.get("action"), map.get("reasoning"))
    {
        return value(&Value::Text(why.clone()));
    }
    String::new()
}

/// The rung of an answer as text; empty if the whole answer was used as it was.
pub(super) fn rung(rung: &str, repairs: &[String]) -> String {
    match (rung, repairs) {
        ("mention", _) => "the only option it mentions".into(),
        (_, []) => String::new(),
        (_, repairs) => repairs.join(", "),
    }
}

/// Formats the source and the targets of a transition.
pub(super) fn way(line: &LineName) -> String {
    let from = state(&line.state);
    if line.targets.is_empty() {
        format!("{from} (stays)")
    } else {
        let targets = line.targets.iter().map(|to| beside(from, to));
        format!("{from} -> {}", targets.collect::<Vec<_>>().join(", "))
    }
}

/// Shortens the path of a target by the path that it shares with the source, as in `open.sorting -> .drafting`.
fn beside<'s>(from: &str, to: &'s str) -> &'s str {
    let mut shared = 0;
    for (end, _) in to.match_indices('.') {
        if from.get(..=end) == to.get(..=end) {
            shared = end;
        }
    }
    &to[shared..]
}

/// Names a transition so that it can be found in the chart.
pub(super) fn line(line: &LineName) -> String {
    let to = if line.targets.is_empty() {
        String::new()
    } else {
        format!(" -> {}", line.targets.join(", "))
    };
    format!("`{}{to}`, line {} of {}", line.trigger, line.nth, place(&line.state))
}

/// Names a state within a sentence.
pub(super) fn place(path: &str) -> String {
    if path.is_empty() { "the chart".into() } else { format!("`{path}`") }
}

/// The reason why a transition was not taken.
pub(super) fn loss(why: &str) -> &str {
    match why {
        "guard" => "its condition is false",
        "fault" => "its guard failed, which counts as false",
        "scope" => "it is a `from` line, and none of its states is active",
        "preempted" => {
            "a transition of an inner state, or of an earlier region, exits the same states"
        }
        other => other,
    }
}

/// The reason of a fallback.
pub(super) fn fallback(why: &str) -> &str {
    match why {
        "no_option" => "no option is enabled, so `else`",
        "unusable" => "no usable answer, so `else`",
        "stale" => "the option no longer holds, so `else`",
        "failed" => "the call failed, so `else`",
        "no_line" => "no outcome line holds, so the state stays",
        other => other,
    }
}

/// The reason why an input was not taken.
pub(super) fn not_taken(why: &str) -> &str {
    match why {
        "closed" => "the run has ended",
        "busy" => "a turn is being walked",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (ms, text) in [
            (0, "0s"),
            (20, "20ms"),
            (1000, "1s"),
            (1500, "1.5s"),
            (60_000, "1m0s"),
            (3_610_000, "1h0m"),
            (93_600_000, "1d2h"),
        ] {
            assert_eq!(time(ms), text);
        }
    }

    #[test]
    fn what_two_states_are_in_is_left_out() {
        for (from, to, seen) in [
            ("a.b", "a.c", ".c"),
            ("a.b.c", "a.b.d.e", ".d.e"),
            ("ab.c", "a.c", "a.c"),
            ("a", "a.b", "a.b"),
            ("a.b", "a", "a"),
            ("*", "a", "a"),
        ] {
            assert_eq!(beside(from, to), seen, "{from} {to}");
        }
    }
}
