//! Every chart in README and docs compiles without errors.

use chartc::diagnostic::Severity;
use chartc::load::Memory;
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
