//! Tests that `chartc check` does not finish, and transitions that it does not compare completely, because the budget for all of them
//! is used up.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0014",
    name: "used-up-budget",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("used_up_budget.md"),
};

/// The number of tests of a file that were not finished; this is the first of them.
pub fn unplayed(first: Span, tests: usize) -> Diagnostic {
    let message = match tests {
        1 => "this test was not played to its end: the tests of one check take too many steps"
            .to_owned(),
        tests => format!(
            "{tests} tests, from this one on, were not played to their end: the tests of one check take too many steps"
        ),
    };
    RULE.at(first, message).help(
        "play them with `chartc test`, where each has a budget of its own, or let them make fewer turns; `--no-tests` plays none",
    )
}

/// The number of transitions of a chart that were not compared with all those of their descendants; this is the first of them.
pub fn uncompared(first: Span, lines: usize) -> Diagnostic {
    let message = match lines {
        1 => "this line was not compared with all lines of the states below: the chart has too many of both".to_owned(),
        lines => format!(
            "{lines} lines, from this one on, were not compared with all lines of the states below: the chart has too many of both"
        ),
    };
    RULE.at(first, message).help("whether other lines hide them is not known")
}
