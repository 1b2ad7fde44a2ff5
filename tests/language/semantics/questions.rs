//! Questions: when the model is asked, what it is offered, what its answer does.

use super::Sim;

cases! { "questions.cases":
    a_single_option_is_taken_unasked
    a_single_option_is_asked_when_always_is_written_or_it_has_a_payload
    without_an_option_the_else_is_taken
    an_event_is_for_the_leaf_that_it_found
    an_event_is_for_the_leaves_that_it_found_in_every_region
    an_event_is_not_for_a_leaf_that_was_entered_again
    only_enabled_options_are_offered_and_the_chosen_one_is_taken
    the_guard_of_the_chosen_option_is_checked_again_on_the_answer
    an_ordinary_line_for_the_event_goes_before_the_question
    a_second_event_while_the_question_is_open_is_refused
    a_turn_puts_no_second_question_to_a_leaf
    leaving_the_leaf_cancels_its_question
    leaving_the_leaf_cancels_a_question_of_an_ask_above_it
    an_answer_that_means_no_option_goes_to_else_and_a_failed_call_to_error_lines
    the_innermost_ask_wins_and_offers_the_options_of_all_ancestors
    every_leaf_has_its_own_question
    a_state_that_is_entered_after_an_event_is_not_asked_about_it
    an_ask_on_turn_starts_in_the_walk_unless_an_on_turn_line_was_taken
    a_snapshot_keeps_what_histories_recorded
}

#[test]
fn a_snapshot_between_any_two_inputs_changes_nothing() {
    let inputs = ["send e", "choose choose two", "at 2000", "at 3000", "send e"];
    let play = |stop: Option<usize>| {
        let mut sim = Sim::of(
            "chart T { event e initial a
               state a {
                 ask choose on e else c { prompt \"{options}\" }
                 may one \"first\" -> b
                 may two \"second\" -> d
               }
               state b state c state d { after 3s -> a } }",
        );
        for (step, input) in inputs.iter().enumerate() {
            if stop == Some(step) {
                sim.restart();
            }
            sim.play(input);
        }
        (sim.leaves(), sim.open_keys(), sim.log.records)
    };
    let whole = play(None);
    for stop in 0..inputs.len() {
        assert_eq!(play(Some(stop)), whole, "stopped before step {stop}");
    }
}
