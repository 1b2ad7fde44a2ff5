//! Every chart in README and docs compiles without errors.

use chartc::diagnostic::Severity;
use chartc::load::Memory;
use std::process::Command;
use test_support::project::{blocks, files, read};

#[test]
fn charts_of_the_docs_have_no_errors() {
    let mut seen = 0;
    for page in files("docs", ".md").into_iter().chain(["README.md".to_owned()]) {
        for (line, text) in blocks(&read(&page), "chart") {
            let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &text));
            let mut errors = done.diagnostics.clone();
            errors.retain(|d| d.severity == Severity::Error);
            let errors = chartc::report::short(&errors, &done.sources);
            assert!(errors.is_empty(), "{page}, chart at line {line}:\n{errors}");
            assert!(!done.charts.is_empty(), "{page}, chart at line {line}: nothing was read");
            seen += 1;
        }
    }
    assert!(seen > 2, "only {seen} charts in the docs");
}

#[test]
fn each_promise_of_the_page_about_safety_has_its_test() {
    let page = read("docs/safety.md");
    let rows = page.lines().filter(|line| line.contains("| `tests/"));
    let mut seen = 0;
    for row in rows {
        let named: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let [file, test] = named[..] else { panic!("{row}") };
        let text = read(file);
        let (before, _) = text
            .split_once(&format!("fn {test}("))
            .unwrap_or_else(|| panic!("{file} has no test `{test}`"));
        let before = before.trim_end().trim_end_matches("async").trim_end();
        assert!(before.ends_with(']'), "`{test}` of {file} is no test");
        seen += 1;
    }
    assert!(seen > 20, "only {seen} promises");
}

#[test]
fn the_program_of_the_docs_is_the_one_that_is_compiled() {
    let shown = blocks(&read("docs/rust.md"), "rust");
    let [(_, program), (_, part)] = shown.as_slice() else { panic!("{} programs", shown.len()) };
    assert_eq!(program, &read("examples/social/src/bin/one.rs"));
    assert!(read("examples/ticket/src/main.rs").contains(part), "{part}");
}

/// The maximum length of a cell in a table of the reference, in characters.
const CELL: usize = 160;

#[test]
fn cells_of_the_language_are_short() {
    let page = read("docs/language.md");
    let mut seen = 0;
    for (nth, line) in page.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        // A `\|` belongs to its cell.
        for cell in line.replace("\\|", "/").split('|') {
            let length = cell.trim().chars().count();
            assert!(length <= CELL, "docs/language.md:{}: {length} characters: {cell}", nth + 1);
            seen += 1;
        }
    }
    assert!(seen > 500, "only {seen} cells");
}

/// About how many tokens a text has. The tokenizers `cl100k_base` and `o200k_base` count 2 to 20 % fewer in most pages and charts of this
/// project, and in none more.
fn tokens(text: &str) -> usize {
    // Letters, digits, signs and ends of lines; blanks belong to what follows.
    let kind = |c: char| match c {
        _ if c.is_alphabetic() => 0,
        _ if c.is_numeric() => 1,
        '\n' => 2,
        _ if c.is_whitespace() => 3,
        _ => 4,
    };
    let characters: Vec<char> = text.chars().collect();
    let runs = characters.chunk_by(|a, b| kind(*a) == kind(*b));
    let count = |run: &[char]| match kind(run[0]) {
        0 => run.len().div_ceil(5),
        1 => run.len().div_ceil(3),
        2 => 1,
        3 => 0,
        _ => run.len().div_ceil(2),
    };
    runs.map(count).sum()
}

#[test]
fn tokens_are_counted_by_kind() {
    assert_eq!(tokens("on limit.calls -> given_up(1234)\n\n  x"), 14);
}

#[test]
fn the_language_on_one_page_fits_into_2000_tokens() {
    let count = tokens(&read("docs/one_page.md"));
    assert!(count <= 2000, "docs/one_page.md has {count} tokens");
}

#[test]
fn explain_prints_the_language_on_one_page() {
    let out = Command::new(env!("CARGO_BIN_EXE_chartc")).args(["explain", "language"]).output();
    let out = out.expect("chartc runs");
    assert!(out.status.success());
    assert_eq!(String::from_utf8_lossy(&out.stdout), read("docs/one_page.md"));
}

#[test]
fn the_settings_of_the_docs_are_settings() {
    let shown = blocks(&read("docs/ci.md"), "toml");
    let [(_, text)] = shown.as_slice() else { panic!("{} blocks of settings", shown.len()) };
    let files = [("chartc.toml", text.as_str()), ("a.chart", crate::team::HIDDEN)];
    let here = crate::team::folder("docs", &files);
    let (code, out, said) = crate::team::run(&here, &["check", "--format", "short"]);
    assert_eq!((code, out.contains("error[C0302]")), (Some(1), true), "{out}{said}");
}

#[test]
fn the_run_file_of_the_docs_can_be_read() {
    let mut seen = 0;
    for (line, text) in blocks(&read("docs/world.md"), "yaml") {
        if text.starts_with("# run.yaml") {
            let file = chartc_world::RunFile::parse(&text);
            let file = file.unwrap_or_else(|fault| panic!("docs/world.md, {line}: {fault}"));
            assert_eq!(file.agents.len(), 2);
            seen += 1;
        }
    }
    assert_eq!(seen, 1);
}
