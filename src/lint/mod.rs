//! Findings about behaviour, and the table of every kind of finding.
//!
//! To add a lint: `<name>.rs` with a `LINT`, `<name>.md` beside it, its `mod` line and its row in [`LINTS`]. A kind of finding
//! that another stage reports has its `.md` here and its row in [`reported`].

pub mod reported;

use crate::analysis::Facts;
use crate::diagnostic::{Diagnostic, Rule};
use crate::lower::SourceMap;
use chartc_core::model::Chart;

/// What a lint sees.
pub struct Context<'c> {
    /// The model.
    pub chart: &'c Chart,
    /// What is known of it.
    pub facts: &'c Facts,
    /// Where its parts stand.
    pub map: &'c SourceMap,
}

/// One lint.
#[derive(Debug)]
pub struct Lint {
    /// The kind of finding it makes.
    pub rule: &'static Rule,
    /// Adds what it finds.
    pub run: fn(&Context<'_>, &mut Vec<Diagnostic>),
}

/// Lints over the model.
pub const LINTS: &[&Lint] = &[];

/// Every kind of finding, by code.
pub fn rules() -> Vec<&'static Rule> {
    let mut all: Vec<&'static Rule> =
        LINTS.iter().map(|l| l.rule).chain(reported::RULES.iter().copied()).collect();
    all.sort_by_key(|r| r.code);
    all
}

/// Runs every lint.
pub fn run(chart: &Chart, facts: &Facts, map: &SourceMap, diagnostics: &mut Vec<Diagnostic>) {
    let context = Context { chart, facts, map };
    for lint in LINTS {
        (lint.run)(&context, diagnostics);
    }
}
