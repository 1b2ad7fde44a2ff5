//! Prints a run as it happens, from the lines of its trace.
//!
//! A trace has a line for everything; people want one for each step and transition, and the time and the turn only where something
//! happened. So time and turns are held back until there is a line to print:
//!
//! ```text
//! trace                                  screen
//! turn 1, turn-ended                     (held back)
//! turn 2, answer triage: urgent          turn 1: nothing
//!                                        turn 2
//!                                          triage: urgent
//! taken `urgent` -> alarm, 3.2 s later   +3s
//!                                          idle -> alarm  (urgent)
//! ```

use super::output::{StyledText, print};
use super::wording::{
    action_call, arguments, fallback, json, more_tokens, object, outcome, said, short, trigger,
};
use crate::report::Terminal;
use chartc_check::notation;
use chartc_core::expr::Duration;
use chartc_core::expr::Value;
use chartc_core::model::{Chart, StateKind};
use chartc_runtime::trace::{Line, Sink, What};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A sink that prints the lines of a trace that people want to follow.
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
    /// The time on the run's clock in milliseconds: of the line that is being shown, and up to which time has been shown.
    now: u64,
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
        self.put(TextStyle::Faint, &format!("+{}", Duration(passed)))
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
            What::Turn { turn } => {
                self.started = true;
                self.answered = None;
                if self.now >= self.shown + 1000 {
                    self.over()?;
                    self.time()?;
                }
                self.ended = false;
                self.silent = Some((self.silent.map_or(*turn, |(first, _)| first), *turn));
                Ok(())
            }
            What::Event { event, data } => {
                self.started = true;
                self.over()?;
                self.write(TextStyle::Bold, format!("event {event} {}", object(data)).trim_end())
            }
            What::Delivered { event } => {
                self.over()?;
                self.write(TextStyle::Bold, &format!("event {event}, sent by the chart"))
            }
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
            What::Answer { step, option, value, rung, .. } => {
                self.answered = Some(step.clone());
                let said = match option {
                    Some(option) if *value == Value::None => option.clone(),
                    Some(option) => format!("{option}{}", arguments(value)),
                    None => said(value),
                };
                let how = if rung == "mention" { " (the only option mentioned)" } else { "" };
                self.write(TextStyle::Plain, &format!("  {step}: {}{how}", short(&said)))
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
                let wait = Duration(until_ms.saturating_sub(self.now));
                self.write(TextStyle::Faint, &format!("  {step}: tried again in {wait}"))
            }
            What::NotRetried { step, wanted_ms, most_ms, .. } => {
                let (wanted, most) = (Duration(*wanted_ms), Duration(*most_ms));
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
            What::Taken { line, held } => {
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
            _ => Ok(()),
        }
    }
}
