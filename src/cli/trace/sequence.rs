//! Draws the messages of a run as a Mermaid sequence diagram.
//!
//! Each chart, the host, the model, people, tools and the world is a column; a trace line that says who sent something to whom is an
//! arrow, others that matter are notes. Three trace lines and their result:
//!
//! ```text
//! turn 1                                       host->>chart: turn 1
//! question triage                              chart->>model: triage
//! answer triage, option close, 900 ms later    Note over chart: +900ms
//!                                              model-->>chart: close
//! ```

use super::super::output::cut;
use super::read::{Filter, From, Letters, Read, above, receiver};
use chartc_core::visible;
use chartc_runtime::trace::view::{
    CallFailure, CallName, Callee, EventFate, Fate, Happening, MessageFate, Outcome, Request,
    StepPhase, decision, state, time, value,
};
use chartc_runtime::trace::{Line, TraceEvent};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a message, in characters.
const LONG: usize = 80;
/// The maximum number of messages. A larger diagram cannot be read.
const MOST: usize = 400;

/// Draws a trace.
pub(super) fn sequence(trace: &Read, filter: Filter<'_>) -> String {
    let charts = trace.charts();
    let mut picture = Picture {
        actors: actors(&charts),
        letters: Letters::new(&trace.lines),
        people: BTreeSet::new(),
        started: BTreeSet::new(),
        open: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    let mut messages: Vec<String> = Vec::new();
    let (mut last, mut more) = (0, 0);
    for (line, turn) in trace.told() {
        let event = line.event();
        let is_wanted = filter.turn.is_none_or(|wanted| turn == Some(wanted))
            && filter.step.is_none_or(|wanted| !is_of_step(&event) || event.subject == wanted);
        if let Happening::Begun { .. } = event.what {
            picture.started.insert(event.child);
        }
        // Before `follow`: an answer still counts as under way in its own message.
        let message = picture.message(line, &event);
        picture.follow(&event);
        let Some(message) = message.filter(|_| is_wanted) else { continue };
        if messages.len() >= MOST {
            more += 1;
            continue;
        }
        if line.at_ms > last {
            let own = picture.actor(&line.child);
            messages.push(format!("Note over {own}: +{}", time(line.at_ms - last)));
            last = line.at_ms;
        }
        messages.push(picture.drawn(&message, line));
    }
    let mut out = String::from("sequenceDiagram\n");
    let mut participant = |name: &str, title: &str| {
        if picture.seen.contains(name) {
            let title =
                if title.is_empty() { String::new() } else { format!(" as {}", escaped(title)) };
            out.push_str(&format!("  participant {name}{title}\n"));
        }
    };
    participant("host", "");
    participant("chart", charts.get("").copied().unwrap_or("chart"));
    for (child, chart) in charts.iter().filter(|(child, _)| !child.is_empty()) {
        participant(picture.actor(child), &format!("{child}: {chart}"));
    }
    for name in ["model", "person", "tools", "world"] {
        participant(name, "");
    }
    for message in messages {
        out.push_str(&format!("  {message}\n"));
    }
    if more > 0 {
        out.push_str(&format!(
            "  %% {more} more messages are not drawn: select with --turn or --step\n"
        ));
    }
    out
}

/// The identifiers of the charts' columns, by path.
fn actors<'t>(charts: &BTreeMap<&'t str, &'t str>) -> BTreeMap<&'t str, String> {
    let mut actors: BTreeMap<&str, String> = BTreeMap::new();
    for child in charts.keys().filter(|child| !child.is_empty()) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name = format!("run_{}", child.chars().map(plain).collect::<String>());
        // `a.b` and `a_b` are different charts, but would get the same identifier.
        while actors.values().any(|other| *other == name) {
            name.push('_');
        }
        actors.insert(child, name);
    }
    actors
}

/// A row of the diagram.
enum SequenceRow {
    Message {
        from: String,
        arrow: &'static str,
        to: String,
        text: String,
    },
    /// A note beside the column of the line's chart.
    Note(String),
}

/// The state of the drawing while the trace is read.
struct Picture<'t> {
    actors: BTreeMap<&'t str, String>,
    letters: Letters<'t>,
    /// The steps that have asked people, each with the path of its chart.
    people: BTreeSet<(&'t str, &'t str)>,
    /// The paths of the charts that have started so far.
    started: BTreeSet<&'t str>,
    /// The calls under way, by chart and name, and how many of each there are.
    open: BTreeMap<(&'t str, String), u32>,
    /// The columns that have a message. Others are not declared.
    seen: BTreeSet<String>,
}

