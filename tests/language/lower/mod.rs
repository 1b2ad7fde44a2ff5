//! Lowering: names, types and structure of charts, and the model that comes of them.
//!
//! Faults are shown where they stand: each line of a chart, and under it what is said of it.

mod imports;
mod invariants;
mod model;
mod names;
mod steps;
mod structure;
mod types;

use chartc::Compilation;
use chartc::diagnostic::Diagnostic;
use chartc::load::Memory;
use chartc_compiler::lint::LINTS;
use chartc_core::model::Chart;

/// Checks one chart file.
pub(crate) fn check(text: &str) -> Compilation {
    chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text))
}

/// The model of the only chart of a text without errors.
pub(crate) fn chart(text: &str) -> Chart {
    let compilation = check(text);
    let shown = annotated(&compilation);
    assert_eq!(compilation.charts.len(), 1, "{shown}");
    compilation.charts[0].chart().clone()
}

/// Whether a finding is of the kinds that loading, parsing and lowering make.
fn is_about_form(finding: &Diagnostic) -> bool {
    finding.rule.name == "duplicate-name"
        || !LINTS.iter().any(|lint| lint.rule.code == finding.rule.code)
}

/// Snapshots a text as it is.
macro_rules! shown {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($text) })
    };
}
pub(crate) use shown;

/// The sources, and under each line what is said of it.
pub(crate) fn annotated(compilation: &Compilation) -> String {
    let mut shown = String::new();
    let several = compilation.sources.iter().count() > 1;
    for (id, source) in compilation.sources.iter() {
        if several {
            shown += &format!("--- {}\n", source.name);
        }
        for (index, line) in source.text.lines().enumerate() {
            shown += &format!("{}\n", line.trim_end());
            for finding in compilation.diagnostics.iter().filter(|d| is_about_form(d)) {
                let at = source.position(finding.span.start);
                if finding.span.file == id && at.line == index + 1 {
                    shown += &finding_under(compilation, finding, line, at.column);
                }
            }
        }
    }
    shown
}

fn finding_under(
    compilation: &Compilation,
    finding: &Diagnostic,
    line: &str,
    column: usize,
) -> String {
    let source = compilation.sources.get(finding.span.file);
    let marked = source.slice(finding.span).lines().next().unwrap_or_default();
    let room = line.chars().count() + 1 - column;
    let marks = marked.chars().count().clamp(1, room.max(1));
    let indent = " ".repeat(column - 1);
    let mut shown =
        format!("{indent}{} {}: {}", "^".repeat(marks), finding.rule.code, finding.message);
    if let Some(label) = &finding.label {
        shown += &format!(" · {label}");
    }
    if let Some(help) = &finding.help {
        shown += &format!(" · help: {help}");
    }
    for (span, what) in &finding.related {
        let source = compilation.sources.get(span.file);
        let at = source.position(span.start);
        shown += &format!(" · {}:{}:{} {what}", source.name, at.line, at.column);
    }
    shown + "\n"
}

/// The chart with its findings under the lines.
pub(crate) fn faults(text: &str) -> String {
    annotated(&check(text))
}
