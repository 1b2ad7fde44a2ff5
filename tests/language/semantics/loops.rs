//! `error.stuck.loop`: the same tool call of a model, three times in a row.

cases! { "loops.cases":
    the_third_equal_call_in_a_row_is_a_loop_whatever_comes_of_it
    other_arguments_another_tool_and_another_option_begin_anew
    only_a_chart_that_names_loops_is_told_of_them
    a_loop_that_goes_on_is_told_again_every_third_call
    the_repeated_value_is_that_which_streak_counts
}
