//! Every dependency may be used under a licence that `.cargo/deny.toml` allows, and `.cargo/deny.toml` allows no other.

use std::collections::BTreeSet;
use test_support::project::{metadata, metadata_with, read};

fn allowed() -> BTreeSet<String> {
    let text = read(".cargo/deny.toml");
    let list = text.split_once("allow = [").expect("the file allows licences").1;
    let list = list.split_once(']').expect("the list ends").0;
    list.lines()
        .filter_map(|l| l.trim().trim_end_matches(',').strip_prefix('"')?.strip_suffix('"'))
        .map(String::from)
        .collect()
}

/// The licences by which an SPDX expression is met: `None` if `allowed` does not meet it. Of alternatives all that are allowed.
fn met(expression: &str, allowed: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let result = either(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "not an SPDX expression: {expression}");
    result
}

fn either(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let mut result = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        let other = both(words, at, allowed);
        result = match (result, other) {
            (Some(mut one), Some(other)) => {
                one.extend(other);
                Some(one)
            }
            (one, other) => one.or(other),
        };
    }
    result
}

fn both(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let mut result = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        let other = one(words, at, allowed);
        result = result.zip(other).map(|(mut a, b)| {
            a.extend(b);
            a
        });
    }
    result
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let word = words.get(*at).copied().expect("an SPDX expression goes on");
    *at += 1;
    if word == "(" {
        let result = either(words, at, allowed);
        assert_eq!(words.get(*at), Some(&")"), "an SPDX group ends");
        *at += 1;
        return result;
    }
    let mut name = word.to_string();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{word} WITH {}", words.get(*at + 1).expect("an exception follows"));
        *at += 2;
    }
    allowed.contains(&name).then(|| BTreeSet::from([name]))
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed();
    let mut used = BTreeSet::new();
    let mut faults = Vec::new();
    // What benchmarks are compared with is downloaded only where they were built.
    let found = metadata_with(&["--all-features"]).unwrap_or_else(metadata);
    for package in found["packages"].as_array().expect("cargo lists packages") {
        let name = &package["name"];
        match package["license"].as_str() {
            None => faults.push(format!("{name} names no licence")),
            Some(licence) => match met(licence, &allowed) {
                None => faults.push(format!("{name}: {licence}")),
                Some(by) => used.extend(by),
            },
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let unused: Vec<_> = allowed.difference(&used).collect();
    assert!(unused.is_empty(), "allowed and not used: {unused:?}");
}

#[test]
fn licence_expressions_are_read_as_spdx() {
    let allowed: BTreeSet<String> = ["MIT", "ISC", "A WITH x"].map(String::from).into();
    assert!(met("GPL-3.0 OR MIT", &allowed).is_some());
    assert!(met("GPL-3.0/MIT", &allowed).is_some());
    assert!(met("(GPL-3.0 OR MIT) AND ISC", &allowed).is_some());
    assert!(met("GPL-3.0 AND MIT", &allowed).is_none());
    assert!(met("A WITH x", &allowed).is_some());
    assert!(met("A", &allowed).is_none());
}
