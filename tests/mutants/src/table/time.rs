//! Deadlines, sent and deferred events, limits, snapshots.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    let deadline = of(
        "runtime/core/src/semantics/deadline.rs",
        &[
            (
                "deadline-one-late",
                &[("*at <= now", "*at < now")],
                &[
                    "semantics::bounds::a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line",
                ],
            ),
            (
                "deadlines-all-at-the-end",
                &[(
                    "self.set_clock(at.max(self.scalars.now));",
                    "let _ = at; self.set_clock(now);",
                )],
                &[
                    "semantics::bounds::deadlines_that_came_due_before_an_event_fire_first_each_at_its_own_time",
                ],
            ),
            (
                "sent-event-after-a-deadline",
                &[("at < *earliest", "at <= *earliest")],
                &[
                    "semantics::sending::a_sent_event_comes_before_a_deadline_of_the_same_time_and_after_an_earlier_one",
                ],
            ),
            (
                "turn-deadline-one-late",
                &[(
                    "u64::from(cells.counts(row.source).turns_here) >= bound",
                    "u64::from(cells.counts(row.source).turns_here) > bound",
                )],
                &["semantics::bounds::turn_deadlines_count_whole_turns_from_entry"],
            ),
            (
                "timeout-lets-the-call-go-on",
                &[(
                    "self.cancel(key, sink);
            self.close(key, sink);",
                    "let _ = key; break;",
                )],
                &["semantics::bounds::a_timeout_line_that_stays_ends_the_step_too"],
            ),
        ],
    );
    let sent = of(
        "runtime/core/src/outbox.rs",
        &[
            (
                "sent-events-as-sent",
                &[("sends[..len].partition_point(|other| other.due <= due)", "len")],
                &[
                    "semantics::sending::those_that_are_overdue_come_by_their_due_times_and_then_as_sent",
                ],
            ),
            (
                "sent-events-of-one-time-reversed",
                &[(
                    "sends[..len].partition_point(|other| other.due <= due)",
                    "sends[..len].partition_point(|other| other.due < due)",
                )],
                &[
                    "semantics::sending::those_that_are_overdue_come_by_their_due_times_and_then_as_sent",
                ],
            ),
            (
                "cancel-ignored",
                &[("sends[at].id == Some(id)", "false")],
                &["semantics::sending::cancel_takes_back_all_of_its_id_and_no_other"],
            ),
            (
                "cancel-takes-all",
                &[("sends[at].id == Some(id)", "true")],
                &["semantics::sending::cancel_takes_back_all_of_its_id_and_no_other"],
            ),
        ],
    );
    let due = of(
        "runtime/core/src/semantics/deadline.rs",
        &[
            (
                "deadlines-as-armed",
                &[("self.due_at(above) <= self.due_at(place)", "true")],
                &["semantics::bounds::of_many_deadlines_the_first_comes_first"],
            ),
            (
                "deadlines-not-ordered-again",
                &[("self.due_at(place) <= self.due_at(first)", "true")],
                &["semantics::bounds::of_many_deadlines_the_first_comes_first"],
            ),
        ],
    );
    let limit = of(
        "runtime/core/src/semantics/limit.rs",
        &[
            (
                "one-call-over-the-limit",
                &[(
                    "limit.is_some_and(|limit| self.store.cells().counts(at).calls >= limit)",
                    "limit.is_some_and(|limit| self.store.cells().counts(at).calls > limit)",
                )],
                &["semantics::bounds::a_hard_limit_on_calls_is_checked_before_the_call"],
            ),
            (
                "room-for-one-call-only",
                &[("limit < used.saturating_add(calls)", "limit < used.saturating_add(1)")],
                &[
                    "semantics::each::it_is_one_step_for_the_calls_of_a_turn_and_each_element_is_a_call_of_the_limits",
                ],
            ),
            (
                "calls-of-the-state-only",
                &[("*calls += 1;", "if at == state { *calls += 1; }")],
                &["semantics::bounds::limits_of_a_state_are_charged_to_its_ancestors_too"],
            ),
            (
                "warned-again-and-again",
                &[(
                    "Some(*calls) == self.limits(at).calls_warn",
                    "{ let so_far = *calls; self.limits(at).calls_warn.is_some_and(|warn| so_far >= warn) }",
                )],
                &["semantics::bounds::a_soft_limit_warns_once"],
            ),
            (
                "one-turn-over-the-limit",
                &[(
                    "if Some(turns) == limits.turns {
                self.hard(LimitKind::Turns, sink);
            }",
                    "if limits.turns.is_some_and(|most| turns > most) {
                self.hard(LimitKind::Turns, sink);
            }",
                )],
                &["semantics::bounds::a_limit_on_turns_is_checked_after_the_turn"],
            ),
            (
                "calls-not-made-count",
                &[("*calls = calls.saturating_sub(1);", "*calls = calls.saturating_sub(0);")],
                &["semantics::bounds::a_call_that_is_not_made_does_not_count"],
            ),
            (
                "calls-not-made-are-waited-for",
                &[(
                    "if is_open {
            self.give_up(key, self.awaits(key), sink);
        }",
                    "",
                )],
                &["semantics::bounds::a_step_whose_call_is_not_made_has_failed"],
            ),
            (
                "time-limit-ignored",
                &[("at > self.scalars.now", "!hard && at > self.scalars.now")],
                &["semantics::bounds::a_limit_on_time_ends_the_run_at_its_hour"],
            ),
        ],
    );
    let snapshot = of(
        "runtime/core/src/semantics/snapshot.rs",
        &[
            (
                "snapshot-without-deadlines",
                &[("cells.deadlines.copy_from_slice(&snapshot.deadlines);", "")],
                &["semantics::questions::a_snapshot_between_any_two_inputs_changes_nothing"],
            ),
            (
                "snapshot-without-counts",
                &[("put(cells.counts, counts);", "")],
                &["semantics::snapshots::counts_and_amounts_go_through_a_snapshot"],
            ),
            (
                "snapshot-without-amounts",
                &[("put(cells.amounts, &snapshot.amounts);", "")],
                &["semantics::snapshots::counts_and_amounts_go_through_a_snapshot"],
            ),
            (
                "snapshot-without-steps",
                &[("put(cells.steps, steps);", "")],
                &["semantics::step_tools::a_run_that_is_saved_during_a_call_goes_on_with_it"],
            ),
            (
                "snapshot-without-elements",
                &[("put(cells.fans, &snapshot.fans);", "")],
                &[
                    "semantics::children::elements::an_event_goes_to_the_chart_of_one_element_or_to_all",
                ],
            ),
            (
                "snapshot-without-questions",
                &[("self.put_question(*question);", "")],
                &[
                    "semantics::walks::asks::an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks",
                ],
            ),
            (
                "snapshot-without-times-of-entry",
                &[(
                    "cells.entered[tables.states[state].place as usize] = snapshot.entered_at[state];",
                    "",
                )],
                &["semantics::snapshots::the_time_of_entry_goes_through_a_snapshot"],
            ),
            (
                "snapshot-without-sent-events",
                &[("cells.sends.all()[slot as usize] = *sent;", "")],
                &["semantics::sending::what_waits_survives_a_restart"],
            ),
            (
                "snapshot-without-those-that-stay",
                &[("cells.unbroken.copy_from_slice(unbroken);", "")],
                &["semantics::snapshots::the_states_of_a_turn_go_through_a_snapshot"],
            ),
            (
                "snapshot-without-those-touched",
                &[("cells.touched.copy_from_slice(touched);", "")],
                &["semantics::snapshots::the_states_of_a_turn_go_through_a_snapshot"],
            ),
            (
                "snapshot-without-history",
                &[("cells.history.copy_from_slice(history);", "")],
                &["semantics::questions::a_snapshot_keeps_what_histories_recorded"],
            ),
        ],
    );
    let deferred = of(
        "runtime/core/src/semantics/defer.rs",
        &[
            (
                "deferred-never-recalled",
                &[("self.moved && !self.deferred().is_empty()", "false")],
                &["semantics::deferred::a_deferred_event_waits_for_a_state_that_handles_it"],
            ),
            (
                "deferred-before-a-question",
                &[("if origin != Origin::Raised", "if origin == Origin::Raised")],
                &[
                    "semantics::deferred::a_question_of_the_same_state_comes_first_and_while_it_is_open_events_are_kept",
                ],
            ),
            (
                "deferred-without-a-bound",
                &[(
                    "slot.filter(|_| kept < DEFERRED as usize)",
                    "slot.filter(|_| kept < usize::MAX)",
                )],
                &["semantics::deferred::at_most_256_are_kept"],
            ),
        ],
    );
    deadline
        .into_iter()
        .chain(sent)
        .chain(deferred)
        .chain(due)
        .chain(limit)
        .chain(snapshot)
        .collect()
}
