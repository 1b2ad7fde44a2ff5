//! Steps, questions and turns.

use super::{Mutant, of};

const UNASKED: &str = "count == 1 && !always && is_plain && is_bare";

pub(super) fn all() -> Vec<Mutant> {
    let answer = of(
        "runtime/core/src/semantics/steps.rs",
        &[
            (
                "late-answer-taken",
                &[("fn answer( … !self.is_open(key)", "false")],
                &[
                    "semantics::turns::leaving_the_state_of_an_awaited_step_cancels_it_and_the_walk_goes_on",
                ],
            ),
            (
                "one-retry-less",
                &[("fn try_again( … key.attempt > retries", "key.attempt >= retries")],
                &["semantics::turns::retries_count_once_against_the_calls_of_the_turn"],
            ),
            (
                "guard-not-asked-on-the-answer",
                &[
                    (
                        "self.each_option(key, &mut |option, tool| legal |= option == choice && tool.is_none());",
                        "legal = true;",
                    ),
                    (
                        "self.macrostep(Some(Occurrence::Choice(choice)), sink)",
                        "self.macrostep(Some(Occurrence::Returned(choice)), sink)",
                    ),
                ],
                &[
                    "semantics::questions::the_guard_of_the_chosen_option_is_checked_again_on_the_answer",
                ],
            ),
            (
                "failure-goes-on",
                &[("self.end_walk(WalkEnd::Failed(step), sink);", "")],
                &["semantics::turns::a_failure_ends_the_walk_or_is_skipped_or_takes_its_line"],
            ),
        ],
    );
    let question = of(
        "runtime/core/src/semantics/question.rs",
        &[
            (
                "always-ignored",
                &[(UNASKED, "count == 1 && is_plain && is_bare")],
                &[
                    "semantics::questions::a_single_option_is_asked_when_always_is_written_or_it_has_a_payload",
                ],
            ),
            (
                "payload-unasked",
                &[(UNASKED, "count == 1 && !always && is_plain")],
                &[
                    "semantics::questions::a_single_option_is_asked_when_always_is_written_or_it_has_a_payload",
                ],
            ),
            (
                "tool-unasked",
                &[(UNASKED, "count == 1 && !always && is_bare")],
                &["semantics::tools::a_single_tool_is_never_called_unasked"],
            ),
            (
                "always-asked",
                &[(UNASKED, "false")],
                &["semantics::questions::a_single_option_is_taken_unasked"],
            ),
            (
                "asked-of-a-leaf-entered-since",
                &[("!is_found", "false")],
                &[
                    "semantics::questions::an_event_is_for_the_leaf_that_it_found",
                    "semantics::questions::an_event_is_for_the_leaves_that_it_found_in_every_region",
                ],
            ),
            (
                "walk-asks-over-an-open-question",
                &[("self.question(leaf).is_none()", "true")],
                &["semantics::questions::a_turn_puts_no_second_question_to_a_leaf"],
            ),
            (
                "two-questions-of-a-leaf",
                &[("fn can_start( … self.question(leaf).is_none()", "true")],
                &["semantics::questions::a_second_event_while_the_question_is_open_is_refused"],
            ),
            (
                "two-starts-of-a-step",
                &[("self.underway(step).pending.is_none()", "true")],
                &["semantics::started::a_step_that_is_under_way_refuses_the_next_event"],
            ),
            (
                "a-start-for-each-region",
                &[("self.serve_other_leaves(step, leaf, event);", "")],
                &["semantics::started::a_step_of_several_regions_that_ends_at_once_starts_once"],
            ),
        ],
    );
    let tool = of(
        "runtime/core/src/semantics/question.rs",
        &[
            (
                "failed-call-not-counted",
                &[(
                    "self.close(key, sink);
                self.counts_mut(leaf).fails_here += 1;",
                    "self.close(key, sink);",
                )],
                &["semantics::tools::a_tool_that_fails_leaves_the_state_and_counts"],
            ),
            (
                "call-in-doubt-not-counted",
                &[(
                    "self.program.forget_call(caller);
                self.counts_mut(leaf).fails_here += 1;",
                    "self.program.forget_call(caller);",
                )],
                &["semantics::tools::a_call_in_doubt_counts_as_failed"],
            ),
        ],
    );
    let turn = of(
        "runtime/core/src/semantics/turn.rs",
        &[
            (
                "per-turn-not-reset",
                &[("self.in_view(leaf, |program, view| program.begin_turn(view));", "")],
                &["semantics::turns::per_turn_variables_start_afresh_and_inputs_keep_their_value"],
            ),
            (
                "turns-here-of-those-that-came",
                &[("bits::iter(cells.unbroken)", "bits::iter(cells.touched)")],
                &[
                    "semantics::turns::turns_are_counted_when_they_end_and_only_for_states_active_throughout",
                ],
            ),
            (
                "turns-in-of-those-that-stay",
                &[("bits::iter(cells.touched)", "bits::iter(cells.unbroken)")],
                &["semantics::turns::turns_in_counts_every_state_that_a_turn_touched"],
            ),
        ],
    );
    answer.into_iter().chain(question).chain(tool).chain(turn).collect()
}
