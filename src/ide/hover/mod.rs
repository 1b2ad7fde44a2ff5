//! Computes hovers: what is known about the name at a position.
//!
//! Lowering has recorded what each name means, so a name is looked up and not guessed. For the name `open` in `on reply -> open`:
//!
//! 1. [`Index`] searches the recorded uses, and finds the state `open` of the chart `Ticket`.
//! 2. [`subjects::state`] describes it: its declaration, documentation, transitions into and out of it, limits and model calls.
//! 3. [`Markdown`] formats the description, with all text of users escaped.
//!
//! A word that is no name is looked up in [`WORDS`], if it is a keyword, or in the tables of SCXML ([`describe_element`]).

mod subjects;

pub(super) use subjects::{drivers, figures, policy};

use super::notation::{Notation, notation as notation_of};
use super::xml::{self, XmlPosition};
use chartc_compiler::compile::{Checked, Compilation};
use chartc_compiler::front::scxml::elements::named;
use chartc_compiler::lower::{self, Lowered, NameKind, Use, language_functions, observables};
use chartc_compiler::syntax::source::{FileId, Span};
use chartc_compiler::syntax::visit::{self, Node};
use chartc_compiler::syntax::{ExprKind, File, Template, TemplatePart};
use chartc_compiler::{front, notation, rules};
use chartc_core::arena::{
    ChoiceId, ClientId, EventId, FunctionId, PredicateId, StateId, StepId, ToolId, ToolSetId,
    TypeId, VarId,
};
use chartc_core::model::{ChoiceKind, Type, TypeKind};
use chartc_core::visible;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

/// The description of the thing at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The span of the name or word.
    pub span: Span,
    /// The description, as Markdown.
    pub markdown: String,
}

/// Describes the name or word at an offset; `None` if nothing is known about it.
pub fn hover(done: &Compilation, file: FileId, offset: usize) -> Option<Hover> {
    let offset = u32::try_from(offset).ok()?;
    let syntax = done.files.iter().find(|one| one.id == file)?;
    let inside = |span: &Span| span.start <= offset && offset < span.end;
    if let Some(comment) = syntax.comments.iter().find(|comment| inside(comment)) {
        return rule(done, *comment, offset);
    }
    let mut markdown = Markdown::default();
    let index = Index::new(done);
    let (span, markdown) = if let Some(found) = index.at(file, offset) {
        show(&mut markdown, done, &found);
        (found.span, markdown.finish())
    } else if let Some(name) = index.uses(file, offset).first()
        && subjects::show(&mut markdown, done, name)
    {
        (name.at, markdown.finish())
    } else if index.uses(file, offset).iter().any(|name| offset < name.at.end) {
        // A name of the user that is spelled like a keyword must not be described as the keyword.
        return None;
    } else if let Some((span, name)) = known_to_all(syntax, offset) {
        let known = FUNCTIONS.iter().find(|known| known.name == name)?;
        markdown.line(known.text);
        (span, markdown.finish())
    } else if notation_of(done.sources.get(file)) == Notation::Xml {
        let (at, text) = describe_element(&done.sources.get(file).text, offset as usize)?;
        markdown.line(text);
        (Span::new(file, at.start, at.end), markdown.finish())
    } else {
        let span = word_at(done, syntax, offset)?;
        let word = describe_word(done.sources.get(file).slice(span))?;
        markdown.line(word.text);
        markdown.code("chart", word.example);
        (span, markdown.finish())
    };
    Some(Hover { span, markdown })
}

fn show(markdown: &mut Markdown, done: &Compilation, found: &Found<'_>) {
    let one = found.of;
    let view = View { done, one, declared: found.declared };
    let name = || done.sources.get(found.span.file).slice(found.span).trim_matches('`');
    match &found.subject {
        Subject::Chart => subjects::chart(markdown, &view),
        Subject::State(id) => subjects::state(markdown, &view, *id),
        Subject::Events(all) => subjects::events(markdown, &view, all),
        Subject::Variable(id) => subjects::variable(markdown, &view, *id),
        Subject::Step(id) => subjects::step(markdown, &view, *id),
        Subject::Choice(id) => subjects::choice(markdown, &view, *id),
        Subject::Tool(id) => subjects::tool(markdown, &view, *id),
        Subject::ToolSet(id) => subjects::set(markdown, &view, *id),
        Subject::Client(id) => subjects::client(markdown, &view, *id),
        Subject::Component(nth) => subjects::component(markdown, &view, *nth),
        Subject::Type(id) => subjects::of_type(markdown, &view, *id),
        Subject::Value(id, name) => subjects::value(markdown, &view, *id, name),
        Subject::Function(id) => subjects::function(markdown, &view, *id),
        Subject::Predicate(id) => subjects::predicate(markdown, &view, *id),
        Subject::Bound(ty) => subjects::typed(markdown, &view, name(), ty),
        Subject::Param(ty) => markdown.code("chart", &format!("{}: {ty}", notation::name(name()))),
    }
}

