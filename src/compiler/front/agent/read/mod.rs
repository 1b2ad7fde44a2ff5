//! Makes an [`Agent`] from the YAML tree; checks all keys and the types of all values, and reports every error.
//!
//! A faulty value is reported and treated as absent, so that one pass finds all errors. For example:
//!
//! ```text
//! id: bot
//! temprature: 0.5             unknown key: reported with `did you mean`, and omitted
//! workflow:
//!   steps:
//!     - name: 7              not a text: reported; the step is named `7`
//!       type: llm
//!       run_if: [a]          neither a text nor an invocation: reported; the step has no condition
//!                            an llm step needs a `prompt`: reported at the name of the step
//! ```

mod agent;
mod step;

use super::definition::{Agent, Component, Listed};
use super::node::{Node, Value};
use super::text::Text;
use crate::front::keys::{Mapping, Word};
use crate::rules::{UNKNOWN_FIELD, duplicate_name, legacy, unknown_field, wrong_type};
use crate::syntax::diagnostic::{Diagnostic, Severity, nearest};
use crate::syntax::source::{Ident, Source, Span, Spanned};
use std::ops::Range;

/// Reads a file's tree. `None` if it is not a mapping.
pub(super) fn agent(node: &Node, source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Agent> {
    Reader { source, homes: Homes::new(node), findings }.agent(node)
}

/// Reads the tree of a listed component's file. `None` if it is not a mapping.
pub(super) fn component(
    node: &Node,
    listed: Listed,
    source: &Source,
    findings: &mut Vec<Diagnostic>,
) -> Option<Component> {
    Reader { source, homes: Homes::default(), findings }.component(node, listed)
}

/// A reader of one file, with the mappings to which misplaced keys can be moved.
struct Reader<'r> {
    source: &'r Source,
    homes: Homes,
    findings: &'r mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong_type(&mut self, node: &Node, at: Span, what: &str, wanted: &str) {
        let span = if node.value == Value::Null { at } else { node.span };
        self.findings.push(wrong_type::value(what, wanted, node.kind(), span));
    }

    /// Reads a text; reports one that PyYAML would read as a boolean. Without a value, the finding is at `at`.
    fn text(&mut self, node: &Node, at: Span, what: &str) -> Option<Text> {
        match &node.value {
            Value::Text(text) => {
                self.yaml_boolean(node, &text.value);
                Some(text.clone())
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                let written = self.source.slice(node.span).to_owned();
                let finding = wrong_type::unquoted(what, node.kind(), &written, node.span);
                self.findings.push(finding);
                None
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                self.wrong_type(node, at, what, "a text");
                None
            }
        }
    }

    /// Reports a text that PyYAML reads as a boolean: YAML 1.1 has more words for booleans than YAML 1.2.
    fn yaml_boolean(&mut self, node: &Node, value: &str) {
        let is = |word: &str| value.eq_ignore_ascii_case(word);
        let means = match (is("yes") || is("on"), is("no") || is("off")) {
            (true, _) => "true",
            (_, true) => "false",
            (false, false) => return,
        };
        if self.source.slice(node.span) == value {
            self.findings.push(legacy::boolean(value, means, node.span));
        }
    }

    /// Reads a name: a text that is not empty, without the blanks around it.
    fn name(&mut self, node: &Node, at: Span, what: &str) -> Option<Ident> {
        let text = self.text(node, at, what);
        if matches!(node.value, Value::Bool(_) | Value::Int(_) | Value::Float(_)) {
            // The wrong type is reported. The name that was meant is clear enough to continue.
            return Some(Ident::new(self.source.slice(node.span).to_owned(), node.span));
        }
        let text = text?;
        let name = text.value.trim();
        if name.is_empty() {
            let span = if node.span.start == node.span.end { at } else { node.span };
            self.malformed(span, format!("{what} must not be empty"));
            return None;
        }
        let start = text.value.len() - text.value.trim_start().len();
        Some(Ident::new(name.to_owned(), text.span(start..start + name.len())))
    }

    fn names(&mut self, node: &Node, at: Span, what: &str) -> Vec<Ident> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, at, what, "a list of names");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.name(item, at, &format!("an item of {what}"))).collect()
    }

    fn count(&mut self, node: &Node, at: Span, what: &str) -> Option<Spanned<u32>> {
        if let Value::Int(i) = node.value
            && let Ok(count) = u32::try_from(i)
        {
            return Some(Spanned::new(count, node.span));
        }
        self.wrong_type(node, at, what, "a whole number of at least 0");
        None
    }

    fn boolean(&mut self, node: &Node, at: Span, what: &str) {
        let yaml11 = matches!(&node.value, Value::Text(t)
            if matches!(t.value.to_ascii_lowercase().as_str(), "yes" | "no" | "on" | "off"));
        if !yaml11 && !matches!(node.value, Value::Bool(_)) {
            self.wrong_type(node, at, what, "true or false");
        }
    }

    fn number(&mut self, node: &Node, at: Span, what: &str) -> Option<Spanned<f64>> {
        match node.value {
            Value::Int(i) => Some(Spanned::new(i as f64, node.span)),
            Value::Float(x) => Some(Spanned::new(x, node.span)),
            _ => {
                self.wrong_type(node, at, what, "a number");
                None
            }
        }
    }

    /// Reads one of the words that a key permits.
    fn word(&mut self, node: &Node, at: Span, what: &str, known: &[Word]) -> Option<Ident> {
        let name = self.name(node, at, what)?;
        let known: Vec<&str> = known.iter().map(|word| word.word).collect();
        if known.contains(&name.node.as_str()) {
            return Some(name);
        }
        self.findings.push(unknown_field::word(what, &name.node, name.span, &known));
        None
    }
}

