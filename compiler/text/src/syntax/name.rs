//! The spelling of names.

pub use chartc_core::model::RESERVED;
pub use chartc_core::tables::CATCH_ALL;

/// Whether a name needs back-quotes because it is a keyword.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether a name is spelled like those of types and charts.
pub fn is_upper_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Whether a name is spelled like those of everything else.
pub fn is_lower_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