/// Whether an event is about a call of a step.
fn is_of_step(event: &TraceEvent<'_>) -> bool {
    match event.what {
        Happening::CallEnded(_, outcome) => !matches!(outcome, Outcome::Late),
        Happening::CallBegun(..) | Happening::Step(StepPhase::Fallback(_)) => true,
        _ => false,
    }
}

/// The name of a call, which tells it from other calls of its chart that may be under way.
fn call_name(call: CallName<'_>) -> String {
    match (&call.which.element, call.which.state.as_str()) {
        (Some(element), _) => format!("{}[{element}]", call.name),
        (None, "") => call.name.to_owned(),
        (None, state) => format!("{} in {state}", call.name),
    }
}

impl<'t> Picture<'t> {
    /// The column of a chart.
    fn actor(&self, child: &str) -> &str {
        self.actors.get(child).map_or("chart", String::as_str)
    }

    /// The column of the tools, or of the model or person who answers a step.
    fn asked(&self, event: &TraceEvent<'_>, call: CallName<'_>) -> &'static str {
        if call.is_tool() {
            return "tools";
        }
        let is_person =
            call.callee == Callee::Person || self.people.contains(&(event.child, call.name));
        if is_person { "person" } else { "model" }
    }

    /// The text of an answer, with the name of its call if several are under way.
    fn answer(&self, call: CallName<'_>, text: &str) -> String {
        let several = self.open.values().sum::<u32>() > 1;
        if several { format!("{}: {text}", call_name(call)) } else { text.to_owned() }
    }

    /// Updates the calls under way.
    fn follow(&mut self, event: &TraceEvent<'t>) {
        match event.what {
            Happening::CallBegun(call, _) => {
                if call.callee == Callee::Person {
                    self.people.insert((event.child, call.name));
                }
                *self.open.entry((event.child, call_name(call))).or_default() += 1;
            }
            Happening::CallEnded(_, Outcome::Late) => {}
            Happening::CallEnded(call, _) => {
                if let Some(open) = self.open.get_mut(&(event.child, call_name(call))) {
                    *open = open.saturating_sub(1);
                }
            }
            Happening::Ended { .. } => self.open.retain(|(child, _), _| *child != event.child),
            _ => {}
        }
    }

    /// Formats a row as Mermaid.
    fn drawn(&mut self, row: &SequenceRow, line: &Line) -> String {
        match row {
            SequenceRow::Message { from, arrow, to, text } => {
                self.seen.extend([from.clone(), to.clone()]);
                let text = escaped(&cut(text, LONG));
                format!("{from}{arrow}{to}: {}", if text.is_empty() { " " } else { &text })
            }
            SequenceRow::Note(text) => {
                let own = self.actor(&line.child).to_owned();
                self.seen.insert(own.clone());
                format!("Note right of {own}: {}", escaped(&cut(text, LONG)))
            }
        }
    }

    fn message(&self, line: &Line, event: &TraceEvent<'_>) -> Option<SequenceRow> {
        let is_child = !event.child.is_empty();
        let own = self.actor(event.child);
        let above = if is_child { self.actor(above(event.child)) } else { "host" };
        let words = event.words();
        let (text, why) = words.as_ref().map_or(("", ""), |words| (&words.text, &words.why));
        match event.what {
            Happening::Event { event: name, fate } => match fate {
                EventFate::Handled(data) => {
                    let from = match self.letters.from(line) {
                        From::Host => "host",
                        From::Chart(child) => self.actor(child),
                    };
                    say(from, "->>", own, format!("{name} {}", value(data)).trim_end())
                }
                EventFate::Delivered | EventFate::Recalled => say(own, "->>", own, name),
                EventFate::Deferred => note(&format!("{name}: deferred")),
                EventFate::NotTaken(_) => {
                    say(above, "->>", own, &format!("{name} (not taken: {why})"))
                }
                EventFate::Refused => note(&format!("{name}: nothing handles it")),
                EventFate::PassedOn => None,
            },
            Happening::Message { event: name, to, fate } => self.sent(line, (name, to, fate)),
            Happening::Begun { .. } if is_child => say(above, "->>", own, text),
            Happening::Ended { status, .. } if is_child && status != "canceled" => {
                say(own, "-->>", above, text)
            }
            Happening::Turn(turn) if !is_child => say("host", "->>", own, &format!("turn {turn}")),
            Happening::Input { .. } => say("host", "->>", own, text),
            Happening::CallBegun(call, Request::Arguments(_)) => {
                say(own, "->>", self.asked(event, call), text)
            }
            Happening::CallBegun(call, _) => {
                say(own, "->>", self.asked(event, call), &question(event, call))
            }
            Happening::CallEnded(call, outcome) => self.answered(event, call, outcome),
            Happening::Action { action: Some((action, _)), outcome } => {
                if outcome.failed.is_empty() {
                    return say(own, "->>", "world", text);
                }
                say(own, "--x", "world", &format!("{action}: {}", outcome.reason()))
            }
            Happening::Transition(line, Fate::Taken(held)) => {
                let to = line.targets.join(", ");
                let to = if to.is_empty() { "stays".to_owned() } else { format!("-> {to}") };
                let trigger = line.trigger(held);
                say(own, "->>", own, &format!("{} {to} ({trigger})", state(&line.state)))
            }
            what => noted(what, (text, why)),
        }
    }

    /// The row of an event for another chart. One that arrives has a row where it is handled.
    fn sent(
        &self,
        line: &Line,
        (event, to, fate): (&str, &str, MessageFate),
    ) -> Option<SequenceRow> {
        match fate {
            MessageFate::Posted if self.letters.is_lost(line) => {
                note(&format!("{event} to {to} is under way"))
            }
            MessageFate::Undelivered => {
                let text = format!("{event}: {to} cannot take it");
                match receiver(&line.child, to).filter(|to| self.started.contains(to.as_str())) {
                    Some(to) => say(self.actor(&line.child), "--x", self.actor(&to), &text),
                    None => note(&text),
                }
            }
            MessageFate::Posted | MessageFate::Canceled => None,
        }
    }

    /// The row of the end of a call.
    fn answered(
        &self,
        event: &TraceEvent<'_>,
        call: CallName<'_>,
        outcome: Outcome<'_>,
    ) -> Option<SequenceRow> {
        let (own, asked) = (self.actor(event.child), self.asked(event, call));
        match outcome {
            Outcome::Answer { option, value, .. } => {
                say(asked, "-->>", own, &self.answer(call, &decision(option, value)))
            }
            Outcome::Returned(result) => {
                say(asked, "-->>", own, &self.answer(call, &value(result)))
            }
            Outcome::Unusable(why) => note(&self.answer(call, &format!("not usable: {why}"))),
            Outcome::Failed(CallFailure { error, why, doubt }) => {
                let doubt = if doubt { ", in doubt" } else { "" };
                say(asked, "--x", own, &self.answer(call, &format!("{error}{doubt}: {why}")))
            }
            Outcome::GivenUp => note(&format!("{} is given up", call_name(call))),
            Outcome::Late => None,
        }
    }
}

