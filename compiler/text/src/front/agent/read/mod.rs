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

mod budget;
mod component;
mod fields;
mod home;
mod machine;
mod step;
mod top;

use super::definition::{Agent, Component, Listed};
use super::node::{Node, Value};
use super::scalar::Text;
use crate::diagnostic::Diagnostic;
use crate::keys::Word;
use crate::rules::{legacy, unknown_field, wrong_type};
use crate::source::Source;
use crate::span::{Ident, Span, Spanned};
use home::Homes;

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
