//! Runs all stages from the files to the findings.

use crate::allow::Suppressed;
use crate::explore::{Runs, STATES, child};
use crate::facts::Facts;
use crate::facts::handling;
use crate::lint::family::Family;
use crate::lint::{LINTS, Lint};
use crate::lower::test::Test;
use crate::lower::{Lowered, SourceMap, Use, lower};
use crate::turn::cost::{Cost, cost_soon};
use crate::{allow, lint};
use chartc_core::arena::StepId;
use chartc_core::family::DEPTH;
use chartc_core::model::Chart;
use chartc_text::diagnostic::{Diagnostic, Severity, Stage};
use chartc_text::load::{Loaded, Loader, load};
use chartc_text::rules::precedence;
use chartc_text::source::Sources;
use chartc_text::span::{FileId, Span};
use chartc_text::{disguise, syntax};
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
    /// Charts without errors of syntax, names, structure or data: they can be drawn, generated and run.
    pub charts: Vec<Checked>,
    /// The charts that have tests, without such errors either; includes charts of files that were only imported.
    pub tested: Vec<Checked>,
    /// All charts that could be lowered, including those with errors, in the order of the files.
    pub lowered: Vec<Arc<Lowered>>,
    /// All findings, by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The findings that comments suppress, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// The findings of rules that are off by default, in the same order.
    pub silent: Vec<Diagnostic>,
    /// What names mean, by their places: of all charts of the requested files, of those that they run, and of what is declared around
    /// them. Complete only for charts without errors of syntax, and empty unless the check was for an editor: [`check_indexed`].
    pub uses: Vec<Use>,
}

/// A chart without errors of the rules C00xx, C01xx, C02xx and C04xx. Only [`check`] creates one, so its users need not validate
/// again.
#[derive(Debug, Clone)]
pub struct Checked {
    lowered: Arc<Lowered>,
    /// The charts that it runs, directly or indirectly.
    children: Vec<Arc<Lowered>>,
    source: String,
    not_yet: Vec<Diagnostic>,
    cost: Arc<OnceLock<Option<Cost>>>,
}

impl Checked {
    /// The model.
    pub fn chart(&self) -> &Chart {
        &self.lowered.chart
    }

    /// The charts that it runs, directly or indirectly, by position; includes itself if one of them runs it.
    pub fn children(&self) -> impl Iterator<Item = &Chart> {
        self.children.iter().map(|child| &child.chart)
    }

    /// The chart and its children, each once, the chart first.
    pub fn family(&self) -> Vec<&Chart> {
        let others = self.children.iter().filter(|child| !Arc::ptr_eq(child, &self.lowered));
        std::iter::once(self.chart()).chain(others.map(|child| &child.chart)).collect()
    }

    /// Its tests, in the order of the files.
    pub fn tests(&self) -> &[Test] {
        &self.lowered.tests
    }

    /// The chart with its spans.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// Like [`Checked::children`], with the spans.
    pub fn lowered_children(&self) -> impl Iterator<Item = &Lowered> {
        self.children.iter().map(AsRef::as_ref)
    }

    /// The source positions of its parts.
    pub fn map(&self) -> &SourceMap {
        &self.lowered.map
    }

    /// The errors about parts of its file that cannot run yet (C05xx): the chart can be drawn, but not generated or run.
    pub fn not_yet(&self) -> &[Diagnostic] {
        &self.not_yet
    }

    /// Its model calls, computed when they are first asked for; `None` if that would take long.
    pub fn cost(&self) -> Option<&Cost> {
        let found = || cost_soon(self.chart(), &Facts::of(self.chart()));
        self.cost.get_or_init(found).as_ref()
    }

    /// The name of its file, as given.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Loads `paths` with their imports and runs every stage. Findings are collected; one broken file does not hide the others.
///
/// ```
/// use chartc_check::compile::check; // `chartc::check` in a crate that depends on chartc
/// use chartc_text::load::Memory;
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
    check_each(paths, loader, &|_| states)
}

/// Like [`check_within`], with a number of states for each file, by its name.
pub fn check_each(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
) -> Compilation {
    let Ok(done) = check_by(LINTS, paths, loader, states, None, &|| Ok::<(), Infallible>(()));
    done
}

/// Like [`check_within`], and records what names mean, in [`Compilation::uses`]: only editors need it, and it takes time and memory.
pub fn check_indexed(paths: &[String], loader: &dyn Loader, states: usize) -> Compilation {
    let go_on = || Ok::<(), Infallible>(());
    let Ok(done) = check_by(LINTS, paths, loader, &|_| states, Some(Vec::new()), &go_on);
    done
}

/// Like [`check_indexed`], with a number of states for each file, by its name. Ends soon after `is_outdated` says that nobody wants the
/// result any more; it is asked between stages, lints and properties.
///
/// # Errors
/// Nobody wants the result.
pub fn check_unless(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
    is_outdated: &dyn Fn() -> bool,
) -> Result<Compilation, Outdated> {
    let go_on = || if is_outdated() { Err(Outdated) } else { Ok(()) };
    check_by(LINTS, paths, loader, states, Some(Vec::new()), &go_on)
}

/// Nobody wants the result of a check any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outdated;

