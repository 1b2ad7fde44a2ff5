//! Reads `state_machine` and InvokeSpecs.

use super::Reader;
use crate::front::agent::definition::{Invoke, Machine, Permit, Source};
use crate::front::agent::keys::{INVOKE, MACHINE, PERMIT};
use crate::front::agent::node::{Node, Value};
use crate::span::{Ident, Span};

impl Reader<'_> {
    pub(super) fn machine(&mut self, node: &Node, at: Span) -> Option<Machine> {
        let fields = self.fields(node, at, "`state_machine`", &MACHINE)?;
        let states = match fields.get("states") {
            Some((node, at)) => self.names(node, at, "`states`"),
            None => {
                if !self.escalate_misspelling(&fields, &["states"]) {
                    self.missing(&fields, "`state_machine` needs `states`");
                }
                Vec::new()
            }
        };
        let initial =
            fields.get("initial_state").and_then(|(n, at)| self.name(n, at, "`initial_state`"));
        let transitions = match fields.get("transitions") {
            Some((node, _)) if node.value == Value::Null => Vec::new(),
            Some((node, at)) => self.transitions(node, at),
            None => Vec::new(),
        };
        if states.is_empty() {
            if let Some((node, at)) = fields.get("states")
                && matches!(&node.value, Value::List(items) if items.is_empty())
            {
                self.malformed(at, "`states` must name at least one state");
            }
            return None;
        }
        Some(Machine { states, initial, transitions })
    }

    fn transitions(&mut self, node: &Node, at: Span) -> Vec<Permit> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, at, "`transitions`", "a list");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.permit(item, at)).collect()
    }

    fn permit(&mut self, node: &Node, at: Span) -> Option<Permit> {
        if let Value::Text(text) = &node.value {
            let Some(arrow) = text.value.find("->") else {
                self.malformed(node.span, "a transition as a text is written `from->to`");
                return None;
            };
            let part = |range: std::ops::Range<usize>| {
                let whole = &text.value[range.clone()];
                let start = range.start + whole.len() - whole.trim_start().len();
                let name = whole.trim();
                Ident::new(name.to_owned(), text.span(start..start + name.len()))
            };
            let (from, to) = (part(0..arrow), part(arrow + 2..text.value.len()));
            if from.node.is_empty() || to.node.is_empty() {
                self.malformed(node.span, "a transition as a text is written `from->to`");
                return None;
            }
            let from = (from.node != "*").then_some(from);
            return Some(Permit { from, to, condition: None, span: node.span });
        }
        let fields = self.fields(node, at, "a transition", &PERMIT)?;
        let from = fields.get("from").and_then(|(n, at)| self.name(n, at, "`from`"));
        if fields.get("from").is_some() && from.is_none() {
            return None;
        }
        let Some((to, at)) = fields.get("to") else {
            if !self.escalate_misspelling(&fields, &["to"]) {
                self.missing(&fields, "a transition needs `to`");
            }
            return None;
        };
        let to = self.name(to, at, "`to`")?;
        let condition = match fields.get("condition") {
            Some((node, at)) if node.value != Value::Null => {
                // A row whose condition cannot be read is omitted: without it, the row would permit too much.
                Some(self.source(node, at, "`condition`")?)
            }
            Some(_) | None => None,
        };
        let from = from.filter(|f| f.node != "*");
        Some(Permit { from, to, condition, span: node.span })
    }

    /// Reads a text or an InvokeSpec.
    pub(super) fn source(&mut self, node: &Node, at: Span, what: &str) -> Option<Source> {
        if matches!(node.value, Value::Map(_)) {
            return self.invoke(node, at).map(|i| Source::Invoke(Box::new(i)));
        }
        self.text(node, at, what).map(Source::Text)
    }

    pub(super) fn invoke(&mut self, node: &Node, at: Span) -> Option<Invoke> {
        let fields = self.fields(node, at, "an invocation", &INVOKE)?;
        let Some((artifact, key)) = fields.get("invoke") else {
            self.missing(&fields, "an invocation needs `invoke`, the artifact");
            return None;
        };
        let artifact = self.name(artifact, key, "`invoke`")?;
        let method = fields.get("method").and_then(|(n, at)| self.name(n, at, "`method`"));
        let arguments = match fields.get("args") {
            Some((Node { value: Value::List(items), .. }, _)) => items.clone(),
            Some((node, at)) => {
                self.wrong_type(node, at, "`args`", "a list");
                Vec::new()
            }
            None => Vec::new(),
        };
        let fallback = fields.get("fallback").map(|(node, _)| node.clone());
        Some(Invoke { artifact, method, arguments, fallback, span: node.span })
    }
}