// Reads mappings, and checks their keys against those that the format knows.

/// A mapping with known keys, in the order of the file.
struct Fields<'n> {
    all: Vec<(Ident, &'n Node)>,
    /// Unknown keys, which are not in `all`.
    unknown: Vec<Ident>,
    /// The place of the mapping.
    span: Span,
}

impl<'n> Fields<'n> {
    /// The value of a key, and the place of the key.
    fn get(&self, key: &str) -> Option<(&'n Node, Span)> {
        self.all.iter().find(|(k, _)| k.node == key).map(|(k, v)| (*v, k.span))
    }

    /// All keys with their values, in the order of the file.
    fn iter(&self) -> impl Iterator<Item = (&Ident, &'n Node)> {
        self.all.iter().map(|(k, v)| (k, *v))
    }

    /// The place for findings about missing keys: the first key, or the mapping if it is empty.
    fn head(&self) -> Span {
        self.all.first().map_or(self.span, |(k, _)| k.span)
    }
}

impl Reader<'_> {
    /// The entries of a mapping. Reports keys that cannot be names, and repeated keys.
    fn entries<'n>(&mut self, node: &'n Node, at: Span, what: &str) -> Option<Fields<'n>> {
        let Value::Map(entries) = &node.value else {
            self.wrong_type(node, at, what, "a mapping");
            return None;
        };
        let mut all: Vec<(Ident, &Node)> = Vec::new();
        for (key, value) in entries {
            let name = match &key.value {
                Value::Text(text) => {
                    self.yaml_boolean(key, &text.value);
                    text.value.clone()
                }
                Value::Bool(b) => b.to_string(),
                Value::Int(_) | Value::Float(_) => self.source.slice(key.span).to_owned(),
                Value::Null | Value::List(_) | Value::Map(_) => {
                    let what = format!("a key of {what}");
                    let finding = wrong_type::value(&what, "a text", key.kind(), key.span);
                    self.findings.push(finding);
                    continue;
                }
            };
            all.push((Ident::new(name, key.span), value));
        }
        self.drop_repeated(&mut all, what);
        Some(Fields { all, unknown: Vec::new(), span: node.span })
    }

    /// Reports repeated keys and keeps the last of them, as PyYAML does.
    fn drop_repeated(&mut self, all: &mut Vec<(Ident, &Node)>, what: &str) {
        let mut last = std::collections::BTreeMap::new();
        let mut repeated = vec![false; all.len()];
        for (i, (key, _)) in all.iter().enumerate() {
            if let Some(earlier) = last.insert(key.node.as_str(), i) {
                repeated[earlier] = true;
                let lost = all[earlier].0.span;
                self.findings.push(duplicate_name::key(what, &key.node, key.span, lost));
            }
        }
        let mut index = 0;
        all.retain(|_| {
            index += 1;
            !repeated[index - 1]
        });
    }

    /// Like `entries`, but also reports and omits keys that the table lacks.
    fn fields<'n>(
        &mut self,
        node: &'n Node,
        at: Span,
        what: &str,
        known: &Mapping,
    ) -> Option<Fields<'n>> {
        let mut fields = self.entries(node, at, what)?;
        let unknown = &mut fields.unknown;
        fields.all.retain(|(key, _)| {
            let name = key.node.as_str();
            let found = known.key(name).is_some();
            if !found {
                let meant = renamed(name).filter(|m| known.key(m).is_some());
                let finding = match home(name).filter(|_| meant.is_none()) {
                    Some(home) => {
                        let finding =
                            unknown_field::misplaced_key(what, name, key.span, home.word());
                        self.homes.moved(finding, key.span, home, self.source)
                    }
                    None => unknown_field::key(what, name, key.span, meant, known.names()),
                };
                self.findings.push(finding);
                unknown.push(key.clone());
            }
            found
        });
        Some(fields)
    }

    /// Whether one of the missing keys is present but misspelt. If so, makes the finding about the misspelling an error: no other finding
    /// is needed.
    fn escalate_misspelling(&mut self, fields: &Fields<'_>, missing: &[&str]) -> bool {
        let meant = |key: &&Ident| {
            let name = key.node.as_str();
            renamed(name)
                .or_else(|| nearest(name, missing.iter().copied()))
                .is_some_and(|m| missing.contains(&m))
        };
        let Some(key) = fields.unknown.iter().find(meant) else { return false };
        let is_told = |d: &&mut Diagnostic| d.rule.code == UNKNOWN_FIELD.code && d.span == key.span;
        for finding in self.findings.iter_mut().filter(is_told) {
            finding.severity = Severity::Error;
        }
        true
    }
}

