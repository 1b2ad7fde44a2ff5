//! The table of `chartc check --statistics`: the number of findings of each rule.

use super::output::{StyledText, print, print_json};
use crate::report::Terminal;
use chartc_text::diagnostic::{Diagnostic, Rule, Severity};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

struct StatisticsRow {
    rule: &'static Rule,
    level: Severity,
    count: usize,
    fixable: usize,
}

/// Prints a row for each rule, the most frequent first, and the total.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show(
    diagnostics: &[Diagnostic],
    is_json: bool,
    terminal: Terminal,
) -> miette::Result<()> {
    let mut rows: BTreeMap<&str, StatisticsRow> = BTreeMap::new();
    for found in diagnostics {
        let new = StatisticsRow { rule: found.rule, level: found.severity, count: 0, fixable: 0 };
        let row = rows.entry(found.rule.code).or_insert(new);
        // A rule may have different levels in different files.
        row.level = row.level.max(found.severity);
        row.count += 1;
        row.fixable += usize::from(found.fix.as_ref().is_some_and(|fix| fix.is_safe));
    }
    let mut rows: Vec<StatisticsRow> = rows.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.count));
    let fixable = rows.iter().map(|row| row.fixable).sum::<usize>();
    if is_json {
        let row = |row: &StatisticsRow| {
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
    let mut out = StyledText::on(terminal);
    for row in &rows {
        let mark = if row.fixable > 0 {
            format!(", {} with a safe fix", row.fixable)
        } else {
            String::new()
        };
        out.line(format!(
            "{:>6}  {}  {:<7}  {}{mark}",
            row.count,
            row.rule.code,
            row.level.word(),
            row.rule.name
        ));
    }
    out.line(format!("{:>6}  total, {fixable} with a safe fix", diagnostics.len()));
    print(&out)
}
