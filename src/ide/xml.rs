//! Reads the elements of an XML text that may be broken.
//!
//! While somebody types, tags and values are open most of the time, and an XML parser stops at the first of them. This reader never
//! fails: a tag without `>` ends where the next tag begins, and so does a value without its closing quote. For
//! `<state id="a"><on <final/></state>`:
//!
//! ```text
//! element 0   state   tag 0..14, closed by </state>
//! element 1   on      inside 0; not whole: its tag ends before `<final`, and no `</on>` closes it
//! element 2   final   inside 1; empty
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

/// The structure of a text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The elements in the order of the text, so that a parent precedes its children.
    pub(super) elements: Vec<Element>,
    /// Comments, instructions, sections and closing tags. They contain no elements.
    pub(super) others: Vec<(Range<usize>, Other)>,
}

/// The kind of markup that begins no element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Comment,
    /// `<![CDATA[…]]>`.
    Section,
    /// `<?…?>`, `<!…>`.
    Instruction,
    /// `</name>`.
    Closing,
}

/// An element of the text.
#[derive(Debug)]
pub(super) struct Element {
    /// The name; empty after a `<` without one.
    pub(super) name: Range<usize>,
    pub(super) attributes: Vec<Attribute>,
    /// The index of the element around it.
    pub(super) parent: Option<usize>,
    /// The opening tag.
    pub(super) tag: Range<usize>,
    /// Whether the opening tag has its `>`.
    pub(super) is_whole: bool,
    /// Whether the element consists of its opening tag, as in `<e/>`.
    pub(super) is_empty: bool,
    /// The start of the closing tag, or the end of the element if it has none.
    pub(super) inner_end: usize,
    /// The end of the element.
    pub(super) end: usize,
    /// Whether it has a closing tag, or is empty.
    pub(super) is_closed: bool,
}

/// An attribute, such as `name="value"`.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: Range<usize>,
    /// The offset of the `=`.
    pub(super) equals: Option<usize>,
    /// The value between the quotes.
    pub(super) value: Option<Range<usize>>,
}

/// The position of an offset in the structure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum XmlPosition {
    /// The name in the opening tag of this element.
    Name(usize),
    /// The name in a closing tag.
    Closing(Range<usize>),
    /// The name of an attribute of this element, or a place where one may begin.
    Attribute(usize, Range<usize>),
    /// The value of an attribute: the indices of the element and the attribute, and the span.
    Value(usize, usize, Range<usize>),
    /// The place behind the `=` of an attribute that has no value: the indices of the element and the attribute.
    NoValue(usize, usize),
    /// The contents of this element, or of the document.
    Inside(Option<usize>),
    /// A place where nothing can be completed.
    Nothing,
}

/// Reads a text.
pub(super) fn read(text: &str) -> Tree {
    let mut reader = Reader { text, at: 0 };
    let mut tree = Tree::default();
    let mut open: Vec<usize> = Vec::new();
    // The number of open elements of each name: a closing tag that matches none must not close all of them.
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    while let Some(start) = text[reader.at..].find('<').map(|n| reader.at + n) {
        reader.at = start;
        let rest = &text[start..];
        if rest.starts_with("</") {
            reader.at += 2;
            let name = reader.name();
            reader.until_end_of_tag();
            tree.others.push((start..reader.at, Other::Closing));
            let is_open = names.get(&text[name.clone()]).is_some_and(|count| *count > 0);
            while let Some(nth) = open.pop_if(|_| is_open) {
                let element = &mut tree.elements[nth];
                let own = &text[element.name.clone()];
                names.entry(own).and_modify(|count| *count -= 1);
                // An element that is still open inside the closed one ends where the closing tag begins.
                element.inner_end = start;
                let is_it = own == &text[name.clone()];
                element.end = if is_it { reader.at } else { start };
                element.is_closed = is_it;
                if is_it {
                    break;
                }
            }
        } else if let Some((other, close)) = opaque(rest) {
            let end = rest.find(close).map_or(text.len(), |n| start + n + close.len());
            reader.at = end;
            tree.others.push((start..end, other));
        } else {
            reader.at += 1;
            let element = reader.element(start, open.last().copied());
            let name = element.name.clone();
            if !element.is_empty && !name.is_empty() {
                *names.entry(&text[name]).or_default() += 1;
                open.push(tree.elements.len());
            }
            tree.elements.push(element);
        }
    }
    for nth in open {
        tree.elements[nth].inner_end = text.len();
        tree.elements[nth].end = text.len();
    }
    tree
}

