//! Reads a document from its elements, and refuses what is not translated.
//!
//! A refused or invalid part is reported at its place. The rest is still read, so that one pass finds all errors. For example:
//!
//! ```text
//! <transition event="go" cond="n >" target="b">       the condition is invalid: reported, and kept as an expression that fails
//!   <send event="x" typeexpr="kind"/>                 a computed type is not translated: reported, and ignored
//!   <invoke/>                                         not allowed in a transition: `known` has reported it, so it is skipped
//! </transition>
//! ```

use super::document::{
    ActKind, Block, Data, Delay, Descriptor, Document, Event, Executable, ForEach, Initial, Invoke,
    Payload, ScxmlState, ScxmlStateKind, Send, To, Transition,
};
use super::script::{self, Expr, Fault, ScriptExprKind, Statement};
use super::xml::{Child, Element, SCXML, Text, Tree};
use crate::front::{Link, Nearby, Unread};
use crate::rules::{
    ILLEGAL_STRUCTURE, duplicate_name, faulty_expression, illegal_structure, left_out,
    outside_subset, unknown_field,
};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Source, Span, Spanned};
use chartc_core::family::DEPTH;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The state of reading one document.
pub(super) struct Reader<'r> {
    pub(super) source: &'r Source,
    pub(super) nearby: &'r mut dyn Nearby,
    pub(super) findings: &'r mut Vec<Diagnostic>,
    /// The ids in use, so that generated ones differ.
    ids: BTreeSet<String>,
    data: Vec<Data>,
    invokes: Vec<Invoke>,
    /// The names of all charts in the file.
    charts: &'r mut BTreeSet<String>,
    /// The number of documents that enclose this one.
    inside: usize,
    /// The current depth of executable content.
    depth: usize,
    /// For each prefix, the number of the last generated name.
    fresh: BTreeMap<String, usize>,
}

/// Reads the document of a file. `None` if its root is another element, which is reported.
pub(super) fn document(
    tree: Tree,
    source: &Source,
    nearby: &mut dyn Nearby,
    findings: &mut Vec<Diagnostic>,
) -> Option<Document> {
    let root = &tree.root;
    if root.name.node != "scxml" || !(tree.namespace.is_empty() || tree.namespace == SCXML) {
        findings.push(unknown_field::root(&root.name.node, root.name.span));
        return None;
    }
    if tree.namespace.is_empty() {
        findings.push(unknown_field::namespace(root.name.span));
    }
    let mut charts = BTreeSet::new();
    let mut reader = Reader::new(source, nearby, findings, &mut charts, 0);
    reader.encoding(root);
    let document = reader.read(root, file_stem(&source.name));
    Some(Document { before: tree.before, after: tree.after, ..document })
}

/// The name of a file, without folder and extension.
fn file_stem(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.split_once('.').map_or(file, |(stem, _)| stem).to_owned()
}

impl<'r> Reader<'r> {
    fn new(
        source: &'r Source,
        nearby: &'r mut dyn Nearby,
        findings: &'r mut Vec<Diagnostic>,
        charts: &'r mut BTreeSet<String>,
        inside: usize,
    ) -> Self {
        Self {
            source,
            nearby,
            findings,
            ids: BTreeSet::new(),
            data: Vec::new(),
            invokes: Vec::new(),
            charts,
            inside,
            depth: 0,
            fresh: BTreeMap::new(),
        }
    }

    /// Reads a document; `unnamed` is its default name.
    fn read(mut self, root: &Element, unnamed: String) -> Document {
        self.header(root);
        self.collect_ids(root);
        let (name, name_span) = match root.attribute("name") {
            Some(name) => (name.value.clone(), name.span),
            None => (unnamed, root.name.span),
        };
        let chart = self.chart_name(&name);
        let states = self.states(root);
        let (data, invokes, span) = (self.data, self.invokes, root.span);
        let (before, after) = (Vec::new(), Vec::new());
        Document { name, name_span, chart, span, states, data, invokes, before, after }
    }