/// Like [`check_each`], but runs the given lints in the given order, fills `uses` if there is one, and ends when it may not go on.
fn check_by<E>(
    lints: &[&Lint],
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
    mut uses: Option<Vec<Use>>,
    go_on: &dyn Fn() -> Result<(), E>,
) -> Result<Compilation, E> {
    let is_outdated = || go_on().is_err();
    let mut diagnostics = Vec::new();
    let loaded = load(paths, loader, &mut diagnostics);
    go_on()?;
    let (lowered, others) = lower(&loaded, uses.as_mut(), &mut diagnostics);
    let uses = uses.unwrap_or_default();
    go_on()?;
    let lowered: Vec<Arc<Lowered>> = lowered.into_iter().map(Arc::new).collect();
    let others: Vec<Arc<Lowered>> = others.into_iter().map(Arc::new).collect();
    let named: BTreeMap<Span, &Chart> =
        lowered.iter().chain(&others).map(|one| (one.map.name, &one.chart)).collect();
    // Properties of other charts are decided even if one chart has errors.
    let ready: BTreeSet<Span> = sound(&loaded, &lowered, &others, &diagnostics)
        .0
        .iter()
        .filter(|checked| checked.not_yet.is_empty())
        .map(|checked| checked.lowered.map.name)
        .collect();
    let mut failing: BTreeMap<Span, bool> = BTreeMap::new();
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let faulty: BTreeSet<FileId> = errors.map(|d| d.span.file).collect();
    let [checked, imported] = [&lowered, &others].map(|all| all.iter().map(AsRef::as_ref));
    let family = Family::of(checked, imported, &faulty);
    for one in &lowered {
        let mut facts = Facts::of(&one.chart);
        go_on()?;
        let mut runs = Runs::default();
        let run = |step: StepId| named.get(&one.map.step(step).child?).copied();
        facts.passed = handling::passed(&one.chart, &run);
        let mut is_sure = |step: StepId| {
            let (Some(name), Some(other)) = (one.map.step(step).child, run(step)) else {
                return false;
            };
            child::fits(&one.chart, &one.chart.steps[step.index()], other)
                && !*failing.entry(name).or_insert_with(|| child::can_fail(other))
        };
        let steps = (0..one.chart.steps.len()).map(StepId::at);
        facts.sure = steps.filter(|step| is_sure(*step)).collect();
        let states = states(&loaded.sources.get(one.map.file).name);
        if states > 0 && one.whole && ready.contains(&one.map.name) {
            runs = Runs::unless(&one.chart, &facts, states, &is_outdated);
            go_on()?;
        }
        let lints = lints.iter().copied().take_while(|_| !is_outdated());
        lint::run(lints, one, &facts, &runs, &family, &loaded.sources, &mut diagnostics);
        go_on()?;
    }
    lint::duplicate_agent::told(&lowered, &loaded.sources, &mut diagnostics);
    let every: Vec<&Lowered> = lowered.iter().chain(&others).map(AsRef::as_ref).collect();
    let imported: BTreeSet<FileId> =
        loaded.files.iter().flat_map(|file| loaded.imports(file.id)).collect();
    lint::unused_declaration::beside(&every, &imported, &mut diagnostics);
    for file in &loaded.files {
        disguise::report(file, loaded.sources.get(file.id), &mut diagnostics);
    }
    let charts: Vec<Span> = lowered.iter().chain(&others).map(|one| whole(one)).collect();
    diagnostics
        .sort_by(|a, b| (a.span, a.rule.code, &a.message).cmp(&(b.span, b.rule.code, &b.message)));
    precedence::leave_out(&mut diagnostics);
    let text = |place: Span| loaded.sources.get(place.file).slice(place);
    precedence::fold(&mut diagnostics, &charts, text);
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
    for found in &mut diagnostics {
        found.fix = found.fix.take().and_then(|fix| fix.settle(&loaded.sources)).map(Box::new);
    }
    let silent = diagnostics.extract_if(.., |d| d.severity == Severity::Off).collect();
    let (charts, tested) = sound(&loaded, &lowered, &others, &diagnostics);
    let (sources, files) = (loaded.sources, loaded.files);
    Ok(Compilation {
        sources,
        files,
        charts,
        tested,
        lowered,
        diagnostics,
        suppressed,
        silent,
        uses,
    })
}

/// The charts of the files and, separately, the charts with tests, which include charts of imported files. Omits a chart if it or
/// a chart that it runs has errors, or if its file or an import has errors outside of charts.
fn sound(
    loaded: &Loaded,
    lowered: &[Arc<Lowered>],
    others: &[Arc<Lowered>],
    diagnostics: &[Diagnostic],
) -> (Vec<Checked>, Vec<Checked>) {
    let all: Vec<&Arc<Lowered>> = lowered.iter().chain(others).collect();
    let places: BTreeMap<Span, usize> =
        all.iter().enumerate().map(|(i, one)| (whole(one), i)).collect();
    // A chart may be nested in another, like an invoked SCXML document.
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
    // Errors by file and innermost chart.
    let mut errors: BTreeMap<(FileId, Option<usize>), Vec<&Diagnostic>> = BTreeMap::new();
    for found in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        errors.entry((found.span.file, within(found.span))).or_default().push(found);
    }
    let about = |nth: usize| {
        let file = all[nth].map.file;
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

/// The span of a chart.
fn whole(one: &Lowered) -> Span {
    one.map.states.first().map_or(one.map.name, |state| state.whole)
}

/// The charts that a chart runs, directly or indirectly.
fn reached(from: usize, all: &[&Arc<Lowered>], names: &BTreeMap<Span, usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut level = vec![from];
    // Charts nested deeper are never started.
    for _ in 0..DEPTH {
        let steps = level.iter().flat_map(|nth| &all[*nth].map.steps);
        let children = steps.filter_map(|step| names.get(&step.child?).copied());
        level = children.filter(|child| found.insert(*child)).collect();
    }
    found
}

#[cfg(test)]
mod tests;
