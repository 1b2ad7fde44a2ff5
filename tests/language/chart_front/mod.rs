//! The `.chart` front end: what parses, and what is said of what does not.

mod hostile;
mod soup;
mod texts;

use crate::listed;
use chartc::diagnostic::Diagnostic;
use chartc::source::Source;
use chartc::span::FileId;
use chartc_compiler::front;
use chartc_compiler::syntax;
use std::path::PathBuf;
use test_support::cases::{Form, compare};
use test_support::project::{self, root};

/// Reads a text as a chart.
fn parse(text: &str) -> (syntax::File, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let file = front::parse(FileId(0), &Source::new("a.chart", text), &mut found);
    (file, found)
}

/// Findings as a person counts lines, with the text they point at.
fn report(text: &str) -> String {
    let source = Source::new("a.chart", text);
    let (_, found) = parse(text);
    let mut out = String::new();
    for one in &found {
        let at = source.position(one.span.start);
        let line = text.lines().nth(at.line - 1).unwrap_or_default();
        let marked = source.slice(one.span);
        out.push_str(&format!(
            "{}:{}: {}\n    {line}\n    marks `{marked}`\n",
            at.line, at.column, one.message
        ));
        if let Some(help) = &one.help {
            out.push_str(&format!("    help: {help}\n"));
        }
    }
    out
}

/// The charts of the project.
pub(crate) fn charts() -> Vec<PathBuf> {
    let folder = root().join("charts");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the project has charts")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "chart"))
        .collect();
    all.sort();
    all
}

/// Data for tests that is not part of the project, where it is there.
fn shared(path: &str) -> Option<PathBuf> {
    let found = project::shared()?.join(path);
    if found.exists() {
        return Some(found);
    }
    println!("skipped, not found: {}", found.display());
    None
}

/// The examples of the design.
pub(crate) fn design() -> Vec<String> {
    let Some(path) = shared("design/language.md") else { return Vec::new() };
    let text = std::fs::read_to_string(path).expect("it can be read");
    let blocks = text.split("```chart\n").skip(1);
    blocks.filter_map(|block| block.split("```").next()).map(str::to_owned).collect()
}

/// Agents of other projects, each with its name.
pub(crate) fn agents() -> Vec<(String, String)> {
    let Some(folder) = shared("agent_yaml/files") else { return Vec::new() };
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("it is a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    all.sort();
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("it can be read");
    all.iter().map(|path| (path.display().to_string(), text(path))).collect()
}

/// What people get wrong, and what they are told.
#[test]
fn mistakes() {
    let path = "tests/language/chart_front/mistakes.cases";
    compare(path, Form::File("a.chart"), &listed::all);
}

#[test]
fn shipped_charts() {
    for path in charts() {
        let text = std::fs::read_to_string(&path).expect("a chart can be read");
        assert_eq!(report(&text), "", "{}", path.display());
    }
}

#[test]
fn charts_of_the_design() {
    for text in design() {
        assert_eq!(report(&text), "");
    }
}
