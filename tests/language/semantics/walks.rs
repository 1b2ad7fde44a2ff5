//! One walk per region: where a turn's walks fork, wait, join and end.

cases! { "walks.cases":
    regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once
    a_turn_that_is_walked_takes_no_other
    steps_of_the_parallel_run_before_its_first_region_or_when_all_have_ended
    each_walk_has_its_own_calls
    parallels_in_regions_fork_again
    a_region_walks_no_further_when_the_outer_walk_has_gone_on
    a_walk_goes_on_until_it_waits_before_the_next_one_does
    an_outcome_that_leaves_the_parallel_cancels_the_other_region_and_ends_its_walk
    a_parallel_forks_once_a_turn
    a_parallel_in_a_region_forks_once_a_turn
    a_parallel_that_is_entered_before_its_steps_forks
    a_walk_that_has_ended_goes_on_when_an_event_enters_states_with_further_steps
    a_transition_inside_a_region_cancels_its_calls_and_the_others_go_on
}

/// Questions of regions and of what is around them.
pub(super) mod asks {
    cases! { "walk_asks.cases":
        an_on_turn_line_hides_the_asks_of_its_region_and_one_of_the_parallel_all
        an_ask_of_the_parallel_is_put_in_all_regions_at_once_and_counts_for_their_walks
        the_timeout_of_an_ask_holds_for_all_leaves
        a_region_asks_for_itself_where_its_ask_is_the_innermost
    }
}

/// What ends a turn in all regions, and what does not.
pub(super) mod ends {
    cases! { "walk_ends.cases":
        ends_turn_starts_nothing_more_and_waits_for_what_is_open
        a_step_that_fails_starts_nothing_more_and_waits_for_what_is_open
        people_and_children_do_not_hold_a_walk_up
        the_end_of_the_run_ends_all_walks
    }
}
