//! Ranges of fields, options, records, tools and answers: what is refused, what is asked again, and what fails.

cases! { "ranges.cases":
    an_event_out_of_range_is_refused_as_one_of_a_wrong_type
    a_record_out_of_range_is_refused_wherever_it_is
    floats_have_ranges_and_take_ints
    an_answer_out_of_range_is_asked_again
    an_option_out_of_range_is_asked_again
    an_event_of_the_chart_itself_fails_its_block
    a_record_of_the_chart_itself_fails_its_block
    an_argument_out_of_range_takes_the_fallback_of_a_function
    data_that_are_known_only_at_run_time_are_checked_too
    a_result_of_a_final_state_is_checked
}
