//! The format for people: source excerpts with underlined spans.

use super::findings::{Findings, Report, Terminal, cut, more, shown, summary};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity};
use chartc_compiler::syntax::source::{FileId, Position, Source, Sources, Span};
use chartc_core::visible;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A span of more than this many lines is shown by its first line alone.
const MOST_LINES: usize = 6;

/// The maximum number of bytes of a line that are drawn, and the number of them before the span. Longer lines are cut.
const LONGEST_LINE: usize = 400;
const BEFORE_PLACE: usize = 60;

/// The maximum number of bytes of a span that are underlined.
const LONGEST_PLACE: usize = 200;

/// The format for terminals, drawn by miette, with a summary at the end.
pub(super) static REPORT: Report = Report { name: "human", format: render };

fn render(findings: &Findings<'_>) -> String {
    let Findings { diagnostics, sources, terminal, .. } = *findings;
    let (text, left_out) = drawn(diagnostics, sources, terminal);
    text + &more(&left_out, sources) + &summary(diagnostics, sources.iter().count()) + "\n"
}

/// Draws a finding, without a summary.
pub(super) fn one(diagnostic: &Diagnostic, sources: &Sources, terminal: Terminal) -> String {
    drawn(std::slice::from_ref(diagnostic), sources, terminal).0
}

/// Draws the findings of [`shown`]. Returns the text, and the number of findings left out, by file.
fn drawn(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    terminal: Terminal,
) -> (String, BTreeMap<FileId, usize>) {
    let theme =
        if terminal.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(terminal.width)
        .with_links(false)
        .with_context_lines(1);
    let mut text = String::new();
    let (shown, left_out) = shown(diagnostics);
    let mut files: BTreeMap<FileId, Plain<'_>> = BTreeMap::new();
    for found in &shown {
        let related = found.related.iter().map(|(span, _)| span.file);
        for file in related.chain([found.span.file]) {
            // Escaping a source takes as long as the source: do it once for each file.
            files.entry(file).or_insert_with(|| Plain::new(sources.get(file)));
        }
    }
    for found in shown {
        for drawn in Drawn::of(found, &files) {
            let written = handler.render_report(&mut text, &drawn);
            written.expect("a String takes every write");
        }
        text.push('\n');
    }
    let lines = text.split_inclusive('\n').map(visible::inert);
    (lines.collect(), left_out)
}

/// A finding, or a related span in another file, as a diagnostic for miette.
#[derive(Debug)]
struct Drawn<'d> {
    code: Option<String>,
    severity: Severity,
    message: Cow<'d, str>,
    help: Option<Cow<'d, str>>,
    labels: Vec<LabeledSpan>,
    text: Text<'d>,
}

impl<'d> Drawn<'d> {
    /// The finding with its related spans in the same file, followed by those in other files.
    fn of(found: &'d Diagnostic, files: &'d BTreeMap<FileId, Plain<'d>>) -> Vec<Self> {
        let source = &files[&found.span.file];
        let mut labels = vec![label(found.span, found.label.as_deref(), source, true)];
        let mut elsewhere = Vec::new();
        for (span, message) in &found.related {
            // A long line is cut around one span; a second span might lie outside the part that is shown.
            if span.file == found.span.file
                && !is_long(found.span, source)
                && !is_long(*span, source)
            {
                labels.push(label(*span, Some(message), source, false));
                continue;
            }
            let source = &files[&span.file];
            elsewhere.push(Self {
                code: None,
                severity: Severity::Note,
                message: plain(cut(message)),
                help: None,
                labels: vec![label(*span, None, source, true)],
                text: Text(source),
            });
        }
        let (word, code, name) = (found.severity.word(), found.rule.code, found.rule.name);
        let main = Self {
            code: Some(format!("{word}[{code}] {name}")),
            severity: found.severity,
            message: plain(cut(&found.message)),
            help: found
                .help
                .as_deref()
                .map(|help| visible::text(help).into_owned())
                .map(|help| Cow::Owned(cut(&help).into_owned())),
            labels,
            text: Text(source),
        };
        std::iter::once(main).chain(elsewhere).collect()
    }
}

