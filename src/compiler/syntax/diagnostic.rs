//! Diagnostics: what is wrong, where, and how to correct it.

use super::source::{Sources, Span};

/// The level of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Reported only on request.
    Off,
    /// Information; never fails a check.
    Note,
    /// Probably wrong.
    Warning,
    /// Certainly wrong.
    Error,
}

impl Severity {
    /// The name of the level, in lower case.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The part of a chart that a rule is about, which determines what its errors prevent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Files and syntax (C00). After an error there is no chart.
    Syntax,
    /// Name resolution (C01). After an error there is no chart.
    Names,
    /// States, transitions and their targets (C02). After an error there is no chart.
    Structure,
    /// The behaviour of runs (C03). An error prevents neither drawing nor generating.
    Behaviour,
    /// Steps, prompts and data (C04). After an error there is no chart.
    Data,
    /// Limits, and constructs that the runtime or generated code does not support (C05). After an error the chart can be drawn, but neither
    /// generated nor run.
    Target,
    /// Tests (C06). After an error there is no chart.
    Tests,
}

/// A kind of finding: its code, its name, and the page that explains it. Listed by [`super::super::rules::RULES`].
#[derive(Debug)]
pub struct Rule {
    /// The code, such as `C0301`. It never changes.
    pub code: &'static str,
    /// The name, such as `shadowed-line`, as in "allow …".
    pub name: &'static str,
    /// The part of a chart that it is about.
    pub stage: Stage,
    /// The default level.
    pub severity: Severity,
    /// The page: what, why, an example with the finding (```` ```chart bad ````) and one without (```` ```chart good ````).
    pub page: &'static str,
}

impl Rule {
    /// Whether its findings are always errors, because the chart cannot be drawn, generated or run with them.
    pub fn is_firm(&self) -> bool {
        self.severity == Severity::Error && self.stage != Stage::Behaviour
    }

    /// Creates a finding. `message` is lower case, without a full stop, with user text in backticks.
    pub fn at(&'static self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            rule: self,
            stage: self.stage,
            severity: self.severity,
            message: message.into(),
            label: None,
            help: None,
            span,
            related: Vec::new(),
            witness: Vec::new(),
            fix: None,
            about: None,
            breaks: Vec::new(),
            because: Vec::new(),
        }
    }
}

/// Something that a finding leaves undefined: further findings about it are consequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// A construct of the source.
    Construct(Span),
    /// A name that nothing declares within the span; without a span, within the chart that contains the finding.
    Name(String, Option<Span>),
}

/// A finding.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The rule that is violated.
    pub rule: &'static Rule,
    /// The stage of its rule, or of the most severe finding that follows from it.
    pub stage: Stage,
    /// The level, after configuration.
    pub severity: Severity,
    /// The message, one sentence.
    pub message: String,
    /// What is wrong at `span`, if that adds to the message.
    pub label: Option<String>,
    /// How to correct it.
    pub help: Option<String>,
    /// The place in the source that is underlined.
    pub span: Span,
    /// Related spans, each with an explanation.
    pub related: Vec<(Span, String)>,
    /// Files that demonstrate it when they are replayed: name and content.
    pub witness: Vec<(String, String)>,
    /// A change that removes it, if one is known.
    pub fix: Option<Box<Fix>>,
    /// The construct that it is about, if that is larger than `span`. See [`super::super::rules`].
    pub about: Option<Span>,
    /// What it leaves undefined.
    pub breaks: Vec<Broken>,
    /// The constructs that cause it, if they are not at `span`.
    pub because: Vec<Span>,
}

impl Diagnostic {
    /// Adds a help: how to correct the problem.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a label: what is wrong at the span itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a fix that replaces the text of one span.
    #[must_use]
    pub fn replace(self, span: Span, text: impl Into<String>, is_safe: bool) -> Self {
        self.edit(vec![(span, text.into())], is_safe)
    }

    /// Adds a fix that replaces the text of several spans.
    #[must_use]
    pub fn edit(mut self, edits: Vec<(Span, String)>, is_safe: bool) -> Self {
        self.fix = Some(Box::new(Fix { edits, pending: None, is_safe }));
        self
    }

    /// Adds the known name that `name`, which occurs in the finding's span, probably means: as help and as a fix.
    #[must_use]
    pub fn meant(self, name: &str, near: Option<Near<'_>>) -> Self {
        let Some(near) = near else { return self };
        let finding = self.help(format!("did you mean `{}`?", near.name));
        finding.rename(name, near.name, near.is_only)
    }

