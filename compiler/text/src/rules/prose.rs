//! Lists and excerpts for messages, with user text in backticks.

/// Lists the user's names; after the fourth, only their number.
pub fn names<'n>(all: impl IntoIterator<Item = &'n str>) -> String {
    row(&all.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// Like [`names`], for names that are already in backticks.
pub fn row(all: &[String]) -> String {
    match all.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some(_) if all.len() > 4 => format!("{} and {} more", all[..4].join(", "), all.len() - 4),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Abbreviates a text to about forty characters.
pub fn short(text: &str) -> String {
    if text.chars().count() <= 44 {
        return text.to_owned();
    }
    text.chars().take(40).chain("…".chars()).collect()
}
