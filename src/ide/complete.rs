//! Computes completions: what can be written at a position.
//!
//! The text at the cursor is usually broken, so its syntax tree says little. Three sources replace it: the grammar itself says which
//! keywords it accepts there (`chartc_compiler::front::chart::completion_context`), the tokens before the cursor say which kind of name is meant
//! ([`cursor::role`]), and the trees of all files, as far as they are sound, say which names exist ([`VisibleNames`]). For `on tick -> do|`:
//!
//! 1. [`cursor`] finds the word `do` with the prefix `do`, and the tokens before it.
//! 2. The grammar accepts a name, and no keyword.
//! 3. The token before it is `->`, so the role is `State`.
//! 4. [`gather::gather`] offers the states of the chart, those near the cursor with less weight.
//! 5. [`complete`] keeps those that match `do`, such as `done`, and sorts them.
//!
//! SCXML documents have a reader of their own for broken text ([`xml`]).

mod cursor;
mod gather;
mod xml;

use super::known::{self, Decl};
use super::notation::{self, Notation};
use super::outline::{SymbolKind, rank};
use crate::Compilation;
use chartc_compiler::front::Link;
use chartc_compiler::front::chart::completion_context::{BodyKind, Next, Open};
use chartc_compiler::front::chart::scan::{Token, TokenKind, tokens};
use chartc_compiler::front::load::Loader;
use chartc_compiler::rules::RULES;
use chartc_compiler::syntax::source::{FileId, Span};
use chartc_compiler::syntax::{TypeExpr, is_lower_snake, is_reserved, is_upper_camel};
use cursor::{Cursor, Region, bare};
use std::collections::BTreeSet;

/// An item that can be written at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The text that is shown, and that what the user types is compared with.
    pub label: String,
    /// The kind of the item.
    pub kind: CompletionKind,
    /// A type, parameters, or the origin; may be empty.
    pub detail: String,
    /// Documentation as Markdown; may be empty.
    pub documentation: String,
    /// The text to insert.
    pub insert: Insert,
    /// The span to replace: the word at the position.
    pub replaces: Span,
    /// The rank, from 0: the most likely item comes first.
    pub sort: u32,
}

/// The text that a completion inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insert {
    /// Plain text.
    Plain(String),
    /// A snippet with placeholders such as `${1:name}`, in the syntax of the Language Server Protocol. Dollar signs, backslashes and
    /// closing braces of the text are escaped.
    Snippet(String),
}

/// The kind of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum CompletionKind {
    Keyword,
    Snippet,
    State,
    Event,
    Variable,
    Parameter,
    Field,
    Type,
    Enum,
    EnumMember,
    Function,
    Tool,
    Step,
    Option,
    Client,
    Chart,
    /// A rule that a comment allows.
    Rule,
    File,
    /// The format of a placeholder.
    Format,
    /// A word that is the value of a setting, or a property.
    Value,
}

/// Whether an offset of a `.chart` text is inside a placeholder, where a brace begins an expression.
pub fn in_placeholder(text: &str, offset: usize) -> bool {
    text.is_char_boundary(offset)
        && matches!(Cursor::at(text, offset).region, Region::Placeholder { .. })
}

/// Computes the completions at an offset of a file, the most likely first. `loader` lists the files that can be imported. Only charts and
/// SCXML documents have completions; unknown files and offsets past the end have none.
pub fn complete(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
    loader: Option<&dyn Loader>,
) -> Vec<Completion> {
    if compilation.files.get(file.0 as usize).is_none() {
        return Vec::new();
    }
    let source = compilation.sources.get(file);
    if !source.text.is_char_boundary(offset) {
        return Vec::new();
    }
    match notation::notation(source) {
        Notation::Chart => {}
        Notation::Yaml => return Vec::new(),
        Notation::Xml => return xml::complete(file, &source.text, offset),
    }
    let text = source.text.as_str();
    let cursor = Cursor::at(text, offset);
    let found = match cursor.region {
        Region::Nothing => return Vec::new(),
        Region::Comment => offer_rules(&cursor),
        Region::Import => offer_imports(&cursor, &source.name, loader),
        Region::Code | Region::Placeholder { .. } => {
            gather::gather(compilation, file, &cursor).unwrap_or_default()
        }
    };
    let replaces = Span::new(file, cursor.start, cursor.end);
    ranked(found, &cursor.prefix, replaces)
}

