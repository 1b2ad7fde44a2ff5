//! Charts without errors, which emitters and the runtime accept, and their selection from all charts of a check.

use crate::facts::Facts;
use crate::lower::test::Test;
use crate::lower::{Lowered, SourceMap};
use crate::turn::cost::{Cost, cost_soon};
use chartc_core::family::DEPTH;
use chartc_core::model::Chart;
use chartc_text::diagnostic::{Diagnostic, Severity, Stage};
use chartc_text::load::Loaded;
use chartc_text::span::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// A chart without errors of the rules C00xx, C01xx, C02xx and C04xx. Only [`check`](super::check) creates one, so its users need not
/// validate it again.
#[derive(Debug, Clone)]
pub struct Checked {
    lowered: Arc<Lowered>,
    /// The charts that its `run` steps start, directly or indirectly.
    children: Vec<Arc<Lowered>>,
    source: String,
    not_yet: Vec<Diagnostic>,
    cost: Arc<OnceLock<Option<Cost>>>,
}

impl Checked {
    /// The model of the chart.
    pub fn chart(&self) -> &Chart {
        &self.lowered.chart
    }

    /// The charts that this chart runs, directly or indirectly, those of the checked files first; includes this chart if one of them runs
    /// it.
    pub fn children(&self) -> impl Iterator<Item = &Chart> {
        self.children.iter().map(|child| &child.chart)
    }

    /// The chart and its children, each once, the chart first.
    pub fn family(&self) -> Vec<&Chart> {
        let others = self.children.iter().filter(|child| !Arc::ptr_eq(child, &self.lowered));
        std::iter::once(self.chart()).chain(others.map(|child| &child.chart)).collect()
    }

    /// The tests of the chart, in the order of the files.
    pub fn tests(&self) -> &[Test] {
        &self.lowered.tests
    }

    /// The chart with its source positions and tests.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// Like [`Checked::children`], with the spans.
    pub fn lowered_children(&self) -> impl Iterator<Item = &Lowered> {
        self.children.iter().map(AsRef::as_ref)
    }

    /// The source positions of the parts of the chart.
    pub fn map(&self) -> &SourceMap {
        &self.lowered.map
    }

    /// The errors about parts of its file that cannot run yet (C05xx): the chart can be drawn, but not generated or run.
    pub fn not_yet(&self) -> &[Diagnostic] {
        &self.not_yet
    }

    /// The number of model calls of the chart, computed on first use; `None` if the computation would take too long.
    pub fn cost(&self) -> Option<&Cost> {
        let found = || cost_soon(self.chart(), &Facts::new(self.chart()));
        self.cost.get_or_init(found).as_ref()
    }

    /// The name of the chart's file, as given to the check.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Selects the charts without errors: those of the checked files and, separately, all with tests, including charts of imported files. A
/// chart is left out if it or a chart that it runs has errors, or if its file or an import has errors outside of charts.
pub(super) fn sound(
    loaded: &Loaded,
    lowered: &[Arc<Lowered>],
    others: &[Arc<Lowered>],
    diagnostics: &[Diagnostic],
) -> (Vec<Checked>, Vec<Checked>) {
    let all: Vec<&Arc<Lowered>> = lowered.iter().chain(others).collect();
    let places: BTreeMap<Span, usize> =
        all.iter().enumerate().map(|(i, one)| (whole(one), i)).collect();
    // A chart may be nested in another, like an invoked SCXML document. In the order of their spans, an outer chart comes before its inner
    // ones, so a stack of open charts finds the chart around each.
    let mut around: BTreeMap<Span, Span> = BTreeMap::new();
    let mut open: Vec<Span> = Vec::new();
    for place in places.keys() {
        while open.last().is_some_and(|o| o.file != place.file || o.end < place.end) {
            open.pop();
        }
        around.extend(open.last().map(|outer| (*place, *outer)));
        open.push(*place);
    }
    let within = |span: Span| {
        let (mut place, _) = places.range(..=Span { end: u32::MAX, ..span }).next_back()?;
        while place.file != span.file || place.end < span.end {
            place = around.get(place)?;
        }
        places.get(place).copied()
    };
    // An error belongs to the innermost chart around it, or, outside of all charts, to its file.
    let mut errors: BTreeMap<(FileId, Option<usize>), Vec<&Diagnostic>> = BTreeMap::new();
    for found in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        errors.entry((found.span.file, within(found.span))).or_default().push(found);
    }
    let about = |nth: usize| {
        let file = all[nth].map.file;
        // Errors outside of charts count for each chart that uses the file; an error in a chart counts only for that chart.
        let beside = loaded.imports(file).into_iter().chain([file]).map(|f| (f, None));
        let keys = beside.chain([(file, Some(nth))]);
        keys.flat_map(|key| errors.get(&key).into_iter().flatten().copied()).collect::<Vec<_>>()
    };
    let names: BTreeMap<Span, usize> =
        all.iter().enumerate().map(|(i, one)| (one.map.name, i)).collect();
    let (mut charts, mut tested) = (Vec::new(), Vec::new());
    for (i, one) in all.iter().copied().enumerate() {
        let children = reached(i, &all, &names);
        let mut own = about(i);
        for child in children.iter().filter(|child| **child != i) {
            own.extend(about(*child));
        }
        // Findings about behaviour never make a chart unsound. A C05xx error only prevents generating and running it.
        if own.iter().all(|d| matches!(d.stage, Stage::Behaviour | Stage::Target)) {
            let checked = Checked {
                lowered: one.clone(),
                children: children.iter().map(|child| all[*child].clone()).collect(),
                source: loaded.sources.get(one.map.file).name.clone(),
                not_yet: own.into_iter().filter(|d| d.stage == Stage::Target).cloned().collect(),
                cost: Arc::default(),
            };
            if !one.tests.is_empty() {
                tested.push(checked.clone());
            }
            if i < lowered.len() {
                charts.push(checked);
            }
        }
    }
    (charts, tested)
}

/// The span of the whole chart, or of its name if it has no states.
pub(super) fn whole(one: &Lowered) -> Span {
    one.map.states.first().map_or(one.map.name, |state| state.whole)
}

/// The indices of the charts that a chart runs, directly or indirectly.
fn reached(from: usize, all: &[&Arc<Lowered>], names: &BTreeMap<Span, usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut level = vec![from];
    // A run does not start charts that are nested deeper.
    for _ in 0..DEPTH {
        let steps = level.iter().flat_map(|nth| &all[*nth].map.steps);
        let children = steps.filter_map(|step| names.get(&step.child?).copied());
        level = children.filter(|child| found.insert(*child)).collect();
    }
    found
}
