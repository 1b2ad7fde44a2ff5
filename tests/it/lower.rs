//! Lowering: names, types and structure of charts, and the model that comes of them.

use chartc::Compilation;
use chartc::load::Memory;

/// Checks one chart file.
pub(crate) fn check(text: &str) -> Compilation {
    chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text))
}

/// The findings that `lower` makes, one a line: code, place, message, help, and each second place.
pub(crate) fn findings(compilation: &Compilation) -> String {
    let mut text = String::new();
    for d in &compilation.diagnostics {
        let source = compilation.sources.get(d.span.file);
        let at = source.position(d.span.start);
        text += &format!(
            "{} {}:{} `{}` {}",
            d.rule.code,
            at.line,
            at.column,
            source.slice(d.span),
            d.message
        );
        if let Some(help) = &d.help {
            text += &format!(" ({help})");
        }
        for (span, what) in &d.related {
            let source = compilation.sources.get(span.file);
            let at = source.position(span.start);
            text += &format!(" [{}:{} {what}]", at.line, at.column);
        }
        text += "\n";
    }
    text
}

#[test]
fn the_builder_lowers_without_a_finding() {
    let text = include_str!("../../charts/builder.chart");
    let compilation = check(text);
    assert_eq!(findings(&compilation), "");
    let chart = compilation.charts[0].chart();
    let paths: Vec<_> = chart.states.iter().map(|s| s.path.as_str()).collect();
    let expected =
        ["", "observing", "ideating", "implementing", "testing", "reflecting", "shipping"];
    assert_eq!(paths, expected);
}
