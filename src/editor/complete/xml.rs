//! Completes elements, attributes and values in SCXML documents.
//!
//! The document is usually not well-formed, so [`crate::editor::xml`] reads what there is of it, and the table of elements that the
//! front end checks with says what may follow. With the cursor at `|` in `<state id="a"><transition target="|`:
//!
//! 1. The position is the value of the attribute `target` of the element `transition`.
//! 2. The table says that this attribute contains states.
//! 3. [`Names`] lists the states of the document, those near the state `a` first.
//! 4. The word at the cursor, here nothing, is replaced by the one that the user selects.

mod names;
mod script;

use super::offer::{Offer, escaped, ranked};
use super::{Completion, CompletionKind, Insert};
use crate::editor::xml::{Element, Tree, XmlPosition, read};
use chartc_text::front::scxml::elements::{Attribute, Holds, Need, Tag, named};
use chartc_text::span::{FileId, Span};
use names::Names;
use script::ScriptPart;
use std::ops::Range;

/// The maximum number of elements around the cursor that are considered.
const NEAR: usize = 100;

/// Computes the completions at an offset of a document, the most likely first.
pub(super) fn complete(file: FileId, text: &str, offset: usize) -> Vec<Completion> {
    let tree = read(text);
    let at = XmlCursor { text, offset, prefix: prefix(text, &tree), tree: &tree };
    let (offers, replaces) = at.offers(tree.place(text, offset));
    let written = text.get(replaces.start..offset).unwrap_or_default();
    ranked(offers, written, Span::new(file, replaces.start, replaces.end))
}

/// The prefix of the document's namespace with its colon, as it stands before the names of elements.
fn prefix<'t>(text: &'t str, tree: &Tree) -> &'t str {
    let mut names = tree.elements.iter().map(|one| &text[one.name.clone()]);
    let root = names.find_map(|name| name.strip_suffix("scxml"));
    root.filter(|prefix| prefix.ends_with(':')).unwrap_or_default()
}

/// A position in a document.
struct XmlCursor<'t> {
    text: &'t str,
    offset: usize,
    prefix: &'t str,
    tree: &'t Tree,
}

type XmlOffers = (Vec<Offer>, Range<usize>);

