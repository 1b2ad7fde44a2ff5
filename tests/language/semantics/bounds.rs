//! Deadlines and limits.

cases! { "bounds.cases":
    turn_deadlines_count_whole_turns_from_entry
    an_each_after_line_counts_from_the_entry_of_the_leaf
    a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line
    deadlines_that_came_due_before_an_event_fire_first_each_at_its_own_time
    after_a_livelock_other_deadlines_wait_for_the_next_input
    deadlines_of_no_length_that_arm_each_other_are_stopped
    a_step_timeout_cancels_the_call
    a_timeout_line_that_stays_ends_the_step_too
    a_hard_limit_on_calls_is_checked_before_the_call
    retries_are_charged_to_the_limit_of_the_run
    a_soft_limit_warns_once
    a_warning_of_the_host_is_only_for_a_chart_with_limits
    a_limit_on_turns_is_checked_after_the_turn
    limits_of_a_state_are_charged_to_its_ancestors_too
    a_limit_on_time_ends_the_run_at_its_hour
    a_deadline_ends_with_its_state
    turns_here_begin_anew_on_entry
    of_many_deadlines_the_first_comes_first
    a_bound_of_nothing_forbids_the_first_call
    a_call_that_is_not_made_does_not_count
    a_step_whose_call_is_not_made_has_failed
}
