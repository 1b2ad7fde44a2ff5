//! The spelling of names in the languages of files.

use super::NameKind;
use chartc_text::syntax::{is_lower_snake, is_reserved, is_upper_camel};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// A `.chart` file.
    Chart,
    /// An `agent.yaml` or an SCXML document.
    Other,
}

impl Language {
    /// The language of a file, by its name.
    pub(super) fn from_file_name(file: &str) -> Self {
        let name = file.to_ascii_lowercase();
        let others = [".yaml", ".yml", ".scxml", ".xml"];
        if others.iter().any(|ending| name.ends_with(ending)) { Self::Other } else { Self::Chart }
    }
}

/// Whether names of this kind are `UpperCamel`.
pub(super) const fn is_upper(kind: NameKind) -> bool {
    matches!(kind, NameKind::Chart | NameKind::Type)
}

/// Checks the form of a new name, in the language of its declaration. Returns a description of the required form if it does not fit.
pub(super) fn refused(name: &str, kind: NameKind, language: Language) -> Option<&'static str> {
    let (fits, wanted) = match (language, is_upper(kind)) {
        (Language::Chart, true) => (is_upper_camel(name), "UpperCamel"),
        (Language::Chart, false) => (is_lower_snake(name), "lower_snake"),
        (Language::Other, _) => {
            let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            (first && rest, "of letters, digits, `_` and `-`")
        }
    };
    (!fits).then_some(wanted)
}

/// The name as it is written in a file: in back-quotes if it is a keyword or has the form of another kind of name.
pub(super) fn written(name: &str, kind: NameKind, language: Language) -> String {
    let plain = match (language, is_upper(kind)) {
        (Language::Chart, true) => is_upper_camel(name),
        (Language::Chart, false) => is_lower_snake(name) && !is_reserved(name),
        (Language::Other, _) => true,
    };
    if plain { name.to_owned() } else { format!("`{name}`") }
}

/// Removes the back-quotes around a name.
pub(super) fn bare(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}
