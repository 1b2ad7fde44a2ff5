//! Runs all stages from the files to the findings.
//!
//! The problem: one broken file or chart must not hide the findings about the others, and one mistake causes findings in several stages.
//! The idea: no stage stops at an error. Each appends its findings to one list. At the end, the list is sorted, `rules::precedence` removes
//! the consequences of other findings, and `allow` comments remove what the author accepts. For example, a file with two charts, in the
//! first of which `go` is misspelt:
//!
//! ```text
//! chart A { event go  initial a  state a { on og -> b }  final b }
//! chart B { event go  initial a  state a { on go -> b }  final b  check reaches(b) }
//! ```
//!
//! 1. Loading and parsing: one source, and one syntax tree with both charts.
//! 2. Lowering: two models, and C0102 because `A` has no event `og`. The model of `A` lacks the line, so it is not *whole*.
//! 3. Exploration runs only `B`, which has no errors, and proves `reaches(b)`.
//! 4. Lints that conclude from the absence of something skip `A`: its final state only seems to be unreachable.
//! 5. The result has one finding, two charts in `lowered`, and only `B` in `charts`.

#[cfg(test)]
mod tests;

use crate::allow::{self, Suppressed};
use crate::analysis::facts::Facts;
use crate::analysis::turn::cost::{Cost, cost_soon};
use crate::explore::{Runs, STATES, host};
use crate::front::load::{Loaded, Loader, load};
use crate::lint::family::Family;
use crate::lint::{self, LINTS, Lint};
use crate::lower::test::Test;
use crate::lower::{Lowered, SourceMap, Use, lower};
use crate::syntax::diagnostic::{self, Diagnostic, Severity, Stage};
use crate::syntax::source::{FileId, Sources, Span};
use crate::{confusables, rules, syntax};
use chartc_core::arena::StepId;
use chartc_core::family::DEPTH;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

/// The result of a compilation.
#[derive(Debug)]
pub struct Compilation {
    /// Every source that was read.
    pub sources: Sources,
    /// The syntax of every source, in the order of the sources.
    pub files: Vec<syntax::File>,
    /// The charts without errors of syntax, names, structure or data, which can be drawn, generated and run.
    pub charts: Vec<Checked>,
    /// The charts without such errors that have tests, including charts of files that were only imported.
    pub tested: Vec<Checked>,
    /// All charts that could be lowered, including those with errors, in the order of the files.
    pub lowered: Vec<Arc<Lowered>>,
    /// All findings that are reported, by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The findings that comments suppress, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// The findings of rules that are off by default, in the same order.
    pub silent: Vec<Diagnostic>,
    /// The meaning of each name, by its place: for all charts of the requested files, for the charts that they run, and for the
    /// declarations outside of charts. Complete only for charts without syntax errors, and empty unless the check was for an editor: see
    /// [`check_indexed`].
    pub uses: Vec<Use>,
}

/// Loads `paths` with their imports and runs all stages. One broken file does not hide the findings in the others.
///
/// ```
/// use chartc_compiler::compile::check; // `chartc::check` in a crate that depends on chartc
/// use chartc_compiler::front::load::Memory;
///
/// let text = "chart Door {\n  event open\n  initial closed\n  state closed { on opne -> opened }\n  final opened\n}\n";
/// let checked = check(&["door.chart".to_owned()], &Memory::of("door.chart", text));
/// let found = &checked.diagnostics[0];
/// assert_eq!((found.rule.code, found.help.as_deref()), ("C0102", Some("did you mean `open`?")));
/// assert!(checked.charts.is_empty());
/// ```
pub fn check(paths: &[String], loader: &dyn Loader) -> Compilation {
    check_within(paths, loader, STATES)
}

/// Like [`check`], but explores at most `states` states for each property. With 0, all properties stay undecided.
pub fn check_within(paths: &[String], loader: &dyn Loader, states: usize) -> Compilation {
    check_each(paths, loader, &|_| states, &one_by_one)
}

/// Runs a job for each number below the first argument, in any order, perhaps several at once. The stages have no threads; who calls a
/// check may have some.
pub type Jobs<'j> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) + 'j;

/// Runs jobs one after the other.
pub fn one_by_one(count: usize, job: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(job);
}

