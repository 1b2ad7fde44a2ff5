//! Completion, errors, event names, order of events: the other half of the traps.

cases! { "events.cases":
    a_parallel_is_done_only_when_all_its_regions_are
    done_climbs_through_nested_parallels_whichever_region_ends_last
    a_compound_is_done_when_its_final_child_is_entered
    an_error_stops_its_own_block_only
    a_name_matches_whole_tokens_of_dotted_events
    any_event_has_no_lower_priority_than_names
    any_event_matches_host_events_only
    a_top_level_final_ends_the_run_and_everything_exits_in_order
    the_root_of_an_ended_run_runs_exit_blocks_of_what_is_still_active
    a_livelock_is_stopped_and_reported_once
    a_guard_that_fails_is_false_and_raises_an_error
    an_eventless_guard_that_fails_is_reported_once_in_a_macrostep
    raised_events_come_after_eventless_lines_and_before_the_next_host_event
    inner_lines_come_before_outer_ones_and_document_order_decides_in_a_state
    wildcard_lines_hold_everywhere_but_in_their_target_the_exceptions_and_finals
    own_lines_come_before_wildcard_lines_written_earlier
    a_history_is_no_region_that_has_to_be_done
    a_macrostep_has_a_thousand_microsteps
    a_livelock_gives_up_what_is_on_the_queue
    events_raised_after_a_livelock_have_their_own_data
    one_line_for_each_leaf
    one_line_for_each_leaf_of_several
    any_event_has_no_lower_priority_than_names_among_many_lines
    a_final_deep_inside_does_not_end_the_region
    the_end_leaves_the_final_state_and_the_chart
    an_error_is_no_event_of_the_host
    a_run_that_begins_in_a_final_state_is_over
    a_dead_end_that_its_own_lines_lead_into_again_is_told_only_once_after_the_livelock
}
