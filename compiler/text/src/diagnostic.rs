//! Diagnostics: what is wrong, where, and how to correct it.

pub use crate::fix::{Fix, Pending};
use crate::span::Span;

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

/// A kind of finding: its code, its name, and the page that explains it. Listed by [`crate::rules::RULES`].
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
    /// The construct that it is about, if that is larger than `span`. See [`crate::rules::precedence`].
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
fn is_one_off(name: &str, other: &str) -> bool {
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