    /// Checks the attributes of `<scxml>` that affect the whole document.
    fn header(&mut self, root: &Element) {
        if let Some(model) = root.attribute("datamodel")
            && !matches!(model.value.trim(), "ecmascript" | "null" | "")
        {
            let message = format!("the data model `{}` is not translated", model.value.trim());
            self.findings
                .push(outside_subset::at(model.span, message).help("`ecmascript` and `null` are"));
        }
        if let Some(version) = root.attribute("version")
            && version.value.trim() != "1.0"
        {
            let message = format!("version `{}` is read as `1.0`", version.value);
            self.findings.push(unknown_field::value(message, version.span));
        }
        if let Some(binding) = root.attribute("binding")
            && binding.value.trim() == "late"
        {
            let message =
                "late binding is not translated: all data have their values from the start";
            self.findings.push(outside_subset::at(binding.span, message));
        }
    }

    /// Reports a declared encoding other than UTF-8.
    fn encoding(&mut self, root: &Element) {
        let declared = self.source.text.trim_start().strip_prefix("<?xml");
        if let Some((head, _)) = declared.and_then(|rest| rest.split_once("?>"))
            && let Some(encoding) = head.split("encoding").nth(1)
        {
            let name: String = encoding
                .chars()
                .skip_while(|c| !matches!(c, '"' | '\''))
                .skip(1)
                .take_while(|c| !matches!(c, '"' | '\''))
                .collect();
            let known = ["utf-8", "utf8", "us-ascii", "ascii"];
            if !known.contains(&name.to_lowercase().as_str())
                && let Some(at) = self.source.text.find(&name)
            {
                let span = Span::new(root.span.file, at, at + name.len());
                let message = format!("the file says that it is `{name}`, and is read as UTF-8");
                self.findings.push(unknown_field::value(message, span));
            }
        }
    }

    /// Reports a part that is not translated.
    fn refuse(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(outside_subset::at(span, message));
    }

    /// Parses an expression. An invalid one is reported, and becomes one that fails at run time.
    fn expr(&mut self, text: &Text) -> Expr {
        match script::expression(text) {
            Ok(found) => found,
            Err(fault) => Expr::new(ScriptExprKind::Faulty(self.fault(fault)), text.trimmed()),
        }
    }

    /// Parses the value of an attribute as an expression.
    fn expr_of(&mut self, element: &Element, attribute: &str) -> Option<Expr> {
        element.attribute(attribute).map(|text| self.expr(text))
    }

    /// Reports a fault and returns its reason.
    fn fault(&mut self, fault: Fault) -> String {
        match fault {
            Fault::Faulty(span, why) => {
                self.findings.push(faulty_expression::at(span, why.clone()));
                why
            }
            Fault::Refused(span, why) => {
                self.refuse(span, why.clone());
                why
            }
        }
    }

    /// Reads the statements of a script, either inline or from a separate file.
    fn script(&mut self, element: &Element) -> Vec<Statement> {
        let text = match element.attribute("src") {
            None => element.text(self.source),
            Some(path) => match self.nearby.read(path.value.trim(), Link::Script) {
                Ok((file, source)) => Text::file(file, &source.text),
                Err(refused @ Unread::Refused(_)) => {
                    self.findings.push(refused.at(path.value.trim(), path.span));
                    return Vec::new();
                }
                Err(Unread::Unreadable(why)) => {
                    let message = format!("`{}` cannot be read: {why}", path.value.trim());
                    self.refuse(path.span, message);
                    return Vec::new();
                }
            },
        };
        match script::statements(&text) {
            Ok(found) => found,
            Err(fault) => {
                let why = self.fault(fault);
                vec![Statement { kind: script::StatementKind::Faulty(why), span: element.span }]
            }
        }
    }

    /// The value of a required attribute; reports a missing one.
    fn required<'e>(&mut self, element: &'e Element, name: &str) -> Option<&'e Text> {
        let found = element.attribute(name);
        if found.is_none() {
            let finding = unknown_field::missing(&element.name.node, name, element.name.span);
            self.findings.push(finding);
        }
        found
    }
}

