//! Charts with the same name among those that a chart runs. A run distinguishes them only by their names.

use super::Lowered;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::duplicate_name;
use chartc_text::span::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Reports, for each chart, the first `run` step through which it runs two charts with the same name from different files.
pub(super) fn refuse(lowered: &[Lowered], others: &[Lowered], findings: &mut Vec<Diagnostic>) {
    let all: BTreeMap<Span, &Lowered> =
        lowered.iter().chain(others).map(|one| (one.map.name, one)).collect();
    let files: BTreeSet<FileId> = all.keys().map(|name| name.file).collect();
    if files.len() < 2 {
        return;
    }
    for one in all.values() {
        findings.extend(namesakes(one, &all));
    }
}

fn namesakes(one: &Lowered, all: &BTreeMap<Span, &Lowered>) -> Option<Diagnostic> {
    let mut known = BTreeMap::from([(one.chart.name.as_str(), one.map.name)]);
    for step in &one.map.steps {
        let mut open: Vec<Span> = step.child.into_iter().collect();
        while let Some(child) = open.pop().and_then(|name| all.get(&name)) {
            let name = child.chart.name.as_str();
            let place = child.map.name;
            match known.get(name) {
                None => {
                    known.insert(name, place);
                    open.extend(child.map.steps.iter().filter_map(|step| step.child));
                }
                Some(first) if first.file != place.file => {
                    return Some(duplicate_name::namesakes(name, step.name, *first, place));
                }
                // The same chart again, or a second one in its file, which another finding reports.
                Some(_) => {}
            }
        }
    }
    None
}
