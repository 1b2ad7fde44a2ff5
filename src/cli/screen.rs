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
use chartc_compiler::notation::duration;
use chartc_core::expr::{self, Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine;
use chartc_core::model::{Chart, StateKind};
use chartc_core::wording::counted;
use chartc_runtime::trace::view::{
    CallName, EventFate, Fate, Happening, MessageFate, Outcome, Request, StepPhase, Tone, Words,
    action_of, joined, json, short, spent, state, time,
};
use chartc_runtime::trace::{Line, Sink, TraceEvent};
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

    fn write(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        // Turns that are over come before the line with the time that has passed since.
        if self.now >= self.shown + 1000 {
            self.over()?;
        }
        self.turns()?;
        self.time()?;
        self.note = None;
        if self.child.is_empty() {
            return self.put(tone, text);
        }
        self.put(tone, &format!("  {}: {}", self.child, text.trim_start()))
    }

    /// Whether the state is an atomic or final state of the chart whose line is being shown.
    fn is_basic(&self, state: &str) -> bool {
        let states = self.charts.get(&self.child).and_then(|chart| self.basic.get(chart));
        states.is_some_and(|states| states.contains(state))
    }

    /// Switches to the chart that the event belongs to. Returns whether the event may be shown.
    fn turn_to(&mut self, event: &TraceEvent<'_>) -> bool {
        if event.child != self.child {
            event.child.clone_into(&mut self.child);
            self.targets.clear();
            self.answered = None;
        }
        let child = event.child.to_owned();
        match event.what {
            Happening::Begun { chart, .. } => drop(self.charts.insert(child, chart.to_owned())),
            Happening::Turn(_) if !child.is_empty() => drop(self.acting.insert(child)),
            Happening::TurnEnded | Happening::Ended { .. } => drop(self.acting.remove(&child)),
            _ => {}
        }
        // The turn of a child is part of its parent's turn, and is not shown on its own.
        event.child.is_empty() || !matches!(event.what, Happening::Turn(_) | Happening::TurnEnded)
    }

    /// Shows the time that has passed since the last line, in whole seconds. The remainder counts for later lines.
    fn time(&mut self) -> io::Result<()> {
        let passed = self.now.saturating_sub(self.shown) / 1000 * 1000;
        if passed == 0 {
            return Ok(());
        }
        self.shown += passed;
        self.put(Tone::Faint, &format!("+{}", expr::Duration(passed)))
    }

    /// Shows the turns in `silent` if all of them have ended: nothing will be printed in them any more.
    fn over(&mut self) -> io::Result<()> {
        if !self.ended || !self.acting.is_empty() {
            return Ok(());
        }
        match self.silent.take() {
            None => Ok(()),
            Some((only, last)) if only == last => {
                self.put(Tone::Faint, &format!("turn {only}: nothing"))
            }
            Some((first, last)) => {
                self.put(Tone::Faint, &format!("turns {first} to {last}: nothing"))
            }
        }
    }

    /// Shows the turns in `silent`, the last of which is under way. Turns without a line share one line.
    fn turns(&mut self) -> io::Result<()> {
        let Some((first, last)) = self.silent.take() else { return Ok(()) };
        match last - first {
            0 => {}
            1 => self.put(Tone::Faint, &format!("turn {first}: nothing"))?,
            _ => self.put(Tone::Faint, &format!("turns {first} to {}: nothing", last - 1))?,
        }
        self.put(Tone::Input, &format!("turn {last}"))
    }

    fn put(&self, tone: Tone, text: &str) -> io::Result<()> {
        let mut out = StyledText::on(self.terminal);
        out.styled(colour(tone), text);
        print(&out).map_err(|fault| io::Error::other(fault.to_string()))
    }
}

/// The colour of a tone, as the terminal is told it.
pub(super) const fn colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Input => "1",
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Faint => "2",
    }
}