    /// Adds a fix that replaces one text, which occurs once in the finding's span, by another.
    #[must_use]
    pub fn rename(mut self, old: &str, new: &str, is_safe: bool) -> Self {
        let edits = vec![(self.span, new.to_owned())];
        self.fix =
            Some(Box::new(Fix { edits, pending: Some(Pending::Word(old.to_owned())), is_safe }));
        self
    }

    /// Sets the construct that the finding is about.
    #[must_use]
    pub fn about(mut self, construct: Span) -> Self {
        self.about = Some(construct);
        self
    }

    /// Adds something that the finding leaves undefined.
    #[must_use]
    pub fn breaks(mut self, broken: Broken) -> Self {
        self.breaks.push(broken);
        self
    }

    /// Adds a construct that causes the finding.
    #[must_use]
    pub fn because(mut self, construct: Span) -> Self {
        self.because.push(construct);
        self
    }

    /// Adds a related span.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }
}

/// Adds findings to others. The first are moved and not copied: a chart may have one for each of its states.
pub fn join(all: &mut Vec<Diagnostic>, mut found: Vec<Diagnostic>) {
    if all.is_empty() {
        *all = found;
    } else {
        all.append(&mut found);
    }
}

/// The greatest length in bytes of a name that is compared: the time of a comparison is the product of the lengths.
const LONGEST_COMPARED: usize = 200;

/// The known name that a name most probably means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near<'k> {
    /// The known name.
    pub name: &'k str,
    /// Whether it is the only known name that differs in one character.
    pub is_only: bool,
}

/// Like [`near()`], without its certainty.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    near(name, known).map(|near| near.name)
}

/// The name in `known` that `name` most probably means; `None` if none is near or two are equally near.
///
/// Case and separators do not count. A name may differ in one letter if it has three to five, in two if six to nine, in three if more; it
/// may be the beginning of a name, or repeat a letter. Digits must be equal.
pub fn near<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<Near<'k>> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let meant = letters(name);
    let mut best: Option<((usize, usize), &str, bool)> = None;
    // The name that differs in one character, and whether there is another.
    let mut single: Option<(&str, bool)> = None;
    for candidate in known.into_iter().filter(|known| known.len() <= LONGEST_COMPARED) {
        if is_one_off(name, candidate) {
            single =
                Some((candidate, single.is_some_and(|(other, many)| many || other != candidate)));
        }
        let Some(off) = distance(&meant, &letters(candidate)).filter(|_| candidate != name) else {
            continue;
        };
        // Among names that differ only in case and separators, the spelling decides.
        let score = (off, strsim::osa_distance(name, candidate));
        match &mut best {
            Some((least, other, tied)) if score.0 == least.0 => {
                *tied |= score.1 == least.1 && *other != candidate;
                if score.1 < least.1 {
                    best = Some((score, candidate, false));
                }
            }
            Some((least, ..)) if score.0 > least.0 => {}
            Some(_) | None => best = Some((score, candidate, false)),
        }
    }
    let (_, name, _) = best.filter(|(.., tied)| !tied)?;
    Some(Near { name, is_only: single == Some((name, false)) })
}

/// Whether two names differ in one character: one more, one less, another one, or two neighbours swapped.
pub(crate) fn is_one_off(name: &str, other: &str) -> bool {
    // A character has at most four bytes, so this cheap test excludes no name that differs in one character.
    name.len().abs_diff(other.len()) <= 4 && strsim::osa_distance(name, other) == 1
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name with repeated letters collapsed.
fn once(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if !out.ends_with(c) {
            out.push(c);
        }
    }
    out
}

/// The edit distance of a name from a known one, both normalized by [`letters`]; `None` if it is too great for a misspelling.
fn distance(name: &str, known: &str) -> Option<usize> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    // `step_1` and `step_2` are two names, not one with a misspelling.
    if digits(name) != digits(known) {
        return None;
    }
    let length = |text: &str| text.chars().count();
    let shorter = length(name).min(length(known));
    let most = match shorter {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    // If the lengths differ too much, the distance is not computed.
    let gap = length(name).abs_diff(length(known));
    let off = if gap > most { usize::MAX } else { strsim::osa_distance(name, known) };
    // A short name with another first letter is rather another word.
    let same_start = shorter > 4 || off == 0 || name.chars().next() == known.chars().next();
    if off <= most && same_start {
        return Some(off);
    }
    if length(name) == length(known) + 1 && once(name) == once(known) {
        return Some(1);
    }
    let is_start = shorter >= 4 && known.starts_with(name) && length(known) <= 2 * shorter;
    is_start.then_some(most + 1)
}

// Changes of the sources that remove findings.

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
    use super::super::source::Source;
    use super::*;

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
