//! Converts names of a chart to the spelling of programming languages. The results may be keywords, and different names may become equal:
//! callers handle both.

/// `stuck.search` → `StuckSearch`, `level_1_2` → `Level1_2`. `takes` tells whether the language allows a non-ASCII letter in identifiers.
pub fn camel(name: &str, takes: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for word in words(name, takes) {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { continue };
        // Without the underscore, `level_1_2` and `level_12` would become equal.
        if out.ends_with(|c: char| c.is_ascii_digit()) && first.is_ascii_digit() {
            out.push('_');
        }
        out.extend(first.to_uppercase());
        out.push_str(chars.as_str());
    }
    out.push_str(tail(name));
    out
}

/// `agent_id` → `agent_id`, `HTTP.status` → `http_status`. `takes` is as for [`camel`].
pub fn snake(name: &str, takes: impl Fn(char) -> bool) -> String {
    let mut out = words(name, takes).iter().map(|w| w.to_lowercase()).collect::<Vec<_>>().join("_");
    out.push_str(tail(name));
    out
}

/// The underscores at the end of a name, which distinguish `goal_` from `goal`.
fn tail(name: &str) -> &str {
    &name[name.trim_end_matches('_').len()..]
}

/// Splits a name at dots and underscores. A character that identifiers must not contain becomes a word of `u` and its code point in
/// hexadecimal.
fn words(name: &str, takes: impl Fn(char) -> bool) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        match words.last_mut() {
            Some(word) if c.is_ascii_alphanumeric() => word.push(c),
            Some(word) if !c.is_ascii() && c.is_alphabetic() && takes(c) => word.push(c),
            _ if c == '.' || c == '_' => words.push(String::new()),
            _ => {
                words.push(format!("u{:x}", u32::from(c)));
                words.push(String::new());
            }
        }
    }
    words.retain(|w| !w.is_empty());
    words
}
