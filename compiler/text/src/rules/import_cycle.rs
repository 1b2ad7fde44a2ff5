//! Files that import each other in a cycle.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0003",
    name: "import-cycle",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("import_cycle.md"),
};

/// The import that closes the cycle; `names` lists the files of the cycle, with the first one again at the end.
pub fn cycle(names: &[&str], span: Span) -> Diagnostic {
    RULE.at(span, format!("files import each other in a cycle: `{}`", names.join("` → `")))
        .help("move what both need into a third file that imports neither")
}
