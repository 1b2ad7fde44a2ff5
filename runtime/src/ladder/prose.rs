//! Which names a text mentions, and whether it takes anything back.

/// Words after which a mention may mean its contrary.
const TURNS: [&str; 26] = [
    "not", "no", "never", "neither", "nor", "none", "without", "cannot", "instead", "rather",
    "unless", "except", "avoid", "against", "refuse", "reject", "dont", "wont", "isnt", "either",
    "maybe", "perhaps", "unsure", "if", "or", "but",
];

/// The words of `text`, in lower case; `_` and `-` separate.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .map(|w| w.trim_matches(['\'', '’']).to_lowercase())
        .filter(|w| !w.is_empty())
        .collect()
}

/// What prose says of some names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mentions {
    /// Indices of the names mentioned, ascending, each once.
    pub(super) names: Vec<usize>,
    /// A word or mark that negates, opposes or doubts.
    pub(super) turn: Option<String>,
}

/// Finds `names` in `text` as whole words, the longest name first.
pub(super) fn mentions(text: &str, names: &[&str]) -> Mentions {
    let names: Vec<Vec<String>> = names.iter().map(|n| words(n)).collect();
    let said = words(text);
    let mut found = Vec::new();
    let mut turn = text.contains('?').then(|| "?".to_owned());
    let mut at = 0;
    while at < said.len() {
        let hit = names
            .iter()
            .enumerate()
            .filter(|(_, n)| !n.is_empty() && said[at..].starts_with(n))
            .max_by_key(|(i, n)| (n.len(), std::cmp::Reverse(*i)));
        if let Some((index, name)) = hit {
            found.push(index);
            at += name.len();
            continue;
        }
        let word = &said[at];
        if turn.is_none()
            && (TURNS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t"))
        {
            turn = Some(word.clone());
        }
        at += 1;
    }
    found.sort_unstable();
    found.dedup();
    Mentions { names: found, turn }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[usize], turn: Option<&str>) {
        let got = mentions(text, &["ship", "pivot", "ship_it_all", "do-not-post"]);
        assert_eq!(
            got,
            Mentions { names: names.to_vec(), turn: turn.map(str::to_owned) },
            "{text}"
        );
    }

    #[test]
    fn whole_words_and_the_longest_name() {
        check("I choose to **ship**.", &[0], None);
        check("Ship it all, please", &[2], None);
        check("shipping is worship", &[], None);
        check("ship, then pivot, then SHIP", &[0, 1], None);
    }

    #[test]
    fn words_that_take_it_back() {
        check("I am not going to ship", &[0], Some("not"));
        check("I wouldn't ship", &[0], Some("wouldn't"));
        check("ship?", &[0], Some("?"));
        check("do not post", &[3], None);
    }
}
