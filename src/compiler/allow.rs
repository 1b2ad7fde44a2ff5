//! Comments that suppress findings: `// chartc: allow(C0301, shadowed-line) reason`.
//!
//! A comment alone on its line applies to the next line with code, a comment behind code to its own line. It suppresses the findings that
//! start on that line.

use crate::rules::{self, faulty_allow, unused_allow};
use crate::syntax::File;
use crate::syntax::diagnostic::{Diagnostic, Rule};
use crate::syntax::source::{FileId, Source, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A finding that a comment suppresses.
#[derive(Debug, Clone)]
pub struct Suppressed {
    /// The finding, which is not reported.
    pub finding: Diagnostic,
    /// The reason that the comment gives.
    pub reason: String,
}

/// A code or name in an `allow` comment.
struct Allow {
    rule: &'static Rule,
    /// The span of the code or name.
    span: Span,
    reason: String,
    used: bool,
}

/// Removes and returns the findings that comments allow, and reports comments that are unused or malformed.
pub(crate) fn apply(
    files: &[File],
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Suppressed> {
    let mut suppressed = Vec::new();
    let mut found = Vec::new();
    // By the file and the line to which the comments apply.
    let mut allows: BTreeMap<(FileId, usize), Vec<Allow>> = BTreeMap::new();
    for file in files {
        let source = sources.get(file.id);
        let read = |comment: &Span| (*comment, read(source, *comment, &mut found));
        let mut read: Vec<(Span, Vec<Allow>)> = file.comments.iter().map(read).collect();
        read.retain(|(_, read)| !read.is_empty());
        if read.is_empty() {
            continue;
        }
        let lines = Lines::new(source, &file.comments);
        for (comment, read) in read {
            allows.entry((file.id, lines.about(comment))).or_default().extend(read);
        }
    }
    if !allows.is_empty() {
        diagnostics.retain(|finding| {
            let place = finding.span;
            let line = sources.get(place.file).line_of(place.start);
            let here = allows.get_mut(&(place.file, line)).into_iter().flatten();
            let mut reason = None;
            // All comments for the finding count as used, so that none of them is reported as unused; the first one gives the reason.
            for allow in here.filter(|allow| allow.rule.code == finding.rule.code) {
                allow.used = true;
                reason.get_or_insert_with(|| allow.reason.clone());
            }
            let is_kept = reason.is_none();
            let finding = reason.map(|reason| Suppressed { finding: finding.clone(), reason });
            suppressed.extend(finding);
            is_kept
        });
    }
    let unused = allows.into_values().flatten().filter(|allow| !allow.used);
    found.extend(unused.map(|allow| unused_allow::at(allow.rule, allow.span)));
    diagnostics.append(&mut found);
    suppressed
}

/// The line, counted from 1, to which one of the comments of a source applies.
pub fn line_of(source: &Source, comments: &[Span], comment: Span) -> usize {
    Lines::new(source, comments).about(comment)
}

/// A source with the numbers of those of its lines that contain only comments.
struct Lines<'s> {
    source: &'s Source,
    silent: BTreeSet<usize>,
}

impl<'s> Lines<'s> {
    fn new(source: &'s Source, comments: &[Span]) -> Self {
        // Comments may follow each other; all of them apply to the line behind the last one.
        let mut silent = BTreeSet::new();
        for comment in comments {
            let (first, last) = extent(source, *comment);
            let start = source.line(first).start;
            let end = source.line(last).end;
            let before = source.text.get(start..comment.start as usize).unwrap_or_default();
            let after = source.text.get(comment.end as usize..end).unwrap_or_default();
            if before.trim().is_empty() && after.trim().is_empty() {
                silent.extend(first..=last);
            }
        }
        Self { source, silent }
    }

    /// The line to which a comment applies.
    fn about(&self, comment: Span) -> usize {
        let (first, mut line) = extent(self.source, comment);
        if !self.silent.contains(&first) {
            return first;
        }
        let is_blank = |line| self.source.text[self.source.line(line)].trim().is_empty();
        while line < self.source.lines() && (self.silent.contains(&line) || is_blank(line)) {
            line += 1;
        }
        line
    }
}

/// The first and last line of a comment.
fn extent(source: &Source, comment: Span) -> (usize, usize) {
    (source.line_of(comment.start), source.line_of(comment.end))
}

/// The text behind `chartc:`, if the comment begins with it.
fn words(text: &str) -> Option<&str> {
    let body = text.trim_start_matches(|c: char| "/#<!-".contains(c) || c.is_whitespace());
    let body = body.trim_end_matches(|c: char| c.is_whitespace());
    let words = body.strip_prefix("chartc:")?;
    Some(words.strip_suffix("-->").unwrap_or(words).trim())
}

/// Whether a comment begins with `chartc:`.
pub fn is_for_us(comment: &str) -> bool {
    words(comment).is_some()
}

/// Reads the rules that a comment allows, and reports a malformed comment; none if the comment is not for chartc.
fn read(source: &Source, comment: Span, found: &mut Vec<Diagnostic>) -> Vec<Allow> {
    let text = source.slice(comment);
    let Some(words) = words(text) else { return Vec::new() };
    // `part` is a slice of `text`, so the distance of their addresses is its offset.
    let at = |range: Range<usize>| {
        let start = comment.start as usize;
        Span::new(comment.file, start + range.start, start + range.end)
    };
    let place = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        at(start..start + part.len())
    };
    let list = words.strip_prefix("allow").map(str::trim_start);
    let list = list.and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
    let Some((list, reason)) = list.filter(|(list, _)| !list.trim().is_empty()) else {
        found.push(faulty_allow::form(place(words)));
        return Vec::new();
    };
    // Reported, but the comment still applies.
    if !reason.chars().any(char::is_alphanumeric) {
        found.push(faulty_allow::unreasoned(place(words)));
    }
    let mut allows = Vec::new();
    for word in list.split(',').map(str::trim) {
        match rules::named(word) {
            // Firm rules are those that no comment may suppress.
            Ok(rule) if rule.is_firm() => found.push(faulty_allow::firm(rule, place(word))),
            Ok(rule) => allows.push(Allow {
                rule,
                span: place(word),
                reason: reason.trim().to_owned(),
                used: false,
            }),
            Err(near) => found.push(faulty_allow::unknown(word, near, place(word))),
        }
    }
    allows
}
