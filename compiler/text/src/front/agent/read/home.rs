//! Finds the mapping to which a misplaced key belongs, and the edits that move the key there.

use crate::diagnostic::Diagnostic;
use crate::front::agent::node::{Node, Value};
use crate::source::Source;
use crate::span::Span;
use std::ops::Range;

/// A mapping of the format that can be the home of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    Agent,
    Workflow,
    Machine,
    Step,
}

impl Home {
    /// The name of the mapping in messages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Agent => "the agent itself",
            Self::Workflow => "`workflow`",
            Self::Machine => "`state_machine`",
            Self::Step => "a step",
        }
    }
}

/// The first key of each mapping into which a key can be moved; `None` if there is no such mapping or more than one.
#[derive(Debug, Default)]
pub(super) struct Homes {
    agent: Option<Span>,
    workflow: Option<Span>,
    machine: Option<Span>,
    step: Option<Span>,
}

impl Homes {
    /// Finds the mappings in an agent's file.
    pub(super) fn new(agent: &Node) -> Self {
        let workflow = value(agent, "workflow");
        let machine = workflow.and_then(|workflow| value(workflow, "state_machine"));
        let steps = workflow.and_then(|workflow| value(workflow, "steps"));
        let step = match steps.map(|steps| &steps.value) {
            Some(Value::List(steps)) if steps.len() == 1 => steps.first(),
            _ => None,
        };
        Self {
            agent: first(agent),
            workflow: workflow.and_then(first),
            machine: machine.and_then(first),
            step: step.and_then(first),
        }
    }

    /// Adds a fix that moves the entry of the key at `key`, if both mappings are written with one key per line.
    pub(super) fn moved(
        &self,
        finding: Diagnostic,
        key: Span,
        to: Home,
        source: &Source,
    ) -> Diagnostic {
        let first = match to {
            Home::Agent => self.agent,
            Home::Workflow => self.workflow,
            Home::Machine => self.machine,
            Home::Step => self.step,
        };
        match first.and_then(|first| edits(source, key, first)) {
            Some(edits) => finding.edit(edits, true),
            None => finding,
        }
    }
}

fn value<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &node.value else { return None };
    let is =
        |(key, _): &&(Node, Node)| matches!(&key.value, Value::Text(text) if text.value == name);
    entries.iter().find(is).map(|(_, value)| value)
}

fn first(node: &Node) -> Option<Span> {
    let Value::Map(entries) = &node.value else { return None };
    entries.first().map(|(key, _)| key.span)
}

/// The edits that move the entry of the key at `key` behind the entry of the key at `first`.
fn edits(source: &Source, key: Span, first: Span) -> Option<Vec<(Span, String)>> {
    let (own, own_column) = entry(source, key)?;
    let (home, home_column) = entry(source, first)?;
    // A key that leads its list item cannot be removed: the `- ` is on its line.
    let is_alone = source.text[own.start..key.start as usize].trim().is_empty();
    if !is_alone || own.start <= home.start && home.start < own.end {
        return None;
    }
    let mut text = String::new();
    for line in source.text[own.clone()].split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if line.trim().is_empty() {
            text.push_str(line);
            continue;
        }
        // Lines to the left of the key belong to no block that could be moved: `None`.
        text.push_str(&" ".repeat((blanks + home_column).checked_sub(own_column)?));
        text.push_str(&line[blanks..]);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let last = source.text[..home.end].ends_with('\n');
    if !last {
        text.insert(0, '\n');
    }
    let at = |range: Range<usize>| Span::new(key.file, range.start, range.end);
    Some(vec![(at(own), String::new()), (at(home.end..home.end), text)])
}

/// The lines of the entry that begins with the key at `key`, and the column of the key. `None` if the key is not in a block mapping.
fn entry(source: &Source, key: Span) -> Option<(Range<usize>, usize)> {
    let line = source.line_of(key.start);
    let start = source.line(line).start;
    let before = &source.text[start..key.start as usize];
    if !before.chars().all(|c| c == ' ' || c == '-') {
        return None;
    }
    let column = before.len();
    let mut end = line + 1;
    let mut last = line;
    while end <= source.lines() {
        let text = &source.text[source.line(end)];
        let indent = text.len() - text.trim_start_matches(' ').len();
        // A list may stand at the column of its key: `steps:` with `- ` below it.
        let belongs = indent > column || indent == column && text[indent..].starts_with("- ");
        if text.trim().is_empty() {
            end += 1;
            continue;
        }
        if !belongs {
            break;
        }
        last = end;
        end += 1;
    }
    let end = if last < source.lines() { source.line(last + 1).start } else { source.text.len() };
    Some((start..end, column))
}