/// A chart with the compilation that it belongs to.
struct View<'c> {
    done: &'c Compilation,
    one: &'c Lowered,
    /// The span of the name in the declaration of what is described.
    declared: Span,
}

impl View<'_> {
    /// Formats a position such as `ticket.chart:12` as code.
    fn place(&self, span: Span) -> String {
        let source = self.done.sources.get(span.file);
        let name = source.name.rsplit(['/', '\\']).next().unwrap_or_default();
        code(&format!("{name}:{}", source.line_of(span.start)))
    }
}

/// Describes the rule at an offset of a comment that allows findings.
fn rule(done: &Compilation, comment: Span, offset: u32) -> Option<Hover> {
    let source = done.sources.get(comment.file);
    if !chartc_compiler::allow::is_for_us(source.slice(comment)) {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let span = around(&source.text, comment, offset, is_word)?;
    let rule = rules::named(source.slice(span)).ok()?;
    let mut markdown = Markdown::default();
    markdown.line(format!("**{}** {}: {}", rule.code, plain(rule.name), title(rule.page)));
    markdown.line(format!("`chartc explain {}` tells more.", rule.code));
    Some(Hover { span, markdown: markdown.finish() })
}

pub(super) fn title(markdown: &str) -> &str {
    markdown.lines().next().unwrap_or_default().trim_start_matches('#').trim()
}

/// The run of characters around an offset that `is_word` accepts, within a span.
fn around(text: &str, within: Span, offset: u32, is_word: impl Fn(char) -> bool) -> Option<Span> {
    let (from, to) = (within.start as usize, within.end as usize);
    let offset = offset as usize;
    let before = text.get(from..offset)?;
    let behind = text.get(offset..to)?;
    let start = offset - before.chars().rev().take_while(|c| is_word(*c)).count();
    let end = offset + behind.chars().take_while(|c| is_word(*c)).count();
    (start < end).then(|| Span::new(within.file, start, end))
}

/// The word at an offset of a `.chart` file, if it is outside of texts, comments and back-quotes.
fn word_at(done: &Compilation, file: &File, offset: u32) -> Option<Span> {
    let source = done.sources.get(file.id);
    if front::of(source).name != front::chart::FRONTEND.name {
        return None;
    }
    let whole = Span::new(file.id, 0, source.text.len());
    let span = around(&source.text, whole, offset, |c| c.is_ascii_alphanumeric() || c == '_')?;
    let quoted = source.text[..span.start as usize].ends_with(['`', '"']);
    let mut texts: Vec<&Template> = Vec::new();
    visit::file(file, &mut |node| {
        if let Node::Template(text) = node {
            texts.push(text);
        }
    });
    let inside = |text: &&Template| text.span.start <= span.start && span.end <= text.span.end;
    let hole = |text: &Template| {
        text.parts.iter().any(|part| match part {
            TemplatePart::Hole(hole) => hole.span.start <= span.start && span.end <= hole.span.end,
            TemplatePart::Text(..) | TemplatePart::Bad { .. } => false,
        })
    };
    let in_text = texts.into_iter().filter(inside).any(|text| !hole(text));
    let imports =
        file.imports().any(|path| path.span.start <= span.start && span.end <= path.span.end);
    (!quoted && !in_text && !imports).then_some(span)
}

// Finds what the name at an offset stands for.

/// The maximum length of a name that is looked up, in bytes.
const LONGEST_NAME: u32 = 4096;

/// The thing in a chart that a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(super) enum Subject {
    Chart,
    State(StateId),
    /// All events that a dotted prefix matches, or a single event.
    Events(Vec<EventId>),
    Variable(VarId),
    Step(StepId),
    Choice(ChoiceId),
    Tool(ToolId),
    ToolSet(ToolSetId),
    Client(ClientId),
    Component(usize),
    Type(TypeId),
    /// A value of an enum.
    Value(TypeId, String),
    Function(FunctionId),
    Predicate(PredicateId),
    /// A name that a line, a loop or a step binds, with its type.
    Bound(Type),
    /// A parameter or a field, with its type as written.
    Param(String),
}

