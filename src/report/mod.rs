//! Formats in which findings are printed.
//!
//! People, editors, build scripts and CI servers want the same findings in different forms. A format is a function of all findings,
//! so that it can sort, count and leave some out. One finding in three formats:
//!
//! ```text
//! short    door.chart:4:21: error[C0102] no event `opne`
//! github   ::error file=door.chart,line=4,endLine=4,col=21,endColumn=24,title=C0102 …::no event `opne`
//! json     {"version":1,"diagnostics":[{"code":"C0102","severity":"error","file":"door.chart","line":4,"column":21,…}]}
//! ```
//!
//! To add one: a file with a `REPORT`, its `mod` line and its row in [`REPORTS`].

pub(crate) mod ci;
mod findings;
#[cfg(feature = "cli")]
mod human;
mod json;
mod short;

#[cfg(feature = "cli")]
pub(crate) use findings::fingerprints;
pub use findings::{Findings, Report, Terminal, summary};

use chartc_compiler::syntax::diagnostic::Diagnostic;
use chartc_compiler::syntax::source::Sources;

/// All formats, by the name that `--format` takes.
pub const REPORTS: &[&Report] = &[
    #[cfg(feature = "cli")]
    &human::REPORT,
    &short::REPORT,
    &json::REPORT,
    &ci::SARIF,
    &ci::GITHUB,
    &ci::GITLAB,
    &ci::JUNIT,
];

/// The format with this name.
///
/// # Panics
/// If no format of [`REPORTS`] has this name.
#[cfg(feature = "cli")]
pub(crate) fn format(name: &str) -> &'static Report {
    REPORTS.iter().find(|report| report.name == name).expect("a format of the table")
}

/// Formats one finding per line, for people and build scripts: `file:line:column: error[C0102] message`.
pub fn short(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    short::REPORT.render(diagnostics, sources, Terminal { colour: false, width: 100 })
}

/// Draws one finding for people, without a summary.
#[cfg(feature = "cli")]
pub fn one(diagnostic: &Diagnostic, sources: &Sources, terminal: Terminal) -> String {
    human::one(diagnostic, sources, terminal)
}

// Fingerprints of findings: they stay the same when lines are inserted elsewhere.

#[cfg(test)]
mod tests {
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(super::findings::hash(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(super::findings::hash(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
