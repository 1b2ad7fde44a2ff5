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
use super::super::screen::{action_call, trigger};
use super::read::{Filter, From, Letters, Read, above, receiver, state, time};
use super::story::{decision, fallback, not_taken, value};
use chartc_compiler::notation;
use chartc_core::visible;
use chartc_runtime::trace::{Line, What, Which};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a message, in characters.
const LONG: usize = 80;
/// The maximum number of messages. A larger diagram cannot be read.
const MOST: usize = 400;

/// The steps that ask people, as pairs of chart and step.
pub(super) type People = BTreeSet<(String, String)>;

/// Draws a trace. Questions of all steps except `people` go to the model.
pub(super) fn sequence(trace: &Read, filter: Filter<'_>, people: &People) -> String {
    let charts = trace.charts();
    let mut picture = Picture {
        actors: actors(&charts),
        letters: Letters::new(&trace.lines),
        people,
        charts: BTreeMap::new(),
        open: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    let mut messages: Vec<String> = Vec::new();
    let (mut last, mut more) = (0, 0);
    for (line, turn) in trace.told() {
        if let What::Run { chart, .. } = &line.what {
            picture.charts.insert(&line.child, chart);
        }
        let is_wanted = filter.turn.is_none_or(|wanted| turn == Some(wanted))
            && filter.step.is_none_or(|wanted| step(line).is_none_or(|step| step == wanted));
        // Before `follow`: an answer still counts as under way in its own message.
        let message = picture.message(line);
        picture.follow(line);
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
    people: &'t People,
    /// The names of the charts that have started so far, by path.
    charts: BTreeMap<&'t str, &'t str>,
    /// The calls under way, by chart and name, and how many of each there are.
    open: BTreeMap<(&'t str, String), u32>,
    /// The columns that have a message. Others are not declared.
    seen: BTreeSet<String>,
}

/// The step that a line is about, if it is about a call.
fn step(line: &Line) -> Option<&str> {
    let (What::Question { step, .. }
    | What::Answer { step, .. }
    | What::Unusable { step, .. }
    | What::CallFailed { step, .. }
    | What::ToolCall { step, .. }
    | What::ToolResult { step, .. }
    | What::ToolFailed { step, .. }
    | What::Fallback { step, .. }
    | What::Cancelled { step, .. }) = &line.what
    else {
        return None;
    };
    Some(step)
}

/// The name of a call, which tells it from other calls of its chart that may be under way.
fn call(name: &str, which: &Which) -> String {
    match (&which.element, which.state.as_str()) {
        (Some(element), _) => format!("{name}[{element}]"),
        (None, "") => name.to_owned(),
        (None, state) => format!("{name} in {state}"),
    }
}

impl<'t> Picture<'t> {
    /// The column of a chart.
    fn actor(&self, child: &str) -> &str {
        self.actors.get(child).map_or("chart", String::as_str)
    }

    /// The column of the model or person who answers a step.
    fn asked(&self, line: &Line, step: &str) -> &'static str {
        let chart = self.charts.get(line.child.as_str()).copied().unwrap_or_default();
        let is_person = self.people.contains(&(chart.to_owned(), step.to_owned()));
        if is_person { "person" } else { "model" }
    }

    /// The text of an answer, with the name of its call if several are under way.
    fn answer(&self, call: &str, text: &str) -> String {
        let several = self.open.values().sum::<u32>() > 1;
        if several { format!("{call}: {text}") } else { text.to_owned() }
    }

    /// Updates the calls under way.
    fn follow(&mut self, line: &'t Line) {
        if let What::Question { step, which, .. } | What::ToolCall { tool: step, which, .. } =
            &line.what
        {
            *self.open.entry((&line.child, call(step, which))).or_default() += 1;
        } else if let What::Answer { step, which, .. }
        | What::Unusable { step, which, .. }
        | What::CallFailed { step, which, .. }
        | What::Cancelled { step, which, .. }
        | What::ToolResult { tool: step, which, .. }
        | What::ToolFailed { tool: step, which, .. } = &line.what
        {
            if let Some(open) = self.open.get_mut(&(line.child.as_str(), call(step, which))) {
                *open = open.saturating_sub(1);
            }
        } else if let What::Ended { .. } = &line.what {
            self.open.retain(|(child, _), _| *child != line.child);
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

    fn message(&self, line: &Line) -> Option<SequenceRow> {
        let own = self.actor(&line.child);
        let from_host = |text: &str| say("host", "->>", own, text);
        let above = if line.child.is_empty() { "host" } else { self.actor(above(&line.child)) };
        match &line.what {
            What::Event { event, data } => {
                let from = match self.letters.from(line) {
                    From::Host => "host",
                    From::Chart(child) => self.actor(child),
                };
                say(from, "->>", own, format!("{event} {}", value(data)).trim_end())
            }
            What::Posted { event, to } if self.letters.is_lost(line) => {
                note(&format!("{event} to {to} is under way"))
            }
            What::Undelivered { event, to } => {
                let text = format!("{event}: {to} cannot take it");
                match receiver(&line.child, to).filter(|to| self.charts.contains_key(to.as_str())) {
                    Some(to) => say(own, "--x", self.actor(&to), &text),
                    None => note(&text),
                }
            }
            What::Run { chart, .. } if !line.child.is_empty() => {
                say(above, "->>", own, &format!("runs {chart}"))
            }
            What::Ended { status, .. } if !line.child.is_empty() && status != "canceled" => {
                say(own, "-->>", above, &format!("ended {status}"))
            }
            What::Turn { turn } if line.child.is_empty() => from_host(&format!("turn {turn}")),
            What::Input { name, value: given } => from_host(&format!("{name} = {}", value(given))),
            What::NotTaken { input, why, .. } => {
                say(above, "->>", own, &format!("{input} (not taken: {})", not_taken(why)))
            }
            What::Delivered { event } => say(own, "->>", own, event),
            What::HostNote { text, .. } => note(text),
            What::World { event, data } => note(format!("{event} {}", value(data)).trim_end()),
            What::Taken { line, held } => {
                let trigger = trigger(&line.trigger, held);
                let to = line.targets.join(", ");
                let to = if to.is_empty() { "stays".to_owned() } else { format!("-> {to}") };
                say(own, "->>", own, &format!("{} {to} ({trigger})", state(&line.state)))
            }
            What::Denied { line } => {
                note(&format!("denied: {} -> {}", line.trigger, line.targets.join(", ")))
            }
            What::Refused { event } => note(&format!("{event}: nothing handles it")),
            What::Fallback { why, .. } => note(fallback(why)),
            What::Unasked { option } => note(&format!("{option}, the only option")),
            What::Error { error } => note(&notation::machine_event(error)),
            What::Ended { status, .. } => note(&format!("ended {status}")),
            _ => self.call_row(line),
        }
    }

    /// The row of a call of a model, the world or a tool, if the line is about one.
    fn call_row(&self, line: &Line) -> Option<SequenceRow> {
        let own = self.actor(&line.child);
        match &line.what {
            What::Question { step, attempt: 1, which, .. } => {
                say(own, "->>", self.asked(line, step), &call(step, which))
            }
            What::Question { step, attempt, which, .. } => {
                let text = format!("{} (attempt {attempt})", call(step, which));
                say(own, "->>", self.asked(line, step), &text)
            }
            What::Answer { step, option, value, which, .. } => {
                let text = self.answer(&call(step, which), &decision(option.as_ref(), value));
                say(self.asked(line, step), "-->>", own, &text)
            }
            What::Unusable { step, why, which, .. } => {
                note(&self.answer(&call(step, which), &format!("not usable: {why}")))
            }
            What::CallFailed { step, error, why, which, .. } => {
                let text = self.answer(&call(step, which), &format!("{error}: {why}"));
                say(self.asked(line, step), "--x", own, &text)
            }
            What::Cancelled { step, which, .. } => {
                note(&format!("{} is given up", call(step, which)))
            }
            What::Acted { action, arguments, failed, .. } if failed.is_empty() => {
                say(own, "->>", "world", &action_call(action, arguments))
            }
            What::Acted { action, failed, why, .. } => {
                say(own, "--x", "world", &format!("{action}: {failed}: {why}"))
            }
            What::NotActed { failed, why, .. } => note(&format!("no action: {failed}: {why}")),
            What::ToolCall { tool, arguments, .. } => {
                say(own, "->>", "tools", format!("{tool} {}", value(arguments)).trim_end())
            }
            What::ToolResult { tool, value: result, which, .. } => {
                say("tools", "-->>", own, &self.answer(&call(tool, which), &value(result)))
            }
            What::ToolFailed { tool, error, why, which, .. } => {
                let text = self.answer(&call(tool, which), &format!("{error}: {why}"));
                say("tools", "--x", own, &text)
            }
            _ => None,
        }
    }
}

fn say(from: &str, arrow: &'static str, to: &str, text: &str) -> Option<SequenceRow> {
    let (from, to, text) = (from.to_owned(), to.to_owned(), text.to_owned());
    Some(SequenceRow::Message { from, arrow, to, text })
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
