//! Prints a run as it happens: a line for each line of its trace, and the status line of a terminal.
//!
//! **The problem.** A trace has a line for everything. A person who watches wants few: where the run is, what moved it, what failed. And
//! while a model is asked for a minute, it must be visible that the run waits, and for what.
//!
//! **The idea.** [`Screen`] is a sink that turns a line of the trace into one line of text or none. `Sink::line` handles what it must
//! remember; the rest falls through `step`, `action` and `effect`, one for each group, and what none of them knows is not shown. The
//! heading of a turn is printed with its first line, so that turns without any share a line (`turns`, `over`). Time is shown in whole
//! seconds, and lines of child charts begin with their path. [`Live`] adds a line below on standard error, from a [`Status`] that only
//! listens. It is wiped before each line, and drawn again at most every [`PAUSE`], or at once if the run waits for an answer.
//!
//! The last part has the texts that other commands share, and `close`, which prints how a run ended and chooses the exit code.
//!
//! **Example.**
//!
//! ```text
//! turn 1, turn_ended                      (nothing)
//! turn 2, started, question               turn 1: nothing
//!                                         turn 2
//! answer, option `escalate`                 triage: escalate
//! taken, `may escalate`, to approving       triage -> approving  (may escalate)
//! ```

use super::output::{Exit, StyledText, complain, foot, print, print_json, say};
use crate::report::Terminal;
use chartc_compiler::notation;
use chartc_core::expr::{self, Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine;
use chartc_core::model::{Chart, StateKind};
use chartc_core::tables::StepRowKind;
use chartc_runtime::budget::Usage;
use chartc_runtime::trace::{Line, LineName, Sink, What};
use chartc_runtime::{Session, TurnReport};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

/// A sink that prints the lines of a trace that a person wants to see.
pub(super) struct Screen {
    terminal: Terminal,
    /// The step whose answer was shown last. The end of this step is not shown in addition.
    answered: Option<String>,
    /// Whether the run has started, so that states entered now are not the initial ones.
    started: bool,
    /// The paths of the atomic and final states of each chart, by the name of the chart.
    basic: BTreeMap<String, BTreeSet<String>>,
    /// The name of the chart that runs at each child path; the chart of the run itself has the empty path.
    charts: BTreeMap<String, String>,
    /// The child path of the line that is being shown; empty for the run itself.
    child: String,
    /// The targets of the last transition.
    targets: Vec<String>,
    /// The first and the last of the turns that have begun and not been shown yet.
    silent: Option<(u32, u32)>,
    /// Whether the last turn in `silent` has ended.
    ended: bool,
    /// The children whose turns are still under way. They belong to the last turn.
    acting: BTreeSet<String>,
    /// The time of the line that is being shown, in milliseconds on the run's clock.
    now: u64,
    /// The time up to which the passing of time has been shown, in the same unit.
    shown: u64,
    /// The note that was shown last, until another line is shown. A guard may call a host function, and write its note, many times.
    note: Option<String>,
}

#[derive(Clone, Copy)]
enum TextStyle {
    Plain,
    Bold,
    Good,
    Bad,
    Faint,
}

impl Screen {
    /// Creates a screen for a chart and its child charts.
    pub(super) fn new(terminal: Terminal, charts: &[&Chart]) -> Self {
        let basic = |chart: &Chart| {
            let states = chart.states.iter();
            let basic =
                states.filter(|s| matches!(s.kind, StateKind::Atomic | StateKind::Final { .. }));
            basic.map(|s| s.path.clone()).collect()
        };
        Self {
            terminal,
            answered: None,
            started: false,
            basic: charts.iter().map(|chart| (chart.name.clone(), basic(chart))).collect(),
            charts: BTreeMap::new(),
            child: String::new(),
            targets: Vec::new(),
            silent: None,
            ended: false,
            acting: BTreeSet::new(),
            now: 0,
            shown: 0,
            note: None,
        }
    }

    /// Continues a run that was shown up to time `from`: states entered next are not initial ones, and only later time is shown.
    pub(super) fn going_on(self, from: Option<u64>) -> Self {
        Self { started: from.is_some(), shown: from.unwrap_or(0), ..self }
    }

    fn write(&mut self, style: TextStyle, text: &str) -> io::Result<()> {
        // Turns that are over come before the line with the time that has passed since.
        if self.now >= self.shown + 1000 {
            self.over()?;
        }
        self.turns()?;
        self.time()?;
        self.note = None;
        if self.child.is_empty() {
            return self.put(style, text);
        }
        self.put(style, &format!("  {}: {}", self.child, text.trim_start()))
    }

    /// Whether the state is an atomic or final state of the chart whose line is being shown.
    fn is_basic(&self, state: &str) -> bool {
        let states = self.charts.get(&self.child).and_then(|chart| self.basic.get(chart));
        states.is_some_and(|states| states.contains(state))
    }

    /// Switches to the chart that the line belongs to. Returns whether the line may be shown.
    fn turn_to(&mut self, line: &Line) -> bool {
        if line.child != self.child {
            self.child.clone_from(&line.child);
            self.targets.clear();
            self.answered = None;
        }
        if let What::Run { chart, .. } = &line.what {
            self.charts.insert(line.child.clone(), chart.clone());
        }
        if matches!(line.what, What::Turn { .. }) && !line.child.is_empty() {
            self.acting.insert(line.child.clone());
        } else if matches!(line.what, What::TurnEnded { .. } | What::Ended { .. }) {
            self.acting.remove(&line.child);
        }
        // The turn of a child is part of its parent's turn, and is not shown on its own.
        line.child.is_empty() || !matches!(line.what, What::Turn { .. } | What::TurnEnded { .. })
    }

    /// Shows the time that has passed since the last line, in whole seconds. The remainder counts for later lines.
    fn time(&mut self) -> io::Result<()> {
        let passed = self.now.saturating_sub(self.shown) / 1000 * 1000;
        if passed == 0 {
            return Ok(());
        }
        self.shown += passed;
        self.put(TextStyle::Faint, &format!("+{}", expr::Duration(passed)))
    }

    /// Shows the turns in `silent` if all of them have ended: nothing will be printed in them any more.
    fn over(&mut self) -> io::Result<()> {
        if !self.ended || !self.acting.is_empty() {
            return Ok(());
        }
        match self.silent.take() {
            None => Ok(()),
            Some((only, last)) if only == last => {
                self.put(TextStyle::Faint, &format!("turn {only}: nothing"))
            }
            Some((first, last)) => {
                self.put(TextStyle::Faint, &format!("turns {first} to {last}: nothing"))
            }
        }
    }

    /// Shows the turns in `silent`, the last of which is under way. Turns without a line share one line.
    fn turns(&mut self) -> io::Result<()> {
        let Some((first, last)) = self.silent.take() else { return Ok(()) };
        match last - first {
            0 => {}
            1 => self.put(TextStyle::Faint, &format!("turn {first}: nothing"))?,
            _ => self.put(TextStyle::Faint, &format!("turns {first} to {}: nothing", last - 1))?,
        }
        self.put(TextStyle::Bold, &format!("turn {last}"))
    }

    fn put(&self, style: TextStyle, text: &str) -> io::Result<()> {
        let code = match style {
            TextStyle::Plain => "",
            TextStyle::Bold => "1",
            TextStyle::Good => "32",
            TextStyle::Bad => "31",
            TextStyle::Faint => "2",
        };
        let mut out = StyledText::on(self.terminal);
        out.styled(code, text);
        print(&out).map_err(|fault| io::Error::other(fault.to_string()))
    }
}

impl Sink for Screen {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.now = line.at_ms;
        if !self.turn_to(line) {
            return Ok(());
        }
        let is_child = !line.child.is_empty();
        match &line.what {
            What::Run { chart, .. } if is_child => {
                self.write(TextStyle::Plain, &format!("runs {chart}"))
            }
            What::Ended { status, result, .. } if is_child => {
                let text = format!("ended {status} {}", object(result));
                self.write(TextStyle::Plain, text.trim_end())
            }
            What::Run { chart, .. } => self.write(TextStyle::Bold, chart),
            What::Turn { turn } => self.turn(*turn),
            What::Event { event, data } => {
                self.started = true;
                self.over()?;
                self.write(TextStyle::Bold, format!("event {event} {}", object(data)).trim_end())
            }
            What::Delivered { event } => {
                self.over()?;
                self.write(TextStyle::Bold, &format!("event {event}, sent by the chart"))
            }
            What::Note { text, .. } if self.note.as_ref() != Some(text) => {
                self.write(TextStyle::Faint, &format!("  {text}"))?;
                self.note = Some(text.clone());
                Ok(())
            }
            What::Entered { state } if !is_child && !self.started && !state.is_empty() => {
                self.write(TextStyle::Good, &format!("  -> {state}"))
            }
            // The step may take long, so show the turn now.
            What::Started { .. } => self.turns(),
            // The state entered is not the target itself: the target has an `initial`, or is a history.
            What::Entered { state } if self.is_basic(state) && !self.targets.contains(state) => {
                self.write(TextStyle::Good, &format!("  -> {state}"))
            }
            What::TurnEnded { .. } => {
                self.ended = true;
                Ok(())
            }
            what => self.step(what),
        }
    }
}

