//! How names are spelled.

pub use chartc_core::model::RESERVED;
pub use chartc_core::tables::CATCH_ALL;

/// A word that is a name only in back-quotes.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Spelled as types and charts are.
pub fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Spelled as everything else is.
pub fn is_lower_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
