//! Reads XML elements with their places. Document types are refused, so there are no entities but XML's own, and no other file is read.

use crate::rules::SYNTAX;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Source, Span, Spanned};
use roxmltree::{Document, Error, Node, NodeType, ParsingOptions};

/// The maximum number of elements, texts and comments in a file.
const MOST_NODES: u32 = 500_000;

/// The maximum number of attributes of an element: the XML library compares each one with all others.
const MOST_ATTRIBUTES: usize = 200;

/// The maximum number of namespace declarations in a file, for the same reason.
const MOST_NAMESPACES: usize = 100;

/// The maximum depth of nested elements.
const DEEPEST: usize = 100;

/// The namespace of SCXML.
pub(super) const SCXML: &str = "http://www.w3.org/2005/07/scxml";

/// An element in the namespace of the root.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Element {
    /// The name in the opening tag, without a prefix.
    pub(super) name: Ident,
    /// The attributes in order, without those of other namespaces.
    pub(super) attributes: Vec<Attribute>,
    /// The contents, in order.
    pub(super) children: Vec<Child>,
    /// The range from its `<` to the end of its closing tag.
    pub(super) span: Span,
    /// The range of its contents; empty for `<e/>`.
    pub(super) inner: Span,
}

/// An attribute: `name="value"`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub(super) name: Ident,
    pub(super) value: Text,
}

/// A part of the contents of an element. White space is left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Child {
    Element(Element),
    /// An element of another namespace.
    Foreign(Ident),
    Comment(Spanned<String>),
    Text(Span),
}

impl Element {
    /// The value of an attribute, if the element has it.
    pub(super) fn attribute(&self, name: &str) -> Option<&Text> {
        self.attributes.iter().find(|a| a.name.node == name).map(|a| &a.value)
    }

    /// The child elements.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Foreign(_) | Child::Comment(_) | Child::Text(_) => None,
        })
    }

    /// The decoded text content.
    pub(super) fn text(&self, source: &Source) -> Text {
        let (start, end) = (self.inner.start as usize, self.inner.end as usize);
        Text::content(self.span.file, source.text.get(start..end).unwrap_or_default(), start)
    }

    /// Whether it contains text other than white space.
    pub(super) fn has_text(&self) -> bool {
        self.children.iter().any(|child| matches!(child, Child::Text(_)))
    }
}

/// The elements of a file, and its comments.
pub(super) struct Tree {
    pub(super) root: Element,
    /// The namespace of its elements; empty if they have none.
    pub(super) namespace: String,
    /// Comments before the root; below, comments after it.
    pub(super) before: Vec<Spanned<String>>,
    pub(super) after: Vec<Spanned<String>>,
    /// The places of all comments.
    pub(super) comments: Vec<Span>,
}

