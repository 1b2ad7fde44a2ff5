//! The house rules that a program can check: who may know whom, file length, the table of findings. `src/ARCHITECTURE.md`
//! tells them in words.

use crate::imports::{module, own_files, paths};
use chartc_compiler::lint::LINTS;
use chartc_compiler::rules::RULES;
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::{files, metadata, read};

/// What only the named modules of a crate may name; nobody, where none is named.
const ONLY: &[(&str, &str, &[&str])] = &[
    ("src", "std::fs", &["cli", "build", "disk", "main"]),
    ("src", "std::env", &["cli", "build", "main", "setup"]),
    ("src", "std::process", &["cli", "build", "main"]),
    ("src", "std::io", &["cli", "build", "disk", "main", "scenario"]),
    ("src", "std::time", &["cli"]),
    ("src", "std::thread", &["cli"]),
    ("src", "std::net", &["cli"]),
    ("src", "clap", &["cli", "main"]),
    ("src", "miette", &["cli", "main", "report", "setup"]),
    ("src", "ignore", &["cli"]),
    ("src", "libc", &["disk"]),
    ("src", "tempfile", &["cli"]),
    ("src", "tokio", &["cli"]),
    ("src", "chartc_runtime", &["cli", "scenario", "setup"]),
    (COMPILER, "pest", &["front"]),
    (COMPILER, "roxmltree", &["front"]),
    (COMPILER, "pest_derive", &["front"]),
    (COMPILER, "serde_yaml", &["front"]),
    (COMPILER, "unicode_script", &["confusables"]),
    (COMPILER, "unicode_security", &["confusables", "emit"]),
    (COMPILER, "petgraph", &["analysis", "lower"]),
    ("runtime/core/src", "std", &[]),
    ("runtime/src", "std::fs", &[]),
    ("runtime/src", "std::env", &[]),
    ("runtime/src", "std::time::Instant", &[]),
    ("runtime/src", "std::time::SystemTime", &[]),
    ("runtime/src", "std::thread", &["agents"]),
];

/// The sources of the compiler, which has no clock, no environment and no file system.
const COMPILER: &str = "src/compiler";
const WORLD: &[&str] =
    &["std::fs", "std::env", "std::process", "std::io", "std::time", "std::thread", "std::net"];

#[test]
fn outside_crates_and_the_world_stay_where_they_belong() {
    let mut faults = BTreeSet::new();
    let world = WORLD.iter().map(|what| (COMPILER, *what, &["build"][..]));
    let rows: Vec<(&str, &str, &[&str])> = ONLY.iter().copied().chain(world).collect();
    for folder in [COMPILER, "src", "runtime/src", "runtime/core/src"] {
        for file in own_files(folder) {
            let module = module(&file, folder).into_iter().next().unwrap_or_default();
            for path in paths(&file, folder) {
                let path = path.join("::");
                for (_, what, at) in rows.iter().filter(|(f, _, _)| *f == folder) {
                    let named = path == *what || path.starts_with(&format!("{what}::"));
                    if named && !at.contains(&module.as_str()) {
                        faults.insert(format!("{file}: `{what}` does not belong into `{module}`"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn front_ends_make_syntax_and_never_the_model() {
    let faults: Vec<_> = (files("src/compiler/front", ".rs").into_iter())
        .chain(files("src/compiler/syntax/print", ".rs"))
        .filter(|f| paths(f, COMPILER).iter().any(|p| p[0] == "chartc_core" && p[1] == "model"))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Normal dependencies of a package, itself left out, direct and indirect.
fn dependencies(metadata: &serde_json::Value, name: &str) -> BTreeSet<String> {
    let rows = |key: &str| metadata[key].as_array().cloned().unwrap_or_default();
    let names: BTreeMap<String, String> =
        (rows("packages").iter()).map(|p| (text(&p["id"]), text(&p["name"]))).collect();
    let nodes = metadata["resolve"]["nodes"].as_array().cloned().unwrap_or_default();
    let mut next: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in &nodes {
        let normal = node["deps"].as_array().into_iter().flatten().filter(|d| {
            d["dep_kinds"].as_array().into_iter().flatten().any(|k| k["kind"].is_null())
        });
        next.insert(text(&node["id"]), normal.map(|d| text(&d["pkg"])).collect());
    }
    let start = names.iter().find(|(_, n)| *n == name).map(|(id, _)| id.clone());
    let mut open = vec![start.unwrap_or_else(|| panic!("no package {name}"))];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        for below in next.get(&id).into_iter().flatten() {
            if seen.insert(names[below].clone()) {
                open.push(below.clone());
            }
        }
    }
    seen
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

#[test]
fn core_depends_on_nothing_but_serde() {
    let found = dependencies(&metadata(), "chartc-core");
    let serde =
        ["serde", "serde_core", "serde_derive", "proc-macro2", "quote", "syn", "unicode-ident"];
    let other: Vec<_> = found.iter().filter(|d| !serde.contains(&d.as_str())).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn runtime_does_not_know_the_compiler() {
    let found = dependencies(&metadata(), "chartc-runtime");
    for compiler in [
        "chartc",
        "chartc-compiler",
        "pest",
        "petgraph",
        "miette",
        "clap",
        "codegen",
        "prettyplease",
    ] {
        assert!(!found.contains(compiler), "chartc-runtime depends on {compiler}");
    }
}

const RUST: &[&str] = &["src", "tests", "runtime", "examples", "grammar", "editors"];

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<_> = (RUST.iter().flat_map(|folder| files(folder, ".rs")))
        .filter(|file| !file.ends_with("/tests.rs"))
        .filter(|file| !read(file).lines().next().is_some_and(|l| l.starts_with("//!")))
        .collect();
    assert!(silent.is_empty(), "no `//!` on the first line: {silent:#?}");
}

#[test]
fn every_lint_is_registered() {
    let written: usize = (files("src/compiler/lint", ".rs").iter())
        .map(|file| read(file).matches(": Lint =").count())
        .sum();
    assert_eq!(written, LINTS.len(), "a lint has no row in `LINTS`");
}

#[test]
fn codes_and_names_of_findings_are_unique() {
    let rules = RULES;
    let codes: BTreeSet<&str> = rules.iter().map(|r| r.code).collect();
    assert_eq!(codes.len(), rules.len());
    for rule in rules {
        let digits = rule.code.strip_prefix('C').unwrap_or_default();
        let well_formed =
            digits.len() == 4 && digits.starts_with('0') && digits.parse::<u32>().is_ok();
        assert!(well_formed, "{} is no code", rule.code);
    }
}