impl Screen {
    /// Notes that a turn begins. It is shown with its first line.
    fn turn(&mut self, turn: u32) -> io::Result<()> {
        self.started = true;
        self.answered = None;
        if self.now >= self.shown + 1000 {
            self.over()?;
            self.time()?;
        }
        self.ended = false;
        self.silent = Some((self.silent.map_or(turn, |(first, _)| first), turn));
        Ok(())
    }

    /// Shows a line about a step, or another detail.
    fn step(&mut self, what: &What) -> io::Result<()> {
        match what {
            What::Answer { step, option, value, rung, .. } => {
                self.answer(step, option.as_ref(), value, rung)
            }
            What::Unusable { step, why, .. } => {
                self.write(TextStyle::Bad, &format!("  {step}: no usable answer: {why}"))
            }
            What::CallFailed { step, why, .. } => {
                self.write(TextStyle::Bad, &format!("  {step}: failed: {why}"))
            }
            What::Usage { step, output_tokens, allowed: Some(most), .. } => {
                let why = more_tokens(*output_tokens, *most);
                self.write(TextStyle::Bad, &format!("  {step}: {why}"))
            }
            What::Waiting { step, until_ms, .. } => {
                let wait = expr::Duration(until_ms.saturating_sub(self.now));
                self.write(TextStyle::Faint, &format!("  {step}: tried again in {wait}"))
            }
            What::NotRetried { step, wanted_ms, most_ms, .. } => {
                let (wanted, most) = (expr::Duration(*wanted_ms), expr::Duration(*most_ms));
                let why = format!("wait {wanted} wanted, {most} at most");
                self.write(TextStyle::Bad, &format!("  {step}: not tried again: {why}"))
            }
            What::Cancelled { step, .. } => {
                self.write(TextStyle::Faint, &format!("  {step}: given up"))
            }
            What::Done { step, element: None } if self.answered.as_ref() != Some(step) => {
                self.write(TextStyle::Faint, &format!("  {step}"))
            }
            What::Unasked { option } => {
                self.write(TextStyle::Plain, &format!("  {option}, the only option"))
            }
            What::Fallback { step, why } => {
                self.write(TextStyle::Bad, &format!("  {step}: {}", fallback(why)))
            }
            _ => self.action(what),
        }
    }

