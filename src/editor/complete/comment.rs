//! Completes rules in comments that allow findings.

use super::cursor::Cursor;
use super::offer::Offer;
use super::{CompletionKind, Insert};
use chartc_text::rules::RULES;

/// The start of such a comment.
const ALLOW: &str = "chartc: allow(";

/// Offers the rules between the brackets of `// chartc: allow(…)`, or the comment itself behind `//`.
pub(super) fn offers(cursor: &Cursor<'_>) -> Vec<Offer> {
    let line = cursor.text[..cursor.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &cursor.text[line..cursor.start];
    let Some(open) = before.find(ALLOW) else {
        let begins = before.trim_end().ends_with("//");
        let offer = Offer::new("chartc: allow(…)", CompletionKind::Snippet, 0)
            .detail("allow a finding on this or the next line")
            .snippet("chartc: allow(${1:C0301}) ${2:reason}".to_owned());
        return if begins { vec![offer] } else { Vec::new() };
    };
    if before[open..].contains(')') {
        return Vec::new();
    }
    let rule = |(nth, rule): (usize, &&chartc_text::diagnostic::Rule)| {
        let code = Offer {
            insert: Some(Insert::Plain(rule.code.to_owned())),
            ..Offer::new(rule.code, CompletionKind::Rule, nth as u32).detail(rule.name)
        };
        let name = Offer::new(rule.name, CompletionKind::Rule, 1000 + nth as u32).detail(rule.code);
        [code, name]
    };
    RULES.iter().enumerate().flat_map(rule).collect()
}