// Offers, and how they are ranked.

/// An item that may be offered.
#[derive(Debug, Clone)]
struct Offer {
    label: String,
    kind: CompletionKind,
    detail: String,
    documentation: String,
    /// The text to insert, if it is not the label.
    insert: Option<Insert>,
    /// The rank before matching: the most likely item has the least weight.
    weight: u32,
}

impl Offer {
    fn new(label: impl Into<String>, kind: CompletionKind, weight: u32) -> Self {
        Self {
            label: label.into(),
            kind,
            detail: String::new(),
            documentation: String::new(),
            insert: None,
            weight,
        }
    }

    #[must_use]
    fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    #[must_use]
    fn doc(self, doc: impl Into<String>) -> Self {
        Self { documentation: doc.into(), ..self }
    }

    #[must_use]
    fn snippet(self, snippet: String) -> Self {
        Self { insert: Some(Insert::Snippet(snippet)), ..self }
    }
}

/// Selects the offers that match `prefix`, sorts the most likely first, and drops repeated labels.
fn ranked(offers: Vec<Offer>, prefix: &str, replaces: Span) -> Vec<Completion> {
    let wanted = prefix.to_lowercase();
    let mut found: Vec<(u8, Offer)> = offers
        .into_iter()
        .filter_map(|offer| {
            // A dotted name is also found by its last part.
            let last = offer.label.rsplit('.').next().unwrap_or_default();
            let fit = [rank(&offer.label, &wanted), rank(last, &wanted).map(|r| r.max(1))];
            // Equal labels count as those that begin with the prefix, so that the weight decides between them.
            Some((fit.into_iter().flatten().min()?.max(1), offer))
        })
        .collect();
    found.sort_by(|(a, x), (b, y)| (a, x.weight).cmp(&(b, y.weight)));
    let mut seen = BTreeSet::new();
    found.retain(|(_, offer)| seen.insert((offer.label.clone(), is_word(offer.kind))));
    found
        .into_iter()
        .enumerate()
        .map(|(nth, (_, offer))| Completion {
            insert: offer.insert.clone().unwrap_or_else(|| Insert::Plain(quoted(&offer))),
            label: offer.label,
            kind: offer.kind,
            detail: offer.detail,
            documentation: offer.documentation,
            replaces,
            sort: nth as u32,
        })
        .collect()
}

/// Whether the kind is not a snippet. A name and a snippet with the same label are both shown.
fn is_word(kind: CompletionKind) -> bool {
    kind != CompletionKind::Snippet
}

/// The label as it is written in a chart: a name that is not an identifier is put in back-quotes.
fn quoted(offer: &Offer) -> String {
    match offer.kind {
        CompletionKind::Keyword
        | CompletionKind::Snippet
        | CompletionKind::Rule
        | CompletionKind::File
        | CompletionKind::Format
        | CompletionKind::Value => offer.label.clone(),
        _ => written_as(&offer.label),
    }
}

/// A dotted name, with back-quotes where they are needed.
fn written_as(name: &str) -> String {
    let is_bare = |part: &str| {
        let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let starts = part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (is_lower_snake(part) || is_upper_camel(part) || plain && starts) && !is_reserved(part)
    };
    if name.split('.').all(is_bare) {
        return name.to_owned();
    }
    let part = |part: &str| {
        if is_bare(part) { part.to_owned() } else { format!("`{}`", part.replace('`', "\\`")) }
    };
    // A name in back-quotes may have blanks and dots of its own.
    if name.contains(' ') {
        format!("`{name}`")
    } else {
        name.split('.').map(part).collect::<Vec<_>>().join(".")
    }
}