/// Parses a text. `None` if it is not XML or exceeds a limit, which is reported.
pub(super) fn read(id: FileId, source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Tree> {
    if let Some(finding) = too_much(id, &source.text) {
        findings.push(finding);
        return None;
    }
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(&source.text, options) {
        Ok(document) => document,
        Err(error) => {
            findings.push(fault(id, source, &error));
            return None;
        }
    };
    let root = document.root_element();
    let namespace = root.tag_name().namespace().unwrap_or_default().to_owned();
    let mut reader = Reader { id, source, namespace: &namespace, findings };
    let element = reader.element(root, 0)?;
    let comments = |before: bool| {
        let nodes = document
            .root()
            .children()
            .filter(move |n| (n.range().start < root.range().start) == before);
        nodes.filter_map(|n| comment(id, n)).collect()
    };
    let (before, after) = (comments(true), comments(false));
    let all = document.descendants().filter_map(|node| comment(id, node));
    let comments = all.map(|comment| comment.span).collect();
    Some(Tree { root: element, namespace, before, after, comments })
}

struct Reader<'r> {
    id: FileId,
    source: &'r Source,
    namespace: &'r str,
    findings: &'r mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Reads an element with its descendants. `None` if they nest too deeply, which is reported once.
    fn element(&mut self, node: Node<'_, '_>, depth: usize) -> Option<Element> {
        let span = self.span(node);
        let name = self.name(node);
        if depth >= DEEPEST {
            let message = format!("elements nest more than {DEEPEST} deep");
            self.findings.push(SYNTAX.at(name.span, message));
            return None;
        }
        let mut attributes = Vec::new();
        for attribute in node.attributes().filter(|a| a.namespace().is_none()) {
            let (place, value) = (attribute.range_qname(), attribute.range_value());
            let raw = self.source.text.get(value.clone()).unwrap_or_default();
            attributes.push(Attribute {
                name: Ident::new(
                    attribute.name().to_owned(),
                    Span::new(self.id, place.start, place.end),
                ),
                value: Text::attribute(self.id, raw, value.start),
            });
        }
        let mut children = Vec::new();
        for child in node.children() {
            match child.node_type() {
                NodeType::Element if self.is_own(child) => {
                    children.push(Child::Element(self.element(child, depth + 1)?));
                }
                NodeType::Element => children.push(Child::Foreign(self.name(child))),
                NodeType::Comment => children.extend(comment(self.id, child).map(Child::Comment)),
                NodeType::Text if !child.text().unwrap_or_default().trim().is_empty() => {
                    children.push(Child::Text(self.span(child)));
                }
                NodeType::Text | NodeType::PI | NodeType::Root => {}
            }
        }
        let inner = self.inner(span);
        Some(Element { name, attributes, children, span, inner })
    }

    fn is_own(&self, node: Node<'_, '_>) -> bool {
        node.tag_name().namespace().unwrap_or_default() == self.namespace
    }

    fn span(&self, node: Node<'_, '_>) -> Span {
        let range = node.range();
        Span::new(self.id, range.start, range.end)
    }

    /// The name of an element without its prefix. The span includes the prefix.
    fn name(&self, node: Node<'_, '_>) -> Ident {
        let start = node.range().start + 1;
        let rest = self.source.text.get(start..node.range().end).unwrap_or_default();
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).unwrap_or(rest.len());
        Ident::new(node.tag_name().name().to_owned(), Span::new(self.id, start, start + end))
    }

    /// The range between the tags of the element at `whole`.
    fn inner(&self, whole: Span) -> Span {
        let start = whole.start as usize;
        let text = self.source.text.get(start..whole.end as usize).unwrap_or_default();
        let mut quote = None;
        // A `>` in a quoted attribute does not end the tag.
        let opened = text.bytes().position(|b| match quote {
            Some(mark) => {
                if b == mark {
                    quote = None;
                }
                false
            }
            None => {
                if matches!(b, b'"' | b'\'') {
                    quote = Some(b);
                }
                b == b'>'
            }
        });
        let opened = opened.map_or(text.len(), |at| at + 1);
        let closed = if text[..opened].ends_with("/>") {
            opened
        } else {
            text.rfind("</").unwrap_or(opened)
        };
        Span::new(self.id, start + opened, start + closed.max(opened))
    }
}

fn comment(id: FileId, node: Node<'_, '_>) -> Option<Spanned<String>> {
    let range = node.range();
    (node.node_type() == NodeType::Comment).then(|| {
        Spanned::new(
            node.text().unwrap_or_default().to_owned(),
            Span::new(id, range.start, range.end),
        )
    })
}

/// Reports a text that would take the XML library more than linear time.
fn too_much(id: FileId, text: &str) -> Option<Diagnostic> {
    let mut namespaces = text.match_indices("xmlns").skip(MOST_NAMESPACES);
    if let Some((at, word)) = namespaces.next() {
        let message = format!("more than {MOST_NAMESPACES} namespaces");
        return Some(SYNTAX.at(Span::new(id, at, at + word.len()), message));
    }
    // Counts the equals signs outside of quotes since the last `<`: at least as many as the element has attributes.
    let (mut count, mut quote) = (0, None);
    for (at, b) in text.bytes().enumerate() {
        match (quote, b) {
            (None, b'<') => count = 0,
            (None, b'=') => count += 1,
            (None, b'"' | b'\'') if count > 0 => quote = Some(b),
            (None, b'>') => count = 0,
            (Some(mark), _) if b == mark || b == b'<' => quote = None,
            _ => {}
        }
        if count > MOST_ATTRIBUTES {
            let message = format!("an element with more than {MOST_ATTRIBUTES} attributes");
            return Some(SYNTAX.at(Span::new(id, at, at + 1), message));
        }
    }
    None
}

