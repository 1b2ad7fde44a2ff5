//! What guards, prompts and hosts can see.

cases! { "observables.cases":
    rejected_answers_count_as_fails_here_until_the_leaf_is_left
    enabled_events_are_those_that_some_active_state_would_handle
    nothing_can_ever_happen_again_is_an_error_once
    advice_shows_and_health_tells
    final_arguments_are_read_before_the_exit
    a_dead_end_is_told_once
}
