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
