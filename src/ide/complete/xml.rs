//! Completes elements, attributes and values in SCXML documents.
//!
//! The document is usually not well-formed, so [`super::super::xml`] reads what there is of it, and the table of elements that the
//! front end checks with says what may follow. With the cursor at `|` in `<state id="a"><transition target="|`:
//!
//! 1. The position is the value of the attribute `target` of the element `transition`.
//! 2. The table says that this attribute contains states.
//! 3. [`Names`] lists the states of the document, those near the state `a` first.
//! 4. The word at the cursor, here nothing, is replaced by the one that the user selects.

use super::{Completion, CompletionKind, Insert, Offer, escaped, ranked};
use crate::ide::xml::{Element, Tree, XmlPosition, read};
use chartc_compiler::front::scxml::elements::{Attribute, Holds, Need, Tag, named};
use chartc_compiler::syntax::source::{FileId, Span};
use std::collections::BTreeSet;
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
                let (offers, replaces) = self::offers(&names, what, self.text, &value, self.offset);
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
                offers(&names, ScriptPart::Value, self.text, &whole, self.offset)
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

// The names of an SCXML document: states, events, variables, ids.

/// The names that are visible to an element: those of its document.
struct Names<'t> {
    text: &'t str,
    tree: &'t Tree,
    prefix: &'t str,
    /// The index of the element.
    nth: usize,
    /// The elements of its document, without those of documents nested in it.
    own: Vec<usize>,
}

