//! How often "did you mean" is right: every name of the shipped charts and agents, with one slip of the fingers in it.

use chartc::diagnostic::nearest;
use std::collections::BTreeSet;
use test_support::project::{files, read};

/// The names of a file: words of four letters and more that are no prose.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c)).filter(|w| w.len() > 3);
    let words = words.filter(|w| w.contains('_') || w.len() > 5);
    words.filter(|w| w.chars().next().is_some_and(char::is_alphabetic)).map(str::to_owned).collect()
}

/// The name with a slip at a place: a letter left out, doubled, exchanged with the next, or another one.
fn slip(name: &str, kind: usize, at: usize) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = at % (letters.len() - 1);
    match kind {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters.swap(at, at + 1),
        _ => letters[at] = if letters[at] == 'k' { 'q' } else { 'k' },
    }
    letters.into_iter().collect()
}

#[test]
fn nine_of_ten_guesses_are_right() {
    let (mut guessed, mut right, mut asked) = (0, 0, 0);
    for file in files("charts", ".chart").into_iter().chain(files("charts", ".yaml")) {
        let known = names(&read(&file));
        for (n, name) in known.iter().enumerate() {
            for kind in 0..4 {
                let wrong = slip(name, kind, n * 7 + kind * 3);
                if known.contains(&wrong) || wrong == *name {
                    continue;
                }
                asked += 1;
                if let Some(guess) = nearest(&wrong, known.iter().map(String::as_str)) {
                    guessed += 1;
                    right += usize::from(guess == name);
                }
            }
        }
    }
    assert!(asked > 1000, "{asked} slips are too few to tell");
    assert!(right * 100 >= guessed * 95, "{right} of {guessed} guesses are right");
    assert!(guessed * 100 >= asked * 95, "{guessed} of {asked} slips are guessed");
}

#[test]
fn names_without_kin_are_not_guessed() {
    let known =
        ["observing", "ideating", "balance", "last_action_result", "phase_1", "open", "idle"];
    for stranger in ["shipping", "market_price", "last_error", "phase_2", "done", "ring", "total"] {
        assert_eq!(nearest(stranger, known), None, "{stranger}");
    }
    assert_eq!(nearest("phase-1", known), Some("phase_1"));
    assert_eq!(nearest("last_action", known), Some("last_action_result"));
}
