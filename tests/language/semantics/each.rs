//! A step for each element of a list.

use super::Sim;
use chartc_core::expr::Value;
use chartc_core::machine::{Input, Outcome};

cases! { "each.cases":
    an_empty_list_is_done_at_once
    elements_go_some_at_a_time_and_the_answer_is_in_their_order
    a_lost_element_cancels_the_rest_and_fails_the_step
    a_lost_element_is_left_out_or_none
    all_may_be_lost
    enough_good_answers_end_the_step_and_cancel_the_rest
    attempts_are_of_each_element
    the_timeout_is_of_the_whole_step
    leaving_the_state_cancels_what_is_open
    an_element_in_doubt_takes_the_doubt_line_or_is_lost
    a_list_that_is_too_long_fails_before_anything_is_made
    it_is_one_step_for_the_calls_of_a_turn_and_each_element_is_a_call_of_the_limits
    people_are_asked_beside_the_walk
}

#[test]
fn a_thousand_elements() {
    let xs: Vec<i64> = (0..1000).collect();
    let mut sim = Sim::of(&format!(
        "chart T {{ tool t(q: Int) -> Int var found: List(Int) = [] var xs: List(Int) = {xs:?} initial a
           state a {{ call search each q in xs t(q) {{ 7 at a time done -> b {{ found = search }} }} }}
           state b }}"
    ));
    sim.play("turn");
    for nth in 0..1000 {
        assert!(sim.open_keys().len() <= 7);
        // The newest first.
        let key = *sim.open_keys().last().expect("open");
        sim.give(Input::Answer(key, Outcome::Done(vec![Value::Int(nth)])));
    }
    assert_eq!(sim.leaves(), ["b"]);
    let found: Vec<i64> = serde_json::from_str(&sim.var("found")).expect("a list");
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, xs);
    assert_eq!(
        found[999],
        999 - 6,
        "the answers are in the order of the elements, not in that of their coming"
    );
}
