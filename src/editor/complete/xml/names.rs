//! The names of an SCXML document: states, events, variables, ids.

use super::super::CompletionKind;
use super::super::offer::Offer;
use crate::editor::xml::{Element, Tree};
use std::collections::BTreeSet;

/// The names that are visible to an element: those of its document.
pub(super) struct Names<'t> {
    text: &'t str,
    tree: &'t Tree,
    prefix: &'t str,
    /// The index of the element.
    nth: usize,
    /// The elements of its document, without those of documents nested in it.
    own: Vec<usize>,
}

impl<'t> Names<'t> {
    pub(super) fn new(text: &'t str, tree: &'t Tree, prefix: &'t str, nth: usize) -> Self {
        let mut names = Self { text, tree, prefix, nth, own: Vec::new() };
        // The document of each element. Parents precede their children in the list, so their documents are known.
        let mut roots: Vec<Option<usize>> = Vec::with_capacity(tree.elements.len());
        for (at, element) in tree.elements.iter().enumerate() {
            let root = if names.name(element) == "scxml" {
                Some(at)
            } else {
                element.parent.and_then(|parent| roots[parent])
            };
            roots.push(root);
        }
        names.own = (0..roots.len()).filter(|at| roots[*at] == roots[nth]).collect();
        names
    }

