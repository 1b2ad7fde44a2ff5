//! The tests of the charts that we ship.

use super::chartc;
use test_support::project::{blocks, files, read, root};

#[test]
fn all_pass() {
    let (text, code) = chartc(root(), &["test", "charts"]);
    assert_eq!(code, 0, "{text}");
    for file in files("charts", ".test.chart") {
        assert!(text.contains(&format!("ok     {file}: ")), "{file} has no test:\n{text}");
    }
    assert!(text.contains(" passed, 0 failed\n"), "{text}");
}

#[test]
fn they_are_written_the_one_way() {
    let (text, code) = chartc(root(), &["fmt", "--check", "charts"]);
    assert_eq!((text.as_str(), code), ("", 0));
}

const NEWCOMERS: &str = "examples/newcomers";

#[test]
fn those_of_newcomers_are_sound_and_pass() {
    assert_eq!(chartc(root(), &["check", NEWCOMERS]), ("no findings in 12 files\n".to_owned(), 0));
    assert_eq!(chartc(root(), &["fmt", "--check", NEWCOMERS]), (String::new(), 0));
    let (text, code) = chartc(root(), &["test", NEWCOMERS]);
    assert_eq!(code, 0, "{text}");
    for chart in files(NEWCOMERS, ".chart").iter().filter(|file| !file.ends_with(".test.chart")) {
        let tests = format!("ok     {}", chart.replace(".chart", ".test.chart: "));
        assert!(text.contains(&tests), "{chart} has no test:\n{text}");
    }
}

/// The page counts the lines, and its commands reach the end.
#[test]
fn the_page_of_newcomers_is_right() {
    let page = read(format!("{NEWCOMERS}/README.md"));
    let mut seen = 0;
    for row in page.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (_, chart) = cells[1].split_once('(').expect("a link");
        let now = format!("{NEWCOMERS}/{}", chart.trim_end_matches(')'));
        let before = now.replace(".chart", ".before.chart");
        for (file, cell) in [(before, cells[2]), (now, cells[3])] {
            assert_eq!(cell, read(&file).lines().count().to_string(), "{file}");
            seen += 1;
        }
    }
    let runs: Vec<&str> = page.lines().filter(|line| line.starts_with("chartc run ")).collect();
    assert_eq!((seen, runs.len()), (6, 3));
    for run in runs {
        let quoted = run.split_once(" '");
        let (plain, last) = quoted.map_or((run, None), |(plain, last)| (plain, Some(last)));
        let mut arguments: Vec<&str> = plain.split(' ').skip(1).collect();
        arguments.extend(last.map(|text| text.trim_end_matches('\'')));
        let (text, code) = chartc(root(), &arguments);
        assert_eq!(code, 0, "{run}\n{text}");
    }
}

#[test]
fn those_of_the_docs_pass() {
    let folder = super::folder("docs");
    let mut seen = 0;
    for page in files("docs", ".md") {
        for (line, text) in blocks(&read(&page), "chart") {
            if text.contains("\ntest \"") {
                std::fs::write(folder.join("it.chart"), text).expect("it can be written");
                let (told, code) = chartc(&folder, &["test", "it.chart"]);
                assert_eq!(code, 0, "{page}, chart at line {line}:\n{told}");
                seen += 1;
            }
        }
    }
    assert!(seen > 1, "only {seen} tests in the docs");
}
