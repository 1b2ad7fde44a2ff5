//! `docs/SUMMARY.md`: the order of the pages. Pages of rules, commands and recipes are put in by themselves.

use super::{pages, rules, same};
use chartc_compiler::rules::RULES;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use test_support::project::{files, read, root};

pub(super) const PAGE: &str = "docs/SUMMARY.md";

enum Entry {
    Part(&'static str),
    /// A title and a page; without the page yet, mdBook shows the title without a link.
    Page(&'static str, &'static str),
    Rules,
    Commands,
    Recipes,
}
use Entry::{Commands, Page, Part, Recipes, Rules};

const ORDER: &[Entry] = &[
    Page("Introduction", "introduction.md"),
    Part("Learn"),
    Page("Installing", "install.md"),
    Page("Tutorial", "tutorial.md"),
    Page("Drawing", "drawing.md"),
    Page("Editors", "editors.md"),
    Recipes,
    Part("Write"),
    Page("The language on one page", "one_page.md"),
    Page("The language", "language.md"),
    Page("How a chart runs", "execution.md"),
    Page("Retries and doubt", "doubt.md"),
    Page("agent.yaml", "agent_yaml.md"),
    Page("SCXML", "scxml.md"),
    Page("From LangGraph, XState and Conductor", "from_others.md"),
    Part("Check"),
    Page("Checks", "checks.md"),
    Rules,
    Page("Properties", "properties.md"),
    Page("Testing", "testing.md"),
    Page("Continuous integration", "ci.md"),
    Part("Run"),
    Page("Running", "running.md"),
    Page("How answers are read", "answers.md"),
    Page("With your own model", "models.md"),
    Page("Tools", "tools.md"),
    Page("Serving", "serve.md"),
    Page("Worlds of many agents", "world.md"),
    Page("Traces", "trace.md"),
    Page("Embedding in Rust", "rust.md"),
    Part("Reference"),
    Page("Commands", "commands/chartc.md"),
    Commands,
    Page("JSON Schemas", "schemas.md"),
    Page("Glossary", "glossary.md"),
    Page("Safety", "safety.md"),
    Page("Benchmarks", "benchmarks.md"),
    Page("Changes", "CHANGELOG.md"),
];

fn title(page: &str) -> String {
    let text = read(page);
    text.lines().find_map(|line| line.strip_prefix("# ")).expect("a page has a title").to_owned()
}

fn text() -> String {
    let mut out = "# Summary\n".to_owned();
    for (nth, entry) in ORDER.iter().enumerate() {
        match entry {
            Part(name) => {
                let _ = write!(out, "\n# {name}\n\n");
            }
            Page(name, file) if nth == 0 => {
                let _ = write!(out, "\n[{name}]({file})\n");
            }
            Page(name, file) => {
                let is_there = root().join("docs").join(file).exists();
                let _ = writeln!(out, "- [{name}]({})", if is_there { file } else { "" });
            }
            Rules => {
                for rule in RULES {
                    let file = rules::path(rule);
                    let file = file.trim_start_matches("docs/");
                    let _ = writeln!(out, "  - [{} {}]({file})", rule.code, rule.name);
                }
            }
            Commands => {
                for file in files("docs/commands", ".md") {
                    let file = file.trim_start_matches("docs/");
                    if file != "commands/chartc.md" {
                        let name = title(&format!("docs/{file}"));
                        let _ = writeln!(out, "  - [{name}]({file})");
                    }
                }
            }
            Recipes => {
                // A page that introduces the others is above them, and has their order.
                let mut all = files("docs/cookbook", ".md");
                let head = all.iter().position(|f| f.ends_with("/README.md"));
                let head = head.map(|nth| all.remove(nth)).unwrap_or_default();
                let index = if head.is_empty() { String::new() } else { read(&head) };
                all.sort_by_key(|file| {
                    let name = file.rsplit('/').next().unwrap_or_default();
                    index.find(&format!("]({name})")).unwrap_or(usize::MAX)
                });
                let _ = writeln!(out, "- [Cookbook]({})", head.trim_start_matches("docs/"));
                for file in all {
                    let _ = writeln!(
                        out,
                        "  - [{}]({})",
                        title(&file),
                        file.trim_start_matches("docs/")
                    );
                }
            }
        }
    }
    out
}

#[test]
fn the_summary_has_every_page_once() {
    same(PAGE, &text());
    let text = read(PAGE);
    let mut listed = BTreeSet::new();
    for link in super::links::of(&text) {
        if !link.target.is_empty() {
            assert!(listed.insert(format!("docs/{}", link.target)), "{} twice", link.target);
        }
    }
    for page in pages() {
        assert!(listed.remove(&page), "{page} is not in the book: add it to `ORDER`");
    }
    assert!(listed.is_empty(), "{listed:?} do not exist");
}