/// A name and the thing that it stands for.
#[derive(Debug, Clone)]
pub(super) struct Found<'c> {
    /// The span of the name.
    pub(super) span: Span,
    /// The span of the name in the declaration.
    pub(super) declared: Span,
    pub(super) of: &'c Lowered,
    pub(super) subject: Subject,
}

/// All charts, those of imported files last.
fn charts(done: &Compilation) -> Vec<&Lowered> {
    let checked = done.charts.iter().chain(&done.tested);
    let children = checked.clone().flat_map(Checked::lowered_children);
    let own = done.lowered.iter().map(AsRef::as_ref);
    let mut known = BTreeSet::new();
    let mut all: Vec<&Lowered> = own.chain(checked.map(Checked::lowered)).chain(children).collect();
    // A chart may be in several of these lists.
    all.retain(|one| known.insert(one.map.name));
    all
}

/// The span of a chart including its body.
pub(super) fn whole(one: &Lowered) -> Span {
    one.map.states.first().map_or(one.map.name, |state| state.whole)
}

/// Whether a span lies within another.
pub(super) fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Whether an offset is inside a span, or directly behind it.
fn touches(span: Span, file: FileId, offset: u32) -> bool {
    span.file == file && span.start <= offset && offset <= span.end
}

/// The innermost state around a span.
pub(super) fn name_around(one: &Lowered, span: Span) -> StateId {
    let mut states = one.map.states.iter().enumerate();
    let inside = states.rfind(|(_, state)| contains(state.whole, span));
    inside.map_or(StateId::at(0), |(i, _)| StateId::at(i))
}

/// The charts of a compilation and the meanings of names in them.
pub(super) struct Index<'c> {
    done: &'c Compilation,
    /// All charts, those of imported files last.
    pub(super) charts: Vec<&'c Lowered>,
}

impl<'c> Index<'c> {
    pub(super) fn new(done: &'c Compilation) -> Self {
        Self { done, charts: charts(done) }
    }

    /// The thing that the name at an offset stands for.
    pub(super) fn at(&self, file: FileId, offset: u32) -> Option<Found<'c>> {
        let named = self.charts.iter().find(|one| touches(one.map.name, file, offset));
        if let Some(of) = named.copied() {
            let span = of.map.name;
            return Some(Found { span, declared: span, of, subject: Subject::Chart });
        }
        self.uses(file, offset).into_iter().find_map(|one| self.meaning(one))
    }

    /// The uses of names at an offset, the most likely one first.
    fn uses(&self, file: FileId, offset: u32) -> Vec<&'c Use> {
        let uses = &self.done.uses;
        let before = uses.partition_point(|one| (one.at.file, one.at.start) <= (file, offset));
        // Longer names are not looked up, so the search can end here.
        let near = uses[..before]
            .iter()
            .rev()
            .take_while(|one| one.at.file == file && offset - one.at.start <= LONGEST_NAME);
        let mut all: Vec<&Use> = near.filter(|one| touches(one.at, file, offset)).collect();
        // Of two names that touch, the cursor is on the one that begins here. Of two names around it, the shorter one is meant.
        let length = |one: &Use| one.at.end - one.at.start;
        all.sort_by_key(|one| (one.at.end == offset, length(one), rank(one.kind)));
        all
    }

    /// The thing that a name stands for. A chart around the name is asked first, the inner one of two before the outer.
    fn meaning(&self, name: &Use) -> Option<Found<'c>> {
        let last = last(self.done, name);
        let (mut around, others): (Vec<&Lowered>, Vec<&Lowered>) =
            self.charts.iter().copied().partition(|one| contains(whole(one), name.at));
        around.sort_by_key(|one| whole(one).end - whole(one).start);
        around.into_iter().chain(others).find_map(|of| {
            let subject = subject(self.done, of, last)?;
            Some(Found { span: name.at, declared: last.declared, of, subject })
        })
    }
}

