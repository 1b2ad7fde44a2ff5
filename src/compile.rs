//! All stages up to the findings.

use crate::analysis::Facts;
use crate::diagnostic::{Diagnostic, Severity};
use crate::load::{Loader, load};
use crate::lower::{Lowered, SourceMap, lower};
use crate::source::Sources;
use crate::{lint, syntax};
use chartc_core::model::Chart;
use std::collections::BTreeSet;

/// What a compilation found and made.
#[derive(Debug)]
pub struct Compilation {
    /// Every source that was read.
    pub sources: Sources,
    /// The syntax of every source, in the order of the sources.
    pub files: Vec<syntax::File>,
    /// Charts without errors of syntax, names, structure or data: they can be drawn, generated and run.
    pub charts: Vec<Checked>,
    /// All charts that could be lowered, faulty ones included, in the order of the files.
    pub lowered: Vec<Lowered>,
    /// All findings, by file and place.
    pub diagnostics: Vec<Diagnostic>,
}

/// A chart that has no C00, C01, C02 or C04 *error*. Only [`check`] makes one; what takes it never validates again.
#[derive(Debug, Clone)]
pub struct Checked {
    chart: Chart,
    map: SourceMap,
    source: String,
    not_yet: Vec<Diagnostic>,
}

impl Checked {
    /// The model.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// Where its parts stand.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }

    /// The errors about parts of its file that do not run yet (C05xx): it can be drawn, and not be generated or run.
    pub fn not_yet(&self) -> &[Diagnostic] {
        &self.not_yet
    }

    /// The name of the file that holds it, as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Loads `paths` with their imports and runs every stage. Findings are collected; one broken file does not hide the others.
pub fn check(paths: &[String], loader: &dyn Loader) -> Compilation {
    let mut diagnostics = Vec::new();
    let loaded = load(paths, loader, &mut diagnostics);
    let lowered = lower(&loaded, &mut diagnostics);
    let mut charts = Vec::new();
    for one in &lowered {
        let facts = Facts::of(&one.chart);
        lint::run(one, &facts, &mut diagnostics);
        let imports = loaded.imports(one.map.file);
        let own: Vec<&Diagnostic> = diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .filter(|d| d.span.file == one.map.file || imports.contains(&d.span.file))
            .collect();
        let faulty =
            own.iter().any(|d| !d.rule.code.starts_with("C03") && !d.rule.code.starts_with("C05"));
        if !faulty {
            let source = loaded.sources.get(one.map.file).name.clone();
            let not_yet =
                own.into_iter().filter(|d| d.rule.code.starts_with("C05")).cloned().collect();
            charts.push(Checked {
                chart: one.chart.clone(),
                map: one.map.clone(),
                source,
                not_yet,
            });
        }
    }
    diagnostics.sort_by_key(|d| (d.span, d.rule.code));
    // A component that several agents list is read for each of them.
    let mut told = BTreeSet::new();
    diagnostics.retain(|d| told.insert((d.span, d.rule.code, d.message.clone())));
    Compilation { sources: loaded.sources, files: loaded.files, charts, lowered, diagnostics }
}