/// A call as a snippet, with placeholders for its arguments.
fn call(name: &str, arguments: &[&str]) -> String {
    let holes: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(nth, name)| format!("${{{}:{}}}", nth + 1, escaped(name)))
        .collect();
    format!("{}({})", escaped(&written_as(name)), holes.join(", "))
}

/// Escapes text in a snippet.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

// Completes the paths of imports.

/// Offers the files that can be imported, and folders.
fn offer_imports(cursor: &Cursor<'_>, name: &str, loader: Option<&dyn Loader>) -> Vec<Offer> {
    let Some(loader) = loader else { return Vec::new() };
    let quote = cursor.text[..cursor.start].rfind('"').map_or(cursor.start, |at| at + 1);
    let typed = &cursor.text[quote..cursor.start];
    let folder = loader.resolve(name, if typed.is_empty() { "." } else { typed });
    let own = name.rsplit('/').next().unwrap_or(name);
    let mut found = Vec::new();
    for entry in loader.list(folder.trim_end_matches('/')).unwrap_or_default() {
        if Link::Import.takes(&entry) {
            // A file cannot import itself.
            if !(typed.is_empty() && entry == own) {
                found.push(Offer::new(entry, CompletionKind::File, 0));
            }
        // The loader does not say which entries are folders: names without a dot are taken for them.
        } else if !entry.contains('.') {
            found.push(Offer::new(format!("{entry}/"), CompletionKind::File, 1));
        }
    }
    found
}

// Completes rules in comments that allow findings.

/// The start of such a comment.
const ALLOW: &str = "chartc: allow(";

/// Offers the rules between the brackets of `// chartc: allow(…)`, or the comment itself behind `//`.
fn offer_rules(cursor: &Cursor<'_>) -> Vec<Offer> {
    let line = cursor.text[..cursor.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &cursor.text[line..cursor.start];
    let Some(open) = before.find(ALLOW) else {
        let begins = before.trim_end().ends_with("//");
        let offer = Offer::new("chartc: allow(…)", CompletionKind::Snippet, 0)
            .detail("allow a finding on this or the next line")
            .snippet("chartc: allow(${1:C0301}) ${2:reason}".to_owned());
        return if begins { vec![offer] } else { Vec::new() };
    };
    if before[open..].contains(')') {
        return Vec::new();
    }
    let rule = |(nth, rule): (usize, &&chartc_compiler::syntax::diagnostic::Rule)| {
        let code = Offer {
            insert: Some(Insert::Plain(rule.code.to_owned())),
            ..Offer::new(rule.code, CompletionKind::Rule, nth as u32).detail(rule.name)
        };
        let name = Offer::new(rule.name, CompletionKind::Rule, 1000 + nth as u32).detail(rule.code);
        [code, name]
    };
    RULES.iter().enumerate().flat_map(rule).collect()
}

// Finds the names that lines, steps and loops around the cursor bind.

/// A bound name, with its type if it is known.
type BoundName<'c> = (String, Option<&'c TypeExpr>);

/// The names bound at the cursor, the nearest first. `item` is the offset of the item that the cursor is in.
fn bound<'c>(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'c>,
    open: &[Open],
    item: usize,
) -> Vec<BoundName<'c>> {
    let text = cursor.text;
    let mut found = Vec::new();
    let heads = open.iter().filter(|body| {
        !matches!(body.place, BodyKind::Chart | BodyKind::State | BodyKind::Test | BodyKind::Top)
    });
    let mut parts: Vec<(usize, usize)> = heads.map(|body| (body.start, body.brace)).collect();
    // A loop binds its name for what follows. A comprehension binds it also for what precedes: `[x.a for x in list]`.
    let line = text[cursor.end..].find('\n').map_or(text.len(), |at| cursor.end + at);
    parts.push((item.min(cursor.from), cursor.from));
    for (start, end) in parts {
        let part = text.get(start..end).unwrap_or_default();
        of_part(part, scope, &mut found);
    }
    let rest = &text[cursor.end..line];
    let after = tokens(rest);
    found.extend(pairs(&after, rest, "for", "in").map(|name| (name, None)));
    // An inner binding hides an outer one of the same name.
    found.reverse();
    found
}