/// Like [`check_within`], with the number of states by file name. Each chart is a job.
pub fn check_each(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
    jobs: &Jobs<'_>,
) -> Compilation {
    let check = Check { lints: LINTS, states, jobs, go_on: &|| Ok::<(), Infallible>(()) };
    let Ok(done) = check.run(paths, loader, None);
    done
}

/// Like [`check_within`], and records the meanings of names in [`Compilation::uses`]. Only editors need them, and they take time and
/// memory.
pub fn check_indexed(paths: &[String], loader: &dyn Loader, states: usize) -> Compilation {
    let (states, go_on) = (|_: &str| states, || Ok::<(), Infallible>(()));
    let check = Check { lints: LINTS, states: &states, jobs: &one_by_one, go_on: &go_on };
    let Ok(done) = check.run(paths, loader, Some(Vec::new()));
    done
}

/// Like [`check_indexed`], with the number of states by file name. Ends soon after `is_outdated` returns true; it is called between stages,
/// lints and properties.
///
/// # Errors
/// [`Outdated`] if `is_outdated` returned true before the check was complete.
pub fn check_unless(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
    is_outdated: &(dyn Fn() -> bool + Sync),
) -> Result<Compilation, Outdated> {
    let go_on = || if is_outdated() { Err(Outdated) } else { Ok(()) };
    let check = Check { lints: LINTS, states, jobs: &one_by_one, go_on: &go_on };
    check.run(paths, loader, Some(Vec::new()))
}

/// A check was ended because its result was not wanted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outdated;

/// How to check.
struct Check<'o, E> {
    /// The lints, in the order in which they run.
    lints: &'o [&'o Lint],
    /// The number of states to explore for each property, by file name.
    states: &'o dyn Fn(&str) -> usize,
    jobs: &'o Jobs<'o>,
    /// Ends the check with its error.
    go_on: &'o (dyn Fn() -> Result<(), E> + Sync),
}

/// What all charts of a check share once they are lowered.
struct Shared<'s, E> {
    loaded: &'s Loaded,
    /// The charts that are checked or imported, by the place of their names.
    named: BTreeMap<Span, &'s Chart>,
    /// The charts without errors, by the place of their names. Only they are explored.
    ready: BTreeSet<Span>,
    /// Whether a run of the chart may fail, for the charts that `run` steps start.
    failing: BTreeMap<Span, bool>,
    family: Family<'s>,
    /// The findings of loading, parsing and lowering.
    earlier: &'s [Diagnostic],
    lints: &'s [&'s Lint],
    go_on: &'s (dyn Fn() -> Result<(), E> + Sync),
}

impl<E> Shared<'_, E> {
    /// The findings about one chart, of which at most `states` states are explored for each property.
    fn check(&self, one: &Lowered, states: usize) -> Result<Vec<Diagnostic>, E> {
        let run = |step: StepId| self.named.get(&one.map.step(step).child?).copied();
        let is_sure = |step: StepId| {
            let fails = one.map.step(step).child.and_then(|name| self.failing.get(&name));
            let fits = |other| host::fits(&one.chart, &one.chart.steps[step.index()], other);
            fails == Some(&false) && run(step).is_some_and(fits)
        };
        let facts = Facts::with_children(&one.chart, &run, &is_sure);
        (self.go_on)()?;
        let is_outdated = || (self.go_on)().is_err();
        let mut runs = Runs::default();
        if states > 0 && one.whole && self.ready.contains(&one.map.name) {
            // An outdated exploration ends early with an incomplete result, which must not reach the lints.
            runs = Runs::unless(&one.chart, &facts, states, &is_outdated);
            (self.go_on)()?;
        }
        // Asked before each lint, because a lint over a large chart may take long.
        let lints = self.lints.iter().copied().take_while(|_| !is_outdated());
        let sources = &self.loaded.sources;
        let found = lint::run(lints, one, &facts, &runs, &self.family, sources, self.earlier);
        (self.go_on)()?;
        Ok(found)
    }
}

