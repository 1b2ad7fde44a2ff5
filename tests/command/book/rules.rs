//! A page for each rule. The text is beside the code, where `chartc explain` reads it; the book includes it.

use super::{only, same};
use chartc::diagnostic::{Rule, Severity};
use chartc_compiler::rules::RULES;
use test_support::project::root;

const FOLDER: &str = "docs/rules";
/// The line of a page's title, behind its front matter.
const TITLE: usize = 8;

fn page(rule: &Rule) -> String {
    let file = format!("src/compiler/rules/{}.md", rule.name.replace('-', "_"));
    assert!(root().join(&file).exists(), "{file} is missing");
    let level = match rule.severity {
        Severity::Error if rule.is_firm() => "always an error",
        Severity::Error => "an error unless a setting says otherwise",
        Severity::Warning => "a warning unless a setting says otherwise",
        Severity::Note => "a note unless a setting says otherwise",
        Severity::Off => "off unless a setting turns it on",
    };
    let (code, name, rest) = (rule.code, rule.name, TITLE + 1);
    format!(
        "{{{{#include ../../{file}:{TITLE}}}}}\n\n\
         **`{code}`** `{name}`: {level}. [All rules](../checks.md)\n\n\
         {{{{#include ../../{file}:{rest}:}}}}\n\n\
         The text of this page is [{file}](../../{file}); `chartc explain {code}` prints it.\n"
    )
}

/// Where the page of a rule is.
pub(super) fn path(rule: &Rule) -> String {
    format!("{FOLDER}/{}.md", rule.code)
}

#[test]
fn each_rule_has_a_page_in_the_book() {
    for rule in RULES {
        same(&path(rule), &page(rule));
    }
    only(FOLDER, &RULES.iter().map(|rule| path(rule)).collect::<Vec<_>>());
}

/// What mdBook includes has the title in its first line, and nothing but the title.
#[test]
fn each_rule_has_its_title_in_the_first_line() {
    for rule in RULES {
        let mut lines = rule.page.lines();
        let title = lines.next().unwrap_or_default();
        assert!(title.starts_with("# ") && lines.next() == Some(""), "{}: {title}", rule.name);
    }
}
