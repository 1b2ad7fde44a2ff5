//! Selection, exit and entry: the traps that engines fall into, each with a chart that tells right from wrong.

cases! { "sets.cases":
    arrow_into_a_parallels_own_descendant_is_external
    arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter
    arrow_across_regions_refills_every_region
    a_region_to_itself_resets_its_siblings
    domain_of_a_history_target_depends_on_what_is_recorded
    shallow_history_restores_the_child_and_its_default_below
    history_default_is_used_only_while_nothing_is_recorded
    deep_history_restores_every_region
    eventless_selection_is_repeated_after_every_microstep
    one_line_picked_by_two_regions_is_taken_once
    a_parallels_line_is_picked_by_the_region_that_has_nothing_better
    a_descendants_line_beats_the_ancestors_that_another_region_picked
    the_earlier_region_wins_between_equals
    a_line_lost_to_one_that_is_removed_later_does_not_come_back
    targetless_lines_never_conflict
    exit_in_reverse_then_actions_then_entry_in_document_order
    one_leaf_is_left_from_below_before_the_actions
    lines_taken_together_enter_each_from_above
    history_is_recorded_before_anything_is_exited
    regions_without_a_target_are_entered_by_default
    two_targets_fill_two_regions
    a_history_forgets_what_it_recorded_before
    two_histories_remember_each_their_own
    a_history_that_has_recorded_a_sibling_leaves_their_parent_active
    a_history_in_another_region_resets_all_regions
}
