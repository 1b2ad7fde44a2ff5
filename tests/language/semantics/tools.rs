//! Tools that the model calls: who may, what a call belongs to, when its line is taken; `call` and `human` steps.

cases! { "tools.cases":
    each_tool_of_the_set_is_an_option
    the_line_is_taken_when_the_tool_has_returned
    the_guard_holds_for_the_call_and_is_not_asked_again_on_return
    leaving_the_state_gives_the_call_up_and_what_it_returns_is_dropped
    a_deadline_of_the_state_gives_the_call_up
    a_tool_that_fails_leaves_the_state_and_counts
    last_failed_tells_a_failure_from_a_result_that_reads_like_one
    last_failed_is_false_after_a_result
    a_call_in_doubt_counts_as_failed
    a_tool_that_no_enabled_line_permits_is_refused_counted_and_asked_again
    a_result_of_another_type_is_a_failure_of_the_tool
    an_answer_to_a_question_that_has_become_a_call_is_dropped
    a_single_tool_is_never_called_unasked
    a_call_under_way_goes_through_a_snapshot
    streaks_are_broken_by_any_other_option
    a_call_step_waits_for_its_tool_and_keeps_the_result
    a_person_is_not_waited_for_and_not_asked_twice
    a_tool_alone_and_any_tool_are_sets_of_their_own
    a_call_that_fails_counts_for_streaks
}
