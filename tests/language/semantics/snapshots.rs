//! Snapshots: a machine that is made from one reads the same as the machine that it was taken of.

cases! { "snapshots.cases":
    counts_and_amounts_go_through_a_snapshot
    the_time_of_entry_goes_through_a_snapshot
    the_states_of_a_turn_go_through_a_snapshot
}
