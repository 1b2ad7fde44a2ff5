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

/// A kind of finding: its code, its name, and the page that explains it. Listed by [`crate::lint::rules`].
#[derive(Debug)]
pub struct Rule {
    /// `C0301`: stable for ever.
    pub code: &'static str,
    /// `shadowed-line`: reads as in "allow …".
    pub name: &'static str,
    /// Unless configured.
    pub severity: Severity,
    /// What, why, an example that trips it (```` ```chart bad ````) and one that does not (```` ```chart good ````).
    pub page: &'static str,
}

impl Rule {
    /// Whether its findings always are errors: without what they are about, nothing can be drawn, generated or run.
    pub fn is_firm(&self) -> bool {
        self.severity == Severity::Error && !self.code.starts_with("C03")
    }

    /// A finding of this kind. `message` is lower case, without full stop, user text in backticks.
    pub fn at(&'static self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            rule: self,
            severity: self.severity,
            message: message.into(),
            label: None,
            help: None,
            span,
            related: Vec::new(),
            witness: Vec::new(),
            fix: None,
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

/// One finding.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Its kind.
    pub rule: &'static Rule,
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

    /// Adds a second place.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related.push((span, what.into()));
        self
    }
}

/// The one of `known` that `name` most probably means: Jaro-Winkler of at least 0.75, or a single slip of the fingers in a name
/// of three letters and more.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|k| (likeness(name, k), k))
        .filter(|(score, k)| *score >= 0.75 && *k != name)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

fn likeness(name: &str, known: &str) -> f64 {
    let slip = name.len() > 2 && known.len() > 2 && strsim::osa_distance(name, known) == 1;
    let alike = strsim::jaro_winkler(name, known);
    if slip { alike.max(0.8) } else { alike }
}
