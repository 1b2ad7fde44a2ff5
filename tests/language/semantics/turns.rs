//! Turns: the walk over the steps, permissions, what is counted.

cases! { "turns.cases":
    a_walk_sees_the_state_that_an_earlier_step_led_to
    the_walk_ends_before_the_next_model_step_when_the_calls_are_used_up
    each_step_runs_at_most_once_in_a_walk
    a_step_whose_condition_is_false_is_passed_over_and_recorded
    a_second_turn_waits_for_the_walk
    leaving_the_state_of_an_awaited_step_cancels_it_and_the_walk_goes_on
    a_when_line_is_taken_between_two_steps
    outcome_lines_are_tried_in_order_and_none_means_stay
    retries_count_once_against_the_calls_of_the_turn
    a_failure_ends_the_walk_or_is_skipped_or_takes_its_line
    error_lines_take_a_failed_call_before_the_policy
    ends_turn_sees_the_answer
    an_answer_that_does_not_fit_its_type_is_asked_again_then_fails
    each_region_of_a_parallel_makes_the_calls_of_its_walk
    a_step_moves_only_where_an_allow_line_permits
    allow_lines_do_not_bind_host_events
    per_turn_variables_start_afresh_and_inputs_keep_their_value
    turns_are_counted_when_they_end_and_only_for_states_active_throughout
    turns_in_counts_every_state_that_a_turn_touched
    a_permission_holds_only_while_its_state_is_active
}