impl XmlCursor<'_> {
    fn offers(&self, place: XmlPosition) -> XmlOffers {
        let here = self.offset..self.offset;
        match place {
            XmlPosition::Nothing => (Vec::new(), here),
            XmlPosition::Name(nth) => {
                let element = &self.tree.elements[nth];
                let is_begun = element.is_whole || !element.attributes.is_empty();
                let form = if is_begun { Form::Name } else { Form::Tag };
                let mut found = self.elements(element.parent, form);
                if !is_begun {
                    found.extend(self.closing(element.parent, "/"));
                }
                (found, element.name.clone())
            }
            XmlPosition::Closing(name) => {
                let around = self.tree.around(name.start - 2);
                (self.closing(around, ""), name)
            }
            XmlPosition::Attribute(nth, name) => (self.attributes(nth, &name), name),
            XmlPosition::Value(nth, number, value) => self.value(nth, number, value, ""),
            XmlPosition::NoValue(nth, number) => self.value(nth, number, here, "\""),
            XmlPosition::Inside(around) => self.inside(around),
        }
    }

    /// The name of an element without the prefix.
    fn name(&self, element: &Element) -> &str {
        let name = &self.text[element.name.clone()];
        name.strip_prefix(self.prefix).unwrap_or(name)
    }

    fn tag(&self, element: &Element) -> Option<&'static Tag> {
        named(self.name(element))
    }

    /// The elements that may be in `parent`, or that may begin a document.
    fn elements(&self, parent: Option<usize>, form: Form) -> Vec<Offer> {
        let inside = match parent.map(|nth| &self.tree.elements[nth]) {
            None if self.is_behind_root() => &[],
            None => &["scxml"][..],
            Some(parent) => self.tag(parent).map(|tag| tag.inside).unwrap_or_default(),
        };
        let tags = inside.iter().filter_map(|name| named(name));
        tags.enumerate()
            .map(|(nth, tag)| {
                let label = format!("{}{}", self.prefix, tag.name);
                let insert = match form {
                    Form::Name => Insert::Plain(label.clone()),
                    Form::Tag => Insert::Snippet(whole(&label, tag)),
                    Form::Bracket => Insert::Snippet(format!("<{}", whole(&label, tag))),
                };
                let offer = Offer::new(label, CompletionKind::Keyword, nth as u32).doc(tag.doc);
                Offer { insert: Some(insert), ..offer }
            })
            .collect()
    }

    fn is_behind_root(&self) -> bool {
        let before = self.tree.elements.iter().take_while(|one| one.tag.end <= self.offset);
        before.map(|one| self.name(one)).any(|name| name == "scxml")
    }

    /// The closing tags of the elements around the cursor, the innermost first.
    fn closing(&self, around: Option<usize>, slash: &str) -> Vec<Offer> {
        let Some(around) = around else { return Vec::new() };
        let open = std::iter::once(around).chain(self.tree.above(around)).take(NEAR);
        let is_whole = self.text[self.offset..].trim_start_matches(char::is_alphanumeric);
        let end = if slash.is_empty() && is_whole.starts_with('>') { "" } else { ">" };
        open.enumerate()
            .map(|(nth, open)| {
                let name = &self.text[self.tree.elements[open].name.clone()];
                let label = format!("{slash}{name}");
                let insert = Some(Insert::Plain(format!("{label}{end}")));
                let weight = if slash.is_empty() { nth as u32 } else { 100 + nth as u32 };
                let offer = Offer::new(label, CompletionKind::Keyword, weight);
                Offer { insert, ..offer.detail("the end of the element") }
            })
            .collect()
    }

    /// The attributes that an element may have and does not have yet.
    fn attributes(&self, nth: usize, here: &Range<usize>) -> Vec<Offer> {
        let element = &self.tree.elements[nth];
        let Some(tag) = self.tag(element) else { return Vec::new() };
        let own = element.attributes.iter().find(|one| one.name == *here);
        let has_value = own.is_some_and(|own| own.equals.is_some());
        let others = element.attributes.iter().filter(|one| one.name != *here);
        let others: Vec<&str> = others.map(|one| &self.text[one.name.clone()]).collect();
        let left = tag.attributes.iter().filter(|known| !others.contains(&known.name));
        left.enumerate()
            .map(|(nth, known)| {
                let offer = Offer::new(known.name, CompletionKind::Field, nth as u32);
                let detail = if known.need == Need::Required { "required" } else { "" };
                let insert = if has_value {
                    Insert::Plain(known.name.to_owned())
                } else {
                    Insert::Snippet(filled(known, 0))
                };
                Offer { insert: Some(insert), ..offer.detail(detail).doc(known.doc) }
            })
            .collect()
    }

    /// Offers values of an attribute. `quote` is put around the inserted text.
    fn value(&self, nth: usize, number: usize, value: Range<usize>, quote: &str) -> XmlOffers {
        let element = &self.tree.elements[nth];
        let name = &self.text[element.attributes[number].name.clone()];
        let known = self.tag(element).and_then(|tag| tag.attribute(name));
        let Some(known) = known else { return (Vec::new(), value) };
        let names = Names::new(self.text, self.tree, self.prefix, nth);
        let before = &self.text[value.start..self.offset];
        let is_list = !matches!(known.holds, Holds::Words(_));
        // In a list of names only the word at the cursor is replaced.
        let start = if is_list {
            value.start + before.rfind(char::is_whitespace).map_or(0, |n| n + 1)
        } else {
            value.start
        };
        let rest = &self.text[self.offset..value.end];
        let end = if is_list {
            self.offset + rest.find(char::is_whitespace).unwrap_or(rest.len())
        } else {
            value.end
        };
        let offers = match known.holds {
            Holds::Words(words) => words
                .iter()
                .enumerate()
                .map(|(nth, word)| Offer::new(*word, CompletionKind::Value, nth as u32))
                .collect(),
            Holds::States => names.targets(),
            Holds::Inside => names.below(),
            Holds::Heard => names.heard(),
            Holds::Event => names.events(),
            Holds::SendId => names.sends(),
            Holds::Receiver => names.receivers(),
            Holds::Variables => names.variables(),
            Holds::Param => names.params(),
            Holds::Expression | Holds::Location => {
                let what = if known.holds == Holds::Location {
                    ScriptPart::Place
                } else {
                    ScriptPart::Value
                };
                let (offers, replaces) =
                    script::offers(&names, what, self.text, &value, self.offset);
                return (quoted(offers, quote), replaces);
            }
            Holds::New | Holds::Text => Vec::new(),
        };
        let offers = offers.into_iter().map(|offer| {
            let insert = Some(Insert::Plain(offer.label.clone()));
            Offer { insert, ..offer }
        });
        (quoted(offers.collect(), quote), start..end)
    }

    /// Offers what may stand between tags: elements, or a script.
    fn inside(&self, around: Option<usize>) -> XmlOffers {
        let before = &self.text[..self.offset];
        let word = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        let element = around.map(|nth| &self.tree.elements[nth]);
        let name = element.map(|element| self.name(element)).unwrap_or_default();
        if let Some((nth, element)) = around.zip(element)
            && matches!(name, "script" | "data" | "assign" | "content")
        {
            let names = Names::new(self.text, self.tree, self.prefix, nth);
            let whole = element.tag.end..element.inner_end;
            return if name == "content" {
                (self.elements(around, Form::Bracket), word..self.offset)
            } else {
                script::offers(&names, ScriptPart::Value, self.text, &whole, self.offset)
            };
        }
        // Elements are offered only behind a tag, not behind text.
        let above = before[..word].trim_end();
        let fits = above.is_empty() || above.ends_with('>');
        let found = if fits { self.elements(around, Form::Bracket) } else { Vec::new() };
        (found, word..self.offset)
    }
}

