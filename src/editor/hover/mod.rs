//! Computes hovers: what is known about the name at a position.
//!
//! Lowering has recorded what each name means, so a name is looked up and not guessed. For the name `open` in `on reply -> open`:
//!
//! 1. [`find`] searches the recorded uses, and finds the state `open` of the chart `Ticket`.
//! 2. [`state`](mod@state) describes it: its declaration, documentation, transitions into and out of it, limits and model calls.
//! 3. [`markdown`] formats the description, with all text of users escaped.
//!
//! A word that is no name is looked up in [`words`], if it is a keyword, or in the tables of SCXML ([`xml`](mod@xml)).

mod data;
mod find;
mod markdown;
mod outside;
mod sent;
mod state;
mod step;
mod tools;
mod used;
mod words;
mod xml;

pub use words::{FUNCTIONS, WORDS, Word, word};

use find::Found;
pub(super) use find::{Index, Subject};
pub(super) use state::{drivers, figures};
pub(super) use step::policy;

use super::notation::{Notation, notation as notation_of};
use chartc_check::compile::Compilation;
use chartc_check::lower::Lowered;
use chartc_check::notation;
use chartc_text::front;
use chartc_text::rules;
use chartc_text::span::{FileId, Span};
use chartc_text::syntax::{File, Template, TemplatePart};
use markdown::{Markdown, code, plain};

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
        && outside::show(&mut markdown, done, name)
    {
        (name.at, markdown.finish())
    } else if index.uses(file, offset).iter().any(|name| offset < name.at.end) {
        // A name of the user that is spelled like a keyword must not be described as the keyword.
        return None;
    } else if let Some((span, name)) = find::known_to_all(syntax, offset) {
        let known = FUNCTIONS.iter().find(|known| known.name == name)?;
        markdown.line(known.text);
        (span, markdown.finish())
    } else if notation_of(done.sources.get(file)) == Notation::Xml {
        let (at, text) = xml::word(&done.sources.get(file).text, offset as usize)?;
        markdown.line(text);
        (Span::new(file, at.start, at.end), markdown.finish())
    } else {
        let span = word_at(done, syntax, offset)?;
        let word = word(done.sources.get(file).slice(span))?;
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
        Subject::Chart => state::chart(markdown, &view),
        Subject::State(id) => state::state(markdown, &view, *id),
        Subject::Events(all) => data::events(markdown, &view, all),
        Subject::Variable(id) => data::variable(markdown, &view, *id),
        Subject::Step(id) => step::step(markdown, &view, *id),
        Subject::Choice(id) => step::choice(markdown, &view, *id),
        Subject::Tool(id) => tools::tool(markdown, &view, *id),
        Subject::ToolSet(id) => tools::set(markdown, &view, *id),
        Subject::Client(id) => tools::client(markdown, &view, *id),
        Subject::Component(nth) => tools::component(markdown, &view, *nth),
        Subject::Type(id) => data::of_type(markdown, &view, *id),
        Subject::Value(id, name) => data::value(markdown, &view, *id, name),
        Subject::Function(id) => data::function(markdown, &view, *id),
        Subject::Predicate(id) => data::predicate(markdown, &view, *id),
        Subject::Bound(ty) => data::typed(markdown, &view, name(), ty),
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
    if !chartc_check::allow::is_for_us(source.slice(comment)) {
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
    super::visit::file(file, &mut |node| {
        if let super::visit::SyntaxNode::Template(text) = node {
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
