//! Reads states and their contents, except for executable content.

use super::{Comments, Reader, ident, names, parts_of};
use crate::front::scxml::document::{
    Block, Data, Initial, Payload, ScxmlState, ScxmlStateKind, Transition,
};
use crate::front::scxml::xml::Element;
use crate::rules::ILLEGAL_STRUCTURE;
use crate::rules::{duplicate_name, illegal_structure, outside_subset, unknown_field};
use crate::span::{Ident, Span};
use std::collections::BTreeMap;

/// The maximum depth of nested states: the resulting chart is printed and parsed again, with limits of its own.
const DEEPEST: usize = 50;

impl Reader<'_> {
    /// Collects the ids of all states, so that generated ones differ. Reports duplicates.
    pub(super) fn collect_ids(&mut self, root: &Element) {
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        let mut open = vec![root];
        while let Some(element) = open.pop() {
            let below: Vec<&Element> = element.elements().filter(|e| kind(e).is_some()).collect();
            open.extend(below.into_iter().rev());
            if element.name.node == "scxml" {
                continue;
            }
            let Some(id) = element.attribute("id").map(ident) else { continue };
            if let Some(first) = first.get(&id.node) {
                self.findings.push(duplicate_name::twice("state", &id.node, id.span, *first));
            } else {
                first.insert(id.node.clone(), id.span);
            }
        }
        self.ids.extend(first.into_keys());
    }

    /// Generates an unused id with this prefix.
    pub(super) fn fresh(&mut self, word: &str) -> String {
        loop {
            let nth = self.fresh.entry(word.to_owned()).or_default();
            *nth += 1;
            let name = format!("{word}{nth}");
            if self.ids.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Reads all states in document order, beginning with the document itself.
    pub(super) fn states(&mut self, root: &Element) -> Vec<ScxmlState> {
        let mut states = Vec::new();
        let id = Ident::new(String::new(), root.name.span);
        self.state(root, ScxmlStateKind::Root, (id, Vec::new()), None, 0, &mut states);
        states
    }

    fn state(
        &mut self,
        element: &Element,
        kind_of: ScxmlStateKind,
        (id, before): (Ident, Comments),
        parent: Option<usize>,
        depth: usize,
        to: &mut Vec<ScxmlState>,
    ) {
        let nth = to.len();
        let (parts, mut end) = parts_of(element);
        to.push(ScxmlState {
            kind: kind_of,
            id,
            parent,
            children: Vec::new(),
            initial: None,
            enter: Vec::new(),
            exit: Vec::new(),
            lines: Vec::new(),
            done: None,
            span: element.span,
            before,
            end: Vec::new(),
        });
        if let Some(parent) = parent {
            to[parent].children.push(nth);
        }
        if let Some(text) = element.attribute("initial") {
            let (body, before) = (Vec::new(), Vec::new());
            let initial =
                Initial { targets: names(Some(text)), body, span: text.trimmed(), before };
            to[nth].initial = Some(initial);
        }
        for (part, before) in parts {
            if let Some(kind) = kind(part) {
                if depth >= DEEPEST {
                    let message = format!("states nest more than {DEEPEST} deep");
                    self.findings.push(ILLEGAL_STRUCTURE.at(part.name.span, message));
                    return;
                }
                let id = match part.attribute("id") {
                    Some(text) if !text.value.trim().is_empty() => ident(text),
                    _ => Ident::new(self.fresh(&part.name.node), part.name.span),
                };
                self.state(part, kind, (id, before), Some(nth), depth + 1, to);
                continue;
            }
            match part.name.node.as_str() {
                "onentry" => {
                    let block = self.block(part, before);
                    to[nth].enter.push(block);
                }
                "onexit" => {
                    let block = self.block(part, before);
                    to[nth].exit.push(block);
                }
                "script" => {
                    // A script of the document runs before any state is entered, like a block on entry of the root.
                    let body = self.acts(&[(part, Vec::new())]);
                    to[nth].enter.push(Block { body, span: part.span, before });
                }
                "transition" if matches!(kind_of, ScxmlStateKind::History { .. }) => {
                    let initial = self.initial(part, before);
                    self.only(&mut to[nth].initial, initial, "`<transition>` of a history", part);
                }
                "transition" => {
                    let line = self.transition(part, before);
                    to[nth].lines.push(line);
                }
                "initial" => {
                    let Some(line) = part.elements().find(|e| e.name.node == "transition") else {
                        let span = part.name.span;
                        self.findings.push(unknown_field::missing("initial", "<transition>", span));
                        continue;
                    };
                    let mut comments = before;
                    comments.extend(parts_of(part).0.into_iter().flat_map(|(_, before)| before));
                    let initial = self.initial(line, comments);
                    self.only(&mut to[nth].initial, initial, "`initial` of one state", part);
                }
                "datamodel" => {
                    let (all, mut rest) = parts_of(part);
                    let mut first = before;
                    for (data, mut before) in all {
                        first.append(&mut before);
                        self.datum(data, std::mem::take(&mut first));
                    }
                    end.append(&mut rest);
                }
                "donedata" => to[nth].done = self.payload(part),
                "invoke" => {
                    let put = self.invoke(part, before, nth);
                    to[nth].enter.extend(put);
                }
                _ => {}
            }
        }
        to[nth].end = end;
    }

    /// Keeps the first of something that may occur once, and reports another one.
    fn only(&mut self, to: &mut Option<Initial>, found: Initial, what: &str, element: &Element) {
        match to {
            Some(first) => {
                let finding = illegal_structure::second(what, element.span, first.span);
                self.findings.push(finding);
            }
            None => *to = Some(found),
        }
    }

    fn block(&mut self, element: &Element, mut before: Comments) -> Block {
        let (parts, mut end) = parts_of(element);
        before.append(&mut end);
        Block { body: self.acts(&parts), span: element.span, before }
    }

    /// Reads the only transition of an `<initial>` or of a `<history>`.
    fn initial(&mut self, element: &Element, mut before: Comments) -> Initial {
        for name in ["event", "cond"] {
            if let Some(text) = element.attribute(name) {
                let message = format!("`{name}` has no meaning here");
                self.findings.push(unknown_field::value(message, text.span));
            }
        }
        let (parts, mut end) = parts_of(element);
        before.append(&mut end);
        let targets = names(self.required(element, "target"));
        Initial { targets, body: self.acts(&parts), span: element.span, before }
    }

    fn transition(&mut self, element: &Element, mut before: Comments) -> Transition {
        let internal = match element.attribute("type") {
            None => false,
            Some(text) => match text.value.trim() {
                "internal" => true,
                "external" => false,
                other => {
                    let finding =
                        unknown_field::word("`type`", other, text.span, &["internal", "external"]);
                    self.findings.push(finding);
                    false
                }
            },
        };
        let (parts, mut end) = parts_of(element);
        before.append(&mut end);
        Transition {
            events: element.attribute("event").map(|text| self.descriptors(text)),
            cond: self.expr_of(element, "cond"),
            targets: names(element.attribute("target")),
            internal,
            body: self.acts(&parts),
            span: element.span,
            before,
        }
    }

    /// Reads a `<data>`.
    fn datum(&mut self, element: &Element, before: Comments) {
        let Some(id) = self.required(element, "id").map(ident) else { return };
        if let Some(src) = element.attribute("src") {
            let why = "data of another file is not read: write initial values in the chart";
            let finding = outside_subset::at(src.span, why);
            self.findings.push(finding.help("write them into the `<data>`, or as its `expr`"));
        }
        let value = match element.attribute("expr") {
            Some(text) => Some(self.expr(text)),
            None if element.has_text() => Some(self.written(element)),
            None => None,
        };
        self.data.push(Data { id, value, span: element.span, before });
    }

    /// Reads the data of a `<donedata>`.
    fn payload(&mut self, element: &Element) -> Option<Payload> {
        self.data_of(element, None, true)
    }
}

/// The kind of state that an element declares, if it declares one.
fn kind(element: &Element) -> Option<ScxmlStateKind> {
    match element.name.node.as_str() {
        "state" => Some(ScxmlStateKind::State),
        "parallel" => Some(ScxmlStateKind::Parallel),
        "final" => Some(ScxmlStateKind::Final),
        "history" => {
            let deep = element.attribute("type").is_some_and(|t| t.value.trim() == "deep");
            Some(ScxmlStateKind::History { deep })
        }
        _ => None,
    }
}