/// The key that is meant by a word which authors use in its place.
fn renamed(name: &str) -> Option<&'static str> {
    Some(match name {
        "condition" | "when" | "if" => "run_if",
        "state" | "states" => "in_state",
        "initial" => "initial_state",
        "next" | "to" | "goto" => "transition_to",
        "model" => "llm_model",
        "prompt_template" | "template" => "prompt",
        "retries" => "max_retries",
        _ => return None,
    })
}

/// The mapping to which a key belongs, if authors often misplace it.
fn home(name: &str) -> Option<Home> {
    Some(match name {
        "states" | "initial_state" | "transitions" => Home::Machine,
        "state_machine" | "steps" | "error_handling" | "calls_per_turn" | "keep" => Home::Workflow,
        "llm_model" | "temperature" | "max_tokens" | "rag" | "components" => Home::Agent,
        "prompt" | "transition_to" | "transition_map" | "in_state" | "run_if" => Home::Step,
        _ => return None,
    })
}

// Finds the mapping to which a misplaced key belongs, and the edits that move the key there.

/// A mapping of the format that can be the home of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Agent,
    Workflow,
    Machine,
    Step,
}

impl Home {
    /// The name of the mapping in messages.
    fn word(self) -> &'static str {
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
struct Homes {
    agent: Option<Span>,
    workflow: Option<Span>,
    machine: Option<Span>,
    step: Option<Span>,
}

impl Homes {
    /// Finds the mappings in an agent's file.
    fn new(agent: &Node) -> Self {
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
    fn moved(&self, finding: Diagnostic, key: Span, to: Home, source: &Source) -> Diagnostic {
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
