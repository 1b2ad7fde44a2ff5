//! The book, made by mdBook of `docs/`: its pages, what is in them, and where their links lead. `BOOK=write cargo test book` writes what is
//! generated: `SUMMARY.md`, the pages of rules, and the pages of commands down to [`commands::BY_HAND`].

mod blocks;
mod commands;
mod links;
mod rules;
mod summary;
mod verified;

use test_support::project::{files, read, root};

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
pub(crate) struct Fence {
    /// The line of its opening fence.
    pub(crate) line: usize,
    /// Whether it stands in a list.
    pub(crate) is_inner: bool,
    pub(crate) info: String,
    pub(crate) text: String,
}

/// All fenced blocks of a page, also those in lists.
pub(crate) fn fences(page: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((nth, line)) = lines.next() {
        let ticks = line.trim_start();
        let depth = line.len() - ticks.len();
        let Some(info) = ticks.strip_prefix("```") else { continue };
        let mut text = String::new();
        let mut is_closed = false;
        for (_, line) in lines.by_ref() {
            if line.trim_start() == "```" {
                is_closed = true;
                break;
            }
            text.push_str(line.get(depth..).unwrap_or(line.trim_start()));
            text.push('\n');
        }
        assert!(is_closed, "the block at line {} does not end", nth + 1);
        found.push(Fence {
            line: nth + 1,
            is_inner: depth > 0,
            info: info.trim().to_owned(),
            text,
        });
    }
    found
}

/// The pages of the book.
fn pages() -> Vec<String> {
    let mut all = files("docs", ".md");
    all.retain(|page| page != summary::PAGE);
    all
}

fn is_writing() -> bool {
    std::env::var_os("BOOK").is_some_and(|word| word == "write")
}

/// Fails unless the file holds this text; with `BOOK=write`, it holds it then.
fn same(file: &str, text: &str) {
    if is_writing() {
        std::fs::write(root().join(file), text).expect("the page can be written");
    }
    assert!(
        root().join(file).exists(),
        "{file} is missing: `BOOK=write cargo test book` writes it"
    );
    let is = read(file);
    let differs = is.lines().zip(text.lines()).enumerate().find(|(_, (a, b))| a != b);
    if let Some((nth, (is, should))) = differs {
        panic!(
            "{file}:{}: it says\n  {is}\ninstead of\n  {should}\n`BOOK=write cargo test book` writes it",
            nth + 1
        );
    }
    assert_eq!(is, text, "{file} is too long or too short");
}

/// Fails for pages in this folder that are not generated; with `BOOK=write`, they are removed.
fn only(folder: &str, wanted: &[String]) {
    for file in files(folder, ".md") {
        if !wanted.contains(&file) {
            if is_writing() {
                std::fs::remove_file(root().join(&file)).expect("it was just found");
            } else {
                panic!("{file} is the page of nothing: `BOOK=write cargo test book` removes it");
            }
        }
    }
}

/// The words that the book colours in charts are words of the language.
#[test]
fn coloured_words_are_words_of_the_grammar() {
    let (grammar, script) = (read("grammar/chart.pest"), read("docs/theme/chart.js"));
    let of_grammar: Vec<&str> =
        grammar.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let (_, rest) = script.split_once("keyword:").expect("it lists keywords");
    let (list, _) = rest.split_once("literal:").expect("literals follow");
    let words: Vec<&str> =
        list.split('"').skip(1).step_by(2).flat_map(str::split_whitespace).collect();
    assert!(words.len() > 80, "{words:?}");
    for word in words {
        assert!(of_grammar.contains(&word), "`{word}` is no word of the language");
    }
}

#[test]
fn blocks_are_found_in_lists_too() {
    let page = "```chart\na\n```\n1. x\n\n   ```console\n   $ b\n     c\n   ```\n";
    let found = fences(page);
    let told: Vec<_> = found.iter().map(|f| (f.line, f.info.as_str(), f.text.as_str())).collect();
    assert_eq!(told, [(1, "chart", "a\n"), (6, "console", "$ b\n  c\n")]);
}