    fn answer(
        &mut self,
        step: &str,
        option: Option<&String>,
        value: &Value,
        rung: &str,
    ) -> io::Result<()> {
        self.answered = Some(step.to_owned());
        let said = match option {
            Some(option) if *value == Value::None => option.clone(),
            Some(option) => format!("{option}{}", arguments(value)),
            None => said(value),
        };
        let how = if rung == "mention" { " (the only option mentioned)" } else { "" };
        self.write(TextStyle::Plain, &format!("  {step}: {}{how}", short(&said)))
    }

    /// Shows a line about a tool, an action or the world, or another detail.
    fn action(&mut self, what: &What) -> io::Result<()> {
        match what {
            What::ToolCall { tool, arguments, .. } => {
                self.write(TextStyle::Plain, &format!("  {tool} {}", short(&json(arguments))))
            }
            What::ToolResult { tool, value, .. } => {
                self.write(TextStyle::Plain, &format!("  {tool} returned {}", short(&json(value))))
            }
            What::ToolFailed { tool, why, .. } => {
                self.write(TextStyle::Bad, &format!("  {tool} failed: {why}"))
            }
            What::Forbidden { state, tool, .. } => {
                self.write(TextStyle::Bad, &format!("  {tool}: may not be called in {state}"))
            }
            What::Acted { action, arguments, value, changes, failed, why, .. } => {
                let style = if failed.is_empty() { TextStyle::Plain } else { TextStyle::Bad };
                let outcome = outcome((value, changes), (failed, why));
                self.write(style, &format!("  {}: {outcome}", action_call(action, arguments)))
            }
            What::NotActed { failed, why, .. } => {
                self.write(TextStyle::Bad, &format!("  no action: {failed}: {}", short(why)))
            }
            What::HostNote { text, .. } => {
                self.write(TextStyle::Faint, &format!("  {}", short(text)))
            }
            What::World { event, data } => {
                let data = serde_json::to_string(data).unwrap_or_default();
                self.write(TextStyle::Faint, &format!("  {event} {}", short(&data)))
            }
            _ => self.effect(what),
        }
    }

