//! Agents with the same `id` among the files that are checked together.

use crate::lower::Lowered;
use chartc_core::expr::Value;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::duplicate_agent::RULE;
use chartc_text::source::Sources;
use chartc_text::span::Span;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Reports every agent that has the `id` of an earlier one.
pub(crate) fn told(
    all: &[impl Borrow<Lowered>],
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    for one in all.iter().map(Borrow::borrow) {
        let file = &sources.get(one.map.file).name;
        let id = one.chart.meta.iter().find(|(key, _)| key == "id");
        let (true, Some((_, Value::Text(id)))) = (is_agent(file), id) else { continue };
        match known.get(id.as_str()) {
            Some(first) => diagnostics.push(
                RULE.at(one.map.name, format!("another agent is called `{id}`, too"))
                    .related(*first, "the other one")
                    .help(
                        "give one of them another `id`: agents of one world are told apart by it",
                    ),
            ),
            None => {
                known.insert(id, one.map.name);
            }
        }
    }
}

fn is_agent(file: &str) -> bool {
    [".yaml", ".yml"].iter().any(|end| file.ends_with(end))
}
