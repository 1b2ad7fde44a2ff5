//! The house rules that a program can check: who may know whom, file length, the table of findings. `src/ARCHITECTURE.md`
//! tells them in words.

use crate::imports::{module, paths};
use crate::project::{files, metadata, read};
use chartc::lint::LINTS;
use chartc::rules::RULES;
use std::collections::{BTreeMap, BTreeSet};

/// Modules of the library, each with those of its siblings that it may name. Nobody but `cli` may name `cli`.
pub(crate) const COMPILER: &[(&str, &[&str])] = &[
    ("span", &[]),
    ("source", &["span"]),
    ("diagnostic", &["span"]),
    ("syntax", &["span"]),
    ("rules", &["diagnostic", "span"]),
    ("allow", &["diagnostic", "rules", "source", "span", "syntax"]),
    ("disguise", &["diagnostic", "rules", "source", "span", "syntax"]),
    ("load", &["diagnostic", "front", "rules", "source", "span", "syntax"]),
    ("front", &["diagnostic", "rules", "source", "span", "syntax"]),
    ("lower", &["diagnostic", "rules", "load", "source", "span", "syntax"]),
    ("notation", &[]),
    ("spelling", &[]),
    ("facts", &[]),
    ("turn", &["facts"]),
    ("explore", &["facts"]),
    (
        "lint",
        &[
            "diagnostic",
            "explore",
            "facts",
            "lower",
            "notation",
            "rules",
            "source",
            "span",
            "spelling",
            "turn",
        ],
    ),
    ("print", &["span", "syntax"]),
    ("report", &["diagnostic", "source", "span"]),
    (
        "emit",
        &["compile", "diagnostic", "lower", "rules", "notation", "source", "span", "spelling"],
    ),
    (
        "compile",
        &[
            "allow",
            "diagnostic",
            "disguise",
            "explore",
            "facts",
            "front",
            "lint",
            "load",
            "lower",
            "rules",
            "source",
            "span",
            "syntax",
        ],
    ),
    ("scenario", &["compile", "diagnostic", "rules", "lower", "notation", "source", "span"]),
    ("disk", &["front", "load"]),
    (
        "build",
        &["compile", "diagnostic", "disk", "emit", "load", "report", "rules", "source", "span"],
    ),
    ("cli", CLI),
    ("main", &["cli"]),
];

/// What the commands name; nothing else names them.
const CLI: &[&str] = &[
    "compile",
    "diagnostic",
    "disguise",
    "disk",
    "emit",
    "explore",
    "facts",
    "front",
    "lint",
    "load",
    "lower",
    "notation",
    "print",
    "report",
    "rules",
    "scenario",
    "source",
    "span",
    "turn",
];

/// What only the named modules of a crate may name; nobody, where none is named.
const ONLY: &[(&str, &str, &[&str])] = &[
    ("src", "std::fs", &["cli", "build", "disk", "main"]),
    ("src", "std::env", &["cli", "build", "main"]),
    ("src", "std::process", &["cli", "build", "main"]),
    ("src", "std::io", &["cli", "build", "disk", "main", "scenario"]),
    ("src", "std::time", &["cli"]),
    ("src", "std::thread", &["cli"]),
    ("src", "std::net", &[]),
    ("src", "clap", &["cli", "main"]),
    ("src", "miette", &["cli", "main", "report"]),
    ("src", "ignore", &["cli"]),
    ("src", "libc", &["disk"]),
    ("src", "tempfile", &["cli"]),
    ("src", "tokio", &["cli"]),
    ("src", "chartc_runtime", &["cli", "scenario"]),
    ("src", "pest", &["front"]),
    ("src", "roxmltree", &["front"]),
    ("src", "pest_derive", &["front"]),
    ("src", "serde_yaml", &["front", "cli"]),
    ("src", "petgraph", &["facts", "lower"]),
    ("src", "unicode_script", &["disguise"]),
    ("src", "unicode_security", &["disguise", "emit"]),
    ("src", "codegen", &["emit"]),
    ("src", "syn", &["emit"]),
    ("src", "prettyplease", &["emit"]),
    ("runtime/core/src", "std", &[]),
    ("runtime/src", "std::fs", &[]),
    ("runtime/src", "std::env", &[]),
    ("runtime/src", "std::time::Instant", &[]),
    ("runtime/src", "std::time::SystemTime", &[]),
    ("runtime/src", "std::thread", &[]),
];

#[test]
fn outside_crates_and_the_world_stay_where_they_belong() {
    let mut faults = BTreeSet::new();
    for folder in ["src", "runtime/src", "runtime/core/src"] {
        for file in files(folder, ".rs") {
            let module = module(&file, folder).into_iter().next().unwrap_or_default();
            for path in paths(&file, folder) {
                let path = path.join("::");
                for (_, what, at) in ONLY.iter().filter(|(f, _, _)| *f == folder) {
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
    let faults: Vec<_> = (files("src/front", ".rs").into_iter())
        .chain(files("src/print", ".rs"))
        .filter(|f| paths(f, "src").iter().any(|p| p[0] == "chartc_core" && p[1] == "model"))
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
    for compiler in ["chartc", "pest", "petgraph", "miette", "clap", "codegen", "prettyplease"] {
        assert!(!found.contains(compiler), "chartc-runtime depends on {compiler}");
    }
}

const RUST: &[&str] = &["src", "tests", "runtime", "examples", "benches", "fuzz"];

#[test]
fn no_file_over_400_lines() {
    let long: Vec<_> = (RUST.iter().flat_map(|folder| files(folder, ".rs")))
        .map(|file| (read(&file).lines().count(), file))
        .filter(|(lines, _)| *lines > 400)
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<_> = (RUST.iter().flat_map(|folder| files(folder, ".rs")))
        .filter(|file| !file.ends_with("/tests.rs"))
        .filter(|file| !read(file).lines().next().is_some_and(|l| l.starts_with("//!")))
        .collect();
    assert!(silent.is_empty(), "no `//!` on the first line: {silent:#?}");
}

/// Names of the rules that have a file with this ending in `src/rules`.
fn rules(ending: &str) -> BTreeSet<String> {
    (files("src/rules", ending).iter())
        .map(|f| f.trim_start_matches("src/rules/").trim_end_matches(ending).replace('_', "-"))
        .filter(|name| !["mod", "precedence", "prose"].contains(&name.as_str()))
        .collect()
}

#[test]
fn every_rule_has_its_file_and_its_page() {
    let listed: BTreeSet<String> = RULES.iter().map(|r| r.name.to_string()).collect();
    assert_eq!(rules(".md"), listed);
    assert_eq!(rules(".rs"), listed);
}

#[test]
fn every_lint_is_registered() {
    let written: BTreeSet<String> = (files("src/lint", ".rs").iter())
        .filter(|f| read(f).contains(" LINT: Lint"))
        .map(|f| f.trim_start_matches("src/lint/").trim_end_matches(".rs").trim_end_matches("/mod"))
        .map(|name| name.replace('_', "-"))
        .collect();
    let listed: BTreeSet<String> = LINTS.iter().map(|l| l.rule.name.to_string()).collect();
    assert_eq!(written, listed);
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