impl<E: Send + Sync> Check<'_, E> {
    /// Checks the files. Appends to `uses` if it is there.
    fn run(
        &self,
        paths: &[String],
        loader: &dyn Loader,
        mut uses: Option<Vec<Use>>,
    ) -> Result<Compilation, E> {
        let mut diagnostics = Vec::new();
        let loaded = load(paths, loader, &mut diagnostics);
        (self.go_on)()?;
        let (lowered, others) = lower(&loaded, uses.as_mut(), &mut diagnostics);
        let uses = uses.unwrap_or_default();
        (self.go_on)()?;
        let lowered: Vec<Arc<Lowered>> = lowered.into_iter().map(Arc::new).collect();
        let others: Vec<Arc<Lowered>> = others.into_iter().map(Arc::new).collect();
        for found in self.check_charts(&loaded, &lowered, &others, &diagnostics)? {
            diagnostic::join(&mut diagnostics, found);
        }
        Ok(settle(loaded, lowered, &others, diagnostics, uses))
    }

    /// The findings about each chart of the checked files, in their order.
    fn check_charts(
        &self,
        loaded: &Loaded,
        lowered: &[Arc<Lowered>],
        others: &[Arc<Lowered>],
        earlier: &[Diagnostic],
    ) -> Result<Vec<Vec<Diagnostic>>, E> {
        let named: BTreeMap<Span, &Chart> =
            lowered.iter().chain(others).map(|one| (one.map.name, &*one.chart)).collect();
        // A chart with an error is not explored, but the properties of the other charts are.
        let (sound, _) = sound(loaded, lowered, others, earlier);
        let is_ready = |checked: &&Checked| checked.not_yet().is_empty();
        let ready = sound.iter().filter(is_ready).map(|checked| checked.map().name).collect();
        let children: BTreeSet<Span> =
            lowered.iter().flat_map(|one| &one.map.steps).filter_map(|step| step.child).collect();
        let fails = |name: Span| Some((name, host::can_fail(named.get(&name)?)));
        let failing = children.into_iter().filter_map(fails).collect();
        let errors = earlier.iter().filter(|d| d.severity == Severity::Error);
        let faulty: BTreeSet<FileId> = errors.map(|d| d.span.file).collect();
        let [checked, imported] = [lowered, others].map(|all| all.iter().map(AsRef::as_ref));
        let family = Family::new(checked, imported, &faulty);
        let (lints, go_on) = (self.lints, self.go_on);
        let shared = Shared { loaded, named, ready, failing, family, earlier, lints, go_on };
        let states = |one: &Arc<Lowered>| (self.states)(&loaded.sources.get(one.map.file).name);
        let states: Vec<usize> = lowered.iter().map(states).collect();
        let found: Vec<OnceLock<Result<Vec<Diagnostic>, E>>> =
            lowered.iter().map(|_| OnceLock::new()).collect();
        (self.jobs)(lowered.len(), &|nth| {
            found[nth].get_or_init(|| shared.check(&lowered[nth], states[nth]));
        });
        found.into_iter().filter_map(OnceLock::into_inner).collect()
    }
}

