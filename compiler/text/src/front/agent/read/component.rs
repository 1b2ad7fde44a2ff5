//! Reads a component's file.

use super::Reader;
use crate::front::agent::comment;
use crate::front::agent::definition::{Component, Injection, Listed, Source};
use crate::front::agent::keys::{COMPONENT, INJECTION, KINDS, PLACES};
use crate::front::agent::node::{Node, Value};
use crate::rules::{conflicting_fields, duplicate_name, unused_fragment};
use crate::span::{Ident, Span};
use crate::syntax::InsertPosition;
use std::collections::BTreeMap;

impl Reader<'_> {
    pub(super) fn component(&mut self, node: &Node, listed: Listed) -> Option<Component> {
        let fields = self.fields(node, node.span, "a component", &COMPONENT)?;
        let present = |key: &str| fields.get(key).filter(|(node, _)| node.value != Value::Null);
        let kind = listed.kind.word();
        if let Some((node, at)) = present("type")
            && let Some(word) = self.word(node, at, "`type`", KINDS)
            && word.node != kind
        {
            let folder = listed.kind.list();
            let finding = conflicting_fields::other_kind(&word.node, kind, folder, word.span);
            self.findings.push(finding);
        }
        if let Some((node, at)) = present("name")
            && let Some(name) = self.name(node, at, "`name`")
            // The name is empty if the component is checked without an agent.
            && !listed.name.node.is_empty()
            && name.node != listed.name.node
        {
            self.findings.push(conflicting_fields::other_name(&listed.name.node, name.span));
        }
        let description = present("description")
            .and_then(|(n, at)| self.text(n, at, "`description`"))
            .map(|text| text.value.trim().to_owned());
        let fragment =
            present("prompt_fragment").and_then(|(n, at)| self.text(n, at, "`prompt_fragment`"));
        if present("prompt_fragment").is_none() {
            self.missing(&fields, "a component needs a `prompt_fragment`");
        }
        let place =
            present("at").and_then(|(n, at)| self.place(n, at)).unwrap_or(InsertPosition::End);
        let requires = present("requires_context")
            .map(|(n, at)| self.names(n, at, "`requires_context`"))
            .unwrap_or_default();
        let places = match fields.get("inject_into") {
            Some((node, at)) => self.injections(node, at, place),
            None => {
                let message = "a component needs `inject_into`, the steps that it goes into";
                self.missing(&fields, message);
                Vec::new()
            }
        };
        let comments = comment::texts(self.source, node);
        Some(Component { listed, description, places, fragment, requires, comments })
    }

    fn injections(&mut self, node: &Node, at: Span, place: InsertPosition) -> Vec<Injection> {
        let one = std::slice::from_ref(node);
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            Value::Text(_) | Value::Map(_) => one,
            _ => {
                self.wrong_type(node, at, "`inject_into`", "a list of steps");
                return Vec::new();
            }
        };
        if items.is_empty() {
            self.findings.push(unused_fragment::into_nothing(at));
        }
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        let mut found = Vec::new();
        for item in items {
            let Some(one) = self.injection(item, at, place) else { continue };
            let Ident { node: step, span } = &one.step;
            if let Some(first) = known.get(step) {
                let message = format!("`inject_into` names `{step}` twice");
                self.findings.push(duplicate_name::again(message, *span, *first));
                continue;
            }
            known.insert(step.clone(), *span);
            found.push(one);
        }
        found
    }

    fn injection(&mut self, node: &Node, at: Span, place: InsertPosition) -> Option<Injection> {
        if !matches!(node.value, Value::Map(_)) {
            let step = self.name(node, at, "an item of `inject_into`")?;
            return Some(Injection { step, place, condition: None });
        }
        let fields = self.fields(node, at, "an item of `inject_into`", &INJECTION)?;
        let Some((step, key)) = fields.get("step") else {
            self.missing(&fields, "an item of `inject_into` needs its `step`");
            return None;
        };
        let step = self.name(step, key, "`step`")?;
        let place = fields.get("at").and_then(|(n, at)| self.place(n, at)).unwrap_or(place);
        let always = fields.get("always").and_then(|(node, at)| {
            self.boolean(node, at, "`always`");
            let said = |b: bool| node.value == Value::Bool(b);
            (said(true) || said(false)).then(|| (said(true), at))
        });
        let condition = fields.get("if").filter(|(node, _)| node.value != Value::Null);
        match (always, condition) {
            (Some((true, at)), Some((_, unused))) => {
                self.findings.push(conflicting_fields::always(unused, at));
                Some(Injection { step, place, condition: None })
            }
            (Some((false, at)), None) => {
                self.findings.push(unused_fragment::never(&step.node, at));
                None
            }
            (_, Some((node, at))) => {
                // An injection whose condition cannot be read is omitted: without it, the fragment would be inserted too often.
                let condition: Source = self.source(node, at, "`if`")?;
                Some(Injection { step, place, condition: Some(condition) })
            }
            (_, None) => Some(Injection { step, place, condition: None }),
        }
    }

    fn place(&mut self, node: &Node, at: Span) -> Option<InsertPosition> {
        let word = self.word(node, at, "`at`", PLACES)?;
        Some(match word.node.as_str() {
            "start" => InsertPosition::Start,
            "replace" => InsertPosition::Replace,
            _ => InsertPosition::End,
        })
    }
}
