//! Tools that the model of an `llm` step calls before it answers.

cases! { "step_tools.cases":
    the_model_is_asked_again_when_the_tool_has_returned
    when_all_calls_are_made_no_tool_is_offered_any_more
    a_tool_of_another_set_is_forbidden
    a_tool_that_fails_is_told_to_the_model_and_costs_no_attempt
    a_tool_that_fails_or_is_in_doubt_counts
    calls_are_charged_to_the_limits
    the_limit_may_be_reached_between_a_tool_and_the_next_question
    what_a_tool_brings_may_lead_away_while_the_step_is_under_way
    leaving_the_state_gives_the_call_up
    the_timeout_of_the_step_counts_through_its_calls
    a_question_of_the_same_leaf_may_call_at_the_same_time
    a_run_that_is_saved_during_a_call_goes_on_with_it
    a_set_may_be_written_in_the_step
    a_tool_is_bounded_in_one_run_of_the_step
    a_tool_is_there_while_its_condition_holds
    another_attempt_keeps_the_number_of_calls
    a_person_is_asked_before_the_call
    a_person_may_refuse
    an_answer_of_no_use_refuses_after_the_last_attempt
    tools_without_a_line_need_nobody
    leaving_the_state_cancels_the_question_and_the_call
    the_timeout_of_the_step_goes_on_while_the_person_is_asked
    each_wanted_call_counts_also_one_that_is_refused
    a_bound_and_a_question_apply_together
    the_question_shows_the_event_that_started_the_step
}