type Comments = Vec<Spanned<String>>;

/// Elements, each with the comments before it; then the comments after the last one.
type Parts<'e> = (Vec<(&'e Element, Vec<Spanned<String>>)>, Vec<Spanned<String>>);

/// The permitted child elements of an element, with comments.
fn parts_of(element: &Element) -> Parts<'_> {
    let mut found = Vec::new();
    let mut comments = Vec::new();
    for child in &element.children {
        match child {
            Child::Comment(comment) => comments.push(comment.clone()),
            Child::Element(child) if super::fits(element, child) => {
                found.push((child, std::mem::take(&mut comments)));
            }
            Child::Element(_) | Child::Foreign(_) | Child::Text(_) => {}
        }
    }
    (found, comments)
}

/// A text without surrounding blanks, with its place.
fn ident(text: &Text) -> Ident {
    Ident::new(text.value.trim().to_owned(), text.trimmed())
}

/// Splits an attribute into names.
fn names(text: Option<&Text>) -> Vec<Ident> {
    let words = text.map(Text::words).unwrap_or_default();
    words.into_iter().map(|(word, span)| Ident::new(word.to_owned(), span)).collect()
}

// Reads states and their contents, except for executable content.

/// The maximum depth of nested states: the resulting chart is printed and parsed again, with limits of its own.
const DEEPEST_STATE: usize = 50;