/// The finding for an error of the XML library, in plain words.
fn fault(id: FileId, source: &Source, error: &Error) -> Diagnostic {
    let at = offset(source, error.pos());
    let length =
        source.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let span = Span::new(id, at, at + length);
    let finding = |message: String| SYNTAX.at(span, message);
    match error {
        Error::DtdDetected => {
            let at = source.text.find("<!DOCTYPE").unwrap_or(0);
            let span = Span::new(id, at, (at + "<!DOCTYPE".len()).min(source.text.len()));
            SYNTAX
                .at(span, "a document type is not read")
                .help("remove it: SCXML needs none, and entities could make the file as large as they like")
        }
        Error::UnexpectedCloseTag(opened, closed, _) => {
            finding(format!("`<{opened}>` is closed by `</{closed}>`"))
        }
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
            let end = source.text.trim_end().len();
            SYNTAX.at(Span::new(id, end, end), "the file ends before its last element is closed")
        }
        Error::NoRootNode => finding("there is no element in this file".to_owned()),
        Error::DuplicatedAttribute(name, _) => finding(format!("a second attribute `{name}`")),
        Error::UnknownNamespace(prefix, _) => {
            finding(format!("the prefix `{prefix}` is not declared"))
                .help(format!("add `xmlns:{prefix}=\"…\"` to the root"))
        }
        Error::UnknownEntityReference(name, _) => finding(format!("no entity `{name}`")).help(
            "XML knows `&amp;`, `&lt;`, `&gt;`, `&quot;`, `&apos;`, and characters such as `&#65;`",
        ),
        Error::MalformedEntityReference(_) => {
            finding("a `&` that begins no reference".to_owned()).help("write `&amp;`")
        }
        Error::InvalidAttributeValue(_) => {
            finding("a `<` inside of an attribute".to_owned()).help("write `&lt;`")
        }
        Error::NodesLimitReached => SYNTAX.at(
            Span::new(id, 0, 0),
            format!("more than {MOST_NODES} elements, texts and comments"),
        ),
        other => finding(format!("no XML: {}", plain(other))),
    }
}

/// The message of the XML library, without the position.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// The byte offset of a row and a column, both from 1 and in characters, as the XML library counts.
fn offset(source: &Source, place: roxmltree::TextPos) -> usize {
    let row = (place.row as usize).saturating_sub(1);
    let mut start = 0;
    for _ in 0..row {
        match source.text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => break,
        }
    }
    let column = (place.col as usize).saturating_sub(1);
    let line = &source.text[start..];
    start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}

// Texts of XML with references decoded. Each character keeps its place in the file.

/// A decoded text, with the places of its characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// The decoded text.
    pub(super) value: String,
    /// Offsets in `value`, each with the place in the file at which its text begins. Ascending; the first offset is 0.
    places: Vec<(usize, usize)>,
    /// The whole text, as written.
    pub(super) span: Span,
}

impl Text {
    /// Decodes the value of an attribute whose first byte is at `start`. All white space becomes blanks.
    pub(super) fn attribute(file: FileId, raw: &str, start: usize) -> Self {
        let mut text = Self::empty(file, start, raw.len());
        text.decode(raw, start, true);
        text
    }

