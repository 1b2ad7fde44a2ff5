//! Each fenced block of the book and of README is verified, or has a reason here why it is not.
//! `cargo test --test command -- book::blocks --nocapture` prints how each is.

use super::verified::{self, Means};
use super::{Fence, fences, pages};
use chartc_compiler::rules::RULES;
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::read;

/// Blocks that no test verifies: page, info string, first line, and why.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "docs/from_others.md",
        "python",
        "graph = StateGraph(Essay)",
        "a program of LangGraph, which the tests do not install",
    ),
    ("docs/from_others.md", "js", "uploading: {", "a part of a machine of XState"),
    (
        "docs/editors.md",
        "lua",
        "-- Another binary: 0.11 and later, then before.",
        "settings of Neovim; `editors/neovim` has tests of its own",
    ),
    (
        "docs/editors.md",
        "elisp",
        "(add-to-list 'load-path \"/path/to/chartc/editors/emacs\")",
        "settings of Emacs, with a path of the reader's",
    ),
    (
        "docs/schemas.md",
        "text",
        "# yaml-language-server: $schema=agent.schema.json",
        "a comment for the YAML language server, which the tests do not install",
    ),
    (
        "docs/schemas.md",
        "text",
        "#:schema ./chartc.schema.json",
        "a comment for taplo, which the tests do not install",
    ),
    (
        "docs/language.md",
        "text",
        "File        = (Import | Record | Enum | Chart | Test | Shared)*",
        "the grammar for readers: a test of `chartc-compiler` derives texts from it and parses them",
    ),
    (
        "docs/tools.md",
        "text",
        "$ chartc tools list --tools tools.toml",
        "needs a server of npm; abbreviated",
    ),
    (
        "docs/tools.md",
        "text",
        "$ chartc tools check notes.chart --tools tools.toml",
        "needs a server of npm",
    ),
    (
        "docs/running.md",
        "text",
        "`look` cannot be written:",
        "of a chart that the page does not show; `prompt` tests such messages",
    ),
    (
        "docs/running.md",
        "text",
        "ada: loads as it is",
        "of a store that the page does not make; `store` tests such messages",
    ),
    (
        "docs/models.md",
        "python",
        "import glob, sys, time, xllamacpp",
        "needs packages of PyPI; `.ci/nightly` starts such a server",
    ),
    (
        "docs/models.md",
        "text",
        "$ chartc doctor --llm llamacpp:any",
        "answers of a real model; `no_model` and `providers` test such outputs",
    ),
    (
        "docs/world.md",
        "text",
        "does_not_compile: 12:8: C0102: no event `quote`; did you mean `quot`?",
        "of an artifact that the page does not show; `workshop` tests such messages",
    ),
];

/// Where a block is.
fn place(page: &str, fence: &Fence) -> String {
    format!("{page}:{} ({})", fence.line, fence.info)
}

/// The row of [`EXCEPTIONS`] that is about this block.
fn exception(page: &str, fence: &Fence) -> Option<usize> {
    let first = fence.text.lines().next().unwrap_or_default();
    EXCEPTIONS
        .iter()
        .position(|(p, info, line, _)| *p == page && *info == fence.info && *line == first)
}