/// The form in which an element is inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The name alone, because attributes follow already.
    Name,
    /// The rest of the tag behind `<`.
    Tag,
    /// The whole tag with `<`.
    Bracket,
}

/// A tag with its usual attributes as a snippet, from behind `<`.
fn whole(label: &str, tag: &Tag) -> String {
    let mut text = label.to_owned();
    let usual = tag.attributes.iter().filter(|known| known.need < Need::Rare);
    for (nth, known) in usual.enumerate() {
        text.push(' ');
        text.push_str(&filled(known, nth + 1));
    }
    if tag.is_short || tag.inside.is_empty() && tag.name != "script" {
        text.push_str("/>");
    } else {
        text.push_str(&format!(">\n  $0\n</{label}>"));
    }
    text
}

/// An attribute with a placeholder for its value, or with the value itself if there is only one.
fn filled(known: &Attribute, hole: usize) -> String {
    let name = known.name;
    match (known.holds, known.need) {
        (Holds::Words([word]), _) => format!("{name}=\"{}\"", escaped(word)),
        (Holds::Words([word, ..]), Need::Usual) => {
            format!("{name}=\"${{{hole}:{}}}\"", escaped(word))
        }
        _ => format!("{name}=\"${hole}\""),
    }
}

/// Puts quotes around the inserted texts, if the attribute has none.
fn quoted(offers: Vec<Offer>, quote: &str) -> Vec<Offer> {
    if quote.is_empty() {
        return offers;
    }
    let around = |text: &str| format!("{quote}{text}{quote}");
    let one = |offer: Offer| {
        let insert = match &offer.insert {
            Some(Insert::Plain(text)) => Insert::Plain(around(text)),
            Some(Insert::Snippet(text)) => Insert::Snippet(around(text)),
            None => Insert::Plain(around(&offer.label)),
        };
        Offer { insert: Some(insert), ..offer }
    };
    offers.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_text::front::scxml::elements::TAGS;

    #[test]
    fn elements_are_whole_when_they_are_taken() {
        for tag in TAGS {
            let text = whole(tag.name, tag);
            let tree = read(&format!("<{text}"));
            let first = &tree.elements[0];
            assert!(first.is_closed, "{text}");
            for known in tag.attributes.iter().filter(|known| known.need == Need::Required) {
                assert!(
                    first
                        .attributes
                        .iter()
                        .any(|one| text[one.name.start - 1..].starts_with(known.name)),
                    "{text}"
                );
            }
        }
    }
}