impl Sink for Screen {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let event = line.event();
        self.now = event.at_ms;
        if !self.turn_to(&event) {
            return Ok(());
        }
        let is_child = !event.child.is_empty();
        match event.what {
            Happening::Begun { chart, .. } if !is_child => self.write(Tone::Input, chart),
            Happening::Ended { .. } if !is_child => Ok(()),
            Happening::Turn(turn) => self.turn(turn),
            Happening::TurnEnded => {
                self.ended = true;
                Ok(())
            }
            Happening::Event {
                fate: fate @ (EventFate::Handled(_) | EventFate::Delivered | EventFate::Recalled),
                ..
            } => {
                self.started |= matches!(fate, EventFate::Handled(_));
                self.over()?;
                self.brief(&event)
            }
            Happening::Note { text, .. } if self.note.as_deref() != Some(text) => {
                self.write(Tone::Faint, &format!("  {text}"))?;
                self.note = Some(text.to_owned());
                Ok(())
            }
            Happening::Entered(state) if self.is_shown(state) => {
                self.write(Tone::Good, &format!("  -> {state}"))
            }
            // The step may take long, so show the turn now.
            Happening::Step(StepPhase::Started(_)) => self.turns(),
            Happening::Step(StepPhase::Done(None))
                if self.answered.as_deref() != Some(event.subject) =>
            {
                self.write(Tone::Faint, &format!("  {}", event.subject))
            }
            _ => self.brief(&event),
        }
    }
}

impl Screen {
    /// Whether to show that a state was entered: it is an initial one, or not the target itself, which has an `initial` or is a history.
    fn is_shown(&self, state: &str) -> bool {
        let is_initial = self.child.is_empty() && !self.started && !state.is_empty();
        is_initial || self.is_basic(state) && !self.targets.iter().any(|target| target == state)
    }

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

    /// Shows an event on one line, if it is worth a line.
    fn brief(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        let Some((tone, text)) = brief(event) else { return Ok(()) };
        match event.what {
            Happening::CallEnded(_, Outcome::Answer { .. }) => {
                self.answered = Some(event.subject.to_owned());
            }
            Happening::Transition(line, Fate::Taken(_)) => self.targets.clone_from(&line.targets),
            _ => {}
        }
        let margin = if tone == Tone::Input { "" } else { "  " };
        self.write(tone, &format!("{margin}{text}"))
    }
}

/// An event on one line; `None` if it is not worth a line.
fn brief(event: &TraceEvent<'_>) -> Option<(Tone, String)> {
    let subject = event.subject;
    if let Happening::Transition(line, Fate::Taken(held)) = event.what {
        let (from, trigger) = (state(&line.state), line.trigger(held));
        return Some(match line.targets.join(", ") {
            to if to.is_empty() => (Tone::Faint, format!("{from}: {trigger}")),
            to => (Tone::Good, format!("{from} -> {to}  ({trigger})")),
        });
    }
    let Words { tone, text, why } = event.words()?;
    let text = match event.what {
        Happening::Ended { status, result, .. } => {
            let text = format!("ended {status} {}", object(result));
            return Some((Tone::Plain, text.trim_end().to_owned()));
        }
        Happening::Begun { .. } => return Some((Tone::Plain, text)),
        Happening::Resumed { .. } | Happening::Note { .. } => return None,
        Happening::Transition(line, _) => {
            format!("{}: no `allow` line permits -> {}", line.trigger, line.targets.join(", "))
        }
        Happening::Event { event, fate } => match fate {
            EventFate::Handled(data) => {
                format!("event {event} {}", object(data)).trim_end().to_owned()
            }
            EventFate::Refused | EventFate::Deferred => format!("{event}: {why}"),
            EventFate::NotTaken(_) => format!("{event}: not taken, {why}"),
            EventFate::Delivered | EventFate::Recalled | EventFate::PassedOn => {
                format!("{text}, {why}")
            }
        },
        Happening::Message { event, to, fate } => match fate {
            MessageFate::Posted => return Some((Tone::Faint, format!("{event}: sent to {to}"))),
            MessageFate::Undelivered => format!("{event}: {to} cannot take it"),
            MessageFate::Canceled => format!("{event}: taken back"),
        },
        Happening::Input { name, value } => format!("{name} = {}", short(&json(value))),
        Happening::Chosen { .. } => format!("{text}, {why}"),
        Happening::Forbidden { state, tool } => format!("{tool}: may not be called in {state}"),
        Happening::Action { .. } => format!("{text}: {}", short(&why)),
        Happening::World { event, data } => format!("{event} {}", short(&json(data))),
        Happening::HostNote(text) => short(text),
        Happening::WalkEnded { .. } => format!("the turn failed at {subject}"),
        Happening::Step(StepPhase::Waiting(until)) => {
            format!("{subject}: tried again in {}", time(until.saturating_sub(event.at_ms)))
        }
        Happening::Step(StepPhase::Fallback(_)) | Happening::CallUsage(..) => {
            format!("{subject}: {why}")
        }
        Happening::Step(_) => format!("{subject}: {text}: {why}"),
        Happening::CallBegun(call, Request::Arguments(arguments)) => {
            format!("{} {}", call.name, short(&json(arguments)))
        }
        Happening::CallEnded(call, outcome) => answered(subject, call, (outcome, &why))?,
        _ => text,
    };
    Some((tone, text))
}

