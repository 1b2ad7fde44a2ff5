//! The faults, by what they break.

mod blocks;
mod each;
mod enter;
mod family;
mod select;
mod skipped;
mod step;
mod time;
mod tools;
mod walks;
mod written;

/// One fault, with the tests that must fail for it.
pub(crate) struct Mutant {
    /// What is wrong.
    pub(crate) name: &'static str,
    /// The file with the fault, from the root of the workspace.
    pub(crate) file: &'static str,
    /// Right code, as it stands exactly once in the file, and what stands in its place. One expression, or whole statements that bind
    /// nothing for those behind them.
    pub(crate) edits: &'static [(&'static str, &'static str)],
    /// Each must fail by an assertion.
    pub(crate) tests: &'static [&'static str],
}

/// All faults.
pub(crate) fn all() -> Vec<Mutant> {
    [
        each::all(),
        enter::all(),
        select::all(),
        blocks::all(),
        skipped::all(),
        step::all(),
        time::all(),
        tools::all(),
        walks::all(),
        family::all(),
        written::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One row: name, edits, tests.
type Row = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// The faults of one file.
fn of(file: &'static str, rows: &[Row]) -> Vec<Mutant> {
    rows.iter().map(|(name, edits, tests)| Mutant { name, file, edits, tests }).collect()
}
