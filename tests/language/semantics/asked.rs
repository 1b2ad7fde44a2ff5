//! What a question showed: `asked.x`, and the data of the event that it is asked on.

cases! { "asked.cases":
    an_outcome_reads_what_the_question_showed
    the_error_line_reads_it_too_and_another_attempt_shows_the_same
    a_question_that_is_asked_again_shows_the_new_value
    what_a_later_step_of_the_same_turn_changes_is_not_shown
    a_component_shows_it_too
    conditions_of_prompt_and_component_show_the_value_of_the_question
    the_data_of_the_event_is_in_prompt_options_and_outcome
    the_data_of_the_event_decides_what_is_offered
    the_outcome_of_an_ask_reads_the_data
    an_option_that_is_taken_unasked_reads_the_data
    a_question_that_is_settled_at_once_leaves_the_data_to_another_region
    lines_that_two_questions_offer_read_that_of_the_one_that_was_asked
}
