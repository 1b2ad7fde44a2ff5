//! What is not looked at because there is nothing there: each short cut with something there that it passes over.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    let macrostep = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "end-not-seen",
                &[("!self.is_over()", "true")],
                &[
                    "semantics::events::a_top_level_final_ends_the_run_and_everything_exits_in_order",
                ],
            ),
            (
                "raised-events-not-seen",
                &[("self.scalars.queue_len == 0", "true")],
                &["semantics::content::every_block_raises_and_is_charged_on_its_own"],
            ),
            (
                "entry-steps-not-seen",
                &[(
                    "!self.tables.summary.entry_runs
            && !self.some_leaf_reacts(Reacts::WHEN)",
                    "!self.some_leaf_reacts(Reacts::WHEN)",
                )],
                &[
                    "semantics::children::start::a_step_at_entry_starts_its_chart_when_the_macrostep_ends",
                ],
            ),
            (
                "eventless-lines-not-seen",
                &[(
                    "!self.tables.summary.entry_runs
            && !self.some_leaf_reacts(Reacts::WHEN)",
                    "!self.tables.summary.entry_runs",
                )],
                &["semantics::sets::eventless_selection_is_repeated_after_every_microstep"],
            ),
        ],
    );
    let take = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "enter-not-seen",
                &[("row.entry == 0", "true")],
                &["semantics::sets::one_leaf_is_left_from_below_before_the_actions"],
            ),
            (
                "exit-not-seen",
                &[("row.exit == 0", "true")],
                &["semantics::sets::one_leaf_is_left_from_below_before_the_actions"],
            ),
            (
                "armed-on-entry-not-seen",
                &[(
                    "!row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.entry_runs",
                    "!self.tables.summary.entry_runs",
                )],
                &[
                    "semantics::bounds::a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line",
                ],
            ),
            (
                "armed-at-exit-not-seen",
                &[(
                    "!row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.asks",
                    "!self.tables.summary.asks",
                )],
                &["semantics::bounds::a_deadline_ends_with_its_state"],
            ),
            (
                "entry-steps-not-noted",
                &[(
                    "!row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.entry_runs",
                    "!row.here.meets(Reacts::DEADLINE)",
                )],
                &[
                    "semantics::children::start::a_step_at_entry_starts_its_chart_when_the_macrostep_ends",
                ],
            ),
            (
                "questions-at-exit-not-seen",
                &[(
                    "!row.here.meets(Reacts::DEADLINE)
            && !self.tables.summary.asks",
                    "!row.here.meets(Reacts::DEADLINE)",
                )],
                &["semantics::questions::leaving_the_leaf_cancels_a_question_of_an_ask_above_it"],
            ),
            (
                "walks-at-exit-not-seen",
                &[("self.tables.walks.len() == 1", "true")],
                &["semantics::walks::a_parallel_in_a_region_forks_once_a_turn"],
            ),
            (
                "final-not-seen",
                &[("!matches!(row.kind, StateRowKind::Final(_))", "true")],
                &["semantics::events::a_compound_is_done_when_its_final_child_is_entered"],
            ),
            (
                "steps-at-exit-not-seen",
                &[("row.steps.len == 0", "true")],
                &[
                    "semantics::turns::leaving_the_state_of_an_awaited_step_cancels_it_and_the_walk_goes_on",
                ],
            ),
        ],
    );
    let time = of(
        "runtime/core/src/semantics/deadline.rs",
        &[
            (
                "sent-events-not-seen-in-time",
                &[("self.scalars.sends == 0", "true")],
                &["semantics::sending::what_is_overdue_comes_before_an_event_of_the_host"],
            ),
            (
                "armed-deadlines-not-seen",
                &[("fn pass_time( … self.armed == 0", "true")],
                &["semantics::bounds::of_many_deadlines_the_first_comes_first"],
            ),
            (
                "limits-on-time-not-seen",
                &[("self.tables.summary.limits", "false")],
                &["semantics::bounds::a_limit_on_time_ends_the_run_at_its_hour"],
            ),
            (
                "bounds-of-time-not-seen",
                &[("!self.tables.summary.reacts.meets(Reacts::TIME)", "true")],
                &["semantics::bounds::a_limit_on_time_ends_the_run_at_its_hour"],
            ),
        ],
    );
    let limits = of(
        "runtime/core/src/semantics/limit.rs",
        &[(
            "limits-on-turns-not-seen",
            &[("!self.tables.summary.limits", "true")],
            &["semantics::bounds::a_limit_on_turns_is_checked_after_the_turn"],
        )],
    );
    let warnings = of(
        "runtime/core/src/semantics/input.rs",
        &[(
            "warnings-of-the-host-not-seen",
            &[("!self.tables.summary.limits", "true")],
            &["semantics::bounds::a_warning_of_the_host_is_only_for_a_chart_with_limits"],
        )],
    );
    let registers = of(
        "runtime/core/src/semantics/registers.rs",
        &[(
            "steps-under-way-given-up",
            &[("cells.steps.iter().all(|step| *step == Underway::NEW)", "true")],
            &["semantics::tools::a_person_is_not_waited_for_and_not_asked_twice"],
        )],
    );
    let rest = of(
        "runtime/core/src/semantics/microstep.rs",
        &[
            (
                "walk-not-seen",
                &[("!self.scalars.walking", "true")],
                &["semantics::turns::each_step_runs_at_most_once_in_a_walk"],
            ),
            (
                "sent-events-not-seen-at-rest",
                &[(
                    "self.scalars.sends == 0
            && (self.scalars.dead || self.is_over() || self.may_go_on())",
                    "(self.scalars.dead || self.is_over() || self.may_go_on())",
                )],
                &[
                    "semantics::sending::without_a_delay_it_comes_after_all_that_is_internal_and_before_the_next_input",
                ],
            ),
        ],
    );
    let blocks = of(
        "runtime/core/src/interpreter/program.rs",
        &[(
            "begun-block-run-again",
            &[("core::mem::take(&mut self.begun)", "0")],
            &["semantics::ahead::a_count_that_overflows_ends_its_block_with_an_error"],
        )],
    );
    let counts = of(
        "runtime/core/src/interpreter/program.rs",
        &[(
            "count-that-overflows-wraps",
            &[("n.checked_add(by)?", "n.wrapping_add(by)")],
            &["semantics::ahead::a_count_that_overflows_ends_its_block_with_an_error"],
        )],
    );
    [macrostep, take, time, limits, warnings, registers, rest, blocks, counts]
        .into_iter()
        .flatten()
        .collect()
}
