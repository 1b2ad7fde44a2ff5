//! Writes the table of rules from the front matter of their pages.
#![allow(clippy::disallowed_methods, reason = "a build script reads its sources")]

use std::fmt::Write;
use std::path::Path;

/// The keys of the front matter, in their order.
const KEYS: [&str; 4] = ["code", "name", "stage", "level"];

fn main() {
    let pages = Path::new("rules");
    println!("cargo::rerun-if-changed={}", pages.display());
    let entries = std::fs::read_dir(pages).expect("the pages are beside this script");
    let files = entries.map(|entry| entry.expect("a file of the folder").path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "md"));
    let mut rules: Vec<[String; 5]> = files.map(|file| rule(&file)).collect();
    // `read_dir` has no fixed order. Sorted by code, the table is the same on every machine.
    rules.sort();
    let mut table = String::new();
    let mut all = String::new();
    for [code, name, stage, level, page] in &rules {
        let constant = name.replace('-', "_").to_uppercase();
        writeln!(
            table,
            "/// {code} `{name}`.\npub static {constant}: Rule = Rule {{ code: {code:?}, name: {name:?}, stage: Stage::{stage}, \
             severity: Severity::{level}, page: {page:?} }};",
        )
        .expect("a text takes all");
        writeln!(all, "    &{constant},").expect("a text takes all");
    }
    write!(table, "/// Every rule, by code.\npub static RULES: &[&Rule] = &[\n{all}];\n")
        .expect("a text takes all");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("rules.rs"), table).expect("cargo's folder can be written");
}

/// Reads a page. Returns the code, name, stage and level from its front matter, then its text.
fn rule(file: &Path) -> [String; 5] {
    let shown = file.display();
    let text = std::fs::read_to_string(file).unwrap_or_else(|why| panic!("{shown}: {why}"));
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n\n"));
    let (front, page) =
        parts.unwrap_or_else(|| panic!("{shown} does not begin with `---`, {KEYS:?} and `---`"));
    let mut lines = front.lines();
    let mut value = |key: &str| {
        let value = lines.next().and_then(|line| line.strip_prefix(key)?.strip_prefix(": "));
        value
            .unwrap_or_else(|| {
                panic!("{shown}: the front matter has {KEYS:?} in this order; `{key}` is missing")
            })
            .to_owned()
    };
    let [code, name, stage, level] = KEYS.map(&mut value);
    assert_eq!(
        Some(name.replace('-', "_").as_str()),
        file.file_stem().and_then(|stem| stem.to_str()),
        "{shown}: its name"
    );
    [code, name, capital(&stage), capital(&level), page.to_owned()]
}

/// The name of a variant: `Syntax` for `syntax`.
fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