    /// Decodes the text between two tags. `CDATA` is kept literally; comments and instructions are left out.
    pub(super) fn content(file: FileId, raw: &str, start: usize) -> Self {
        let mut text = Self::empty(file, start, raw.len());
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            let next = rest.find('<').unwrap_or(rest.len());
            text.decode(&rest[..next], start + at, false);
            at += next;
            let rest = &raw[at..];
            let (opening, closing) = if rest.starts_with("<![CDATA[") {
                ("<![CDATA[", "]]>")
            } else if rest.starts_with("<!--") {
                ("<!--", "-->")
            } else if rest.starts_with("<?") {
                ("<?", "?>")
            } else {
                // An element inside of a text, which the caller has reported.
                ("", ">")
            };
            let inner = &rest[opening.len()..];
            let end = inner.find(closing).unwrap_or(inner.len());
            if opening == "<![CDATA[" {
                text.copy(&inner[..end], start + at + opening.len());
            }
            at += (opening.len() + end + closing.len()).min(rest.len());
        }
        text
    }

    /// The text of a separate file, which has no references.
    pub(super) fn file(file: FileId, raw: &str) -> Self {
        let mut text = Self::empty(file, 0, raw.len());
        text.copy(raw, 0);
        text
    }

    fn empty(file: FileId, start: usize, length: usize) -> Self {
        let span = Span::new(file, start, start + length);
        Self { value: String::new(), places: vec![(0, start)], span }
    }

    fn copy(&mut self, raw: &str, place: usize) {
        self.places.push((self.value.len(), place));
        self.value.push_str(raw);
    }

    fn decode(&mut self, raw: &str, start: usize, blanks: bool) {
        let special = |c: char| c == '&' || c == '\r' || blanks && matches!(c, '\n' | '\t');
        let mut at = 0;
        while at < raw.len() {
            let rest = &raw[at..];
            let plain = rest.find(special).unwrap_or(rest.len());
            if plain > 0 {
                self.copy(&rest[..plain], start + at);
                at += plain;
                continue;
            }
            self.places.push((self.value.len(), start + at));
            let (c, length) = match reference(rest) {
                Some(found) => found,
                None if rest.starts_with("\r\n") => (if blanks { ' ' } else { '\n' }, 2),
                None if rest.starts_with('&') => ('&', 1),
                None => (if blanks { ' ' } else { '\n' }, 1),
            };
            self.value.push(c);
            at += length;
        }
        self.places.push((self.value.len(), start + raw.len()));
    }

    /// The place in the file of the bytes `start..end` of the value.
    pub(super) fn place(&self, start: usize, end: usize) -> Span {
        Span::new(self.span.file, self.offset(start), self.offset(end).max(self.offset(start)))
    }

    fn offset(&self, at: usize) -> usize {
        let nth = self.places.partition_point(|(from, _)| *from <= at).saturating_sub(1);
        let (from, place) = self.places[nth];
        (place + at - from).min(self.span.end as usize)
    }

    /// The place of the text without surrounding white space.
    pub(super) fn trimmed(&self) -> Span {
        let start = self.value.len() - self.value.trim_start().len();
        let end = self.value.trim_end().len().max(start);
        if start == end { self.span } else { self.place(start, end) }
    }

    /// The words of the text, each with its place.
    pub(super) fn words(&self) -> Vec<(&str, Span)> {
        let mut found = Vec::new();
        let mut at = 0;
        for word in self.value.split_whitespace() {
            at += self.value[at..].find(word).unwrap_or(0);
            found.push((word, self.place(at, at + word.len())));
            at += word.len();
        }
        found
    }
}

/// The character that the reference `&…;` at the start of `raw` means, and the length of the reference in bytes.
fn reference(raw: &str) -> Option<(char, usize)> {
    // The longest reference is `&#x10FFFF;`; a `;` further behind belongs to something else.
    let end = raw.bytes().take(12).position(|b| b == b';')?;
    let name = raw.strip_prefix('&')?.get(..end.checked_sub(1)?)?;
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_behind_references_are_those_of_the_file() {
        let text = Text::attribute(FileId(0), "a &lt; b\r\n&amp;&amp; c", 10);
        assert_eq!(text.value, "a < b && c");
        assert_eq!(text.place(2, 3), Span::new(FileId(0), 12, 16));
        assert_eq!(text.place(4, 5), Span::new(FileId(0), 17, 18));
        assert_eq!(text.place(9, 10), Span::new(FileId(0), 31, 32));
    }

    #[test]
    fn sections_are_taken_as_they_stand_and_comments_left_out() {
        let text = Text::content(FileId(0), "x <!-- & --><![CDATA[< &amp;]]>&#x41;", 0);
        assert_eq!(text.value, "x < &amp;A");
        assert_eq!(text.place(2, 3), Span::new(FileId(0), 21, 22));
    }
}
