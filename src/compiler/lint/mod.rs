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
//! To add a lint, add the page of its rule in [`crate::rules`], a `LINT` in the file of its subject here, and its row in [`LINTS`].

mod block_order;
pub mod data;
mod effects;
mod ends;
mod events;
pub mod family;
mod guards;
mod limits;
pub(crate) mod lines;
mod lists;
pub(crate) mod names;
mod never_set;
mod outdated_answer;
mod permissions;
mod prompts;
mod properties;
mod questions;
mod reachable;
mod unnamed_answer;
mod unordered_assignments;
pub mod words;

use crate::analysis::facts::Facts;
use crate::analysis::turn::flow::Flow;
use crate::explore::Runs;
use crate::lower::{Lowered, SourceMap};
use crate::rules;
use crate::syntax::diagnostic::{self, Diagnostic, Rule, Severity, Stage};
use crate::syntax::source::{Sources, Span};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::Chart;
use std::cell::OnceCell;
use std::collections::BTreeMap;

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
    /// Computed when first asked for.
    flow: OnceCell<Flow<'c>>,
}

impl<'c> Context<'c> {
    /// The values that variables and answers may have where they are read.
    fn flow(&self) -> &Flow<'c> {
        self.flow.get_or_init(|| Flow::new(self.chart, self.facts))
    }

    /// Whether a run may enter the state: according to all explored runs, if the exploration was complete, and to the facts.
    fn enters(&self, state: StateId) -> bool {
        let seen = self.runs.seen.as_ref().is_none_or(|seen| seen.entered[state.index()]);
        seen && self.facts.reach.can_enter(state)
    }

    /// What was found about transitions, by the line that defines them. One line may define several (`each after`, `from`): it is kept only
    /// if something was found about each of them that `counts`.
    fn whole_lines<T>(
        &self,
        found: impl IntoIterator<Item = (TransitionId, T)>,
        counts: impl Fn(TransitionId) -> bool,
    ) -> BTreeMap<Span, Vec<(TransitionId, T)>> {
        let mut lines: BTreeMap<Span, Vec<(TransitionId, T)>> = BTreeMap::new();
        for (id, one) in found {
            lines.entry(self.map.transition(id).whole).or_default().push((id, one));
        }
        let mut open: BTreeMap<Span, usize> =
            lines.iter().map(|(line, all)| (*line, all.len())).collect();
        for (i, spans) in self.map.transitions.iter().enumerate() {
            if let Some(left) = open.get_mut(&spans.whole).filter(|_| counts(TransitionId::at(i))) {
                *left = left.wrapping_sub(1);
            }
        }
        lines.retain(|line, _| open.get(line) == Some(&0));
        lines
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
    &reachable::UNREACHABLE_STATE,
    &reachable::USELESS_HISTORY,
    &reachable::REGION_RESET,
    &lines::WILDCARD_INTO_ITSELF,
    &reachable::UNDRIVEN_STATE,
    &lines::SHADOWED_LINE,
    &lines::WILDCARD_WITHOUT_EFFECT,
    &lines::IDLE_LINE,
    &ends::EVENTLESS_CYCLE,
    &reachable::LEFT_AT_ONCE,
    &ends::TRAP_STATE,
    &ends::SUCCESS_BY_FAILURE,
    &permissions::FORBIDDEN_MOVE,
    &permissions::UNUSED_PERMISSION,
    &permissions::COVERED_PERMISSION,
    &reachable::HIDDEN_STEP,
    &questions::UNPUT_QUESTION,
    &reachable::UNREACHED_STEP,
    &block_order::LINT,
    &questions::DEAD_OPTION,
    &guards::IMPOSSIBLE_GUARD,
    &limits::UNBOUNDED_WAIT,
    &events::UNHANDLED_EVENT,
    &guards::NEEDLESS_GUARD,
    &events::EVENT_CYCLE,
    &limits::DEAD_DEADLINE,
    &properties::CHECK_FAILED,
    &properties::UNDECIDED_CHECK,
    &questions::TOO_FEW_OPTIONS,
    // Also reports C0410.
    &unnamed_answer::LINT,
    &data::READ_BEFORE_SET,
    &names::UNUSED_DECLARATION,
    &never_set::NEVER_SET,
    // Also reports C0412, from the same data-flow analysis.
    &never_set::MAYBE_UNSET,
    &data::UNREAD_VARIABLE,
    &never_set::MISSPELT_VARIABLE,
    &lines::UNUSED_BINDING,
    &guards::UNCOUNTED_LINE,
    // Also reports C0419 and C0423.
    &guards::BACKWARD_COUNT,
    &guards::LOST_COUNT,
    &lines::GAP,
    &lines::OVERLAP,
    &limits::UNBOUNDED_CALLS,
    &limits::LIMIT_OUT_OF_REACH,
    &questions::MISSING_PROMPT,
    &limits::UNHANDLED_DOUBT,
    &limits::HUGE_RETRY,
    &limits::HASTY_TIMEOUT,
    &limits::UNBOUNDED_FAN_OUT,
    &limits::UNPRICED_MODEL,
    &prompts::UNUSABLE_TOOL,
    &data::MISFIT_INPUT,
    &prompts::MISLEADING_FORMAT,
    &questions::UNREAD_ANSWER,
    &prompts::GROWING_PROMPT,
    &events::PERMUTED_NAMES,
    &lists::EMPTY_INDEX,
    &questions::MISSING_ANSWER,
    &effects::LINT,
    &outdated_answer::LINT,
    &unordered_assignments::LINT,
    &lists::EMPTY_FAN_OUT,
    &ends::UNHANDLED_FAILURE,
    &events::UNSENT_EVENT,
    &events::MISDIRECTED_EVENT,
    &events::ABSENT_CHILD,
    &events::UNHEARD_MESSAGE,
    &names::NAME_CLASH,
    &names::DUPLICATE_NAME,
    &lines::DEAD_LINE,
];

/// Runs the lints, in any order, and returns their findings. Those that need the whole chart run only if no part of it was lost to errors,
/// which the findings of earlier stages tell.
pub fn run<'l>(
    lints: impl IntoIterator<Item = &'l Lint>,
    lowered: &Lowered,
    facts: &Facts,
    runs: &Runs,
    family: &family::Family<'_>,
    sources: &Sources,
    earlier: &[Diagnostic],
) -> Vec<Diagnostic> {
    let (chart, map) = (&lowered.chart, &lowered.map);
    let is_told =
        |is: &dyn Fn(&Diagnostic) -> bool| earlier.iter().any(|d| d.span.file == map.file && is(d));
    let full_prompts = !is_told(&|d| d.rule.code == rules::UNLOADED_COMPONENTS.code);
    let all_read = !is_told(&|d| {
        d.rule.code == rules::LOST_DIVISION.code
            || d.severity == Severity::Error && d.stage != Stage::Behaviour
    });
    let flow = OnceCell::new();
    let context =
        Context { chart, facts, runs, family, map, sources, full_prompts, all_read, flow };
    let mut all = Vec::new();
    for lint in lints.into_iter().filter(|l| lowered.whole || !l.needs_whole) {
        // A list of its own, because some lints read their earlier findings.
        let mut found = Vec::new();
        (lint.run)(&context, &mut found);
        diagnostic::join(&mut all, found);
    }
    all
}