/// A message with hidden characters escaped.
fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    match visible::line(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

/// Whether the line in which a span starts is cut.
fn is_long(span: Span, source: &Plain<'_>) -> bool {
    let (span, source) = (source.span(span), &source.shown);
    source.line(source.position(span.start).line).len() > LONGEST_LINE
}

/// The label of a span. An empty span, which would be invisible, marks the character before it; a long one is cut after its first line.
fn label(span: Span, text: Option<&str>, source: &Plain<'_>, primary: bool) -> LabeledSpan {
    let (span, source) = (source.span(span), &source.shown);
    let mut start = source.text.floor_char_boundary(span.start as usize);
    let mut end = source.text.ceil_char_boundary((span.end as usize).max(start));
    if source.position(end as u32).line - source.position(start as u32).line >= MOST_LINES {
        end = start + source.text[start..end].find('\n').unwrap_or(0);
    }
    end = end.min(source.text.floor_char_boundary(start + LONGEST_PLACE));
    if start == end {
        start = source.text[..start].trim_end().char_indices().next_back().map_or(0, |(i, _)| i);
        end = start + source.text[start..].chars().next().map_or(0, char::len_utf8);
    }
    let place = (start, end - start);
    let text = text.map(|text| visible::line(text).into_owned());
    if primary {
        LabeledSpan::new_primary_with_span(text, place)
    } else {
        LabeledSpan::new_with_span(text, place)
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|c| Box::new(c) as _)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Off | Severity::Note => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        // A file that could not be read has no text.
        if self.text.0.shown.text.is_empty() { None } else { Some(&self.text) }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// A source for miette that looks lines up in a table instead of counting them from the start of the text.
#[derive(Debug)]
struct Text<'d>(&'d Plain<'d>);

impl Text<'_> {
    /// The part of a long line around a span.
    fn window(&self, span: &SourceSpan, at: Position) -> Box<dyn SpanContents<'_> + '_> {
        let source = &self.0.shown;
        let line = source.line(at.line);
        let (first, last) = (span.offset(), span.offset() + span.len());
        let start = source.text.ceil_char_boundary(first.saturating_sub(BEFORE_PLACE));
        let start = start.max(line.start).min(first);
        let end = source.text.floor_char_boundary(start + LONGEST_LINE).max(last);
        let end = if last <= line.end { end.min(line.end) } else { end };
        Box::new(MietteSpanContents::new_named(
            source.name.clone(),
            &source.text.as_bytes()[start..end],
            (start, end - start).into(),
            at.line - 1,
            source.position(start as u32).column - 1,
            1,
        ))
    }
}

impl SourceCode for Text<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let source = &self.0.shown;
        let first = source.position(span.offset() as u32);
        let last = source.position((span.offset() + span.len().max(1) - 1) as u32);
        let (start, line, column) = if before == 0 {
            (span.offset(), first.line, self.0.position(span.offset()).column)
        } else {
            let line = first.line.saturating_sub(before).max(1);
            (source.line(line).start, line, 1)
        };
        let until = (last.line + after).min(source.lines());
        let mut lines = first.line.saturating_sub(before).max(1)..=until;
        // miette asks with `before > 0` for the excerpt that it draws, and with 0 for the position alone.
        if before > 0 && lines.any(|line| source.line(line).len() > LONGEST_LINE) {
            return Ok(self.window(span, first));
        }
        let end = source.line(until).end;
        let data = source.text.as_bytes().get(start..end).ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            source.name.clone(),
            data,
            (start, end - start).into(),
            line - 1,
            column - 1,
            until + 1 - line,
        )))
    }
}

// A source with hidden characters escaped, and the mapping between positions in both texts.

/// A source with hidden characters escaped.
#[derive(Debug)]
pub(super) struct Plain<'s> {
    given: &'s Source,
    /// The source with escapes, and `\n` for every line end.
    pub(super) shown: Cow<'s, Source>,
    /// The offset from the source to the shown text behind each escape, with the position in the source, ascending.
    moved: Vec<(usize, isize)>,
}

impl<'s> Plain<'s> {
    /// Escapes the hidden characters of a source and its name.
    pub(super) fn new(given: &'s Source) -> Self {
        let name = visible::line(&given.name);
        let mut text = String::new();
        let (mut rest, mut moved) = (0, Vec::new());
        for (at, c) in visible::hidden(&given.text) {
            let end = at + c.len_utf8();
            text.push_str(&given.text[rest..at]);
            if !(c == '\r' && given.text[end..].starts_with('\n')) {
                visible::escape(c, &mut text);
            }
            moved.push((end, text.len() as isize - end as isize));
            rest = end;
        }
        let shown = if moved.is_empty() && matches!(name, Cow::Borrowed(_)) {
            Cow::Borrowed(given)
        } else {
            text.push_str(&given.text[rest..]);
            Cow::Owned(Source::new(name, text))
        };
        Self { given, shown, moved }
    }

    /// Maps a span of the source to the shown text.
    pub(super) fn span(&self, span: Span) -> Span {
        let shift = |at: u32| {
            let nth = self.moved.partition_point(|(end, _)| *end <= at as usize);
            let by = nth.checked_sub(1).map_or(0, |nth| self.moved[nth].1);
            (at as isize + by).max(0) as u32
        };
        Span { start: shift(span.start), end: shift(span.end), ..span }
    }

    /// Maps a position in the shown text to the source, as line and column.
    pub(super) fn position(&self, at: usize) -> Position {
        let nth = self.moved.partition_point(|(end, by)| (*end as isize + by) as usize <= at);
        let (floor, by) = nth.checked_sub(1).map_or((0, 0), |nth| self.moved[nth]);
        let next = self.moved.get(nth).map_or(usize::MAX, |(end, _)| *end);
        // A position inside an escape maps to the escaped character.
        let at = ((at as isize - by).max(floor as isize) as usize).min(next.saturating_sub(1));
        self.given.position(self.given.text.floor_char_boundary(at) as u32)
    }
}