fn of_part<'c>(part: &str, scope: &VisibleNames<'c>, found: &mut Vec<BoundName<'c>>) {
    let all = tokens(part);
    found.extend(pairs(&all, part, "for", "in").map(|name| (name, None)));
    for name in pairs(&all, part, "each", "in") {
        found.push((name, None));
    }
    for (nth, token) in all.iter().enumerate() {
        let next = |by: usize| all.get(nth + by).map_or("", |one| one.text(part));
        match token.text(part) {
            "as" => found.push((bare(next(1)).to_owned(), None)),
            "on" => of_event(&all[nth + 1..], part, scope, found),
            "may" if next(2) == "(" => {
                let option = bare(next(1));
                let known = scope.of_kind(&[SymbolKind::Option]).find(|decl| decl.name == option);
                let params = known.iter().flat_map(|decl| decl.params);
                found.extend(params.map(|param| (param.name.node.clone(), Some(&param.ty))));
                found.extend(written_name(&all[nth + 3..], part).map(|name| (name, None)));
            }
            _ => {}
        }
    }
}

/// Adds the names that `e(a, b)` binds, with the types of the event's data.
fn of_event<'c>(
    after: &[Token],
    part: &str,
    scope: &VisibleNames<'c>,
    found: &mut Vec<BoundName<'c>>,
) {
    let Some(open) = after.iter().position(|token| token.text(part) == "(") else { return };
    let is_path = |token: &Token| {
        matches!(token.kind, TokenKind::Word | TokenKind::Quoted) || token.text(part) == "."
    };
    if !after[..open].iter().all(is_path) {
        return;
    }
    let path: String = after[..open].iter().map(|token| bare(token.text(part))).collect();
    let event = scope.of_kind(&[SymbolKind::Event]).find(|decl| decl.name == path);
    let close = after.iter().position(|token| token.text(part) == ")").unwrap_or(after.len());
    let names = after[open + 1..close.max(open + 1)].iter();
    let names = names.filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    for (nth, name) in names.enumerate() {
        let ty = event.and_then(|decl| decl.params.get(nth)).map(|param| &param.ty);
        found.push((bare(name.text(part)).to_owned(), ty));
    }
}

/// The names before colons, up to a closing bracket.
fn written_name<'p>(after: &'p [Token], part: &'p str) -> impl Iterator<Item = String> + 'p {
    let close = after.iter().position(|token| token.text(part) == ")").unwrap_or(after.len());
    let inside = &after[..close];
    inside
        .windows(2)
        .filter(|pair| pair[1].text(part) == ":")
        .map(|pair| bare(pair[0].text(part)).to_owned())
}

/// The names between the words `first` and `last`.
fn pairs<'p>(
    all: &'p [Token],
    part: &'p str,
    first: &'p str,
    last: &'p str,
) -> impl Iterator<Item = String> + 'p {
    all.windows(3)
        .filter(move |three| three[0].text(part) == first && three[2].text(part) == last)
        .map(|three| bare(three[1].text(part)).to_owned())
}

// Collects the declarations that are visible at the cursor.

/// The names that are visible at the cursor.
struct VisibleNames<'c> {
    /// The declarations of charts and files, the nearest first.
    decls: Vec<Decl<'c>>,
    /// The states of the chart around the cursor, or of the chart that a test tests.
    states: Option<Decl<'c>>,
    /// The names of the states around the cursor, outermost first.
    path: Vec<String>,
    /// The names of states in parts of the file that cannot be parsed.
    lost: Vec<String>,
    /// The kind of body around the cursor.
    place: BodyKind,
}

/// The name behind the first word of the body's owner.
fn name_of(text: &str, open: &Open) -> String {
    let head = text.get(open.start..open.brace).unwrap_or_default();
    let words = tokens(head);
    let named = words.iter().find(|token| token.start > 0 && is_name(token));
    named.map(|token| bare(token.text(head)).to_owned()).unwrap_or_default()
}

fn is_name(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
}