/// The precedence of a kind, if one word of an agent file declares several things: the least is shown.
fn rank(kind: NameKind) -> u8 {
    match kind {
        NameKind::Chart => 0,
        NameKind::Step => 1,
        NameKind::State => 2,
        NameKind::Choice | NameKind::Component | NameKind::Client => 3,
        NameKind::Variable | NameKind::Event | NameKind::Function | NameKind::Predicate => 4,
        NameKind::Tool | NameKind::ToolSet | NameKind::Type => 5,
        NameKind::File | NameKind::Local | NameKind::SendId | NameKind::Value => 6,
        NameKind::Field | NameKind::Param => 7,
    }
}

/// The last part of a dotted name, if every part has a meaning of its own.
fn last<'u>(done: &'u Compilation, name: &'u Use) -> &'u Use {
    let mut name = name;
    if !matches!(name.kind, NameKind::Event | NameKind::Tool) {
        return name;
    }
    let source = done.sources.get(name.at.file);
    while source.text.get(name.at.end as usize..).is_some_and(|rest| rest.starts_with('.')) {
        let next = Span { start: name.at.end + 1, ..name.at };
        let from =
            done.uses.partition_point(|one| (one.at.file, one.at.start) < (next.file, next.start));
        let behind = done.uses[from..]
            .iter()
            .take_while(|one| (one.at.file, one.at.start) == (next.file, next.start));
        match behind.filter(|one| one.kind == name.kind).last() {
            Some(next) => name = next,
            None => break,
        }
    }
    name
}

fn place(spans: &[Span], declared: Span) -> Option<usize> {
    spans.iter().position(|span| *span == declared)
}

fn subject(done: &Compilation, one: &Lowered, name: &Use) -> Option<Subject> {
    let (map, chart, declared) = (&one.map, &one.chart, name.declared);
    let text = done.sources.get(declared.file).slice(declared);
    match name.kind {
        NameKind::File | NameKind::SendId => None,
        NameKind::Chart => (map.name == declared).then_some(Subject::Chart),
        NameKind::Type => place(&map.types, declared).map(|i| Subject::Type(TypeId::at(i))),
        NameKind::Value => enum_value(one, declared, text.trim_matches('`')),
        NameKind::Variable => {
            place(&map.variables, declared).map(|i| Subject::Variable(VarId::at(i)))
        }
        NameKind::Event => events(done, one, declared).map(Subject::Events),
        NameKind::Function => {
            place(&map.functions, declared).map(|i| Subject::Function(FunctionId::at(i)))
        }
        NameKind::Tool => {
            let nth = map.tools.iter().position(|span| contains(*span, declared))?;
            Some(Subject::Tool(ToolId::at(nth)))
        }
        NameKind::ToolSet => {
            let nth = map.tool_sets.iter().position(|span| *span == Some(declared))?;
            Some(Subject::ToolSet(ToolSetId::at(nth)))
        }
        NameKind::Client => place(&map.clients, declared).map(|i| Subject::Client(ClientId::at(i))),
        NameKind::Component => place(&map.components, declared).map(Subject::Component),
        NameKind::Predicate => {
            place(&map.predicates, declared).map(|i| Subject::Predicate(PredicateId::at(i)))
        }
        NameKind::State => {
            let nth = map.states.iter().position(|state| state.name == declared)?;
            (nth > 0).then_some(Subject::State(StateId::at(nth)))
        }
        NameKind::Step => {
            let nth = map.steps.iter().position(|step| step.name == declared)?;
            Some(Subject::Step(StepId::at(nth)))
        }
        NameKind::Choice => {
            let nth = place(&map.choices, declared)?;
            let is_option = matches!(chart.choices.get(nth)?.kind, ChoiceKind::Option(_));
            is_option.then_some(Subject::Choice(ChoiceId::at(nth)))
        }
        NameKind::Local => {
            let found = map.bound.iter().find(|(span, _)| *span == declared);
            found.map(|(_, ty)| Subject::Bound(ty.clone()))
        }
        NameKind::Field | NameKind::Param => {
            let file = done.files.iter().find(|file| file.id == declared.file)?;
            written_type(done, file, declared).map(Subject::Param)
        }
    }
}

