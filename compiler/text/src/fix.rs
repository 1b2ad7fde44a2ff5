//! Changes of the sources that remove findings.

use crate::source::Sources;
use crate::span::Span;

/// The maximum distance, in bytes, of a closing brace from the brace that it closes. Beyond it, the search stops.
const LONGEST: usize = 20_000;

/// A change of the sources that removes a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The replacements; their spans do not overlap.
    pub edits: Vec<(Span, String)>,
    /// What has to be looked up in the sources before the edits are final: see [`Fix::settle`].
    pub pending: Option<Pending>,
    /// Whether this is certainly what the author meant. Otherwise a person must review it.
    pub is_safe: bool,
}

/// What the edits of a fix still need from the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// Each edit replaces only this text, which occurs once in its span.
    Word(String),
    /// The text of each edit goes before the body, or else the end of the line, of the step whose name is in its span.
    BeforeBody,
    /// Each brace in the spans is doubled; the edits have no text. The fix is safe if the first brace belongs to JSON.
    Braces,
}

impl Fix {
    /// Looks up in the sources what the edits need. `None` if a span does not contain it.
    #[must_use]
    pub fn settle(mut self, sources: &Sources) -> Option<Self> {
        match self.pending.take() {
            None => {}
            Some(Pending::Word(word)) => {
                for (span, _) in &mut self.edits {
                    *span = only(&word, *span, sources)?;
                }
            }
            Some(Pending::BeforeBody) => {
                for (span, _) in &mut self.edits {
                    *span = before_body(*span, sources)?;
                }
            }
            Some(Pending::Braces) => {
                self.is_safe = self.edits.iter().all(|(span, _)| is_of_json(*span, sources));
                self.edits =
                    self.edits.iter().flat_map(|(span, _)| doubled(*span, sources)).collect();
            }
        }
        (!self.edits.is_empty()).then_some(self)
    }
}

/// The span of the only occurrence of a word in a span.
fn only(word: &str, span: Span, sources: &Sources) -> Option<Span> {
    let text = sources.get(span.file).slice(span);
    let at = text.find(word).filter(|_| !word.is_empty())?;
    if text[at + word.len()..].contains(word) {
        return None;
    }
    let start = span.start as usize + at;
    Some(Span::new(span.file, start, start + word.len()))
}

/// The end of the words before the body of the step whose name has this span.
fn before_body(name: Span, sources: &Sources) -> Option<Span> {
    let source = sources.get(name.file);
    let line = source.line(source.line_of(name.start));
    let head = &source.text[line.start..line.end];
    let from = (name.end as usize).checked_sub(line.start)?;
    let end = head.get(from..)?.find('{').map_or(head.len(), |at| from + at);
    let head = &head[..end];
    // A text may contain `//` or a brace, so the end of the words is not certain.
    if head[from..].contains('"') {
        return None;
    }
    let head = head.find("//").map_or(head, |at| &head[..at]).trim_end();
    let at = line.start + head.len();
    Some(Span::new(name.file, at, at))
}

/// The edits that double the braces of a text that begins with a brace, up to the brace that closes it. Placeholders inside stay.
fn doubled(span: Span, sources: &Sources) -> Vec<(Span, String)> {
    let source = sources.get(span.file);
    let start = span.start as usize;
    let edit = |at: usize| {
        let brace = &source.text[start + at..=start + at];
        (Span::new(span.file, start + at, start + at + 1), brace.repeat(2))
    };
    let mut edits = Vec::new();
    let end = source.text.len().min(start + LONGEST);
    let text = &source.text[start..source.text.floor_char_boundary(end)];
    // A block string ends at its quotes: the braces after it belong to something else.
    let text = &text[..text.find("\"\"\"").unwrap_or(text.len())];
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(next) = text[at..].find(['{', '}']) {
        at += next;
        let opens = text[at..].starts_with('{');
        if opens
            && depth > 0
            && let Some(length) = placeholder(&text[at..])
        {
            at += length;
            continue;
        }
        edits.push(edit(at));
        at += 1;
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
        if depth == 0 {
            return edits;
        }
    }
    // No brace closes the first one: only that one is doubled.
    edits.truncate(1);
    edits
}

/// The length of the placeholder with which a text begins.
fn placeholder(text: &str) -> Option<usize> {
    let (name, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    is_name.then_some(name.len() + 2)
}

/// Whether the character beside the first brace of a span, on the same line, is one that JSON may have there. True without one.
fn is_of_json(span: Span, sources: &Sources) -> bool {
    let source = sources.get(span.file);
    let line = source.line(source.line_of(span.start));
    let at = span.start as usize;
    let beside = if source.slice(span).starts_with('}') {
        source.text[line.start..at].trim_end().chars().next_back()
    } else {
        source.text[at + 1..line.end.max(at + 1)].trim_start().chars().next()
    };
    beside.is_none_or(|c| "\"'\\[]{}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn settled(text: &str, at: &str, pending: Pending) -> Option<(String, bool)> {
        let mut sources = Sources::default();
        let file = sources.add(Source::new("a.chart", text));
        let start = text.find(at)?;
        let span = Span::new(file, start, start + at.len());
        let fix =
            Fix { edits: vec![(span, "new".to_owned())], pending: Some(pending), is_safe: true };
        let fix = fix.settle(&sources)?;
        let mut made = text.to_owned();
        for (span, new) in fix.edits.iter().rev() {
            made.replace_range(span.start as usize..span.end as usize, new);
        }
        Some((made, fix.is_safe))
    }

    #[test]
    fn a_word_is_replaced_where_it_occurs_once() {
        let word = || Pending::Word("old".to_owned());
        assert_eq!(settled("a: 'old'", "'old'", word()), Some(("a: 'new'".to_owned(), true)));
        assert_eq!(settled("a: old old", "old old", word()), None);
        assert_eq!(settled("a: b", "b", word()), None);
    }

    #[test]
    fn braces_are_doubled_and_placeholders_stay() {
        let braces = |text: &str, at: &str| settled(text, at, Pending::Braces);
        let made = |text: &str, safe: bool| Some((text.to_owned(), safe));
        assert_eq!(braces("x {\"a\": 1} y", "{"), made("x {{\"a\": 1}} y", true));
        assert_eq!(
            braces("{\"a\": {x.y}, \"b\": {\n}\n}", "{"),
            made("{{\"a\": {x.y}, \"b\": {{\n}}\n}}", true)
        );
        assert_eq!(braces("hello {name", "{"), made("hello {{name", false));
        assert_eq!(braces("\"a\": 1\n  }", "}"), made("\"a\": 1\n  }}", true));
    }
}