    fn name(&self, element: &Element) -> &'t str {
        let name = &self.text[element.name.clone()];
        name.strip_prefix(self.prefix).unwrap_or(name)
    }

    /// The elements of `among` whose name is one of `names`.
    fn all<'s>(
        &'s self,
        among: &'s [usize],
        names: &'s [&str],
    ) -> impl Iterator<Item = (usize, &'t Element)> + 's {
        let all = among.iter().map(|nth| (*nth, &self.tree.elements[*nth]));
        all.filter(|(_, element)| names.contains(&self.name(element)))
    }

    /// The words in the values of an attribute, in order, each once.
    fn values(&self, among: &[usize], elements: &[&str], attribute: &str) -> Vec<&'t str> {
        let mut seen = BTreeSet::new();
        let all = self.all(among, elements).filter_map(|(_, one)| one.value(self.text, attribute));
        let words = all.flat_map(str::split_whitespace);
        words.filter(|word| seen.insert(*word)).collect()
    }

    /// The states of the document.
    fn states(&self) -> impl Iterator<Item = (usize, &'t Element)> + '_ {
        self.all(&self.own, &["state", "parallel", "final", "history"])
    }

    fn is_below(&self, inner: usize, outer: usize) -> bool {
        let (inner, outer) = (&self.tree.elements[inner], &self.tree.elements[outer]);
        outer.tag.start < inner.tag.start && inner.tag.start < outer.inner_end
    }

    /// Offers the states that `is_it` selects. Those that have the nearest common ancestor with `from` get the least weight.
    fn state_offers(&self, from: usize, is_it: impl Fn(usize) -> bool) -> Vec<Offer> {
        let around = std::iter::once(from).chain(self.tree.above(from));
        let around: Vec<usize> = around.take(super::NEAR).collect();
        let states = self.states().filter(|(nth, _)| is_it(*nth));
        let offers = states.filter_map(|(nth, one)| {
            let id = one.value(self.text, "id").filter(|id| !id.trim().is_empty())?;
            let common = around.iter().position(|up| self.is_below(nth, *up));
            let direct = self.tree.elements[nth].parent == common.map(|up| around[up]);
            let weight = common.unwrap_or(around.len()) * 2 + usize::from(!direct);
            let offer = Offer::new(id.trim(), CompletionKind::State, weight as u32);
            Some(offer.detail(self.name(one)))
        });
        offers.collect()
    }

    /// Offers targets of a transition: states near its own first, or, for `<initial>` and `<history>`, those below their parent.
    pub(super) fn targets(&self) -> Vec<Offer> {
        let owner = self.tree.elements[self.nth].parent;
        let Some(owner) = owner else { return self.state_offers(self.nth, |_| true) };
        let inside = self.tree.elements[owner].parent;
        // `<initial>` and `<history>` lead to a descendant of their parent, a transition mostly to a sibling of its state.
        match (self.name(&self.tree.elements[owner]), inside) {
            ("initial" | "history", Some(up)) => {
                self.state_offers(up, |nth| self.is_below(nth, up))
            }
            (_, Some(up)) => self.state_offers(up, |_| true),
            (_, None) => self.state_offers(owner, |_| true),
        }
    }

    /// Offers the states below the element.
    pub(super) fn below(&self) -> Vec<Offer> {
        self.state_offers(self.nth, |nth| self.is_below(nth, self.nth))
    }

    /// Offers all states, for `In('…')`.
    pub(super) fn active(&self) -> Vec<Offer> {
        self.state_offers(self.nth, |_| true)
    }

    /// The events that are raised, sent or waited for, without `done`, `error` and `*`.
    fn known_events(&self, among: &[usize]) -> BTreeSet<&'t str> {
        let sent = self.values(among, &["raise", "send"], "event");
        let heard = self.values(among, &["transition"], "event").into_iter();
        let heard = heard.map(|name| name.strip_suffix(".*").unwrap_or(name));
        let is_own = |name: &&str| {
            let first = name.split('.').next().unwrap_or_default();
            !matches!(first, "done" | "error" | "*" | "")
        };
        sent.into_iter().chain(heard).filter(is_own).collect()
    }

    /// Offers events to raise or send.
    pub(super) fn events(&self) -> Vec<Offer> {
        let own = self.known_events(&self.own);
        let all: Vec<usize> = (0..self.tree.elements.len()).collect();
        // Documents in one file may send events to each other.
        let others = self.known_events(&all).into_iter().filter(|name| !own.contains(name));
        let others = others.map(|name| {
            Offer::new(name, CompletionKind::Event, 3).detail("of another document of the file")
        });
        let offer = |name: &&'t str| Offer::new(*name, CompletionKind::Event, 0);
        own.iter().map(offer).chain(others).collect()
    }

    /// Offers events to wait for.
    pub(super) fn heard(&self) -> Vec<Offer> {
        let mut found = self.events();
        let finals = self.all(&self.own, &["final"]);
        let ended: BTreeSet<usize> = finals.filter_map(|(_, one)| one.parent).collect();
        for (nth, one) in self.all(&self.own, &["state", "parallel"]) {
            let Some(id) = one.value(self.text, "id") else { continue };
            // A state without a final child is never done, so its event is an unlikely choice.
            let ends = self.name(one) == "parallel" || ended.contains(&nth);
            let weight = if ends { 1 } else { 5 };
            found.push(
                Offer::new(format!("done.state.{id}"), CompletionKind::Event, weight)
                    .detail("the state has reached its end"),
            );
        }
        for id in self.values(&self.own, &["invoke"], "id") {
            found.push(
                Offer::new(format!("done.invoke.{id}"), CompletionKind::Event, 1)
                    .detail("the document has reached its end"),
            );
        }
        for (name, weight, detail) in [
            ("error.execution", 2, "an expression or an action has failed"),
            ("error.communication", 3, "an invoked document has failed"),
            ("error", 4, "any error"),
            ("done.invoke", 5, "any invoked document has reached its end"),
            ("done", 6, "any end"),
            ("*", 4, "any event"),
        ] {
            found.push(Offer::new(name, CompletionKind::Event, weight).detail(detail));
        }
        found
    }

    /// Offers the ids of sent events, for `<cancel>`.
    pub(super) fn sends(&self) -> Vec<Offer> {
        let offer = |id: &'t str| Offer::new(id, CompletionKind::Value, 0);
        self.values(&self.own, &["send"], "id").into_iter().map(offer).collect()
    }

    /// Offers receivers of an event.
    pub(super) fn receivers(&self) -> Vec<Offer> {
        let mut found = vec![
            Offer::new("#_internal", CompletionKind::Value, 1)
                .detail("this document, before events from outside"),
            Offer::new("#_parent", CompletionKind::Value, 2)
                .detail("the document that invokes this one"),
        ];
        for id in self.values(&self.own, &["invoke"], "id") {
            let offer = Offer::new(format!("#_{id}"), CompletionKind::Value, 0);
            found.push(offer.detail("an invoked document"));
        }
        found
    }

    /// Offers data, and the variables of the loops around the element.
    pub(super) fn variables(&self) -> Vec<Offer> {
        let mut found = Vec::new();
        let around = std::iter::once(self.nth).chain(self.tree.above(self.nth));
        for up in around.map(|up| &self.tree.elements[up]) {
            if self.name(up) != "foreach" {
                continue;
            }
            for attribute in ["item", "index"] {
                let name = up.value(self.text, attribute).map(str::trim);
                let offer =
                    |name| Offer::new(name, CompletionKind::Variable, 0).detail("of the loop");
                found.extend(name.filter(|name| !name.is_empty()).map(offer));
            }
        }
        for (_, data) in self.all(&self.own, &["data"]) {
            let Some(id) = data.value(self.text, "id").map(str::trim) else { continue };
            let first = data.value(self.text, "expr").unwrap_or_default();
            found.push(Offer::new(id, CompletionKind::Variable, 1).detail(first));
        }
        // A loop's variables remain declared behind the loop.
        for attribute in ["item", "index"] {
            let offer = |name: &'t str| Offer::new(name, CompletionKind::Variable, 2);
            found.extend(self.values(&self.own, &["foreach"], attribute).into_iter().map(offer));
        }
        found.retain(|offer| !offer.label.is_empty());
        found
    }

    /// Offers names of params: the data of the invoked document, and data of events.
    pub(super) fn params(&self) -> Vec<Offer> {
        let mut found = Vec::new();
        let invoke =
            self.tree.above(self.nth).find(|up| self.name(&self.tree.elements[*up]) == "invoke");
        if let Some(invoke) = invoke {
            let inside = self.tree.elements.iter().enumerate();
            let data =
                inside.filter(|(nth, one)| self.is_below(*nth, invoke) && self.name(one) == "data");
            for (_, data) in data {
                let id = data.value(self.text, "id").map(str::trim).unwrap_or_default();
                let offer = Offer::new(id, CompletionKind::Parameter, 0);
                found.push(offer.detail("of the invoked document"));
            }
        }
        found.extend(self.data_fields(1));
        found.retain(|offer| !offer.label.is_empty());
        found
    }

    /// Offers the names of data that events carry.
    pub(super) fn data_fields(&self, weight: u32) -> Vec<Offer> {
        let mut names: BTreeSet<&str> =
            self.values(&self.own, &["param"], "name").into_iter().collect();
        names.extend(self.values(&self.own, &["send"], "namelist"));
        let offer = |name| Offer::new(name, CompletionKind::Field, weight);
        names.into_iter().map(offer).collect()
    }
}