/// A value of the last enum before the place where it is declared.
fn enum_value(one: &Lowered, declared: Span, text: &str) -> Option<Subject> {
    let (map, chart) = (&one.map, &one.chart);
    let before = map
        .types
        .iter()
        .enumerate()
        .filter(|(_, ty)| ty.file == declared.file && ty.start < declared.start);
    let (i, _) = before.max_by_key(|(_, ty)| ty.start)?;
    match &chart.types.get(i)?.kind {
        TypeKind::Enum(values) => {
            let value = values.iter().find(|value| *value == text)?;
            Some(Subject::Value(TypeId::at(i), value.clone()))
        }
        TypeKind::Record(_) => None,
    }
}

/// The events whose names begin with the declared part of a name.
fn events(done: &Compilation, one: &Lowered, declared: Span) -> Option<Vec<EventId>> {
    let (map, chart) = (&one.map, &one.chart);
    let first = map.events.iter().position(|span| contains(*span, declared))?;
    let name = &chart.events.get(first)?.name;
    let parts =
        done.sources.get(declared.file).slice(Span { start: map.events[first].start, ..declared });
    let depth = parts.split('.').count();
    let prefix: Vec<&str> = name.split('.').take(depth).collect();
    let is_meant = |name: &str| {
        let mut names = name.split('.');
        prefix.iter().all(|part| names.next() == Some(part))
    };
    let all = chart.events.iter().enumerate().filter(|(_, event)| is_meant(&event.name));
    Some(all.map(|(i, _)| EventId::at(i)).collect())
}

/// The type of a parameter or a field, as written.
fn written_type(done: &Compilation, file: &File, declared: Span) -> Option<String> {
    let mut found = None;
    visit::file(file, &mut |node| {
        if let Node::Param(param) = node
            && param.name.span == declared
        {
            let end = param.range.as_ref().map_or(param.ty.span, |(_, to)| to.span);
            found = Some(param.ty.span.to(end));
        }
    });
    found.map(|span| done.sources.get(span.file).slice(span).to_owned())
}

/// The built-in function or observable at an offset.
fn known_to_all(file: &File, offset: u32) -> Option<(Span, &'static str)> {
    let mut found = None;
    visit::file(file, &mut |node| {
        let Node::Expr(expr) = node else { return };
        let inside = |span: Span| span.file == file.id && span.start <= offset && offset < span.end;
        match &expr.kind {
            ExprKind::Name(name) if inside(expr.span) => {
                let mut known = observables().map(|(known, _)| known).chain([lower::ASKED]);
                found = known.find(|known| known == name).map(|known| (expr.span, known));
            }
            ExprKind::Call(name, _) if inside(name.span) => {
                let known = language_functions().find(|known| *known == name.node);
                found = known.map(|known| (name.span, known));
            }
            _ => {}
        }
    });
    found
}

// Builds Markdown in which text of users remains text.

/// The maximum number of rows of a list that are shown.
const ROWS: usize = 12;

/// The maximum number of characters of a code block or a documentation.
const LONGEST_BLOCK: usize = 4_000;

/// A Markdown text that is built paragraph by paragraph.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    text: String,
}

impl Markdown {
    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    /// Adds a block of code. Its fence is longer than any run of back-quotes in the text, so that the text cannot end the block.
    fn code(&mut self, language: &str, text: &str) {
        let text = visible::text(text);
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        let (text, rest) = cut(text.trim_end());
        self.paragraph(&format!("{fence}{language}\n{text}{rest}\n{fence}"));
    }

    /// Adds documentation that a user wrote, paragraph by paragraph.
    fn docs(&mut self, text: &str) {
        let (text, rest) = cut(text);
        for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
            let lines: Vec<String> = part.lines().map(|line| plain(line.trim())).collect();
            self.paragraph(&lines.join("\n"));
        }
        self.text.push_str(rest);
    }

    /// Adds a paragraph that is Markdown already.
    fn line(&mut self, text: impl AsRef<str>) {
        self.paragraph(text.as_ref());
    }

    /// Adds a list under a title, unless there are no rows. The rows are Markdown already.
    fn list(&mut self, title: &str, rows: impl IntoIterator<Item = String>) {
        let rows: Vec<String> = rows.into_iter().collect();
        if rows.is_empty() {
            return;
        }
        self.paragraph(&format!("**{title}**\n"));
        for row in rows.iter().take(ROWS) {
            self.text.push_str(&format!("\n- {row}"));
        }
        if rows.len() > ROWS {
            self.text.push_str(&format!("\n- … and {} more", rows.len() - ROWS));
        }
    }

    fn finish(self) -> String {
        self.text
    }
}