    /// Shows a line about what an input leads to: transitions, sent events and errors.
    fn effect(&mut self, what: &What) -> io::Result<()> {
        match what {
            What::Posted { event, to } => {
                self.write(TextStyle::Faint, &format!("  {event}: sent to {to}"))
            }
            What::Undelivered { event, to } => {
                self.write(TextStyle::Bad, &format!("  {event}: {to} cannot take it"))
            }
            What::SendCanceled { event } => {
                self.write(TextStyle::Faint, &format!("  {event}: taken back"))
            }
            What::Input { name, value } => {
                self.write(TextStyle::Faint, &format!("  {name} = {}", short(&json(value))))
            }
            What::Taken { line, held } => self.taken(line, held),
            What::Denied { line } => self.write(
                TextStyle::Bad,
                &format!(
                    "  {}: no `allow` line permits -> {}",
                    line.trigger,
                    line.targets.join(", ")
                ),
            ),
            What::Refused { event } => {
                self.write(TextStyle::Bad, &format!("  {event}: nothing handles it now"))
            }
            What::NotTaken { input, why, .. } => {
                let why =
                    if why == "closed" { "the run has ended" } else { "a turn is being walked" };
                self.write(TextStyle::Bad, &format!("  {input}: not taken, {why}"))
            }
            What::WalkEnded { why, step: Some(step), .. } if why == "failed" => {
                self.write(TextStyle::Bad, &format!("  the turn failed at {step}"))
            }
            What::Error { error } => {
                self.write(TextStyle::Bad, &format!("  {}", notation::machine_event(error)))
            }
            What::Warned { limit } => self.write(TextStyle::Bad, &format!("  limit.warn.{limit}")),
            _ => Ok(()),
        }
    }

    fn taken(&mut self, line: &LineName, held: &[String]) -> io::Result<()> {
        let trigger = trigger(&line.trigger, held);
        self.targets.clone_from(&line.targets);
        let from = if line.state.is_empty() { "*" } else { &line.state };
        if line.targets.is_empty() {
            self.write(TextStyle::Faint, &format!("  {from}: {trigger}"))
        } else {
            let targets = line.targets.join(", ");
            self.write(TextStyle::Good, &format!("  {from} -> {targets}  ({trigger})"))
        }
    }
}

// The status line of a run on a terminal: active states, what was spent, and the last decision with its reason.

/// The minimum time between two drawings: a fast run would spend its time on the terminal.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints a run, with a status line below.
pub(super) struct Live {
    screen: Screen,
    status: Status,
    drawn: Option<Instant>,
    on: bool,
}

impl Live {
    /// Creates the output. The line is drawn if standard error is a terminal.
    pub(super) fn new(screen: Screen) -> Self {
        let on = foot::is_there();
        Self { screen, status: Status::default(), drawn: None, on }
    }

    fn wipe(&mut self) -> io::Result<()> {
        if self.drawn.is_some() {
            foot::wipe()?;
        }
        Ok(())
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "the line is drawn for people, as time passes for them"
    )]
    fn draw(&mut self) -> io::Result<()> {
        let is_due = self.drawn.is_none_or(|at| at.elapsed() >= PAUSE);
        // While the run waits for an answer no further line may come, so draw what it waits for now.
        if !is_due && self.status.waits.is_empty() {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        foot::draw(&self.status.line())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Otherwise the line would remain before the shell's prompt. If it cannot be erased, nobody can see it either.
        drop(self.wipe());
    }
}

impl Sink for Live {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        if !self.on {
            return self.screen.line(line);
        }
        self.wipe()?;
        self.screen.line(line)?;
        self.status.hear(line);
        if matches!(line.what, What::Ended { .. }) && line.child.is_empty() {
            self.wipe()?;
            self.drawn = None;
            return Ok(());
        }
        self.draw()
    }
}

