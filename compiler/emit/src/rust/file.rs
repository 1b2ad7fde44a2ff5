//! Writes files of generated code: the items of one chart, or a module for each of several charts.

use super::children::Kin;
use super::{ident, indented, source};
use chartc_check::compile::Checked;
use chartc_check::lower::{Lowered, SourceMap};
use chartc_core::model::{Chart, StepKind};
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::name_clash;
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A chart of a file.
pub(super) struct Unit<'c> {
    pub(super) chart: &'c Chart,
    pub(super) map: &'c SourceMap,
    /// The name of the chart's source file.
    pub(super) source: &'c str,
    pub(super) kin: Kin,
}

/// Writes the Rust source of a chart, with modules for the charts that it runs.
///
/// # Errors
/// Names that become one Rust identifier, and features that generated code does not support yet.
pub fn emit(checked: &Checked) -> Result<String, Vec<Diagnostic>> {
    if checked.children().next().is_some() {
        let name = ident::module(&checked.chart().name);
        let code = emit_modules(std::slice::from_ref(checked))?;
        return Ok(format!("pub use {name}::*;\n\n{code}"));
    }
    let mut found = checked.not_yet().to_vec();
    if !found.is_empty() {
        return Err(found);
    }
    let kin = Kin::default();
    let (chart, map) = (checked.chart(), checked.map());
    let unit = Unit { chart, map, source: checked.source(), kin };
    let code = source(&unit, &mut found);
    if found.is_empty() { Ok(code) } else { Err(found) }
}

/// Writes the source of several charts of one file: a module for each, named after it, and for each chart that they run.
///
/// # Errors
/// As for [`emit`], for each chart.
pub fn emit_modules(charts: &[Checked]) -> Result<String, Vec<Diagnostic>> {
    let (mut text, mut found) = (String::new(), Vec::new());
    let mut taken: BTreeMap<String, Span> = BTreeMap::new();
    for checked in charts {
        found.extend_from_slice(checked.not_yet());
    }
    for unit in units(charts) {
        let (name, place) = (ident::module(&unit.chart.name), unit.map.name);
        if let Some(other) = taken.insert(name.clone(), place) {
            let mut finding = name_clash::modules(&name, place, other);
            finding.severity = Severity::Error;
            found.push(finding);
        }
        let code = source(&unit, &mut found);
        // The file that includes this one is named after its source, possibly the chart's name.
        let stem = unit.source.rsplit(['/', '\\']).next().unwrap_or_default();
        let allowed = if stem.split('.').next() == Some(&name) {
            "#[allow(clippy::module_inception, reason = \"the file bears the chart's name\")]\n"
        } else {
            ""
        };
        text.push_str(&format!(
            "/// The chart `{}`.\n{allowed}pub mod {name} {{\n{}}}\n",
            visible::line(&unit.chart.name),
            indented(&code)
        ));
    }
    found.sort_by_key(|d| (d.span, d.rule.code));
    found.dedup_by_key(|d| (d.span, d.rule.code));
    if found.is_empty() { Ok(text) } else { Err(found) }
}

/// Returns the charts and the charts of other files that they run, each once.
fn units(charts: &[Checked]) -> Vec<Unit<'_>> {
    let mut all: Vec<(&Lowered, &str)> = Vec::new();
    let own = charts.iter().map(|checked| (checked.lowered(), checked.source()));
    let others = charts
        .iter()
        .flat_map(|checked| checked.lowered_children().map(move |child| (child, checked.source())));
    let mut seen = BTreeSet::new();
    for (one, source) in own.chain(others) {
        if seen.insert(one.map.name) {
            all.push((one, source));
        }
    }
    let runs: BTreeMap<Span, BTreeSet<Span>> = all
        .iter()
        .map(|(one, _)| (one.map.name, one.map.steps.iter().filter_map(|s| s.child).collect()))
        .collect();
    let modules: BTreeMap<Span, String> =
        all.iter().map(|(one, _)| (one.map.name, ident::module(&one.chart.name))).collect();
    let kin = |one: &Lowered| {
        let steps = one.chart.steps.iter().zip(&one.map.steps);
        let children = steps.filter_map(|(step, spans)| match &step.kind {
            StepKind::Run(run) => Some((run.chart.clone(), modules.get(&spans.child?)?.clone())),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Human(_) => None,
        });
        let mut below = reached(one.map.name, &runs);
        let is_child = runs.values().any(|children| children.contains(&one.map.name));
        below.remove(&one.map.name);
        let below = below.iter().filter_map(|chart| modules.get(chart).cloned()).collect();
        Kin { children: children.collect(), below, is_child }
    };
    all.iter()
        .map(|(one, source)| Unit { chart: &one.chart, map: &one.map, source, kin: kin(one) })
        .collect()
}

/// Returns the charts that a chart runs, directly or through others.
fn reached(from: Span, runs: &BTreeMap<Span, BTreeSet<Span>>) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(chart) = open.pop() {
        for child in runs.get(&chart).into_iter().flatten() {
            if found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found
}
