//! Converts a chart's names to Rust identifiers; no other module of the emitter does.
//!
//! [`Names::of`] reports two names in the same scope that become one identifier, so no generated item shadows another.

use chartc_check::spelling;
use unicode_security::GeneralSecurityProfile;
use unicode_security::is_potential_mixed_script_confusable_char as is_twin;

/// The words that are not identifiers in some edition of Rust.
const KEYWORDS: &[&str] = &[
    "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Makes the name of a type or variant: `stuck.search` → `StuckSearch`, `level_1_2` → `Level1_2`.
pub(super) fn upper_camel(name: &str) -> String {
    legal(spelling::camel(name, takes(name)), 'V')
}

/// Makes the name of a field, argument or function: `agent_id` → `agent_id`, `HTTP.status` → `http_status`.
pub(super) fn snake(name: &str) -> String {
    legal(spelling::snake(name, takes(name)), 'v')
}

/// Makes the name of a module: `SecondOne` → `second_one`.
pub(super) fn module(name: &str) -> String {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase()
            && spaced.ends_with(|before: char| before.is_lowercase() || before.is_numeric())
        {
            spaced.push('_');
        }
        spaced.push(c);
    }
    snake(&spaced)
}

/// Returns a test for the letters that a name keeps: those that Rust accepts in identifiers without a warning. Letters that look like Latin
/// ones are kept only in a name with other letters of their script.
fn takes(name: &str) -> impl Fn(char) -> bool {
    let is_own = name.chars().any(|c| !c.is_ascii() && c.is_alphabetic() && !is_twin(c));
    move |c| c.identifier_allowed() && (is_own || !is_twin(c)) && syn_takes(c)
}

/// Whether the Rust parser accepts `c` inside an identifier.
fn syn_takes(c: char) -> bool {
    syn::parse_str::<syn::Ident>(&format!("a{c}")).is_ok()
}

/// Puts a letter before a leading digit, and an underscore after a keyword or an empty name.
fn legal(mut name: String, letter: char) -> String {
    if name.trim_end_matches('_').is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, letter);
    }
    if syn::parse_str::<syn::Ident>(&name).is_err() && !KEYWORDS.contains(&name.as_str()) {
        name.insert(0, letter);
    }
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_variants() {
        assert_eq!(upper_camel("engaging.like"), "EngagingLike");
        assert_eq!(upper_camel("evaluating_post"), "EvaluatingPost");
        assert_eq!(upper_camel("b1_1"), "B1_1");
        assert_eq!(upper_camel("b1.1"), "B1_1");
        assert_eq!(upper_camel("self"), "Self_");
        assert_eq!(upper_camel("7up"), "V7up");
        assert_eq!(upper_camel("__"), "V__");
        assert_eq!(upper_camel("goal_"), "Goal_");
    }

    #[test]
    fn fields_keep_their_spelling() {
        assert_eq!(snake("success_rate"), "success_rate");
        assert_eq!(snake("true"), "true_");
        assert_eq!(snake("type"), "type_");
        assert_eq!(snake("A"), "a");
        assert_eq!(snake("_"), "v_");
        assert_eq!(snake("current_goal_"), "current_goal_");
    }

    #[test]
    fn modules_are_split_where_a_word_begins() {
        assert_eq!(module("SecondOne"), "second_one");
        assert_eq!(module("HTTP2Proxy"), "http2_proxy");
    }

    #[test]
    fn every_name_is_a_legal_identifier() {
        for name in
            ["été", "a-b", "🙂", "a b", "\"", "", "1", "名前", "ﬁ", "e\u{301}", "²", "r#x", "'"]
        {
            for made in [upper_camel(name), snake(name)] {
                assert!(syn::parse_str::<syn::Ident>(&made).is_ok(), "{name:?} became {made:?}");
            }
        }
        for word in KEYWORDS {
            assert!(syn::parse_str::<syn::Ident>(&snake(word)).is_ok(), "{word}");
            assert!(syn::parse_str::<syn::Ident>(&upper_camel(word)).is_ok(), "{word}");
        }
    }
}
