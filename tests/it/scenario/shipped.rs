//! The tests of the charts that we ship.

use super::chartc;
use crate::project::{files, root};

#[test]
fn all_pass() {
    let (text, code) = chartc(&root(), &["test", "charts"]);
    assert_eq!(code, 0, "{text}");
    for file in files("charts", ".test.chart") {
        assert!(text.contains(&format!("ok     {file}: ")), "{file} has no test:\n{text}");
    }
    assert!(text.contains(" passed, 0 failed\n"), "{text}");
}

#[test]
fn they_are_written_the_one_way() {
    let (text, code) = chartc(&root(), &["fmt", "--check", "charts"]);
    assert_eq!((text.as_str(), code), ("", 0));
}
