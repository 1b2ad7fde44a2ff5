//! `chartc check --statistics`: how many findings each rule has.

use super::output::{Page, print, print_json};
use crate::report::Paper;
use chartc_text::diagnostic::{Diagnostic, Rule, Severity};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

struct Row {
    rule: &'static Rule,
    level: Severity,
    count: usize,
    fixable: usize,
}

/// Prints a row for each rule, the most frequent first, and the total.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show(diagnostics: &[Diagnostic], is_json: bool, paper: Paper) -> miette::Result<()> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for found in diagnostics {
        let new = Row { rule: found.rule, level: found.severity, count: 0, fixable: 0 };
        let row = rows.entry(found.rule.code).or_insert(new);
        row.level = row.level.max(found.severity);
        row.count += 1;
        row.fixable += usize::from(found.fix.as_ref().is_some_and(|fix| fix.is_safe));
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.count));
    let fixable = rows.iter().map(|row| row.fixable).sum::<usize>();
    if is_json {
        let row = |row: &Row| {
            json!({
                "code": row.rule.code,
                "name": row.rule.name,
                "severity": row.level.word(),
                "count": row.count,
                "fixable": row.fixable,
            })
        };
        let rules: Vec<Value> = rows.iter().map(row).collect();
        let total =
            json!({ "version": 1, "total": diagnostics.len(), "fixable": fixable, "rules": rules });
        return print_json(&format!("{total:#}\n"));
    }
    let mut page = Page::on(paper);
    for row in &rows {
        let mark = if row.fixable > 0 {
            format!(", {} with a safe fix", row.fixable)
        } else {
            String::new()
        };
        page.line(format!(
            "{:>6}  {}  {:<7}  {}{mark}",
            row.count,
            row.rule.code,
            row.level.word(),
            row.rule.name
        ));
    }
    page.line(format!("{:>6}  total, {fixable} with a safe fix", diagnostics.len()));
    print(&page)
}
