//! For people: the source with the place underlined.

use super::{Paper, Report, summary};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Source, Sources};
use crate::span::Span;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};
use std::fmt;

/// A span of more lines than this is shown by its first line.
const MOST_LINES: usize = 6;

/// Drawn by miette, with a summary at the end.
pub(super) static REPORT: Report = Report { name: "human", render };

fn render(diagnostics: &[Diagnostic], sources: &Sources, paper: Paper) -> String {
    let theme =
        if paper.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(paper.width)
        .with_links(false)
        .with_context_lines(1);
    let mut text = String::new();
    for found in diagnostics {
        for drawn in Drawn::of(found, sources) {
            let written = handler.render_report(&mut text, &drawn);
            written.expect("a String takes every write");
        }
        text.push('\n');
    }
    text + &summary(diagnostics, sources.iter().count()) + "\n"
}

/// A finding as miette sees it, or a related place in another file.
#[derive(Debug)]
struct Drawn<'d> {
    code: Option<String>,
    severity: Severity,
    message: &'d str,
    help: Option<&'d str>,
    labels: Vec<LabeledSpan>,
    text: Text<'d>,
}

impl<'d> Drawn<'d> {
    /// The place with related places of the same file beside it, then those of other files.
    fn of(found: &'d Diagnostic, sources: &'d Sources) -> Vec<Self> {
        let source = sources.get(found.span.file);
        let mut labels = vec![label(found.span, found.label.as_deref(), source, true)];
        let mut elsewhere = Vec::new();
        for (span, message) in &found.related {
            if span.file == found.span.file {
                labels.push(label(*span, Some(message), source, false));
                continue;
            }
            let source = sources.get(span.file);
            elsewhere.push(Self {
                code: None,
                severity: Severity::Note,
                message,
                help: None,
                labels: vec![label(*span, None, source, true)],
                text: Text(source),
            });
        }
        let (word, code, name) = (found.severity.word(), found.rule.code, found.rule.name);
        let main = Self {
            code: Some(format!("{word}[{code}] {name}")),
            severity: found.severity,
            message: &found.message,
            help: found.help.as_deref(),
            labels,
            text: Text(source),
        };
        std::iter::once(main).chain(elsewhere).collect()
    }
}

/// An empty span, which would not be drawn, points at the character before it; a long one is cut after its first line.
fn label(span: Span, text: Option<&str>, source: &Source, primary: bool) -> LabeledSpan {
    let mut start = source.text.floor_char_boundary(span.start as usize);
    let mut end = source.text.ceil_char_boundary((span.end as usize).max(start));
    if source.position(end as u32).line - source.position(start as u32).line >= MOST_LINES {
        end = start + source.text[start..end].find('\n').unwrap_or(0);
    }
    if start == end {
        start = source.text[..start].trim_end().char_indices().next_back().map_or(0, |(i, _)| i);
        end = start + source.text[start..].chars().next().map_or(0, char::len_utf8);
    }
    let place = (start, end - start);
    let text = text.map(ToOwned::to_owned);
    if primary {
        LabeledSpan::new_primary_with_span(text, place)
    } else {
        LabeledSpan::new_with_span(text, place)
    }
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|c| Box::new(c) as _)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Note => miette::Severity::Advice,
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.map(|h| Box::new(h) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        // A file that could not be read has nothing to show.
        if self.text.0.text.is_empty() { None } else { Some(&self.text) }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// A source as miette reads it: lines are looked up in the source's table instead of counted from the start of the text.
#[derive(Debug)]
struct Text<'d>(&'d Source);

impl SourceCode for Text<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let source = self.0;
        let first = source.position(span.offset() as u32);
        let last = source.position((span.offset() + span.len().max(1) - 1) as u32);
        let (start, line, column) = if before == 0 {
            (span.offset(), first.line, first.column)
        } else {
            let line = first.line.saturating_sub(before).max(1);
            (source.line(line).start, line, 1)
        };
        let until = (last.line + after).min(source.lines());
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