/// Adds the findings that compare charts with each other, and removes those that others or comments suppress.
fn settle(
    loaded: Loaded,
    lowered: Vec<Arc<Lowered>>,
    others: &[Arc<Lowered>],
    mut diagnostics: Vec<Diagnostic>,
    uses: Vec<Use>,
) -> Compilation {
    lint::names::report_duplicate_agent(&lowered, &loaded.sources, &mut diagnostics);
    let every: Vec<&Lowered> = lowered.iter().chain(others).map(AsRef::as_ref).collect();
    let imported: BTreeSet<FileId> =
        loaded.files.iter().flat_map(|file| loaded.imports(file.id)).collect();
    lint::names::beside(&every, &imported, &mut diagnostics);
    for file in &loaded.files {
        confusables::report(file, loaded.sources.get(file.id), &mut diagnostics);
    }
    let charts: Vec<Span> = lowered.iter().chain(others).map(|one| whole(one)).collect();
    // Sorted before precedence, so that the result does not depend on the order of the lints.
    diagnostics
        .sort_by(|a, b| (a.span, a.rule.code, &a.message).cmp(&(b.span, b.rule.code, &b.message)));
    rules::suppress(&mut diagnostics);
    let text = |place: Span| loaded.sources.get(place.file).slice(place);
    rules::group_by_cause(&mut diagnostics, &charts, text);
    // After precedence: a finding that another one suppresses must not count as the use of an `allow` comment.
    let mut suppressed = allow::apply(&loaded.files, &loaded.sources, &mut diagnostics);
    suppressed.sort_by_key(|s| (s.finding.span, s.finding.rule.code));
    suppressed.retain(|s| s.finding.severity != Severity::Off);
    diagnostics.sort_by_key(|d| (d.span, d.rule.code));
    // A component that several agents list is lowered once for each of them, so its findings repeat.
    let (mut last, mut messages) = (None, BTreeSet::new());
    diagnostics.retain(|d| {
        if last.replace((d.span, d.rule.code)) != Some((d.span, d.rule.code)) {
            messages.clear();
        }
        messages.insert(d.message.clone())
    });
    // Last, so that sources are looked up only for findings that remain.
    for found in &mut diagnostics {
        found.fix = found.fix.take().and_then(|fix| fix.settle(&loaded.sources)).map(Box::new);
    }
    let silent = diagnostics.extract_if(.., |d| d.severity == Severity::Off).collect();
    // Decided anew: lints may report errors, too, and precedence may have removed some.
    let (charts, tested) = sound(&loaded, &lowered, others, &diagnostics);
    let (sources, files) = (loaded.sources, loaded.files);
    Compilation { sources, files, charts, tested, lowered, diagnostics, suppressed, silent, uses }
}

// Charts without errors, which emitters and the runtime accept, and their selection from all charts of a check.

/// A chart without errors of the rules C00xx, C01xx, C02xx and C04xx. Only [`check`] creates one, so its users need not
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
    pub fn chart(&self) -> &Arc<Chart> {
        &self.lowered.chart
    }

    /// The charts that this chart runs, directly or indirectly, those of the checked files first; includes this chart if one of them runs
    /// it.
    pub fn children(&self) -> impl Iterator<Item = &Chart> {
        self.children.iter().map(|child| &*child.chart)
    }

    /// The chart and its children, each once, the chart first.
    pub fn family(&self) -> Vec<&Chart> {
        let others = self.children.iter().filter(|child| !Arc::ptr_eq(child, &self.lowered));
        std::iter::once(&**self.chart()).chain(others.map(|child| &*child.chart)).collect()
    }

    /// The plans of the chart and of its children, the chart's first: what a machine is made from.
    pub fn plans(&self) -> Arc<[Plan]> {
        self.plans_with(self.chart())
    }

    /// Like [`Checked::plans`], with `chart` in the place of the checked one.
    pub fn plans_with(&self, chart: &Arc<Chart>) -> Arc<[Plan]> {
        let others = self.children.iter().filter(|child| !Arc::ptr_eq(child, &self.lowered));
        std::iter::once(chart).chain(others.map(|child| &child.chart)).map(Plan::new).collect()
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

/// The chart around each nested chart, for charts in the order of their spans. A chart may be nested in another, like an invoked SCXML
/// document.
fn enclosing(places: impl Iterator<Item = Span>) -> BTreeMap<Span, Span> {
    let mut around = BTreeMap::new();
    // An outer chart comes before its inner ones, so a stack of open charts finds the chart around each.
    let mut open: Vec<Span> = Vec::new();
    for place in places {
        while open.last().is_some_and(|o| o.file != place.file || o.end < place.end) {
            open.pop();
        }
        around.extend(open.last().map(|outer| (place, *outer)));
        open.push(place);
    }
    around
}

/// Selects the charts without errors: those of the checked files and, separately, all with tests, including charts of imported files. A
/// chart is left out if it or a chart that it runs has errors, or if its file or an import has errors outside of charts.
fn sound(
    loaded: &Loaded,
    lowered: &[Arc<Lowered>],
    others: &[Arc<Lowered>],
    diagnostics: &[Diagnostic],
) -> (Vec<Checked>, Vec<Checked>) {
    let all: Vec<&Arc<Lowered>> = lowered.iter().chain(others).collect();
    let places: BTreeMap<Span, usize> =
        all.iter().enumerate().map(|(i, one)| (whole(one), i)).collect();
    let around = enclosing(places.keys().copied());
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
fn whole(one: &Lowered) -> Span {
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
