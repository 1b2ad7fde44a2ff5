//! The pages of `docs/` and the tables.

use chartc::keys::{AGENT, COMPONENT, CONFIG, Mapping, RUN, Shape};
use std::collections::BTreeSet;
use test_support::project::{blocks, files, read};

/// The YAML files that the commands of the pages write.
pub(super) fn heredocs() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for page in files("docs", ".md") {
        for (line, block) in blocks(&read(&page), "console") {
            let mut lines = block.lines();
            while let Some(command) = lines.next() {
                let Some((name, _)) =
                    command.strip_prefix("$ cat > ").and_then(|rest| rest.split_once(" <<"))
                else {
                    continue;
                };
                let text: String =
                    lines.by_ref().take_while(|l| *l != "END").map(|l| format!("{l}\n")).collect();
                if name.ends_with(".yaml") {
                    found.push((format!("{page}:{line}: {name}"), text));
                }
            }
        }
    }
    found
}

/// The names of all keys of a table, with those of the mappings in it.
fn names(table: &'static Mapping, found: &mut BTreeSet<&'static str>) {
    for key in table.keys {
        found.insert(key.name.trim_end_matches('*'));
        inner(&key.shape, found);
    }
}

fn inner(shape: &'static Shape, found: &mut BTreeSet<&'static str>) {
    for shape in shape.alternatives() {
        match shape {
            Shape::Mapping(table) => names(table, found),
            Shape::List { of, .. } | Shape::ByName { of, .. } => inner(of, found),
            Shape::Words(words) => found.extend(words.iter().map(|word| word.word)),
            _ => {}
        }
    }
}

/// What stands between backticks, split into words.
fn code(page: &str) -> BTreeSet<&str> {
    let parts = page.split('`').skip(1).step_by(2);
    parts
        .flat_map(|part| part.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')))
        .collect()
}

#[test]
fn the_pages_name_every_key() {
    for (page, tables) in [
        ("docs/agent_yaml.md", &[&AGENT, &COMPONENT][..]),
        ("docs/world.md", &[&RUN]),
        ("docs/ci.md", &[&CONFIG]),
    ] {
        let mut wanted = BTreeSet::new();
        for table in tables {
            names(table, &mut wanted);
        }
        let text = read(page);
        let told = code(&text);
        let missing: Vec<_> = wanted.iter().filter(|name| !told.contains(*name)).collect();
        assert!(missing.is_empty(), "{page} does not name {missing:?}");
    }
}

/// The keys in the first column of the tables of a page.
fn rows(page: &str) -> BTreeSet<&str> {
    let cells = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1));
    let keys = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    keys.map(|key| key.rsplit('.').next().unwrap_or(key))
        .filter(|key| !key.contains([' ', ':', '…']))
        .collect()
}

#[test]
fn the_page_of_agents_names_no_key_that_there_is_not() {
    let text = read("docs/agent_yaml.md");
    let part = |from: &str, to: &str| {
        let (_, rest) = text.split_once(from).expect("a part of the page");
        rest.split_once(to).expect("its end").0.to_owned()
    };
    let told = part("## What is read", "## Conditions, code, prompts")
        + &part("**Working memory** is", "Agents of the original");
    let mut known = BTreeSet::new();
    names(&AGENT, &mut known);
    names(&COMPONENT, &mut known);
    let unknown: Vec<_> = rows(&told).into_iter().filter(|key| !known.contains(key)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