/// The content of the line.
#[derive(Default)]
struct Status {
    states: BTreeSet<String>,
    turn: u32,
    calls: u32,
    tokens: u64,
    /// The names of the steps that wait for an answer.
    waits: Vec<String>,
    last: String,
    /// Whether an option was chosen whose transition has not been taken yet.
    chosen: bool,
}

impl Status {
    /// Updates the content for a line of the trace. Only the run's own chart has states here, but calls of its children count, too.
    fn hear(&mut self, line: &Line) {
        let own = line.child.is_empty();
        match &line.what {
            What::Entered { state } if own => drop(self.states.insert(state.clone())),
            What::Exited { state } if own => drop(self.states.remove(state)),
            What::Turn { turn } if own => self.turn = *turn,
            What::Question { step, .. } => {
                self.calls += 1;
                self.waits.push(step.clone());
            }
            What::Usage { input_tokens, output_tokens, .. } => {
                self.tokens = self.tokens.saturating_add(input_tokens + output_tokens);
            }
            What::Answer { step, option, .. } => {
                self.answered(step);
                if let Some(option) = option {
                    self.last = format!("{step}: {option}, by the model");
                }
            }
            What::Unusable { step, why, .. } => {
                self.answered(step);
                self.last = format!("{step}: asked again, {why}");
            }
            What::CallFailed { step, why, .. } => {
                self.answered(step);
                self.last = format!("{step}: failed, {why}");
            }
            What::Cancelled { step, .. } => self.answered(step),
            What::Acted { action, failed, .. } if failed.is_empty() => {
                self.last = format!("{action}: done");
            }
            What::Acted { action, failed, .. } => self.last = format!("{action}: {failed}"),
            What::NotActed { step, failed, .. } => self.last = format!("{step}: {failed}"),
            What::Unasked { option } => {
                self.last = format!("{option}, the only option");
                self.chosen = true;
            }
            What::Chosen { .. } => self.chosen = true,
            What::Fallback { step, why } => self.last = format!("{step}: fell back, {why}"),
            What::Denied { line } => {
                self.last = format!("{}: denied, no `allow` line permits it", line.trigger);
            }
            What::Taken { line, .. } => {
                // The line of a chosen option already says so.
                let is_told = std::mem::take(&mut self.chosen);
                if !is_told && !line.targets.is_empty() {
                    self.last = format!("-> {}, {}", line.targets.join(", "), line.trigger);
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, step: &str) {
        if let Some(at) = self.waits.iter().position(|waits| waits == step) {
            self.waits.remove(at);
        }
    }

    /// Formats the line: the leaves, the counts, the last decision, and the steps that wait.
    fn line(&self) -> String {
        let inner = |state: &&String| {
            let below = format!("{state}.");
            !state.is_empty() && !self.states.iter().any(|other| other.starts_with(&below))
        };
        let states: Vec<&str> = self.states.iter().filter(inner).map(String::as_str).collect();
        let mut parts = vec![format!("turn {}", self.turn), states.join(", ")];
        parts.push(format!("{} calls", self.calls));
        if self.tokens > 0 {
            parts.push(format!("{} tokens", self.tokens));
        }
        if !self.last.is_empty() {
            parts.push(self.last.clone());
        }
        if !self.waits.is_empty() {
            parts.push(format!("waiting for {}", self.waits.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }
}

// Formats what happened in a run as text.

/// The maximum number of characters of an answer that are shown.
const SHOWN: usize = 100;

/// Formats an action of an agent, with the artifact that it is about.
pub(super) fn action_call(action: &str, arguments: &Value) -> String {
    let about = match arguments {
        Value::Map(map) => map.get("artifact_id").or_else(|| map.get("artifact")),
        _ => None,
    };
    match about {
        Some(Value::Text(id)) => format!("{action} {id}"),
        Some(_) | None => action.to_owned(),
    }
}

/// Formats the result of an action and the changes it made, or the reason why it failed.
pub(super) fn outcome(
    (value, changes): (&Value, &[String]),
    (failed, why): (&str, &str),
) -> String {
    let changes = changes.join(", ");
    match (failed, value, changes.as_str()) {
        ("", Value::None, "") => "ok".into(),
        ("", Value::None, _) => changes,
        ("", value, "") => short(&json(value)),
        ("", value, _) => format!("{} ({changes})", short(&json(value))),
        (failed, ..) => short(&format!("{failed}: {why}")),
    }
}

/// Formats the arguments of an option: a list in parentheses, anything else as JSON.
pub(super) fn arguments(value: &Value) -> String {
    match value {
        Value::List(values) => {
            format!("({})", values.iter().map(json).collect::<Vec<_>>().join(", "))
        }
        _ => format!(" {}", json(value)),
    }
}

pub(super) fn fallback(why: &str) -> &'static str {
    match why {
        "no_option" => "no option is enabled, so `else`",
        "unusable" => "no usable answer, so `else`",
        "stale" => "the option no longer holds, so `else`",
        "failed" => "the call failed, so `else`",
        _ => "no outcome line holds, so the state stays",
    }
}

/// Formats an action with its reason; other values as JSON.
pub(super) fn said(value: &Value) -> String {
    if let Value::Map(map) = value
        && let Some(Value::Text(action)) = map.get("action")
    {
        return match map.get("reasoning") {
            Some(Value::Text(reason)) if !reason.is_empty() => format!("{action}, {reason}"),
            Some(_) | None => action.clone(),
        };
    }
    json(value)
}

pub(super) fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn object(value: &Value) -> String {
    match value {
        Value::Map(map) if map.is_empty() => String::new(),
        _ => json(value),
    }
}

pub(super) fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let head: String = line.chars().take(SHOWN).collect();
    format!("{head}…")
}

/// The message about a server that reported more output tokens than `max_tokens`.
pub(super) fn more_tokens(reported: u64, allowed: u64) -> String {
    format!("the server reports {reported} output tokens, {allowed} were allowed")
}

/// Formats the trigger of a transition with the alternatives of its guard that held, as in `when: tries >= 3`.
pub(super) fn trigger(trigger: &str, held: &[String]) -> String {
    if held.is_empty() { trigger.to_owned() } else { format!("{trigger}: {}", held.join("; ")) }
}

/// Prints the closing line of a run, and returns its exit code. `nobody` says that no oracle was chosen.
pub(super) fn close<M: Machine, T: Sink>(
    session: &Session<M, T>,
    last: Option<TurnReport>,
    fault: Option<String>,
    nobody: bool,
) -> miette::Result<Exit> {
    let states = match session.configuration() {
        states if states.concat().is_empty() => session.machine().tables().name.to_string(),
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
        Some(machine::Status::Ok | machine::Status::Partial | machine::Status::Canceled) => {
            Exit::Clean
        }
        Some(machine::Status::Stuck | machine::Status::Limit | machine::Status::Error) => {
            Exit::Findings
        }
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
    let steps = &machine.tables().steps;
    let step = steps.iter().find(|row| starts_in_a_turn(row.kind) && machine.is_active(row.state));
    step.map(|row| &*row.name)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> String {
        let mut status = Status::default();
        for (i, text) in lines.iter().enumerate() {
            let text = format!(r#"{{"v":1,"seq":{},"at_ms":0,{text}}}"#, i + 1);
            let line: Line = serde_json::from_str(&text).expect("a line of a trace");
            status.hear(&line);
        }
        status.line()
    }

    #[test]
    fn it_says_where_the_run_is_and_what_it_waits_for() {
        let begun = [
            r#""kind":"entered","state":"""#,
            r#""kind":"entered","state":"open""#,
            r#""kind":"entered","state":"open.sorting""#,
            r#""kind":"turn","turn":3"#,
            r#""kind":"question","step":"triage","attempt":1,"prompt":"?","options":["a"]"#,
        ];
        assert_eq!(heard(&begun), "turn 3 · open.sorting · 1 calls · waiting for triage");
        let answered = [
            r#""kind":"usage","step":"triage","attempt":1,"input_tokens":40,"output_tokens":2,"cost":0.0"#,
            r#""kind":"answer","step":"triage","attempt":1,"text":"a","rung":"whole","option":"a""#,
            r#""kind":"exited","state":"open.sorting""#,
            r#""kind":"entered","state":"open.drafting""#,
        ];
        let all: Vec<&str> = begun.iter().chain(&answered).copied().collect();
        assert_eq!(
            heard(&all),
            "turn 3 · open.drafting · 1 calls · 42 tokens · triage: a, by the model"
        );
    }

    #[test]
    fn why_nothing_came_of_an_answer_is_said() {
        let line = r#""kind":"fallback","step":"triage","why":"unusable""#;
        assert_eq!(heard(&[line]), "turn 0 · 0 calls · triage: fell back, unusable");
    }
}
