//! Findings about behaviour: one file, or folder, for each lint, with the analysis that only it needs.
//!
//! The problem: one mistake in a chart makes several rules apply, and most rules need the same facts, such as the reachable states. The
//! idea: a lint is a function from a [`Context`] to findings. Facts that several lints need are in the context. A lint never sees the
//! findings of others: `rules::precedence` declares which findings suppress which. For example:
//!
//! ```text
//! initial a
//! state a { on go if n > 5 and n < 3 -> b }
//! state b { on back -> a }
//! ```
//!
//! 1. The facts say that the guard never holds, so no run enters `b`.
//! 2. `impossible_guard` reports the guard, and `unreachable_state` reports `b`, each without knowing about the other.
//! 3. Precedence makes the finding about `b` a related place of the finding about the guard, which is its cause.
//!
//! To add a lint, add a rule in [`chartc_text::rules`], `<name>.rs` here with a `LINT`, its `mod` line and its row in [`LINTS`].

mod absent_child;
mod backward_count;
mod check_failed;
mod covered_permission;
mod dead_deadline;
mod dead_line;
mod dead_option;
pub(crate) mod duplicate_agent;
pub(crate) mod duplicate_name;
mod empty_fan_out;
mod empty_index;
mod event_cycle;
mod eventless_cycle;
mod failing;
pub mod family;
mod forbidden_move;
mod gap;
mod growing_prompt;
mod hasty_timeout;
mod hidden_step;
mod huge_retry;
pub(crate) mod idle_line;
mod impossible_guard;
mod left_at_once;
mod limit_out_of_reach;
mod lists;
mod lost_count;
mod maybe_unset;
mod misdirected_event;
pub mod misfit_input;
mod misleading_format;
mod missing_answer;
mod missing_prompt;
mod misspelt_variable;
mod moving;
pub(crate) mod name_clash;
mod needless_guard;
mod never_set;
mod outdated_answer;
mod overlap;
mod permuted_names;
mod posting;
mod read_before_set;
mod reading;
mod region_reset;
mod repeated_effect;
mod shadowed_line;
mod success_by_failure;
mod too_few_options;
mod trap_state;
mod unbounded_calls;
mod unbounded_fan_out;
mod unbounded_wait;
mod uncounted_line;
mod undecided_check;
mod undriven_state;
mod unhandled_event;
mod unhandled_failure;
mod unheard_message;
mod unnamed_answer;
mod unordered_assignments;
mod unpriced_model;
mod unput_question;
mod unreachable_state;
mod unreached_step;
mod unread_answer;
mod unread_variable;
mod unsent_event;
mod unusable_tool;
mod unused_binding;
pub(crate) mod unused_declaration;
mod unused_permission;
mod useless_history;
mod wildcard_into_itself;
mod wildcard_without_effect;
pub mod words;

use crate::explore::Runs;
use crate::facts::Facts;
use crate::lower::{Lowered, SourceMap};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::Chart;
use chartc_text::diagnostic::{Diagnostic, Rule, Severity, Stage};
use chartc_text::rules;
use chartc_text::source::Sources;

/// The input of a lint: a chart and what is known about it.
pub struct Context<'c> {
    /// The model of the chart.
    pub chart: &'c Chart,
    /// The facts established about the chart.
    pub facts: &'c Facts,
    /// The results of its exploration, which are empty if it was not explored.
    pub runs: &'c Runs,
    /// The charts that run this chart and that it runs.
    pub family: &'c family::Family<'c>,
    /// The source positions of the parts of the chart.
    pub map: &'c SourceMap,
    /// The texts of all sources.
    pub sources: &'c Sources,
    /// Whether all parts of the prompts are known. Components that were not loaded might add to them.
    pub full_prompts: bool,
    /// Whether the whole file has been read. Text that was lost to an error might use a declaration.
    pub all_read: bool,
}

impl Context<'_> {
    /// Whether a run may enter the state: according to all explored runs, if the exploration was complete, and to the facts.
    fn enters(&self, state: StateId) -> bool {
        let seen = self.runs.seen.as_ref().is_none_or(|seen| seen.entered[state.index()]);
        seen && self.facts.reach.can_enter(state)
    }

    /// Adds to the finding the transitions that cause it.
    fn blame(
        &self,
        found: Diagnostic,
        transitions: impl IntoIterator<Item = TransitionId>,
    ) -> Diagnostic {
        transitions
            .into_iter()
            .fold(found, |found, transition| found.because(self.map.transition(transition).whole))
    }
}