impl<'c> VisibleNames<'c> {
    fn new(compilation: &'c Compilation, file: FileId, cursor: &Cursor<'_>, open: &[Open]) -> Self {
        let text = cursor.text;
        let place = open.last().map_or(BodyKind::Top, |open| open.place);
        let mut chart = None;
        let mut path = Vec::new();
        for body in open {
            match body.place {
                BodyKind::Chart => chart = Some(name_of(text, body)),
                BodyKind::State => path.push(name_of(text, body)),
                BodyKind::Test => {
                    let head = text.get(body.start..body.brace).unwrap_or_default();
                    let words = tokens(head);
                    let last = words.iter().rfind(|token| is_name(token));
                    chart = last.map(|token| bare(token.text(head)).to_owned());
                }
                _ => {}
            }
        }
        let known = match &chart {
            Some(name) => known::chart(compilation, file, name),
            None => None,
        };
        let mut decls = known.map(|(chart, _)| known::inside(chart)).unwrap_or_default();
        if known.is_none() {
            // A component outside of charts may go into the steps of any chart.
            let all = known::charts(compilation).filter(|_| chart.is_none());
            decls.extend(all.flat_map(|(chart, _)| known::inside(chart)));
        }
        decls.extend(known::outside(compilation, file));
        let states = known.map(|(chart, _)| known::states(chart));
        let mut scope = Self { decls: known::unique(decls), states, path, lost: Vec::new(), place };
        if place != BodyKind::Test {
            let own = known::charts(compilation).filter(|(_, id)| *id == file);
            let mut sound = BTreeSet::new();
            for (chart, _) in own {
                collect(&known::states(chart), &mut sound);
            }
            scope.recover(text, &sound);
        }
        scope
    }

    /// Adds declarations in parts of the text that the parser skipped: a keyword at the start of a line, followed by a name.
    fn recover(&mut self, text: &str, sound: &BTreeSet<usize>) {
        let all = tokens(text);
        let mut lost = Vec::new();
        for pair in all.windows(2) {
            let [word, name] = pair else { continue };
            let line = text[..word.start].rfind(['\n', '{', '}']).map_or(0, |at| at + 1);
            if !is_name(name) || !text[line..word.start].trim().is_empty() {
                continue;
            }
            let start = name.start;
            let name = bare(name.text(text)).to_owned();
            let kind = match word.text(text) {
                "state" | "parallel" | "final" | "history" => {
                    if !sound.contains(&start) {
                        lost.push(name);
                    }
                    continue;
                }
                "event" => SymbolKind::Event,
                "var" => SymbolKind::Variable,
                "param" => SymbolKind::Param,
                "input" => SymbolKind::Input,
                "pred" => SymbolKind::Predicate,
                "fn" => SymbolKind::Function,
                "do" => SymbolKind::Effect,
                "tools" => SymbolKind::ToolSet,
                "client" => SymbolKind::Client,
                "llm" | "ask" | "call" | "human" | "run" | "code" => SymbolKind::Step,
                "type" => SymbolKind::Type,
                "enum" => SymbolKind::Enum,
                "chart" => SymbolKind::Chart,
                _ => continue,
            };
            // If the name is known, the tree has this declaration, or another chart of the file has it and it is not visible here.
            if !self.decls.iter().any(|decl| decl.name == name) {
                self.decls.push(known::lost(name, kind));
            }
        }
        self.lost = lost;
    }

    /// The declarations of these kinds.
    fn of_kind<'s>(&'s self, kinds: &'s [SymbolKind]) -> impl Iterator<Item = &'s Decl<'c>> {
        self.decls.iter().filter(|decl| kinds.contains(&decl.kind))
    }

    /// The states around the cursor, outermost first, as far as they are known.
    fn around(&self) -> Vec<&Decl<'c>> {
        let mut found: Vec<&Decl<'c>> = self.states.iter().collect();
        for name in &self.path {
            let inner =
                found.last().and_then(|node| node.children.iter().find(|c| c.name == *name));
            match inner {
                Some(inner) => found.push(inner),
                None => break,
            }
        }
        found
    }
}