/// The end of a call on one line; `None` if it is not worth a line.
fn answered(step: &str, call: CallName<'_>, (outcome, why): (Outcome<'_>, &str)) -> Option<String> {
    Some(match outcome {
        Outcome::Answer { option, value, rung, .. } => {
            let how = if rung == "mention" { " (the only option mentioned)" } else { "" };
            format!("{step}: {}{how}", short(&said(option, value)))
        }
        Outcome::Returned(value) => format!("{} returned {}", call.name, short(&json(value))),
        Outcome::Unusable(_) => format!("{step}: no usable answer: {why}"),
        Outcome::Failed(failure) if call.is_tool() => {
            format!("{} {}: {why}", call.name, failure.fate())
        }
        Outcome::Failed(failure) => format!("{step}: {}: {why}", failure.fate()),
        Outcome::GivenUp => format!("{step}: given up"),
        Outcome::Late => return None,
    })
}

/// The answer of a model: an option with its arguments, an action with its reason, or a value as JSON.
fn said(option: Option<&str>, value: &Value) -> String {
    match (option, value) {
        (Some(option), Value::None) => option.to_owned(),
        (Some(option), Value::List(values)) => {
            format!("{option}({})", values.iter().map(json).collect::<Vec<_>>().join(", "))
        }
        (Some(option), value) => format!("{option} {}", json(value)),
        (None, value) => match action_of(value) {
            Some((action, Some(Value::Text(why)))) => joined(", ", &[action, why]),
            Some((action, _)) => action.to_owned(),
            None => json(value),
        },
    }
}

fn object(value: &Value) -> String {
    match value {
        Value::Map(map) if map.is_empty() => String::new(),
        _ => json(value),
    }
}

// The status line of a run on a terminal: active states, what was spent, and the last decision with its reason.

/// The minimum time between two drawings: a fast run would spend its time on the terminal.
const PAUSE: Duration = Duration::from_millis(50);