fn cut(text: &str) -> (&str, &'static str) {
    match text.char_indices().nth(LONGEST_BLOCK) {
        Some((end, _)) => (&text[..end], " …"),
        None => (text, ""),
    }
}

/// The length of the longest run of back-quotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Formats code within a line.
pub(super) fn code(text: &str) -> String {
    let text = visible::line(text);
    if text.trim().is_empty() {
        return "` `".into();
    }
    let quotes = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{quotes}{blank}{text}{blank}{quotes}")
}

/// Escapes text within a line: every character that Markdown or HTML would interpret.
pub(super) fn plain(text: &str) -> String {
    let text = visible::line(text);
    let mut out = String::with_capacity(text.len());
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    for (at, c) in text.char_indices() {
        let begins = at == 0 && matches!(c, '-' | '+' | '=');
        let counts = at == number && number > 0 && matches!(c, '.' | ')');
        let always = matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '|' | '~' | '!' | '$'
        );
        if begins || counts || always {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

// The keywords and functions of the language, from the pages beside this file.

/// A keyword or function of the language.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The keyword or the name of the function.
    pub name: &'static str,
    /// Its meaning, as Markdown.
    pub text: &'static str,
    /// An example; empty if the text contains one.
    pub example: &'static str,
}

/// The keywords of `.chart` files.
pub static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("words.md")));

/// The built-in functions and observables.
pub static FUNCTIONS: LazyLock<Vec<Word>> = LazyLock::new(|| read(include_str!("functions.md")));

/// The entry of a keyword.
pub fn describe_word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

fn read(markdown: &'static str) -> Vec<Word> {
    markdown.split("\n## ").skip(1).map(entry).collect()
}

fn entry(text: &'static str) -> Word {
    let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (text, example) = rest.split_once("```chart\n").unwrap_or((rest, ""));
    let example = example.split_once("```").map_or(example, |(example, _)| example);
    Word { name: name.trim(), text: text.trim(), example: example.trim_end() }
}

// Describes elements and attributes of SCXML.

/// The name of the element or attribute at an offset, and its description.
fn describe_element(text: &str, offset: usize) -> Option<(Range<usize>, &'static str)> {
    let tree = xml::read(text);
    let bare = |span: &Range<usize>| text[span.clone()].rsplit(':').next().unwrap_or_default();
    match tree.place(text, offset) {
        XmlPosition::Name(nth) => {
            let name = &tree.elements[nth].name;
            Some((name.clone(), named(bare(name))?.doc))
        }
        XmlPosition::Closing(name) => Some((name.clone(), named(bare(&name))?.doc)),
        XmlPosition::Attribute(nth, name) => {
            let tag = named(bare(&tree.elements[nth].name))?;
            Some((name.clone(), tag.attribute(&text[name])?.doc))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_holds_any_text() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``"), "``` `` ```");
        assert_eq!(code("a\n\u{202e}b"), "`a\\n\\u{202e}b`");
        let mut markdown = Markdown::default();
        markdown.code("chart", "```\nx");
        assert_eq!(markdown.finish(), "````chart\n```\nx\n````");
    }

    #[test]
    fn docs_are_no_markdown() {
        let mut markdown = Markdown::default();
        markdown.docs("# <b>[a](b)\n1. `x`\n\n- y");
        assert_eq!(markdown.finish(), "\\# \\<b\\>\\[a\\](b)\n1\\. \\`x\\`\n\n\\- y");
    }

    #[test]
    fn a_long_list_is_cut() {
        let mut markdown = Markdown::default();
        markdown.list("Many", (0..20).map(|n| n.to_string()));
        assert!(markdown.finish().ends_with("- 11\n- … and 8 more"));
    }
}