/// Collects the offsets of all names of states below `node`.
fn collect(node: &Decl<'_>, places: &mut BTreeSet<usize>) {
    for child in &node.children {
        places.insert(child.name_span.start as usize);
        collect(child, places);
    }
}

// Snippets for common constructs.

/// The keyword that the construct begins with, the label, the snippet, and its meaning.
type SnippetRow = (&'static str, &'static str, &'static str, &'static str);

const OUTSIDE: &[SnippetRow] = &[
    (
        "chart",
        "chart",
        "chart ${1:Name} {\n  event ${2:go}\n\n  initial ${3:idle}\n  state ${3:idle} {\n    on ${2:go} -> ${4:done}\n  }\n  final ${4:done}\n}",
        "a chart with two states",
    ),
    (
        "test",
        "test",
        "test \"${1:what happens}\" for ${2:Chart} {\n  send ${3:event}\n  expect at ${4:state}\n}",
        "a test",
    ),
    ("tool", "tool", "tool ${1:name}(${2:query}: Text) -> ${3:Text}", "a tool"),
    ("client", "client", "client ${1:name} {\n  model \"${2:provider:model}\"\n}", "a client"),
    ("enum", "enum", "enum ${1:Name} { ${2:a} ${3:b} }", "an enum"),
    ("type", "type", "type ${1:Name} { ${2:field}: ${3:Text} }", "a record"),
];

const INSIDE: &[SnippetRow] = &[
    ("state", "state", "state ${1:name} {\n  $0\n}", "a state"),
    (
        "parallel",
        "parallel",
        "parallel ${1:name} {\n  state ${2:one} {\n    $0\n  }\n  state ${3:other} {\n  }\n}",
        "states that are active together",
    ),
    ("final", "final with a status", "final ${1:name} : ${2:ok}", "an end"),
    (
        "ask",
        "ask with options",
        "ask ${1:next} on turn else stay {\n  prompt \"\"\"\n    ${2:What now?}\n    {options\\}\n    \"\"\"\n}\nmay ${3:one} \"${4:when}\" -> ${5:state}\nmay ${6:other} \"${7:when}\" -> ${8:state}",
        "the model chooses among options",
    ),
    (
        "llm",
        "llm step",
        "llm ${1:name} {\n  prompt \"\"\"\n    ${2:What to do.}\n    \"\"\"\n  returns ${3:Text} into ${4:variable}\n} -> ${5:state}",
        "a model call with an answer",
    ),
    (
        "call",
        "call step",
        "call ${1:name} ${2:tool}(${3}) {\n  done -> ${4:state}\n  error -> ${5:state}\n}",
        "a tool call",
    ),
    (
        "human",
        "human step",
        "human ${1:name} \"${2:Question?}\" {\n  returns ${3:Text}\n  done -> ${4:state}\n}",
        "a question to a person",
    ),
    (
        "run",
        "run step",
        "run ${1:name} ${2:Chart}(${3}) {\n  done -> ${4:state}\n  error -> ${5:state}\n}",
        "another chart",
    ),
    ("on", "on with actions", "on ${1:event} -> ${2:state} { $0 }", "a line on an event"),
    ("may", "may with a text", "may ${1:option} \"${2:when}\" -> ${3:state}", "an option"),
    ("after", "after a time", "after ${1:30s} -> ${2:state}", "a deadline"),
    ("when", "when with a target", "when ${1:condition} -> ${2:state}", "a line on data"),
];

/// The snippets whose keyword the grammar accepts, where an item may begin.
fn offer_snippets(place: BodyKind, next: &Next) -> Vec<Offer> {
    let rows: &[SnippetRow] = match place {
        BodyKind::Top => OUTSIDE,
        BodyKind::Chart | BodyKind::State | BodyKind::From => INSIDE,
        _ => &[],
    };
    rows.iter()
        .filter(|(word, ..)| next.words.contains(word))
        .map(|(_, label, text, meaning)| {
            Offer::new(*label, CompletionKind::Snippet, 60)
                .detail(*meaning)
                .snippet((*text).to_owned())
        })
        .collect()
}
