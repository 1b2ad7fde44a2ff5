//! Lists and excerpts in the sentences of findings: the user's names and texts in backticks.

/// Names of the user in a row; after the fourth only their number.
pub(crate) fn names<'n>(all: impl IntoIterator<Item = &'n str>) -> String {
    row(&all.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// The same of names that are in back-quotes already.
pub(crate) fn row(all: &[String]) -> String {
    match all.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some(_) if all.len() > 4 => format!("{} and {} more", all[..4].join(", "), all.len() - 4),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// At most about forty characters of a text.
pub(crate) fn short(text: &str) -> String {
    if text.chars().count() <= 44 {
        return text.to_owned();
    }
    text.chars().take(40).chain("…".chars()).collect()
}
