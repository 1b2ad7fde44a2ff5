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
use super::super::screen::colour;
use super::read::{Filter, Read};
use super::summary::Summary;
use crate::report::Terminal;
use chartc_core::wording::{counted, error_event};
use chartc_runtime::trace::view::{
    CallFailure, EventFate, Fate, Happening, Outcome, Request, StepPhase, Tone, Words, decision,
    fallback, joined, not_taken, time,
};
use chartc_runtime::trace::{Line, LineName, TraceEvent};
use std::collections::{BTreeMap, BTreeSet};

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
    pub(super) tone: Tone,
    child: String,
    /// Whether a transition taken next, at the same time, is the result of this decision.
    is_open: bool,
}

/// The rows of a trace, in order.
pub(super) fn rows(trace: &Read, filter: Filter<'_>) -> Vec<StoryRow> {
    let mut rows = Vec::new();
    for (line, turn) in trace.told() {
        add(&mut rows, &line.event(), turn);
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
    for (line, turn) in trace.told() {
        let event = line.event();
        if let Happening::Turn(nth) = event.what
            && event.child.is_empty()
            && !told.contains(&nth)
        {
            let (text, why) = ("nothing".into(), String::new());
            let words = Words { tone: Tone::Faint, text, why };
            rows.push(StoryRow { is_silent: true, ..row(&event, turn, words) });
        }
    }
    rows.sort_by_key(|row| row.seq);
}

/// The row of an event.
fn row(event: &TraceEvent<'_>, turn: Option<u32>, words: Words) -> StoryRow {
    StoryRow {
        turn,
        until: None,
        is_silent: false,
        at_ms: event.at_ms,
        seq: event.seq,
        step: step(event),
        decision: words.text,
        way: String::new(),
        why: words.why,
        tone: words.tone,
        child: event.child.to_owned(),
        is_open: is_open(&event.what),
    }
}

/// The path of the step that an event is about, and the number of its attempt from the second on.
fn step(event: &TraceEvent<'_>) -> String {
    let path = joined("/", &[event.child, event.subject]);
    if event.attempt > 1 { format!("{path} #{}", event.attempt) } else { path }
}

/// Whether a transition at the same time is the result of the event.
fn is_open(what: &Happening<'_>) -> bool {
    use Outcome::{Answer, Returned};
    match what {
        Happening::Event { fate, .. } => {
            matches!(fate, EventFate::Handled(_) | EventFate::Delivered | EventFate::Recalled)
        }
        Happening::CallEnded(_, outcome) => matches!(outcome, Answer { .. } | Returned(_)),
        Happening::Step(phase) => matches!(phase, StepPhase::Fallback(_)),
        Happening::Chosen { .. } | Happening::Error(_) | Happening::Warned(_) => true,
        _ => false,
    }
}

/// Adds or completes a row from an event.
fn add(rows: &mut Vec<StoryRow>, event: &TraceEvent<'_>, turn: Option<u32>) {
    if let Happening::Transition(line, Fate::Taken(held)) = event.what {
        take(rows, event, turn, (line, held));
    } else if rows.last_mut().is_none_or(|last| !last.amend(event))
        && let Some(words) = event.words()
    {
        let mut row = row(event, turn, words);
        if let Happening::Transition(line, _) = event.what {
            row.way = line.way();
        }
        rows.push(row);
    }
}

impl StoryRow {
    /// Adds the event to the row, if it belongs there. Returns whether it does.
    fn amend(&mut self, event: &TraceEvent<'_>) -> bool {
        match event.what {
            // The machine may reject an answer that was already traced as usable.
            Happening::CallEnded(_, Outcome::Unusable(why)) if self.is_answer(event) => {
                self.tone = Tone::Bad;
                self.is_open = false;
                why.clone_into(&mut self.why);
                true
            }
            // The row of the answer already names the tool that the model calls.
            Happening::CallBegun(call, Request::Arguments(_)) => self.is_call(call.name),
            Happening::Event { event, fate: EventFate::Refused }
                if self.decision.starts_with(&format!("event {event}")) =>
            {
                self.add_why("nothing handles it now");
                self.tone = Tone::Bad;
                true
            }
            Happening::Event { event, fate: EventFate::Deferred }
                if self.decision.starts_with(&format!("event {event}")) =>
            {
                self.add_why("deferred");
                self.is_open = false;
                true
            }
            _ => false,
        }
    }

    fn add_why(&mut self, why: &str) {
        self.why = joined("; ", &[&self.why, why]);
    }

    fn is_call(&self, tool: &str) -> bool {
        self.is_open
            && self
                .decision
                .strip_prefix(tool)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
    }

    fn is_answer(&self, event: &TraceEvent<'_>) -> bool {
        self.step == step(event) && self.is_open && self.at_ms == event.at_ms
    }
}

/// Adds a transition that was taken: as the result of the last row if both happened at the same time, else as a row of its own.
fn take(
    rows: &mut Vec<StoryRow>,
    event: &TraceEvent<'_>,
    turn: Option<u32>,
    (taken, held): (&LineName, &[String]),
) {
    let (why, held) = (taken.trigger(held), held.join("; "));
    let open = rows.last_mut().filter(|last| {
        last.is_open
            && last.child == event.child
            && last.at_ms == event.at_ms
            && last.way.is_empty()
    });
    if let Some(last) = open {
        last.way = taken.way();
        last.is_open = false;
        // The trigger `may ship` adds nothing to the answer `ship`, nor `on go` to the event `go`.
        let name = taken.trigger.split_once(' ').map_or("", |(_, name)| name);
        let decision = last.decision.strip_prefix("event ").unwrap_or(&last.decision);
        let decision = decision.split([' ', '(']).next().unwrap_or_default();
        let is_said = name == decision || last.step.split(" #").next() == Some(name);
        last.add_why(if is_said { &held } else { &why });
        return;
    }
    let words = Words { tone: Tone::Plain, text: String::new(), why };
    rows.push(StoryRow { way: taken.way(), ..row(event, turn, words) });
}

/// The message that the filter selects nothing.
pub(super) fn nothing(filter: Filter<'_>) -> String {
    match (filter.turn, filter.step) {
        (Some(turn), Some(step)) => format!("nothing of `{step}` in turn {turn}"),
        (Some(turn), None) => format!("there is no turn {turn}"),
        (None, Some(step)) => format!("there is no decision of a step `{step}`"),
        (None, None) => counted(0, "decision"),
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
        let is_move = row.tone == Tone::Plain && row.way.contains("->");
        out.styled(colour(if is_move { Tone::Good } else { row.tone }), line(cells));
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
        let Happening::Begun { chart, oracle, .. } = line.event().what else { return None };
        line.child.is_empty().then_some((chart, oracle))
    });
    let (chart, who) = match run {
        Some((chart, oracle)) => (chart, format!(", answered by {oracle}")),
        None => ("a chart without its `run` line", String::new()),
    };
    let end = trace.lines.iter().rev().find_map(|line| {
        let Happening::Ended { status, .. } = line.event().what else { return None };
        line.child.is_empty().then(|| format!("ended {status}"))
    });
    let turns = trace.turns.iter().flatten().max().copied().unwrap_or(0);
    let asks = |line: &&Line| {
        matches!(line.event().what, Happening::CallBegun(_, Request::Question { .. }))
    };
    let calls = trace.lines.iter().filter(asks).count();
    let text = format!(
        "{chart}: {} after {}, {}{}{who}",
        end.unwrap_or_else(|| "not ended".into()),
        counted(turns, "turn"),
        counted(calls, "question"),
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
        counted(moved.len() + stayed.len(), "input")
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
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (line, turn) in trace.told() {
        let event = line.event();
        let at = states.entry(event.child).or_default();
        match event.what {
            Happening::Entered(state) => at.push(state),
            Happening::Exited(state) => at.retain(|active| *active != state),
            _ => {}
        }
        if let Some(title) = title(&event) {
            open.insert(event.child, all.len());
            all.push(Input {
                title,
                at_ms: event.at_ms,
                turn,
                child: event.child.to_owned(),
                at: leaves(at).join(", "),
                reasons: Vec::new(),
                steps: Vec::new(),
                has_moved: false,
            });
        }
        if let Some(index) = open.get(event.child) {
            all[*index].take(&event);
        }
    }
    all
}

/// The title of an input; `None` if the event is not one.
fn title(event: &TraceEvent<'_>) -> Option<String> {
    match event.what {
        Happening::Turn(turn) => Some(format!("turn {turn}")),
        Happening::Event { fate: EventFate::Refused | EventFate::Deferred, .. } => None,
        Happening::Event { fate: EventFate::Delivered | EventFate::Recalled, .. } => {
            event.words().map(|words| format!("{}, {}", words.text, words.why))
        }
        Happening::Event { .. } => event.words().map(|words| words.text),
        _ => None,
    }
}

/// The leaves: the active states without active children.
fn leaves(active: &[&str]) -> Vec<String> {
    let is_above = |state: &str| {
        state.is_empty()
            || active
                .iter()
                .any(|other| other.strip_prefix(state).is_some_and(|rest| rest.starts_with('.')))
    };
    active.iter().filter(|state| !is_above(state)).map(|state| place(state)).collect()
}

impl Input {
    /// Adds what an event says about the effect of the input.
    fn take(&mut self, event: &TraceEvent<'_>) {
        match event.what {
            Happening::Transition(line, Fate::Taken(_)) if !line.targets.is_empty() => {
                self.has_moved = true;
            }
            Happening::CallEnded(_, Outcome::Answer { .. }) => {
                self.steps.push(event.subject.to_owned());
            }
            _ => {}
        }
        let Some(reason) = reason(event) else { return };
        let text = cut(&reason, 400);
        if self.reasons.last() != Some(&text) {
            self.reasons.push(text);
        }
    }
}

/// What an event says about why an input had no effect.
fn reason(event: &TraceEvent<'_>) -> Option<String> {
    let step = format!("step `{}`", event.subject);
    Some(match event.what {
        Happening::Transition(line, fate) => {
            let why = match fate {
                Fate::Taken(_) if !line.targets.is_empty() => return None,
                Fate::Taken(_) => "taken, and it stays",
                Fate::Lost(why) => loss(why),
                Fate::Denied => "no `allow` line permits its target",
            };
            format!("{}: {why}", self::line(line))
        }
        Happening::Event { event, fate: EventFate::Refused } => {
            format!("`{event}`: no active state has a transition for it")
        }
        Happening::Event { event, fate: EventFate::Deferred } => {
            format!("`{event}`: an active state defers it")
        }
        Happening::Event { event, fate: EventFate::PassedOn } => format!(
            "`{event}`: this chart has no transition for it; its child charts are offered it"
        ),
        Happening::Event { fate: EventFate::NotTaken(why), .. } => not_taken(why).to_owned(),
        Happening::CallEnded(call, outcome) => match outcome {
            Outcome::Answer { option, value, .. } => {
                format!("{step} answered {}", decision(option, value))
            }
            Outcome::Unusable(why) => format!("{step}: no usable answer: {why}"),
            Outcome::Failed(failure) if call.is_tool() => {
                format!("{step}: `{}` {}: {}", call.name, failure.fate(), failure.why)
            }
            Outcome::Failed(CallFailure { error, why, doubt }) => {
                let doubt = if doubt { ", in doubt" } else { "" };
                format!("{step}: {error}{doubt}: {why}")
            }
            Outcome::GivenUp => format!("{step}: given up"),
            Outcome::Returned(_) | Outcome::Late => return None,
        },
        Happening::Step(StepPhase::Skipped) => format!("{step}: skipped, its `if` is false"),
        Happening::Step(StepPhase::Fallback(why)) => format!("{step}: {}", fallback(why)),
        Happening::Step(StepPhase::Failed(None)) => format!("{step} failed"),
        Happening::Step(StepPhase::Failed(Some(nth))) => {
            format!("`{}[{nth}]` failed", event.subject)
        }
        Happening::Forbidden { state, tool } => {
            format!("{step}: `{tool}` may not be called in {}", place(state))
        }
        Happening::WalkEnded { why, region } => return walk_end(why, event.subject, region),
        Happening::Error(error) => format!("{} was raised", error_event(error)),
        Happening::Action { outcome, .. } if outcome.failed.is_empty() => return None,
        Happening::Action { action: Some((action, _)), outcome } => {
            format!("`{action}` failed: {}", outcome.reason())
        }
        Happening::Action { action: None, outcome } => {
            format!("{step} brought no action: {}", outcome.reason())
        }
        Happening::Note { text, call: None } | Happening::HostNote(text) => text.to_owned(),
        _ => return None,
    })
}

/// Why the walk of a turn ended, if that is worth telling.
fn walk_end(why: &str, step: &str, region: &str) -> Option<String> {
    Some(match why {
        "failed" if !step.is_empty() => format!("the turn ended at `{step}`, which failed"),
        "calls" if !region.is_empty() => {
            format!("region `{region}` has used up its model calls of the turn")
        }
        "calls" => "the turn ended: its model calls are used up".into(),
        "ends_turn" => "the turn ended: a step says that it ends there".into(),
        _ => return None,
    })
}

// Formats parts of a trace as text.

/// Names a transition so that it can be found in the chart.
fn line(line: &LineName) -> String {
    let to = if line.targets.is_empty() {
        String::new()
    } else {
        format!(" -> {}", line.targets.join(", "))
    };
    format!("`{}{to}`, line {} of {}", line.trigger, line.nth, place(&line.state))
}

/// Names a state within a sentence.
fn place(path: &str) -> String {
    if path.is_empty() { "the chart".into() } else { format!("`{path}`") }
}

/// The reason why a transition was not taken.
fn loss(why: &str) -> &str {
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