#[test]
fn each_block_is_verified() {
    let (mut faults, mut used) = (Vec::new(), BTreeSet::new());
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = 0;
    for page in pages().into_iter().chain(["README.md".to_owned()]) {
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for fence in fences(&read(&page)) {
            count += 1;
            let way = if let Some(row) = exception(&page, &fence) {
                used.insert(row);
                format!("not verified: {}", EXCEPTIONS[row].3)
            } else if let Some(means) = verified::means(&page, &fence) {
                if let Err(why) = verified::verify(means, &page, &fence) {
                    faults.push(format!("{}: {why}", place(&page, &fence)));
                }
                means.words().to_owned()
            } else {
                faults.push(format!("{}: nobody verifies it", place(&page, &fence)));
                continue;
            };
            *here.entry(format!("{}: {way}", fence.info)).or_default() += 1;
        }
        if !here.is_empty() {
            println!("{page}");
        }
        for (way, number) in here {
            println!("  {number:3}  {way}");
            let (_, way) = way.split_once(": ").expect("just put together");
            *total.entry(way.to_owned()).or_default() += number;
        }
    }
    let of_rules: usize = RULES.iter().map(|rule| fences(rule.page).len()).sum();
    println!("docs/rules\n  {of_rules:3}  examples of rules: `lints`");
    println!("{} blocks in total, {} exceptions", count + of_rules, EXCEPTIONS.len());
    for (way, number) in total {
        println!("  {number:3}  {way}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (row, exception) in EXCEPTIONS.iter().enumerate() {
        assert!(used.contains(&row), "no such block: {exception:?}");
    }
    assert!(count > 150, "only {count} blocks");
}

/// The examples of rules are blocks that `lints` reads; there are no others on their pages.
#[test]
fn blocks_of_rules_are_examples() {
    let kinds = ["chart", "yaml", "scxml"];
    for rule in RULES {
        for fence in fences(rule.page) {
            let (kind, verdict) = fence.info.split_once(' ').unwrap_or((&fence.info, ""));
            let is_known = ["bad", "good"].contains(&verdict) || verdict.starts_with("beside ");
            assert!(kinds.contains(&kind) && is_known, "{}: {}", rule.name, fence.info);
        }
    }
}

#[test]
fn what_is_wrong_is_found() {
    let faulty = |info: &str, text: &str, page: &str| {
        let fence =
            Fence { line: 1, is_inner: false, info: info.to_owned(), text: text.to_owned() };
        let means = verified::means(page, &fence).expect("somebody verifies it");
        verified::verify(means, page, &fence).expect_err("it is wrong")
    };
    assert!(faulty("chart", "chart A { initial b }\n", "docs/a.md").contains("error"));
    assert!(faulty("rust", "fn main() { nothing() }\n", "docs/a.md").contains("compiled"));
    assert!(faulty("sh", "chartc check --nothing x\n", "docs/a.md").contains("--nothing"));
    assert!(faulty("sh", "chartc nothing\n", "docs/a.md").contains("nothing"));
    assert!(faulty("sh", "cargo run -p nothing\n", "docs/a.md").contains("nothing"));
    assert!(faulty("sh", "format c:\n", "docs/a.md").contains("format"));
    assert!(faulty("toml", "[lints]\nnothing = \"deny\"\n", "docs/a.md").contains("nothing"));
    assert!(faulty("toml", "[servers.a]\nurll = \"x\"\n", "docs/a.md").contains("urll"));
    assert!(faulty("toml", "[dependencies]\nnothing = \"1\"\n", "docs/a.md").contains("nothing"));
    assert!(faulty("yaml", "answers: 3\n", "docs/a.md").contains("answers"));
    assert!(faulty("yaml", "# run.yaml\nexecutoin: {}\n", "docs/a.md").contains("executoin"));
    assert!(faulty("yaml", "id: a\nworkflow:\n  steps: 3\n", "docs/a.md").contains("C0004"));
    assert!(faulty("json", "{\"a\": }\n", "docs/a.md").contains("line 1"));
    assert!(!faulty("jsonl", "{\"kind\":\"nothing\"}\n", "docs/a.md").is_empty());
    assert!(!faulty("json", "[{\"evnt\": \"go\"}]\n", "docs/a.md").is_empty());
    assert!(faulty("mermaid", "stateDiagram-v2\n", "docs/a.md").contains("pictures"));
    assert!(faulty("text", "never printed by anything\n", "docs/a.md").contains("never printed"));
}

#[test]
fn a_block_of_an_unknown_kind_is_verified_by_nobody() {
    for (info, page) in [("prolog", "docs/a.md"), ("", "docs/a.md"), ("http", "docs/a.md")] {
        let fence =
            Fence { line: 1, is_inner: false, info: info.to_owned(), text: "x\n".to_owned() };
        assert_eq!(verified::means(page, &fence), None, "{info}");
    }
    assert_eq!(
        verified::means("docs/serve.md", &fences("```http\nGET /\n```\n")[0]),
        Some(Means::Requested)
    );
}
