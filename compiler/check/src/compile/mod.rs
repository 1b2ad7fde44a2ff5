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

mod checked;

pub use checked::Checked;

use crate::allow::Suppressed;
use crate::explore::{Runs, STATES, child};
use crate::facts::Facts;
use crate::facts::handling;
use crate::lint::family::Family;
use crate::lint::{LINTS, Lint};
use crate::lower::{Lowered, Use, lower};
use crate::{allow, lint};
use chartc_core::arena::StepId;
use chartc_core::model::Chart;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::load::{Loader, load};
use chartc_text::rules::precedence;
use chartc_text::source::Sources;
use chartc_text::span::{FileId, Span};
use chartc_text::{confusables, syntax};
use checked::{sound, whole};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

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

/// Like [`check_within`], with the number of states by file name.
pub fn check_each(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
) -> Compilation {
    let Ok(done) = check_by(LINTS, paths, loader, states, None, &|| Ok::<(), Infallible>(()));
    done
}

/// Like [`check_within`], and records the meanings of names in [`Compilation::uses`]. Only editors need them, and they take time and
/// memory.
pub fn check_indexed(paths: &[String], loader: &dyn Loader, states: usize) -> Compilation {
    let go_on = || Ok::<(), Infallible>(());
    let Ok(done) = check_by(LINTS, paths, loader, &|_| states, Some(Vec::new()), &go_on);
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
    is_outdated: &dyn Fn() -> bool,
) -> Result<Compilation, Outdated> {
    let go_on = || if is_outdated() { Err(Outdated) } else { Ok(()) };
    check_by(LINTS, paths, loader, states, Some(Vec::new()), &go_on)
}

/// A check was ended because its result was not wanted any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outdated;

/// Like [`check_each`], but runs the given lints in the given order, appends to `uses` if it is there, and ends with the error of `go_on`.
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
    // A chart with an error is not explored, but the properties of the other charts are.
    let ready: BTreeSet<Span> = sound(&loaded, &lowered, &others, &diagnostics)
        .0
        .iter()
        .filter(|checked| checked.not_yet().is_empty())
        .map(|checked| checked.map().name)
        .collect();
    // Several steps may run the same chart, so the result for a child chart is kept.
    let mut failing: BTreeMap<Span, bool> = BTreeMap::new();
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let faulty: BTreeSet<FileId> = errors.map(|d| d.span.file).collect();
    let [checked, imported] = [&lowered, &others].map(|all| all.iter().map(AsRef::as_ref));
    let family = Family::new(checked, imported, &faulty);
    for one in &lowered {
        let mut facts = Facts::new(&one.chart);
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
            // An outdated exploration ends early with an incomplete result, which must not reach the lints.
            runs = Runs::unless(&one.chart, &facts, states, &is_outdated);
            go_on()?;
        }
        // Asked before each lint, because a lint over a large chart may take long.
        let lints = lints.iter().copied().take_while(|_| !is_outdated());
        lint::run(lints, one, &facts, &runs, &family, &loaded.sources, &mut diagnostics);
        go_on()?;
    }
    // These rules compare charts with each other, so they run after the loop over charts.
    lint::duplicate_agent::told(&lowered, &loaded.sources, &mut diagnostics);
    let every: Vec<&Lowered> = lowered.iter().chain(&others).map(AsRef::as_ref).collect();
    let imported: BTreeSet<FileId> =
        loaded.files.iter().flat_map(|file| loaded.imports(file.id)).collect();
    lint::unused_declaration::beside(&every, &imported, &mut diagnostics);
    for file in &loaded.files {
        confusables::report(file, loaded.sources.get(file.id), &mut diagnostics);
    }
    let charts: Vec<Span> = lowered.iter().chain(&others).map(|one| whole(one)).collect();
    // Sorted before precedence, so that the result does not depend on the order of the lints.
    diagnostics
        .sort_by(|a, b| (a.span, a.rule.code, &a.message).cmp(&(b.span, b.rule.code, &b.message)));
    precedence::suppress(&mut diagnostics);
    let text = |place: Span| loaded.sources.get(place.file).slice(place);
    precedence::group_by_cause(&mut diagnostics, &charts, text);
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

#[cfg(test)]
mod tests;
