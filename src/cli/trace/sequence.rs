//! The messages of a run, as a Mermaid sequence diagram.

use super::super::columns::cut;
use super::super::wording::action_call;
use super::Filter;
use super::read::Read;
use super::tell::{decision, fallback, not_taken, state, time, value};
use chartc_check::notation;
use chartc_core::visible;
use chartc_runtime::trace::{Line, What};
use std::collections::BTreeSet;

/// The maximum length of a message, in characters.
const LONG: usize = 80;
/// The maximum number of messages: a larger picture is unreadable.
const MOST: usize = 400;

/// A trace as Mermaid.
pub(super) fn sequence(trace: &Read, filter: Filter<'_>) -> String {
    let charts = trace.charts();
    let main = charts.get("").copied().unwrap_or("chart");
    let mut messages: Vec<String> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let (mut last, mut more) = (0, 0);
    for (line, turn) in trace.told() {
        let is_wanted = filter.turn.is_none_or(|wanted| turn == Some(wanted))
            && filter.step.is_none_or(|wanted| step(line).is_none_or(|step| step == wanted));
        if !is_wanted {
            continue;
        }
        let own = actor(&line.child);
        let Some(message) = message(line, &own) else { continue };
        if messages.len() >= MOST {
            more += 1;
            continue;
        }
        if line.at_ms > last {
            messages.push(format!("Note over {own}: +{}", time(line.at_ms - last)));
            last = line.at_ms;
        }
        seen.insert(own);
        messages.push(message);
    }
    let mut out = String::from("sequenceDiagram\n");
    let uses = |name: &str| {
        messages.iter().any(|m| {
            m.contains(&format!("{name}->>"))
                || m.contains(&format!(">>{name}:"))
                || m.contains(&format!("--x{name}:"))
        })
    };
    for name in ["host"] {
        if uses(name) {
            out.push_str(&format!("  participant {name}\n"));
        }
    }
    for (child, chart) in &charts {
        if seen.contains(&actor(child)) {
            let name = if child.is_empty() { main.to_owned() } else { format!("{child}: {chart}") };
            out.push_str(&format!("  participant {} as {}\n", actor(child), escaped(&name)));
        }
    }
    for name in ["model", "tools", "world"] {
        if uses(name) {
            out.push_str(&format!("  participant {name}\n"));
        }
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

/// The name of a chart's column.
fn actor(child: &str) -> String {
    if child.is_empty() {
        return "chart".into();
    }
    let name: String =
        child.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("run_{name}")
}

/// The step that a line is about.
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

fn message(line: &Line, own: &str) -> Option<String> {
    let say = |from: &str, arrow: &str, to: &str, text: &str| {
        let text = escaped(&cut(text, LONG));
        Some(format!("{from}{arrow}{to}: {}", if text.is_empty() { " " } else { &text }))
    };
    let from_host = |text: &str| say("host", "->>", own, text);
    let note = |text: &str| Some(format!("Note right of {own}: {}", escaped(&cut(text, LONG))));
    match &line.what {
        What::Event { event, data } => from_host(format!("{event} {}", value(data)).trim_end()),
        What::Turn { turn } if line.child.is_empty() => from_host(&format!("turn {turn}")),
        What::Input { name, value: given } => from_host(&format!("{name} = {}", value(given))),
        What::NotTaken { input, why, .. } => {
            from_host(&format!("{input} (not taken: {})", not_taken(why)))
        }
        What::Delivered { event } => say(own, "->>", own, event),
        What::Question { step, attempt: 1, .. } => say(own, "->>", "model", step),
        What::Question { step, attempt, .. } => {
            say(own, "->>", "model", &format!("{step} (attempt {attempt})"))
        }
        What::Answer { option, value, .. } => {
            say("model", "-->>", own, &decision(option.as_ref(), value))
        }
        What::Unusable { why, .. } => note(&format!("not usable: {why}")),
        What::CallFailed { error, why, .. } => say("model", "--x", own, &format!("{error}: {why}")),
        What::Cancelled { step, .. } => note(&format!("{step} is given up")),
        What::Acted { action, arguments, failed, .. } if failed.is_empty() => {
            say(own, "->>", "world", &action_call(action, arguments))
        }
        What::Acted { action, failed, why, .. } => {
            say(own, "--x", "world", &format!("{action}: {failed}: {why}"))
        }
        What::NotActed { failed, why, .. } => note(&format!("no action: {failed}: {why}")),
        What::HostNote { text, .. } => note(text),
        What::ToolCall { tool, arguments, .. } => {
            say(own, "->>", "tools", format!("{tool} {}", value(arguments)).trim_end())
        }
        What::ToolResult { value: result, .. } => say("tools", "-->>", own, &value(result)),
        What::ToolFailed { error, why, .. } => say("tools", "--x", own, &format!("{error}: {why}")),
        What::Taken { line } => {
            let to = line.targets.join(", ");
            let to = if to.is_empty() { "stays".to_owned() } else { format!("-> {to}") };
            say(own, "->>", own, &format!("{} {to} ({})", state(&line.state), line.trigger))
        }
        What::Denied { line } => {
            note(&format!("denied: {} -> {}", line.trigger, line.targets.join(", ")))
        }
        What::Refused { event } => note(&format!("{event}: nothing handles it")),
        What::Fallback { why, .. } => note(fallback(why)),
        What::Unasked { option } => note(&format!("{option}, the only option")),
        What::Error { error } => note(&notation::machine_event(error)),
        What::Ended { status, .. } => note(&format!("ended {status}")),
        What::Turn { .. }
        | What::Section { .. }
        | What::Resumed { .. }
        | What::Run { .. }
        | What::Sent { .. }
        | What::Posted { .. }
        | What::Undelivered { .. }
        | What::SendCanceled { .. }
        | What::PassedOn { .. }
        | What::Lost { .. }
        | What::Exited { .. }
        | What::Entered { .. }
        | What::Started { .. }
        | What::Usage { .. }
        | What::Waiting { .. }
        | What::NotRetried { .. }
        | What::Called { .. }
        | What::Returned { .. }
        | What::NotReturned { .. }
        | What::Forbidden { .. }
        | What::Skipped { .. }
        | What::Done { .. }
        | What::Chosen { .. }
        | What::Retried { .. }
        | What::Failed { .. }
        | What::Dropped { .. }
        | What::WalkEnded { .. }
        | What::Warned { .. }
        | What::TurnEnded { .. }
        | What::Note { .. } => None,
    }
}

/// Text that Mermaid shows literally: characters with a meaning become entities.
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
