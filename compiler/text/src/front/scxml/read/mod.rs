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

mod content;
mod event;
mod invoke;
mod send;
mod state;

use super::document::{Data, Document, Invoke};
use super::script::{self, Expr, Fault, ScriptExprKind, Statement};
use super::text::Text;
use super::xml::{Child, Element, SCXML, Tree};
use crate::diagnostic::Diagnostic;
use crate::front::{Link, Nearby, Unread};
use crate::rules::{faulty_expression, outside_subset, unknown_field};
use crate::source::Source;
use crate::span::{Ident, Span, Spanned};
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
            Child::Element(child) if super::known::fits(element, child) => {
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
