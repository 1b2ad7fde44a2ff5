//! All places that state the version of chartc state the same one.

use serde_json::Value;
use test_support::project::{files, read};

#[test]
fn all_places_state_the_same_version() {
    let mut stated = Vec::new();
    for ending in [".md", ".yml", ".yaml", ".toml", "package.json"] {
        for file in files("", ending) {
            let text = read(&file);
            stated
                .extend(versions(&file, &text).into_iter().map(|version| (file.clone(), version)));
        }
    }
    for (file, least) in [("Cargo.toml", 7), ("tests/fuzz/Cargo.toml", 1), ("docs/ci.md", 3)] {
        let count = stated.iter().filter(|(other, _)| other == file).count();
        assert!(
            count >= least,
            "{file} states the version {count} times: is it written differently?"
        );
    }
    stated.retain(|(_, version)| version != env!("CARGO_PKG_VERSION"));
    assert!(stated.is_empty(), "Cargo.toml states {}, and {stated:?}", env!("CARGO_PKG_VERSION"));
}

/// The versions of chartc that a file states.
fn versions(file: &str, text: &str) -> Vec<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    if name == "package.json" {
        return if file.starts_with("packages/") { of_npm(text) } else { Vec::new() };
    }
    // `uses: chartc/chartc@v1`, `cargo install chartc@1`, `pip install chartc==1`, and the repository of a hook.
    let marks = ["chartc@", "chartc==", "chartc/chartc\n"];
    let mut after: Vec<&str> = marks.iter().flat_map(|mark| text.split(mark).skip(1)).collect();
    if name == "Cargo.toml" || name == "pyproject.toml" {
        let own = |line: &&str| line.starts_with("version = ") || line.starts_with("chartc");
        let lines = text.lines().filter(own);
        after.extend(lines.filter_map(|line| Some(line.split_once("version = \"")?.1)));
    }
    after.into_iter().filter_map(version).collect()
}

/// The version at the beginning of a text.
fn version(text: &str) -> Option<String> {
    let text = text.trim_start();
    let text = text.strip_prefix("rev:").unwrap_or(text).trim_start();
    let text = text.strip_prefix('v').unwrap_or(text);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-+.".contains(c);
    let version: String = text.chars().take_while(|c| is_part(*c)).collect();
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then(|| version.trim_end_matches('.').to_owned())
}

/// The version of a package, and those of the packages of chartc that it needs.
fn of_npm(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).expect("a package is JSON");
    let tables = ["dependencies", "optionalDependencies", "peerDependencies"];
    let needs = tables.iter().filter_map(|table| package[table].as_object()).flatten();
    let own = needs.filter(|(name, _)| *name == "chartc" || name.starts_with("@chartc/"));
    let all = own.map(|(_, version)| version).chain(package.get("version"));
    all.map(|version| version.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_version_is_read_wherever_it_stands() {
    for (file, text, found) in [
        (
            "docs/a.md",
            "- uses: chartc/chartc@v1.2.3\n  cargo install chartc@1.2.4.\n",
            &["1.2.3", "1.2.4"][..],
        ),
        (
            "docs/a.md",
            "repo: https://x/chartc/chartc\n    rev: v1.2.3\n- repo: x\n  rev: v9\n",
            &["1.2.3"],
        ),
        ("README.md", "pip install chartc==1.2.3rc1 and chartc@latest", &["1.2.3rc1"]),
        (
            "tests/fuzz/Cargo.toml",
            "version = \"1.2.3\"\nrust-version = \"9\"\nserde = { version = \"1\" }\n",
            &["1.2.3"],
        ),
        ("Cargo.toml", "chartc-compiler = { version = \"1.2.3\", path = \"x\" }\n", &["1.2.3"]),
        ("packages/python/pyproject.toml", "[project]\nversion = \"1.2.3\"\n", &["1.2.3"]),
        ("packages/python/pyproject.toml", "[project]\ndynamic = [\"version\"]\n", &[]),
        (
            "packages/npm/package.json",
            "{\"version\":\"1.2.3\",\"optionalDependencies\":{\"@chartc/linux-x64\":\"1.2.4\",\"x\":\"9\"}}",
            &["1.2.4", "1.2.3"],
        ),
        ("tests/mermaid/package.json", "{\"version\":\"9\"}", &[]),
    ] {
        assert_eq!(versions(file, text), found, "{file}: {text}");
    }
}
