//! Where the links of the book and of README lead: to files that exist, and to headings that they have. Nothing is fetched.

use super::{pages, rules};
use chartc_compiler::rules::RULES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use test_support::project::{read, root};

/// A link, or the source of a picture.
#[derive(Debug, PartialEq)]
pub(super) struct Link {
    line: usize,
    pub(super) target: String,
}

/// The text without what is in backticks, all else where it is.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].chars().take_while(|c| *c == '`').count();
        let fence = &rest[start..start + ticks];
        out.push_str(&rest[..start]);
        let inner = &rest[start + ticks..];
        let Some(end) = inner.find(fence) else {
            return out + &rest[start..];
        };
        out.push('`');
        rest = &inner[end + ticks..];
    }
    out + rest
}

/// The links of a page: `[…](target)`, also of pictures, and `[…]: target`. Code has none.
pub(super) fn of(page: &str) -> Vec<Link> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (nth, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let line = without_code(line);
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find(')').unwrap_or(rest.len());
            let target = rest[..end].split(' ').next().unwrap_or_default();
            found.push(Link { line: nth + 1, target: target.to_owned() });
        }
        if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
            found.push(Link { line: nth + 1, target: target.trim().to_owned() });
        }
    }
    found
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut found, mut counts) = (BTreeSet::new(), BTreeMap::new());
    let mut in_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let text = line.trim_start_matches('#');
        let depth = line.len() - text.len();
        if in_code || depth == 0 || depth > 6 || !text.starts_with(' ') {
            continue;
        }
        let kept = |c: char| match c {
            _ if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            _ if c.is_whitespace() => Some('-'),
            _ => None,
        };
        let name: String = text.trim().to_lowercase().chars().filter_map(kept).collect();
        let count: &mut usize = counts.entry(name.clone()).or_default();
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

/// A path from the root without `.` and `..`; `None` if it leads out of the project.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    Some(out)
}

/// What is wrong with a link on this page.
fn fault(page: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    if path.starts_with("http://") || path.starts_with("https://") || path.starts_with("mailto:") {
        return None;
    }
    let folder = Path::new(page).parent().expect("a page is in a folder");
    let file = if path.is_empty() { PathBuf::from(page) } else { folder.join(path) };
    let Some(file) = plain(&file) else { return Some("leads out of the project".into()) };
    if !root().join(&file).exists() {
        return Some(format!("{} does not exist", file.display()));
    }
    let is_page = file.extension().is_some_and(|ending| ending == "md");
    if anchor.is_empty() || (is_page && anchors(&read(&file)).contains(anchor)) {
        return None;
    }
    Some(format!("{} has no heading `#{anchor}`", file.display()))
}

#[test]
fn links_lead_somewhere() {
    let (mut seen, mut faults) = (0, Vec::new());
    for page in pages().into_iter().chain(["README.md".to_owned()]) {
        for link in of(&read(&page)) {
            seen += 1;
            if let Some(why) = fault(&page, &link.target) {
                faults.push(format!("{page}:{}: {}: {why}", link.line, link.target));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 300, "only {seen} links");
}

/// The page of a rule is read at two places, by `chartc explain` and in the book: a relative link would lead nowhere at one of them.
#[test]
fn pages_of_rules_have_no_relative_links() {
    for rule in RULES {
        for link in of(rule.page) {
            assert!(link.target.starts_with("https://"), "{}: {link:?}", rules::path(rule));
        }
    }
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let page = "docs/checks.md";
    for (target, why) in [
        ("nothing.md", "does not exist"),
        ("glossary.md#nothing", "no heading"),
        ("#nothing", "no heading"),
        ("../../x", "out of the project"),
        ("builder.svg#x", "no heading"),
    ] {
        let found = fault(page, target).unwrap_or_default();
        assert!(found.contains(why), "{target}: {found}");
    }
    for target in ["glossary.md#structure", "#syntax", "../README.md", "https://example.com/x#y"] {
        assert_eq!(fault(page, target), None, "{target}");
    }
}

#[test]
fn links_in_code_are_none() {
    let page = "[a](b.md) `[c](d)` ![e](f.svg \"g\")\n```text\n[h](i)\n```\n[j]: k.md\n";
    let targets: Vec<String> = of(page).into_iter().map(|link| link.target).collect();
    assert_eq!(targets, ["b.md", "f.svg", "k.md"]);
}

#[test]
fn equal_headings_have_different_anchors() {
    let found = anchors("# A b\n## A, b!\n```\n# c\n```\n### `d_e` & f\n");
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["a-b", "a-b-1", "d_e--f"]);
}