/// The text of a question, with the number of the attempt from the second on.
fn question(event: &TraceEvent<'_>, call: CallName<'_>) -> String {
    match event.attempt {
        1 => call_name(call),
        attempt => format!("{} (attempt {attempt})", call_name(call)),
    }
}

fn say(from: &str, arrow: &'static str, to: &str, text: &str) -> Option<SequenceRow> {
    let (from, to, text) = (from.to_owned(), to.to_owned(), text.to_owned());
    Some(SequenceRow::Message { from, arrow, to, text })
}

/// The note of an event that nobody has sent.
fn noted(what: Happening<'_>, (text, why): (&str, &str)) -> Option<SequenceRow> {
    match what {
        Happening::HostNote(text) => note(text),
        Happening::World { .. } => note(format!("{text} {why}").trim_end()),
        Happening::Transition(line, Fate::Denied) => {
            note(&format!("denied: {} -> {}", line.trigger, line.targets.join(", ")))
        }
        Happening::Step(StepPhase::Fallback(_)) => note(why),
        Happening::Chosen { is_asked: false, .. } => note(&format!("{text}, {why}")),
        Happening::Error(_) | Happening::Ended { .. } => note(text),
        Happening::Action { action: None, .. } => note(&format!("{text}: {why}")),
        _ => None,
    }
}

fn note(text: &str) -> Option<SequenceRow> {
    Some(SequenceRow::Note(text.to_owned()))
}

/// Escapes text for Mermaid: characters with a meaning become entities.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in visible::line(text.trim()).chars() {
        match c {
            '#' | ';' | '<' | '>' | '&' | '"' | '`' | '{' | '}' | '%' | '\\' => {
                out.push_str(&format!("#{};", c as u32));
            }
            c => out.push(c),
        }
    }
    out
}
