//! Names that nothing declares because their declaration could not be read.

use crate::diagnostic::Diagnostic;
use crate::rules::{syntax, unknown_name};
use crate::source::Sources;
use crate::span::Span;

/// Takes out the names that a line would declare whose first word is misspelt: that word is told of, and they follow from it. What a chart
/// declares is known in that chart; `charts` are the places of the charts.
pub(crate) fn without_lost(findings: &mut Vec<Diagnostic>, sources: &Sources, charts: &[Span]) {
    let lost: Vec<(Span, &str)> = findings
        .iter()
        .filter(|found| {
            found.rule.code == syntax::RULE.code && found.message.contains(" begins nothing ")
        })
        .filter_map(|found| {
            let chart =
                charts.iter().filter(|chart| holds(**chart, found.span)).max_by_key(|c| c.start)?;
            let behind = &sources.get(found.span.file).text[found.span.end as usize..];
            let behind = behind.strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
            let end =
                behind.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(behind.len());
            (end > 0).then(|| (*chart, &behind[..end]))
        })
        .collect();
    if lost.is_empty() {
        return;
    }
    findings.retain(|found| {
        let name = sources.get(found.span.file).slice(found.span);
        found.rule.code != unknown_name::RULE.code
            || !lost.iter().any(|(chart, lost)| *lost == name && holds(*chart, found.span))
    });
}

fn holds(chart: Span, place: Span) -> bool {
    chart.file == place.file && chart.start <= place.start && place.end <= chart.end
}