/// Says that a run waits for its next deadline, if the time is real.
pub(super) fn say_of_wait(is_real: bool, milliseconds: u64) {
    if is_real && milliseconds >= 1000 {
        let whole = milliseconds.next_multiple_of(1000);
        complain(format!("waits {} for the next deadline", duration(whole)));
    }
}

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
        self.status.hear(&line.event());
        if matches!(line.event().what, Happening::Ended { .. }) && line.child.is_empty() {
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
    /// Updates the content for an event. Only the run's own chart has states here, but calls of its children count, too.
    fn hear(&mut self, event: &TraceEvent<'_>) {
        let (step, own) = (event.subject, event.child.is_empty());
        match event.what {
            Happening::Entered(state) if own => drop(self.states.insert(state.to_owned())),
            Happening::Exited(state) if own => drop(self.states.remove(state)),
            Happening::Turn(turn) if own => self.turn = turn,
            Happening::CallBegun(_, Request::Question { .. }) => {
                self.calls += 1;
                self.waits.push(step.to_owned());
            }
            Happening::CallUsage(_, usage) => {
                let both = usage.input_tokens + usage.output_tokens;
                self.tokens = self.tokens.saturating_add(both);
            }
            Happening::CallEnded(call, outcome) if !call.is_tool() => self.ended(step, outcome),
            Happening::Action { action, outcome } => {
                let about = action.map_or(step, |(action, _)| action);
                let how = if outcome.failed.is_empty() { "done" } else { outcome.failed };
                self.last = format!("{about}: {how}");
            }
            Happening::Chosen { option, is_asked } => {
                if !is_asked {
                    self.last = format!("{option}, the only option");
                }
                self.chosen = true;
            }
            Happening::Step(StepPhase::Fallback(why)) => {
                self.last = format!("{step}: fell back, {why}");
            }
            Happening::Transition(line, Fate::Denied) => {
                self.last = format!("{}: denied, no `allow` line permits it", line.trigger);
            }
            Happening::Transition(line, Fate::Taken(_)) => {
                // The line of a chosen option already says so.
                let is_told = std::mem::take(&mut self.chosen);
                if !is_told && !line.targets.is_empty() {
                    self.last = format!("-> {}, {}", line.targets.join(", "), line.trigger);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, step: &str, outcome: Outcome<'_>) {
        let last = match outcome {
            Outcome::Answer { option, .. } => {
                option.map(|option| format!("{option}, by the model"))
            }
            Outcome::Unusable(why) => Some(format!("asked again, {why}")),
            Outcome::Failed(failure) => Some(format!("{}, {}", failure.fate(), failure.why)),
            Outcome::Returned(_) | Outcome::Late => return,
            Outcome::GivenUp => None,
        };
        if let Some(last) = last {
            self.last = format!("{step}: {last}");
        }
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
        parts.push(counted(self.calls, "call"));
        if self.tokens > 0 {
            parts.push(counted(self.tokens, "token"));
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
        format!("{}, {}", counted(session.turns(), "turn"), counted(session.calls(), "model call"));
    let usage = session.spent();
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    counts += &spent(tokens, usage.cost.unwrap_or_default());
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
    let steps = &machine.tables().steps;
    let step = steps.iter().find(|row| row.is_walked() && machine.is_active(row.state));
    step.map(|row| &*row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> String {
        let mut status = Status::default();
        for (i, text) in lines.iter().enumerate() {
            let text = format!(r#"{{"v":1,"seq":{},"at_ms":0,{text}}}"#, i + 1);
            let line: Line = serde_json::from_str(&text).expect("a line of a trace");
            status.hear(&line.event());
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
        assert_eq!(heard(&begun), "turn 3 · open.sorting · 1 call · waiting for triage");
        let answered = [
            r#""kind":"usage","step":"triage","attempt":1,"input_tokens":40,"output_tokens":2,"cost":0.0"#,
            r#""kind":"answer","step":"triage","attempt":1,"text":"a","rung":"whole","option":"a""#,
            r#""kind":"exited","state":"open.sorting""#,
            r#""kind":"entered","state":"open.drafting""#,
        ];
        let all: Vec<&str> = begun.iter().chain(&answered).copied().collect();
        assert_eq!(
            heard(&all),
            "turn 3 · open.drafting · 1 call · 42 tokens · triage: a, by the model"
        );
    }

    #[test]
    fn why_nothing_came_of_an_answer_is_said() {
        let line = r#""kind":"fallback","step":"triage","why":"unusable""#;
        assert_eq!(heard(&[line]), "turn 0 · 0 calls · triage: fell back, unusable");
    }
}
