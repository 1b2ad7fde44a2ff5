//! Selects one chart of one file: the input of `graph`, `build`, `run`, `simulate` and others.

use super::files::{Files, Root, STDIN};
use super::output::{Colour, Exit, complain, complain_report, terminal};
use crate::report::REPORTS;
use chartc_compiler::compile::{Checked, Compilation};
use chartc_compiler::syntax::diagnostic::{Severity, nearest};
use chartc_compiler::syntax::source::{Sources, Span};
use std::collections::BTreeSet;

/// Selects the chart `name` of the file or, without a name, its only chart. If there is none, writes the errors to standard error and
/// returns the exit code.
///
/// # Errors
/// The file has several charts and no name is given, or no chart has this name.
pub fn pick(file: &str, name: Option<&str>, root: &Root) -> miette::Result<Result<Checked, Exit>> {
    let done = check(file, root, 0)?;
    choose(file, name, &done)
}

/// As [`pick`], and also returns the sources, which diagnostics of an emitter refer to.
///
/// # Errors
/// As for [`pick`].
pub fn pick_with_sources(
    file: &str,
    name: Option<&str>,
    root: &Root,
) -> miette::Result<Result<(Checked, Sources), Exit>> {
    let done = check(file, root, 0)?;
    Ok(choose(file, name, &done)?.map(|checked| (checked, done.sources)))
}

/// As [`pick`], for a file without errors of any kind: errors of behaviour, and constructs that the runtime does not support, prevent a
/// run. At most `states` states are explored for each `check` line; with 0, `check` lines are not decided.
///
/// # Errors
/// As for [`pick`].
pub fn pick_to_run(
    file: &str,
    name: Option<&str>,
    root: &Root,
    states: usize,
) -> miette::Result<Result<Checked, Exit>> {
    Ok(pick_to_run_with_sources(file, name, root, states)?.map(|(checked, _)| checked))
}

/// As [`pick_to_run`], and also returns the sources.
///
/// # Errors
/// As for [`pick`].
pub fn pick_to_run_with_sources(
    file: &str,
    name: Option<&str>,
    root: &Root,
    states: usize,
) -> miette::Result<Result<(Checked, Sources), Exit>> {
    let done = check(file, root, states)?;
    let chosen = choose(file, name, &done)?;
    let has_errors = done.diagnostics.iter().any(|d| d.severity == Severity::Error);
    Ok(match chosen {
        Ok(_) if has_errors => Err(refuse(file, &done)),
        chosen => chosen.map(|checked| (checked, done.sources)),
    })
}

fn choose(
    file: &str,
    name: Option<&str>,
    done: &Compilation,
) -> miette::Result<Result<Checked, Exit>> {
    let known: Vec<&str> = done.lowered.iter().map(|l| l.chart.name.as_str()).collect();
    let wanted = match (name, known.as_slice()) {
        // If no chart could be lowered, the errors in the file say more than an unknown name.
        (Some(name), _) if !known.is_empty() && !known.contains(&name) => {
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; it has {}", listed(&known)),
            };
            return Err(miette::miette!("{file} has no chart called `{name}`{hint}"));
        }
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, []) => "",
        (None, several) if outermost(done).is_none() => {
            return Err(miette::miette!(
                "{file} has {} charts: {}; choose one with --chart NAME",
                several.len(),
                listed(several)
            ));
        }
        (None, _) => outermost(done).unwrap_or_default(),
    };
    match done.charts.iter().find(|c| c.chart().name == wanted) {
        Some(checked) => Ok(Ok(checked.clone())),
        None => Ok(Err(refuse(file, done))),
    }
}

/// The only chart that no other chart of the file runs as a child, if there are child charts at all.
fn outermost(done: &Compilation) -> Option<&str> {
    let children: BTreeSet<Span> = done
        .lowered
        .iter()
        .flat_map(|one| {
            one.map
                .steps
                .iter()
                .filter_map(move |step| step.child.filter(|child| *child != one.map.name))
        })
        .collect();
    let mut outer = done.lowered.iter().filter(|one| !children.contains(&one.map.name));
    let only = outer.next().filter(|_| outer.next().is_none() && !children.is_empty());
    only.map(|one| one.chart.name.as_str())
}

/// Checks the input file of a command, exploring at most `states` states.
pub(super) fn check(file: &str, root: &Root, states: usize) -> miette::Result<Compilation> {
    let files = Files::find(&[file.to_owned()], root)?;
    match files.names() {
        [_] => Ok(crate::check_within(files.names(), &files, states)),
        [] => Err(miette::miette!("no *.chart, *.scxml or agent.yaml in {file}")),
        several => Err(miette::miette!("{file} has {} charts; name one file", several.len())),
    }
}

/// Reports the errors or, without any, that the file has no chart. Returns the exit code.
pub(super) fn refuse(file: &str, done: &Compilation) -> Exit {
    let errors: Vec<_> =
        done.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    if errors.is_empty() {
        let shown = if file == "-" { STDIN } else { file };
        complain(format!("error: there is no chart in {shown}"));
        return Exit::Nothing;
    }
    complain_report(&REPORTS[0].render(&errors, &done.sources, terminal(Colour::Auto)));
    Exit::Findings
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