impl Reader<'_> {
    /// Collects the ids of all states, so that generated ones differ. Reports duplicates.
    fn collect_ids(&mut self, root: &Element) {
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
    fn fresh(&mut self, word: &str) -> String {
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
    fn states(&mut self, root: &Element) -> Vec<ScxmlState> {
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
                if depth >= DEEPEST_STATE {
                    let message = format!("states nest more than {DEEPEST_STATE} deep");
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

// Reads executable content.

/// An element with the comments before it.
type CommentedElement<'e> = (&'e Element, Vec<Spanned<String>>);

/// The maximum depth to which executable content may nest.
const DEEPEST_CONTENT: usize = 40;

/// The maximum number of branches of an `<if>`.
const MOST_BRANCHES: usize = 60;

impl Reader<'_> {
    /// Reads a block of executable content.
    fn acts(&mut self, parts: &[CommentedElement<'_>]) -> Vec<Executable> {
        let mut found = Vec::new();
        for (element, before) in parts {
            if let Some(kind) = self.act(element) {
                found.push(Executable { kind, span: element.span, before: before.clone() });
            }
        }
        found
    }

    fn act(&mut self, element: &Element) -> Option<ActKind> {
        if self.depth >= DEEPEST_CONTENT {
            let message = format!("executable content nests more than {DEEPEST_CONTENT} deep");
            self.findings.push(ILLEGAL_STRUCTURE.at(element.name.span, message));
            return None;
        }
        self.depth += 1;
        let made = self.act_of(element);
        self.depth -= 1;
        made
    }

    fn act_of(&mut self, element: &Element) -> Option<ActKind> {
        match element.name.node.as_str() {
            "assign" => self.assign(element),
            "raise" => {
                let name = self.required(element, "event").map(ident)?;
                let event = self.event_name(&name.node, name.span)?;
                Some(ActKind::Raise(event, None))
            }
            "send" => self.send(element),
            "cancel" => self.cancel(element),
            "if" => Some(self.branches(element)),
            "foreach" => self.foreach(element),
            "log" => {
                let label = element.attribute("label").map(|text| text.value.clone());
                Some(ActKind::Log(label, self.expr_of(element, "expr")))
            }
            "script" => Some(ActKind::Script(self.script(element))),
            "elseif" | "else" => {
                let message = format!("`<{}>` is not inside an `<if>`", element.name.node);
                self.findings.push(ILLEGAL_STRUCTURE.at(element.name.span, message));
                None
            }
            _ => None,
        }
    }

    fn assign(&mut self, element: &Element) -> Option<ActKind> {
        let place = self.required(element, "location").cloned()?;
        let location = self.expr(&place);
        let value = match self.expr_of(element, "expr") {
            Some(value) => value,
            None if element.has_text() => self.written(element),
            None => Expr::new(ScriptExprKind::None, element.span),
        };
        if !is_place(&location) {
            let why = format!("`{}` cannot be assigned to", place.value.trim());
            self.findings.push(faulty_expression::at(place.trimmed(), why.clone()));
            return Some(ActKind::Faulty(why));
        }
        Some(ActKind::Assign(location, value))
    }

    fn branches(&mut self, element: &Element) -> ActKind {
        let cond = self.required(element, "cond").cloned();
        let first = cond.map(|text| self.expr(&text));
        let (parts, _) = parts_of(element);
        let mut branches: Vec<(Option<Expr>, Vec<CommentedElement<'_>>)> = vec![(
            Some(first.unwrap_or_else(|| Expr::new(ScriptExprKind::Bool(false), element.span))),
            Vec::new(),
        )];
        let mut over = false;
        for (part, before) in parts {
            let test = match part.name.node.as_str() {
                "elseif" => {
                    let cond = self.required(part, "cond").cloned();
                    cond.map(|text| Some(self.expr(&text)))
                }
                "else" => Some(None),
                _ => {
                    if let Some((_, body)) = branches.last_mut() {
                        body.push((part, before));
                    }
                    continue;
                }
            };
            if over || branches.len() > MOST_BRANCHES {
                let message = if over {
                    "nothing may follow `<else/>`".to_owned()
                } else {
                    format!("an `<if>` with more than {MOST_BRANCHES} branches")
                };
                self.findings.push(ILLEGAL_STRUCTURE.at(part.name.span, message));
                break;
            }
            let Some(test) = test else { continue };
            over = test.is_none();
            branches.push((test, Vec::new()));
        }
        let branches = branches.into_iter().map(|(test, body)| (test, self.acts(&body)));
        ActKind::If(branches.collect())
    }

    fn foreach(&mut self, element: &Element) -> Option<ActKind> {
        let array = self.required(element, "array").cloned();
        let item = self.required(element, "item").cloned();
        let array = self.expr(&array?);
        let item = ident(&item?);
        let index = element.attribute("index").map(ident);
        let (parts, _) = parts_of(element);
        let body = self.acts(&parts);
        for name in std::iter::once(&item).chain(&index) {
            if !script::is_variable(&name.node) {
                let why = format!("`{}` is no name of a variable", name.node);
                self.findings.push(faulty_expression::at(name.span, why.clone()));
                return Some(ActKind::Faulty(why));
            }
        }
        Some(ActKind::ForEach(Box::new(ForEach { array, item, index, body })))
    }

    /// The text content of an element: parsed as a literal if it is one, else the text with single blanks.
    fn written(&mut self, element: &Element) -> Expr {
        let text = element.text(self.source);
        if element.elements().next().is_some() {
            self.refuse(element.span, "XML as data is not translated");
            return Expr::new(ScriptExprKind::None, element.span);
        }
        match script::expression(&text) {
            Ok(found) if is_literal(&found) => found,
            _ => {
                let words: Vec<&str> = text.value.split_whitespace().collect();
                Expr::new(ScriptExprKind::Text(words.join(" ")), text.trimmed())
            }
        }
    }
}

/// Whether an expression is a location: a variable, or a part of one.
fn is_place(expr: &Expr) -> bool {
    if let ScriptExprKind::Member(of, _) | ScriptExprKind::Index(of, _) = &expr.kind {
        return is_place(of);
    }
    matches!(expr.kind, ScriptExprKind::Name(_))
}

/// Whether an expression is a literal, with the same value everywhere.
fn is_literal(expr: &Expr) -> bool {
    if let ScriptExprKind::Array(items) = &expr.kind {
        return items.iter().all(is_literal);
    }
    if let ScriptExprKind::Object(entries) = &expr.kind {
        return entries.iter().all(|(_, value)| is_literal(value));
    }
    matches!(
        expr.kind,
        ScriptExprKind::None
            | ScriptExprKind::Bool(_)
            | ScriptExprKind::Int(_)
            | ScriptExprKind::Float(_)
            | ScriptExprKind::Text(_)
    )
}

// Reads names of events.

/// The built-in errors, by the second word of their names.
const ERRORS: [&str; 3] = ["execution", "livelock", "limit"];

impl Reader<'_> {
    /// Reads the descriptors in `event`.
    fn descriptors(&mut self, text: &Text) -> Vec<Descriptor> {
        let mut found = Vec::new();
        for (word, span) in text.words() {
            found.extend(self.descriptor(word, span));
        }
        found
    }

    fn descriptor(&mut self, word: &str, span: Span) -> Option<Descriptor> {
        if word == "*" {
            return Some(Descriptor::All(span));
        }
        // `a.*` and `a.` mean the same as `a`, which matches by prefix.
        let stem = word.strip_suffix(".*").or_else(|| word.strip_suffix('.')).unwrap_or(word);
        let is_exact = (span.end - span.start) as usize == word.len();
        let place =
            if is_exact { Span { end: span.start + stem.len() as u32, ..span } } else { span };
        let names = self.dotted(stem, place)?;
        let words: Vec<&str> = names.iter().map(|n| n.node.as_str()).collect();
        match words.as_slice() {
            ["error"] => Some(Descriptor::Error(Spanned::new("error.*".to_owned(), span))),
            ["error", first, ..] if ERRORS.contains(first) => {
                Some(Descriptor::Error(Spanned::new(stem.to_owned(), span)))
            }
            ["error", "communication"] => Some(Descriptor::Communication(span)),
            ["error", ..] => {
                self.findings.push(left_out::never(stem, span));
                None
            }
            ["done"] => Some(Descriptor::Done(span)),
            ["done", "state"] => Some(Descriptor::DoneState(None, span)),
            ["done", "invoke"] => Some(Descriptor::DoneInvoke(None, span)),
            ["done", what @ ("state" | "invoke"), ..] => {
                let head = "done.".len() + what.len() + ".".len();
                let place = Span { start: span.start + head as u32, ..span };
                let id = Some(Ident::new(stem[head..].to_owned(), place));
                Some(if *what == "state" {
                    Descriptor::DoneState(id, span)
                } else {
                    Descriptor::DoneInvoke(id, span)
                })
            }
            _ => Some(Descriptor::Event(names, span)),
        }
    }

    /// Splits a dotted name into its parts; reports an invalid one.
    fn dotted(&mut self, word: &str, span: Span) -> Option<Vec<Ident>> {
        if word.is_empty() || word.split('.').any(|part| part.is_empty() || part == "*") {
            let message = format!("`{word}` names no event");
            self.findings.push(faulty_expression::at(span, message));
            return None;
        }
        // Character references make the text longer than its value; the parts then share the whole span.
        let exact = (span.end - span.start) as usize == word.len();
        let mut at = span.start;
        let parts = word.split('.').map(|part| {
            let end = at + part.len() as u32;
            let place = if exact { Span { start: at, end, ..span } } else { span };
            at = end + 1;
            Ident::new(part.to_owned(), place)
        });
        Some(parts.collect())
    }

    /// Reads the name of an event to raise or send.
    fn event_name(&mut self, name: &str, span: Span) -> Option<Event> {
        let names = self.dotted(name, span)?;
        Some(Event { names, span })
    }
}

// Reads an `<invoke>` of an inline document.

/// The maximum number of documents in a file.
const MOST: usize = 1000;

impl Reader<'_> {
    /// Reads and records an invocation. Returns the block that stores its id in `idlocation`.
    fn invoke(&mut self, element: &Element, before: Comments, state: usize) -> Option<Block> {
        self.refuse_kind(element);
        let content = element.elements().find(|e| e.name.node == "content");
        let Some(content) = content else {
            if element.attribute("src").or_else(|| element.attribute("srcexpr")).is_none() {
                self.refuse_with(
                    element.name.span,
                    "nothing is invoked here",
                    "write the document into a `<content>`",
                );
            }
            return None;
        };
        if let Some(expr) = content.attribute("expr") {
            self.refuse_with(
                expr.span,
                "a document that is computed is not translated: charts are checked before they run",
                "write the document into the `<content>`",
            );
            return None;
        }
        let (inner, comments) = parts_of(content);
        let Some((root, above)) = inner.into_iter().find(|(e, _)| e.name.node == "scxml") else {
            self.refuse_with(
                content.name.span,
                "there is no SCXML document in this `<content>`",
                "write `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">` into it",
            );
            return None;
        };
        if self.inside >= DEPTH {
            let message = format!("documents that invoke each other nest at most {DEPTH} deep");
            self.findings.push(outside_subset::at(root.name.span, message));
            return None;
        }
        if self.charts.len() >= MOST {
            // Inserts the empty name, which no chart has, so that this is reported once.
            if self.charts.insert(String::new()) {
                let message = format!("more than {MOST} documents in one file");
                self.findings.push(outside_subset::at(root.name.span, message));
            }
            return None;
        }
        let id = match element.attribute("id") {
            Some(text) if !text.value.trim().is_empty() => ident(text),
            _ => Ident::new(self.fresh("invoke"), element.name.span),
        };
        let given = match self.data_of(element, element.attribute("namelist"), false) {
            Some(Payload::Fields(fields, _)) => fields,
            Some(Payload::Value(_)) | None => Vec::new(),
        };
        let (source, inside) = (self.source, self.inside + 1);
        let reader = Reader::new(source, self.nearby, self.findings, self.charts, inside);
        let mut child = reader.read(root, id.node.clone());
        (child.before, child.after) = (above, comments);
        let forward = element.attribute("autoforward").filter(|t| t.value.trim() == "true");
        let forward = forward.map(|text| text.span);
        let place = self.expr_of(element, "idlocation");
        let (put, fault) = place.clone().map_or((None, None), |place| self.put_id(place, &id));
        let span = element.span;
        self.invokes.push(Invoke { state, id, child, given, forward, place, fault, span, before });
        put
    }

    /// Refuses kinds of `<invoke>` that are not translated.
    fn refuse_kind(&mut self, element: &Element) {
        if element.attribute("typeexpr").is_some() && named(element, "type").is_none() {
            let span = element.attribute("typeexpr").map_or(element.name.span, |t| t.span);
            self.refuse(span, "a type that is computed is not translated");
        }
        if let Some(kind) = named(element, "type")
            && !PROCESSORS.contains(&kind.node.as_str())
        {
            self.refuse_with(
                kind.span,
                &format!("what is invoked as `{}` is not known", kind.node),
                "SCXML documents are, with `type=\"scxml\"` and the document in `<content>`",
            );
        }
        for name in ["src", "srcexpr"] {
            if let Some(text) = element.attribute(name) {
                self.refuse_with(
                    text.span,
                    "a document of another file is not invoked: nothing is loaded but what is named when the chart is compiled",
                    "write the document into a `<content>` here",
                );
            }
        }
        if let Some(finalize) = element.elements().find(|e| e.name.node == "finalize") {
            self.refuse_with(
                finalize.name.span,
                "`<finalize>` is not translated: it would change data before it is known which transition is taken, if any",
                "write its content into the transitions that take the events of this `<invoke>`",
            );
        }
    }

    fn refuse_with(&mut self, span: Span, why: &str, help: &str) {
        self.findings.push(outside_subset::at(span, why).help(help));
    }

    /// The block that stores the id in `idlocation`, or the reason why that is impossible, which is reported.
    fn put_id(&mut self, place: Expr, id: &Ident) -> (Option<Block>, Option<Spanned<String>>) {
        let span = place.span;
        if !is_place(&place) {
            let why = "this cannot be assigned to".to_owned();
            self.findings.push(faulty_expression::at(span, why.clone()));
            return (None, Some(Spanned::new(why, span)));
        }
        let kind = ActKind::Assign(place, Expr::new(ScriptExprKind::Text(id.node.clone()), span));
        let body = vec![Executable { kind, span, before: Vec::new() }];
        (Some(Block { body, span, before: Vec::new() }), None)
    }

    /// The name of a document's chart: `traffic-light` becomes `TrafficLight`, and the next one of this name `TrafficLight2`.
    fn chart_name(&mut self, name: &str) -> String {
        let wanted = camel(name);
        let mut found = wanted.clone();
        let mut nth = 1;
        while !self.charts.insert(found.clone()) {
            nth += 1;
            found = format!("{wanted}{nth}");
        }
        found
    }
}

