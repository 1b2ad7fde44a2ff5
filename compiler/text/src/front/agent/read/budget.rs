//! Reads an agent's budget, its inputs, and the older keys of its working memory.

use super::Reader;
use super::fields::Fields;
use crate::front::agent::keys::BUDGET;
use crate::front::agent::node::{Node, Value};
use crate::front::agent::scalar::Text;
use crate::rules::conflicting_fields;
use crate::span::{Ident, Span};
use crate::syntax::ExprKind;

/// Older keys, each with the key of `working_memory` that replaces it.
const OLD: [(&str, &str); 2] =
    [("inject_working_memory", "auto_inject"), ("working_memory_max_bytes", "max_size_bytes")];

impl Reader<'_> {
    /// Reads `input_price` and `output_price`, each the price of a million tokens.
    pub(super) fn prices(&mut self, fields: &Fields<'_>) -> Vec<(Ident, f64)> {
        let mut prices = Vec::new();
        for key in ["input_price", "output_price"] {
            let Some((node, at)) = fields.get(key) else { continue };
            if let Some(price) = self.amount(node, at, &format!("`{key}`")) {
                prices.push((Ident::new(key.to_owned(), at), price));
            }
        }
        prices
    }

    /// Reads `llm_budget`: an amount of money, or a mapping of `cost`, `tokens` and `calls`.
    pub(super) fn budget(&mut self, node: &Node, at: Span) -> Vec<(Ident, ExprKind)> {
        if !matches!(node.value, Value::Map(_)) {
            let cost = self.amount(node, at, "`llm_budget`");
            let word = Ident::new("cost".to_owned(), at);
            return cost.map(|cost| (word, ExprKind::Float(cost))).into_iter().collect();
        }
        let Some(fields) = self.fields(node, at, "`llm_budget`", &BUDGET) else {
            return Vec::new();
        };
        let mut budget = Vec::new();
        for (key, value) in fields.iter() {
            let what = format!("`{}`", key.node);
            let bound = if key.node == "cost" {
                self.amount(value, key.span, &what).map(ExprKind::Float)
            } else {
                let count = self.count(value, key.span, &what);
                count.map(|count| ExprKind::Int(i64::from(count.node)))
            };
            budget.extend(bound.map(|bound| (key.clone(), bound)));
        }
        budget
    }

    fn amount(&mut self, node: &Node, at: Span, what: &str) -> Option<f64> {
        let amount = self.number(node, at, what)?.node;
        if amount < 0.0 {
            self.malformed(node.span, format!("{what} must not be negative"));
            return None;
        }
        Some(amount)
    }

    /// Reads names with their initial values: `inputs` of the agent, `keep` of its workflow.
    pub(super) fn named(
        &mut self,
        node: &Node,
        at: Span,
        key: &str,
        what: &str,
    ) -> Vec<(Ident, Node)> {
        if node.value == Value::Null {
            return Vec::new();
        }
        let Some(entries) = self.entries(node, at, key) else { return Vec::new() };
        let mut named = Vec::new();
        for (name, value) in entries.iter() {
            let mut letters = name.node.chars();
            let is_name = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
            if is_name {
                named.push((name.clone(), value.clone()));
            } else {
                let message = format!("`{}` cannot be the name of {what}", name.node);
                self.malformed(name.span, message);
            }
        }
        named
    }

    /// Copies the older keys into `working_memory`, whose own keys take precedence.
    pub(super) fn old_memory_keys(&mut self, fields: &Fields<'_>, meta: &mut Vec<(Ident, Node)>) {
        for (old, new) in OLD {
            let Some((node, at)) = fields.get(old) else { continue };
            if new == "auto_inject" {
                self.boolean(node, at, &format!("`{old}`"));
            } else if self.count(node, at, &format!("`{old}`")).is_none() {
                continue;
            }
            let Some(entries) = options(meta, at) else { continue };
            if entries.iter().any(|(key, _)| is_key(key, new)) {
                self.findings.push(conflicting_fields::older(old, new, at));
                continue;
            }
            entries.push((key(new, at), node.clone()));
        }
    }
}

fn is_key(node: &Node, name: &str) -> bool {
    matches!(&node.value, Value::Text(text) if text.value == name)
}

fn key(name: &str, span: Span) -> Node {
    Node { value: Value::Text(Text::at(span, name)), span }
}

/// The mapping of options for working memory, created if it is absent. `None` if it is not a mapping, which is reported.
fn options(meta: &mut Vec<(Ident, Node)>, at: Span) -> Option<&mut Vec<(Node, Node)>> {
    const NAME: &str = "working_memory";
    let within = meta.iter().position(|(name, node)| {
        name.node == "memory"
            && matches!(&node.value, Value::Map(inner) if inner.iter().any(|(k, _)| is_key(k, NAME)))
    });
    let place = within.or_else(|| meta.iter().position(|(name, _)| name.node == NAME));
    let place = place.unwrap_or_else(|| {
        meta.push((
            Ident::new(NAME.to_owned(), at),
            Node { value: Value::Map(Vec::new()), span: at },
        ));
        meta.len() - 1
    });
    let (_, node) = &mut meta[place];
    let node = match (&mut node.value, within) {
        (Value::Map(inner), Some(_)) => {
            &mut inner.iter_mut().find(|(key, _)| is_key(key, NAME))?.1.value
        }
        (value, _) => value,
    };
    match node {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}