impl<'t> Names<'t> {
    fn new(text: &'t str, tree: &'t Tree, prefix: &'t str, nth: usize) -> Self {
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
        let around: Vec<usize> = around.take(NEAR).collect();
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
    fn targets(&self) -> Vec<Offer> {
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
    fn below(&self) -> Vec<Offer> {
        self.state_offers(self.nth, |nth| self.is_below(nth, self.nth))
    }

    /// Offers all states, for `In('…')`.
    fn active(&self) -> Vec<Offer> {
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
    fn events(&self) -> Vec<Offer> {
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
    fn heard(&self) -> Vec<Offer> {
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
    fn sends(&self) -> Vec<Offer> {
        let offer = |id: &'t str| Offer::new(id, CompletionKind::Value, 0);
        self.values(&self.own, &["send"], "id").into_iter().map(offer).collect()
    }

    /// Offers receivers of an event.
    fn receivers(&self) -> Vec<Offer> {
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
    fn variables(&self) -> Vec<Offer> {
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
    fn params(&self) -> Vec<Offer> {
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
    fn data_fields(&self, weight: u32) -> Vec<Offer> {
        let mut names: BTreeSet<&str> =
            self.values(&self.own, &["param"], "name").into_iter().collect();
        names.extend(self.values(&self.own, &["send"], "namelist"));
        let offer = |name| Offer::new(name, CompletionKind::Field, weight);
        names.into_iter().map(offer).collect()
    }
}

// Completes expressions and scripts in SCXML documents.

/// The functions, with their snippets and meanings.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("Math.abs", "Math.abs($1)", "without its sign"),
    ("Math.min", "Math.min($1, $2)", "the least"),
    ("Math.max", "Math.max($1, $2)", "the greatest"),
    ("Math.floor", "Math.floor($1)", "the whole number below"),
    ("Math.ceil", "Math.ceil($1)", "the whole number above"),
    ("Math.round", "Math.round($1)", "the nearest whole number"),
    ("Math.trunc", "Math.trunc($1)", "without what is behind the point"),
    ("Math.pow", "Math.pow($1, $2)", "a power"),
    ("Math.sqrt", "Math.sqrt($1)", "the square root"),
    ("Math.PI", "Math.PI", "3.14159…"),
    ("Math.E", "Math.E", "2.71828…"),
    ("String", "String($1)", "as a text"),
    ("Number", "Number($1)", "as a number"),
    ("parseFloat", "parseFloat($1)", "as a number"),
    ("Boolean", "Boolean($1)", "whether it counts as true"),
    ("JSON.stringify", "JSON.stringify($1)", "as JSON"),
    ("Array.isArray", "Array.isArray($1)", "whether it is a list"),
    ("typeof", "typeof ", "its type as a text"),
];

/// The names that the platform defines, with their meanings.
const SYSTEM: &[(&str, &str)] = &[
    ("_event.data", "the data of the event"),
    ("_event.name", "the name of the event"),
    ("_name", "the name of the document"),
    ("_sessionid", "the name of the document"),
    ("true", ""),
    ("false", ""),
    ("null", ""),
    ("undefined", "the same as `null`"),
];

/// The part of a script that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptPart {
    Value,
    /// The left side of an assignment.
    Place,
}

/// Offers what fits at an offset of an expression or a script, and the range to replace.
fn offers(
    names: &Names<'_>,
    what: ScriptPart,
    text: &str,
    whole: &Range<usize>,
    offset: usize,
) -> (Vec<Offer>, Range<usize>) {
    let before = &text[whole.start..offset];
    let behind = &text[offset..whole.end];
    if let Some(open) = string(before) {
        let inside = whole.start + open + 1;
        let quote = before[open..].chars().next().unwrap_or('\'');
        let end = behind.find([quote, '\n']).unwrap_or(0);
        let is_in = before[..open].trim_end().strip_suffix('(').is_some_and(|call| {
            call.trim_end().strip_suffix("In").is_some_and(|rest| !rest.ends_with(is_name))
        });
        let found = if is_in { names.active() } else { Vec::new() };
        return (plain(found), inside..offset + end);
    }
    let word = offset - (before.len() - before.trim_end_matches(is_name).len());
    let end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    let chain = text[whole.start..word].trim_end_matches(|c| is_name(c) || c == '.');
    let chain = &text[whole.start + chain.len()..word];
    let found = match chain.trim_end_matches('.') {
        _ if chain.is_empty() && what == ScriptPart::Place => plain(names.variables()),
        _ if chain.is_empty() => begin(names),
        "_event" => members("_event."),
        "_event.data" => plain(names.data_fields(0)),
        owner @ ("Math" | "JSON" | "Array") => members(&format!("{owner}.")),
        _ => {
            let mut found = vec![Offer::new("length", CompletionKind::Field, 1)];
            found.extend(plain(names.data_fields(0)));
            found
        }
    };
    (found, word..end)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The offset of the quote of a string that is still open at the end.
fn string(before: &str) -> Option<usize> {
    let mut open: Option<(usize, char)> = None;
    let mut escaped = false;
    for (at, c) in before.char_indices() {
        match open {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            // Strings end with their line.
            Some((_, quote)) if c == quote || c == '\n' => open = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => open = Some((at, c)),
            None => {}
        }
    }
    open.map(|(at, _)| at)
}

/// Offers what an expression may begin with.
fn begin(names: &Names<'_>) -> Vec<Offer> {
    let mut found = plain(names.variables());
    found.push(
        Offer::new("In", CompletionKind::Function, 3)
            .detail("whether a state is active")
            .snippet("In('$1')".to_owned()),
    );
    found.push(Offer::new("_event", CompletionKind::Variable, 4).detail("the event"));
    for (name, detail) in SYSTEM {
        found.push(Offer::new(*name, CompletionKind::Variable, 5).detail(*detail));
    }
    for owner in ["Math", "JSON", "Array"] {
        found.push(Offer::new(owner, CompletionKind::Type, 7));
    }
    for (name, insert, detail) in FUNCTIONS {
        let offer = Offer::new(*name, CompletionKind::Function, 8).detail(*detail);
        found.push(offer.snippet((*insert).to_owned()));
    }
    plain(found)
}

/// Offers the members of an object that the language defines. `owner` ends in a dot.
fn members(owner: &str) -> Vec<Offer> {
    let system = SYSTEM.iter().filter_map(|(name, detail)| {
        let name = name.strip_prefix(owner)?;
        Some(Offer::new(name, CompletionKind::Field, 0).detail(*detail))
    });
    let functions = FUNCTIONS.iter().filter_map(|(name, insert, detail)| {
        let offer = Offer::new(name.strip_prefix(owner)?, CompletionKind::Function, 0);
        Some(offer.detail(*detail).snippet(insert.strip_prefix(owner)?.to_owned()))
    });
    plain(system.chain(functions).collect())
}

/// Makes offers insert their labels as they are: names of documents need no back-quotes.
fn plain(offers: Vec<Offer>) -> Vec<Offer> {
    let one = |offer: Offer| {
        let insert = offer.insert.clone();
        let label = Insert::Plain(offer.label.clone());
        Offer { insert: Some(insert.unwrap_or(label)), ..offer }
    };
    offers.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_compiler::front::scxml::elements::TAGS;

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
