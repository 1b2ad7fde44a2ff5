//! Reads mappings, and checks their keys against those that the format knows.

use super::Reader;
use super::home::Home;
use crate::diagnostic::{Diagnostic, Severity, nearest};
use crate::front::agent::node::{Node, Value};
use crate::keys::Mapping;
use crate::rules::UNKNOWN_FIELD;
use crate::rules::{duplicate_name, unknown_field, wrong_type};
use crate::span::{Ident, Span};

/// A mapping with known keys, in the order of the file.
pub(super) struct Fields<'n> {
    all: Vec<(Ident, &'n Node)>,
    /// Unknown keys, which are not in `all`.
    unknown: Vec<Ident>,
    /// The place of the mapping.
    pub(super) span: Span,
}

impl<'n> Fields<'n> {
    /// The value of a key, and the place of the key.
    pub(super) fn get(&self, key: &str) -> Option<(&'n Node, Span)> {
        self.all.iter().find(|(k, _)| k.node == key).map(|(k, v)| (*v, k.span))
    }

    /// All keys with their values, in the order of the file.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Ident, &'n Node)> {
        self.all.iter().map(|(k, v)| (k, *v))
    }

    /// The place for findings about missing keys: the first key, or the mapping if it is empty.
    pub(super) fn head(&self) -> Span {
        self.all.first().map_or(self.span, |(k, _)| k.span)
    }
}

impl Reader<'_> {
    /// The entries of a mapping. Reports keys that cannot be names, and repeated keys.
    pub(super) fn entries<'n>(
        &mut self,
        node: &'n Node,
        at: Span,
        what: &str,
    ) -> Option<Fields<'n>> {
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
    pub(super) fn fields<'n>(
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
    pub(super) fn escalate_misspelling(&mut self, fields: &Fields<'_>, missing: &[&str]) -> bool {
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
