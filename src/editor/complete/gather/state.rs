//! Offers states, each with a path that leads to it from the cursor.

use super::Site;
use crate::editor::complete::CompletionKind;
use crate::editor::complete::offer::{Offer, call, written};
use crate::editor::known::StateNode;
use crate::editor::outline::SymbolKind;
use crate::editor::show;
use chartc_text::front::chart::completion_context::BodyKind;
use std::collections::BTreeSet;

/// The names that have been offered. A nearer state hides others of its name.
struct OfferedNames(BTreeSet<String>);

impl Site<'_, '_> {
    /// The states of the chart or, with `inside`, those below the state around the cursor, for `initial`.
    pub(super) fn states(&self, inside: bool) -> Vec<Offer> {
        let around = self.scope.around();
        let chain: Vec<&str> =
            self.cursor.chain.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        let mut found = Vec::new();
        if let Some((first, rest)) = chain.split_first() {
            let root = around.iter().rev().find_map(|node| child(node, first));
            let end =
                rest.iter().try_fold(root, |node, name| Some(node.and_then(|n| child(n, name))));
            if let Some(node) = end.flatten() {
                self.below(node, "", 0, &mut OfferedNames(BTreeSet::new()), &mut found);
            }
            return found;
        }
        let mut seen = OfferedNames(BTreeSet::new());
        for (up, node) in around.iter().rev().enumerate() {
            // The children of the state itself are no likelier targets than its siblings.
            let weight = if up == 0 && !inside && around.len() > 1 { 1 } else { up as u32 };
            self.below(node, "", weight, &mut seen, &mut found);
            if inside {
                break;
            }
        }
        let lost = self.scope.lost.iter();
        found.extend(lost.map(|name| Offer::new(name, CompletionKind::State, 15)));
        found
    }

    /// Adds the states below `node`: its children by name, then their descendants by path.
    fn below(
        &self,
        node: &StateNode<'_>,
        before: &str,
        weight: u32,
        seen: &mut OfferedNames,
        found: &mut Vec<Offer>,
    ) {
        let dotted = self.cursor.followed_by(".");
        let mut deeper = Vec::new();
        for inner in &node.children {
            let label = format!("{before}{}", inner.name);
            // A nearer state of the same name hides this one.
            if before.is_empty() && !seen.0.insert(inner.name.to_owned()) {
                continue;
            }
            found.push(self.offer(inner, &label, weight));
            deeper.push((inner, format!("{label}.")));
        }
        if !dotted {
            for (inner, before) in deeper {
                self.below(inner, &before, weight + 5, seen, found);
            }
        }
    }

    fn offer(&self, node: &StateNode<'_>, label: &str, weight: u32) -> Offer {
        let kind = match node.kind {
            SymbolKind::Final => "final",
            SymbolKind::Parallel => "parallel",
            SymbolKind::History => "history",
            _ => "state",
        };
        let offer = Offer::new(label, CompletionKind::State, weight).doc(node.doc);
        if node.params.is_empty() {
            return offer.detail(kind);
        }
        let names: Vec<&str> = node.params.iter().map(|param| param.name.node.as_str()).collect();
        let offer = offer.detail(format!("{kind} {}", show::params(node.params)));
        let takes = self.cursor.back(1) == "->" && self.found.place() != BodyKind::Test;
        if takes && !self.cursor.followed_by("(") {
            let text = call(&written(label), &names);
            return offer.snippet(text);
        }
        offer
    }
}

fn child<'n, 'c>(node: &'n StateNode<'c>, name: &str) -> Option<&'n StateNode<'c>> {
    node.children.iter().find(|child| child.name == name)
}