/// Converts `traffic-light` to `TrafficLight`.
fn camel(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut made = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        made.push_str(&first.to_ascii_uppercase());
        made.push_str(rest);
    }
    if made.starts_with(|c: char| c.is_ascii_alphabetic()) { made } else { format!("Chart{made}") }
}

// Reads `<send>`, `<cancel>`, and the data of events.

/// The permitted values of `type`: names of the SCXML event processor.
const PROCESSORS: [&str; 4] = [
    "scxml",
    "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
    "http://www.w3.org/TR/scxml",
    "http://www.w3.org/TR/scxml/",
];

impl Reader<'_> {
    fn send(&mut self, element: &Element) -> Option<ActKind> {
        for name in ["targetexpr", "typeexpr"] {
            let Some(text) = element.attribute(name) else { continue };
            let wanted = &name[..name.len() - "expr".len()];
            match literal(text) {
                Some(_) => {}
                None => self
                    .refuse(text.span, format!("a `{wanted}` that is computed is not translated")),
            }
        }
        if let Some(processor) = named(element, "type")
            && !PROCESSORS.contains(&processor.node.as_str())
        {
            self.refuse(processor.span, format!("the processor `{}` is not known", processor.node));
            return None;
        }
        let (mut internal, mut to) = (false, To::Own);
        if let Some(target) = named(element, "target") {
            let invoked = target.node.strip_prefix("#_").filter(|id| !id.starts_with("scxml_"));
            match invoked {
                Some("internal") => internal = true,
                Some("parent") => to = To::Parent(target.span),
                Some(id) if !id.is_empty() => {
                    to = To::Invoked(Ident::new(id.to_owned(), target.span));
                }
                _ => {
                    let message = format!("the target `{}` is not known", target.node);
                    self.findings.push(outside_subset::at(target.span, message).help(
                        "events go to the session itself, without `target` or to `#_internal`, to `#_parent`, \
                         and to `#_` with the id of an `<invoke>`",
                    ));
                    return None;
                }
            }
        }
        let Some(name) = self.event_of(element) else {
            if element.attribute("event").is_none() && element.attribute("eventexpr").is_none() {
                self.refuse(element.name.span, "a `<send>` without `event` is not translated");
            }
            return None;
        };
        let event = self.event_name(&name.node, name.span)?;
        let data = self.data_of(element, element.attribute("namelist"), true);
        let put = self.expr_of(element, "idlocation");
        let delay = self.delay(element);
        if internal && delay.is_none() && element.attribute("id").is_none() && put.is_none() {
            return Some(ActKind::Raise(event, data));
        }
        if internal {
            self.refuse(element.name.span, "an internal event is neither delayed nor canceled");
        }
        let mut id = element.attribute("id").map(ident);
        if let Some(place) = &put {
            if !is_place(place) {
                let why = "this cannot be assigned to".to_owned();
                self.findings.push(faulty_expression::at(place.span, why.clone()));
                return Some(ActKind::Faulty(why));
            }
            id = id.or_else(|| Some(Ident::new(self.fresh("send"), place.span)));
        }
        Some(ActKind::Send(Box::new(Send { event, data, delay, id, put, to })))
    }

    /// Reads the name of the event; reports a computed one.
    fn event_of(&mut self, element: &Element) -> Option<Ident> {
        let found = named(element, "event");
        if found.is_none()
            && let Some(text) = element.attribute("eventexpr")
        {
            self.refuse(text.span, "the name of an event that is computed is not translated");
        }
        found
    }

    fn delay(&mut self, element: &Element) -> Option<Delay> {
        if let Some(text) = element.attribute("delay") {
            return self.fixed(&text.value, text.trimmed());
        }
        let text = element.attribute("delayexpr")?;
        if let Some(value) = literal(text) {
            return self.fixed(&value, text.trimmed());
        }
        Some(Delay::Computed(self.expr(text)))
    }

    fn fixed(&mut self, written: &str, span: Span) -> Option<Delay> {
        match millis(written.trim()) {
            Some(0) => None,
            Some(millis) => Some(Delay::Fixed(millis, span)),
            None => {
                let why = format!("`{}` is no duration", written.trim());
                self.findings
                    .push(faulty_expression::at(span, why.clone()).help("write `10ms` or `1.5s`"));
                Some(Delay::Computed(Expr::new(ScriptExprKind::Faulty(why), span)))
            }
        }
    }

    fn cancel(&mut self, element: &Element) -> Option<ActKind> {
        if let Some(id) = element.attribute("sendid").map(ident) {
            return Some(ActKind::Cancel(id));
        }
        let Some(text) = element.attribute("sendidexpr") else {
            self.required(element, "sendid");
            return None;
        };
        match literal(text) {
            Some(id) => Some(ActKind::Cancel(Ident::new(id, text.trimmed()))),
            None => {
                self.refuse(text.span, "an id that is computed is not translated");
                None
            }
        }
    }

    /// Reads the data of an event: `<param>`, the variables of a `namelist`, and `<content>` if it is data.
    fn data_of(
        &mut self,
        element: &Element,
        namelist: Option<&Text>,
        content: bool,
    ) -> Option<Payload> {
        let mut fields: Vec<(Ident, Expr)> = Vec::new();
        let mut known = BTreeMap::new();
        for name in names(namelist) {
            if let Entry::Vacant(free) = known.entry(name.node.clone()) {
                free.insert(fields.len());
                let value = Expr::new(ScriptExprKind::Name(name.node.clone()), name.span);
                fields.push((name, value));
            }
        }
        for child in element.elements() {
            match child.name.node.as_str() {
                "content" if content => return Some(Payload::Value(self.content(child))),
                "param" => {
                    let Some(name) = self.required(child, "name").map(ident) else { continue };
                    let value = child.attribute("expr").or_else(|| child.attribute("location"));
                    let value = match value {
                        Some(text) => self.expr(text),
                        None => Expr::new(ScriptExprKind::None, child.span),
                    };
                    match known.entry(name.node.clone()) {
                        Entry::Vacant(free) => {
                            free.insert(fields.len());
                            fields.push((name, value));
                        }
                        // A later `<param>` of the same name replaces the value.
                        Entry::Occupied(place) => fields[*place.get()].1 = value,
                    }
                }
                _ => {}
            }
        }
        let none = fields.is_empty();
        (!none).then_some(Payload::Fields(fields, element.span))
    }

    fn content(&mut self, element: &Element) -> Expr {
        match self.expr_of(element, "expr") {
            Some(value) => value,
            None => self.written(element),
        }
    }
}

/// The value of `name`, or of `nameexpr` if that is a literal.
fn named(element: &Element, name: &str) -> Option<Ident> {
    if let Some(text) = element.attribute(name) {
        return Some(ident(text));
    }
    let text = element.attribute(&format!("{name}expr"))?;
    literal(text).map(|value| Ident::new(value, text.trimmed()))
}

/// The value of an expression, if it is a text literal.
fn literal(text: &Text) -> Option<String> {
    let found = script::expression(text).ok()?;
    if let ScriptExprKind::Text(value) = found.kind { Some(value) } else { None }
}

/// Reads a delay such as `10ms`, `1.5s`, `2m`, `1h` or `1d`, in milliseconds; `None` if it is not one.
fn millis(text: &str) -> Option<u64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let unit: f64 = match unit {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    if number.is_empty() || number.starts_with(['+', '-']) {
        return None;
    }
    let millis = (number.parse::<f64>().ok()? * unit).round();
    (0.0..9e15).contains(&millis).then_some(millis as u64)
}
