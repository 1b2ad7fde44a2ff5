//! Steps that an event starts.

cases! { "started.cases":
    the_event_starts_the_step_with_its_data
    the_step_runs_beside_the_turns
    a_step_that_is_under_way_refuses_the_next_event
    another_attempt_shows_the_same_and_the_last_failure_takes_the_error_line
    leaving_the_state_cancels_the_step
    the_timeout_of_the_step_counts_from_the_event
    a_timeout_in_brackets_may_be_its_first_line
    a_line_takes_the_event_before_the_step
    a_person_is_asked_on_an_event
    a_tool_is_called_on_an_event
    the_innermost_step_that_waits_is_started
    a_step_whose_condition_is_false_leaves_the_event_to_an_outer_one
    each_region_starts_its_own_step_and_a_step_of_several_regions_starts_once
    calls_count_for_the_limits_of_the_run_and_not_for_those_of_the_turn
    a_failed_step_on_an_event_does_not_end_the_turn
    a_step_for_each_element_reads_the_data_of_the_event
    an_event_that_is_deferred_waits_until_the_step_has_ended
    a_sent_event_starts_the_step_and_a_raised_one_does_not
    an_event_that_comes_while_a_walk_waits_starts_the_step_at_once
    a_step_of_several_regions_that_ends_at_once_starts_once
    a_list_that_is_too_long_ends_no_turn
    a_tool_of_the_model_is_called_before_it_answers
}
