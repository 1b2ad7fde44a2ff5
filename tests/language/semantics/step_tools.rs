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
}
