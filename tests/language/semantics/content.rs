//! What blocks do: branches, loops, and what an error in them ends.

cases! { "content.cases":
    the_first_branch_that_holds_is_run
    a_loop_goes_through_its_list_as_it_was
    what_branches_raise_is_handled_in_that_order
    an_error_in_a_branch_ends_the_whole_block
    a_payload_is_read_in_branches
    an_error_ends_its_own_enter_or_exit_block_only
    every_block_raises_and_is_charged_on_its_own
    actions_of_initial_run_between_the_parents_enter_and_the_childs
    actions_of_a_default_of_a_history_run_only_if_it_is_used
    a_history_used_from_inside_runs_its_actions_before_anything_is_entered
    an_error_in_actions_of_initial_ends_these_only
    initial_names_states_of_several_regions
}
