//! Deferred events: which are kept, when they are handled again, and what becomes of those that nothing handles.

cases! { "deferred.cases":
    a_deferred_event_waits_for_a_state_that_handles_it
    deferred_events_come_back_in_the_order_of_arrival_with_their_data
    what_comes_back_may_end_the_recall_of_the_rest
    a_recalled_event_comes_after_what_is_internal_and_before_what_is_sent
    an_event_that_is_no_longer_deferred_and_that_nothing_handles_is_dropped
    own_lines_come_before_a_defer_and_it_comes_before_those_of_ancestors
    an_inner_state_handles_what_an_outer_one_defers
    a_prefix_defers_all_events_below_it
    a_region_that_takes_the_event_consumes_it
    a_question_of_the_same_state_comes_first_and_while_it_is_open_events_are_kept
    a_defer_hides_the_questions_of_ancestors
    raised_and_sent_events_are_deferred
    at_most_256_are_kept
    the_end_drops_what_is_kept
    a_line_without_a_target_takes_nothing_back
    a_way_out_of_a_dead_end_recalls
    conditions_that_fail_while_events_are_tried_raise_nothing
    recalls_that_lead_to_each_other_are_stopped
    what_is_kept_is_recalled_in_the_walk_of_a_turn
}
