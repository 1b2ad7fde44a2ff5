//! `docs/checks.md` lists every finding that there is. `CHECKS=write cargo test checks` writes it.

use chartc::diagnostic::{Rule, Severity};
use chartc_compiler::rules::RULES;
use std::fmt::Write as _;
use test_support::project::{read, root};

const PAGE: &str = "docs/checks.md";

/// The areas, by the first digits of a code.
const AREAS: &[(&str, &str)] = &[
    ("C00", "Syntax"),
    ("C01", "Names"),
    ("C02", "Structure"),
    ("C03", "Behaviour"),
    ("C04", "Steps, prompts and data"),
    ("C05", "Limits and targets"),
    ("C06", "Tests, which `chartc check` and `chartc test` play"),
];

fn row(rule: &Rule) -> String {
    let title = rule.page.lines().next().unwrap_or_default().trim_start_matches("# ");
    let mut blocks = rule.page.split("\n\n").skip(1);
    let mut what = blocks.next().unwrap_or_default().to_owned();
    if what.ends_with(':') {
        // A list says the rest.
        what.push(' ');
        what.push_str(blocks.next().unwrap_or_default().trim_start_matches("- "));
        what = what.replace("\n- ", " ");
    }
    let what = what.replace('\n', " ");
    let level = match rule.severity {
        Severity::Error if rule.is_firm() => "error, always",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
        Severity::Off => "off",
    };
    let what = what.replace('|', "\\|");
    let (code, name) = (rule.code, rule.name);
    format!("| [`{code}`](rules/{code}.md) | `{name}` | {title}. {what} | {level} |\n")
}

fn page() -> String {
    let mut out = "# Checks\n\n\
         `chartc check` reports all of this before anything runs; it calls no model. Each code has a page with the reason and examples, which \
         `chartc explain CODE` prints, too.\n\n\
         `--allow`, `--warn` and `--deny` change the level of a rule for one call, `chartc.toml` for a folder ([settings](ci.md#settings-chartctoml)), and \
         a comment `// chartc: allow(CODE) reason` for its own line or, if it stands alone, for the next one. Rules whose level is *error, always* \
         cannot be changed. Rules whose level is *off* are not reported unless an option or `chartc.toml` turns them on.\n"
        .to_owned();
    for (prefix, area) in AREAS {
        let _ = write!(out, "\n## {area}\n\n| code | name | what | level |\n|---|---|---|---|\n");
        for rule in RULES.iter().filter(|rule| rule.code.starts_with(prefix)) {
            out.push_str(&row(rule));
        }
    }
    out
}

#[test]
fn the_page_lists_what_there_is() {
    let page = page();
    if std::env::var_os("CHECKS").is_some_and(|word| word == "write") {
        std::fs::write(root().join(PAGE), &page).expect("the page can be written");
    }
    assert!(read(PAGE) == page, "{PAGE} is not what the code says: CHECKS=write writes it anew");
}

#[test]
fn no_rule_is_left_out() {
    let page = page();
    for rule in RULES {
        assert!(page.contains(&format!("| [`{}`]", rule.code)), "{} has no area", rule.code);
    }
}