/// The markup that starts here and contains no elements, with the text that ends it.
fn opaque(rest: &str) -> Option<(Other, &'static str)> {
    [
        ("<!--", Other::Comment, "-->"),
        ("<![CDATA[", Other::Section, "]]>"),
        ("<?", Other::Instruction, "?>"),
        ("<!", Other::Instruction, ">"),
    ]
    .into_iter()
    .find_map(|(begin, other, end)| rest.starts_with(begin).then_some((other, end)))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips the characters that satisfy `is`, and returns their span.
    fn over(&mut self, is: impl Fn(char) -> bool) -> Range<usize> {
        let rest = &self.text[self.at..];
        let start = self.at;
        self.at += rest.find(|c| !is(c)).unwrap_or(rest.len());
        start..self.at
    }

    fn name(&mut self) -> Range<usize> {
        self.over(is_name)
    }

    fn until_end_of_tag(&mut self) {
        self.over(|c| !matches!(c, '<' | '>'));
        if self.next() == Some('>') {
            self.at += 1;
        }
    }

    fn element(&mut self, start: usize, parent: Option<usize>) -> Element {
        let name = self.name();
        let mut attributes = Vec::new();
        let (mut is_whole, mut is_empty) = (false, false);
        loop {
            self.over(char::is_whitespace);
            match self.next() {
                None | Some('<') => break,
                Some('>') => {
                    self.at += 1;
                    is_whole = true;
                    break;
                }
                Some('/') => {
                    self.at += 1;
                    is_empty = self.next() == Some('>');
                }
                Some(c) if is_name(c) => attributes.push(self.attribute()),
                Some(c) => self.at += c.len_utf8(),
            }
        }
        let (tag, end) = (start..self.at, self.at);
        let is_closed = is_empty;
        Element {
            name,
            attributes,
            parent,
            tag,
            is_whole,
            is_empty,
            inner_end: end,
            end,
            is_closed,
        }
    }

    fn attribute(&mut self) -> Attribute {
        let name = self.name();
        let behind = self.at;
        self.over(char::is_whitespace);
        if self.next() != Some('=') {
            self.at = behind;
            return Attribute { name, equals: None, value: None };
        }
        let equals = Some(self.at);
        self.at += 1;
        let behind = self.at;
        self.over(char::is_whitespace);
        let Some(quote @ ('"' | '\'')) = self.next() else {
            self.at = behind;
            return Attribute { name, equals, value: None };
        };
        self.at += 1;
        let value = self.over(|c| c != quote && c != '<');
        if self.next() == Some(quote) {
            self.at += 1;
        }
        Attribute { name, equals, value: Some(value) }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

impl Tree {
    /// The position of an offset in the structure.
    pub(super) fn place(&self, text: &str, offset: usize) -> XmlPosition {
        let inside = |span: &Range<usize>| span.start < offset && offset < span.end;
        if let Some((span, other)) = self.others.iter().find(|(span, _)| inside(span)) {
            let name = span.start + 2;
            return match other {
                Other::Closing if offset >= name => {
                    let rest = &text[name..span.end];
                    let end = name + rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                    if offset <= end {
                        XmlPosition::Closing(name..end)
                    } else {
                        XmlPosition::Nothing
                    }
                }
                Other::Section => XmlPosition::Inside(self.around(offset)),
                Other::Closing | Other::Comment | Other::Instruction => XmlPosition::Nothing,
            };
        }
        // A closing tag without `>` ends with the text.
        if let Some((span, Other::Closing)) = self.others.iter().find(|(s, _)| s.end == offset)
            && !text[span.clone()].ends_with('>')
        {
            return XmlPosition::Closing(span.start + 2..span.end);
        }
        let in_tag = |element: &Element| {
            let tag = &element.tag;
            inside(tag) || !element.is_whole && tag.start < offset && offset == tag.end
        };
        match self.elements.iter().position(in_tag) {
            Some(nth) => self.in_tag(text, nth, offset),
            None => XmlPosition::Inside(self.around(offset)),
        }
    }

    fn in_tag(&self, text: &str, nth: usize, offset: usize) -> XmlPosition {
        let element = &self.elements[nth];
        if offset <= element.name.end {
            return XmlPosition::Name(nth);
        }
        for (number, attribute) in element.attributes.iter().enumerate() {
            let touches = |span: &Range<usize>| span.start <= offset && offset <= span.end;
            if touches(&attribute.name) {
                return XmlPosition::Attribute(nth, attribute.name.clone());
            }
            match (&attribute.value, attribute.equals) {
                (Some(value), _) if touches(value) => {
                    return XmlPosition::Value(nth, number, value.clone());
                }
                (None, Some(equals)) if equals + 1 == offset => {
                    return XmlPosition::NoValue(nth, number);
                }
                (Some(_) | None, _) => {}
            }
        }
        let is_apart = text[..offset].ends_with(char::is_whitespace);
        if is_apart { XmlPosition::Attribute(nth, offset..offset) } else { XmlPosition::Nothing }
    }

    /// The innermost element whose contents contain the offset.
    pub(super) fn around(&self, offset: usize) -> Option<usize> {
        let holds = |one: &Element| {
            !one.is_empty
                && one.tag.end <= offset
                && offset <= one.inner_end
                && !one.name.is_empty()
        };
        self.elements.iter().rposition(holds)
    }

    /// The ancestors of an element, the nearest first.
    pub(super) fn above(&self, nth: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.elements[nth].parent, |above| self.elements[*above].parent)
    }
}

impl Element {
    /// The value of the attribute of this name.
    pub(super) fn value<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        let found = self.attributes.iter().find(|one| text[one.name.clone()] == *name)?;
        found.value.clone().map(|value| &text[value])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&str, Option<usize>)> {
        let all = read(text).elements.into_iter();
        all.map(|one| (&text[one.name], one.parent)).collect()
    }

    #[test]
    fn elements_that_are_not_closed_end_with_those_around_them() {
        assert_eq!(
            names("<a><b x='1' <c/><d></a><e>"),
            [("a", None), ("b", Some(0)), ("c", Some(1)), ("d", Some(1)), ("e", None)]
        );
        assert_eq!(names("<a><!-- <b> --><![CDATA[<c>]]><d/>"), [("a", None), ("d", Some(0))]);
        assert_eq!(names("<a></b></a><c/>"), [("a", None), ("c", None)]);
    }

    #[test]
    fn places_of_broken_tags() {
        let place = |marked: &str| {
            let at = marked.find('|').expect("a place");
            let text = marked.replace('|', "");
            read(&text).place(&text, at)
        };
        assert_eq!(place("<a><|"), XmlPosition::Name(1));
        assert_eq!(place("<a><b|\n<c/></a>"), XmlPosition::Name(1));
        assert_eq!(place("<a><b |<c/></a>"), XmlPosition::Attribute(1, 6..6));
        assert_eq!(place("<a><b x=\"|<c/></a>"), XmlPosition::Value(1, 0, 9..9));
        assert_eq!(place("<a><b x=|/></a>"), XmlPosition::NoValue(1, 0));
        assert_eq!(place("<a><b/></|"), XmlPosition::Closing(9..9));
        assert_eq!(place("<a><b/></a|>"), XmlPosition::Closing(9..10));
        assert_eq!(place("<a>|</a>"), XmlPosition::Inside(Some(0)));
        assert_eq!(place("<a>x</a>|"), XmlPosition::Inside(None));
        assert_eq!(place("<a><!-- | --></a>"), XmlPosition::Nothing);
        assert_eq!(place("<a x='1'|>"), XmlPosition::Nothing);
    }
}