/// A lint: the check of a rule.
#[derive(Debug)]
pub struct Lint {
    /// The rule that the lint checks. It may report related rules, too.
    pub rule: &'static Rule,
    /// Whether it concludes from the absence of something, and so does not run on a chart that lost lines to errors.
    pub needs_whole: bool,
    /// Appends the findings of the lint.
    pub run: fn(&Context<'_>, &mut Vec<Diagnostic>),
}

/// All lints. Their order has no effect on the findings that are reported.
pub const LINTS: &[&Lint] = &[
    &unreachable_state::LINT,
    &useless_history::LINT,
    &region_reset::LINT,
    &wildcard_into_itself::LINT,
    &undriven_state::LINT,
    &shadowed_line::LINT,
    &wildcard_without_effect::LINT,
    &idle_line::LINT,
    &eventless_cycle::LINT,
    &left_at_once::LINT,
    &trap_state::LINT,
    &success_by_failure::LINT,
    &forbidden_move::LINT,
    &unused_permission::LINT,
    &covered_permission::LINT,
    &hidden_step::LINT,
    &unput_question::LINT,
    &unreached_step::LINT,
    &dead_option::LINT,
    &impossible_guard::LINT,
    &unbounded_wait::LINT,
    &unhandled_event::LINT,
    &needless_guard::LINT,
    &event_cycle::LINT,
    &dead_deadline::LINT,
    &check_failed::LINT,
    &undecided_check::LINT,
    &too_few_options::LINT,
    // Also reports C0410.
    &unnamed_answer::LINT,
    &read_before_set::LINT,
    &unused_declaration::LINT,
    &never_set::LINT,
    // Also reports C0412, from the same data-flow analysis.
    &maybe_unset::LINT,
    &unread_variable::LINT,
    &misspelt_variable::LINT,
    &unused_binding::LINT,
    &uncounted_line::LINT,
    // Also reports C0419 and C0423.
    &backward_count::LINT,
    &lost_count::LINT,
    &gap::LINT,
    &overlap::LINT,
    &unbounded_calls::LINT,
    &limit_out_of_reach::LINT,
    &missing_prompt::LINT,
    &huge_retry::LINT,
    &hasty_timeout::LINT,
    &unbounded_fan_out::LINT,
    &unpriced_model::LINT,
    &unusable_tool::LINT,
    &misfit_input::LINT,
    &misleading_format::LINT,
    &unread_answer::LINT,
    &growing_prompt::LINT,
    &permuted_names::LINT,
    &empty_index::LINT,
    &missing_answer::LINT,
    &repeated_effect::LINT,
    &outdated_answer::LINT,
    &unordered_assignments::LINT,
    &empty_fan_out::LINT,
    &unhandled_failure::LINT,
    &unsent_event::LINT,
    &misdirected_event::LINT,
    &absent_child::LINT,
    &unheard_message::LINT,
    &name_clash::LINT,
    &duplicate_name::LINT,
    &dead_line::LINT,
];

/// Runs the lints, in any order. Those that need the whole chart run only if no part of it was lost to errors.
pub fn run<'l>(
    lints: impl IntoIterator<Item = &'l Lint>,
    lowered: &Lowered,
    facts: &Facts,
    runs: &Runs,
    family: &family::Family<'_>,
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let (chart, map) = (&lowered.chart, &lowered.map);
    let lacks =
        |d: &Diagnostic| d.rule.code == rules::UNLOADED_COMPONENTS.code && d.span.file == map.file;
    let full_prompts = !diagnostics.iter().any(lacks);
    let hides = |d: &Diagnostic| {
        d.span.file == map.file
            && (d.rule.code == rules::LOST_DIVISION.code
                || d.severity == Severity::Error && d.stage != Stage::Behaviour)
    };
    let all_read = !diagnostics.iter().any(hides);
    let context = Context { chart, facts, runs, family, map, sources, full_prompts, all_read };
    for lint in lints.into_iter().filter(|l| lowered.whole || !l.needs_whole) {
        let mut found = Vec::new();
        (lint.run)(&context, &mut found);
        diagnostics.append(&mut found);
    }
}
