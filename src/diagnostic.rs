//! Findings: what is wrong, where, and what to do about it.

use crate::span::Span;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Told only to those who ask for it.
    Off,
    /// Worth knowing; never fails a check.
    Note,
    /// Suspicious.
    Warning,
    /// Wrong.
    Error,
}

impl Severity {
    /// In lower case.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a rule is about, and with it what its errors stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Files and their syntax (C00). An error leaves no chart.
    Syntax,
    /// What names mean (C01). An error leaves no chart.
    Names,
    /// States, lines and what they lead to (C02). An error leaves no chart.
    Structure,
    /// What runs do (C03). An error stops neither drawing nor generating.
    Behaviour,
    /// Steps, prompts and data (C04). An error leaves no chart.
    Data,
    /// Limits, and what the runtime or generated code cannot do (C05). An error leaves a chart that can be drawn, and neither generated
    /// nor run.
    Target,
    /// Tests (C06). An error leaves no chart.
    Tests,
}

/// A kind of finding: its code, its name, and the page that explains it. Listed by [`crate::rules::RULES`].
#[derive(Debug)]
pub struct Rule {
    /// `C0301`: stable for ever.
    pub code: &'static str,
    /// `shadowed-line`: reads as in "allow …".
    pub name: &'static str,
    /// What it is about.
    pub stage: Stage,
    /// Unless configured.
    pub severity: Severity,
    /// What, why, an example that trips it (```` ```chart bad ````) and one that does not (```` ```chart good ````).
    pub page: &'static str,
}

impl Rule {
    /// Whether its findings always are errors: without what they are about, nothing can be drawn, generated or run.
    pub fn is_firm(&self) -> bool {
        self.severity == Severity::Error && self.stage != Stage::Behaviour
    }

    /// A finding of this kind. `message` is lower case, without full stop, user text in backticks.
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

/// A change of the sources that removes a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What replaces what; the spans do not overlap.
    pub edits: Vec<(Span, String)>,
    /// Whether this is certainly what the author meant. One that is not safe needs a person to look at it.
    pub is_safe: bool,
}

/// What a fault leaves without meaning: findings that only say so follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// A construct of the source.
    Construct(Span),
    /// A name, which nothing declares within this place; without one within the chart around the fault.
    Name(String, Option<Span>),
}

/// One finding.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Its kind.
    pub rule: &'static Rule,
    /// What it is about: that of its rule, or of the gravest finding that follows from it.
    pub stage: Stage,
    /// After configuration.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// What is wrong at `span`, when that is more than the message.
    pub label: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// The place.
    pub span: Span,
    /// Further places that matter, each with what it has to do with it.
    pub related: Vec<(Span, String)>,
    /// Files that show it when they are played: what each is called, and its text.
    pub witness: Vec<(String, String)>,
    /// A change that removes it, where one is known.
    pub fix: Option<Fix>,
    /// The construct that it is about, where that is more than its place. See [`crate::rules::precedence`].
    pub(crate) about: Option<Span>,
    /// What it leaves without meaning.
    pub(crate) breaks: Vec<Broken>,
    /// The constructs that are at fault, if they are not what stands at its place.
    pub(crate) because: Vec<Span>,
}

impl Diagnostic {
    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what is wrong at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a change that replaces one place.
    #[must_use]
    pub fn replace(mut self, span: Span, text: impl Into<String>, is_safe: bool) -> Self {
        self.fix = Some(Fix { edits: vec![(span, text.into())], is_safe });
        self
    }

    /// Names the construct that it is about.
    #[must_use]
    pub(crate) fn about(mut self, construct: Span) -> Self {
        self.about = Some(construct);
        self
    }

    /// Adds what the fault leaves without meaning.
    #[must_use]
    pub(crate) fn breaks(mut self, broken: Broken) -> Self {
        self.breaks.push(broken);
        self
    }

    /// Adds a construct that is at fault.
    #[must_use]
    pub(crate) fn because(mut self, construct: Span) -> Self {
        self.because.push(construct);
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }
}

/// Bytes of a name that is compared with others: two are compared in the time of their product.
const LONGEST_COMPARED: usize = 200;

/// The one of `known` that `name` most probably means; `None` where none is near or two are equally near.
///
/// Capitals and what joins the parts of a name do not count. A name may be off by one letter in three to five, by two in six to nine, by
/// three in longer ones, be the beginning of a name, or have a letter twice; digits tell names apart.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let meant = letters(name);
    let mut best: Option<((usize, usize), &str, bool)> = None;
    for candidate in known.into_iter().filter(|known| known.len() <= LONGEST_COMPARED) {
        let Some(off) = distance(&meant, &letters(candidate)).filter(|_| candidate != name) else {
            continue;
        };
        // Equal but for capitals and joints: the spelling decides.
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
    best.filter(|(.., tied)| !tied).map(|(_, candidate, _)| candidate)
}

/// A name without capitals and joints.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name with each run of one letter as one.
fn once(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if !out.ends_with(c) {
            out.push(c);
        }
    }
    out
}

/// How far a name is from a known one, both as [`letters`] gives them; `None` if it is no slip.
fn distance(name: &str, known: &str) -> Option<usize> {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
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
    // Far apart, it is no slip: the distance is not computed.
    let gap = length(name).abs_diff(length(known));
    let off = if gap > most { usize::MAX } else { strsim::osa_distance(name, known) };
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
