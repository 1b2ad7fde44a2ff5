//! How a name is written where it stands.

use super::NameKind;
use chartc_text::syntax::{is_lower_snake, is_reserved, is_upper_camel};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// `.chart`.
    Chart,
    /// `agent.yaml`, SCXML.
    Other,
}

impl Language {
    /// That of a file, by its name.
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

/// What is wanted of a new name, if it is not spelled so. `language` is that of the declaration.
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

/// The name as a file has it: in back-quotes where it would be a keyword, or another kind of name.
pub(super) fn written(name: &str, kind: NameKind, language: Language) -> String {
    let plain = match (language, is_upper(kind)) {
        (Language::Chart, true) => is_upper_camel(name),
        (Language::Chart, false) => is_lower_snake(name) && !is_reserved(name),
        (Language::Other, _) => true,
    };
    if plain { name.to_owned() } else { format!("`{name}`") }
}

/// The name itself, of what is written for it.
pub(super) fn bare(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}
