//! Steps that do their work for each element of a list.

use super::{Mutant, of};

pub(super) fn all() -> Vec<Mutant> {
    of(
        "runtime/core/src/semantics/steps.rs",
        &[
            (
                "each-without-bound",
                &[(
                    "fan.next == fan.size || fan.open().len() as u32 >= each.at_a_time",
                    "fan.next == fan.size",
                )],
                &["semantics::each::elements_go_some_at_a_time_and_the_answer_is_in_their_order"],
            ),
            (
                "each-enough-of-lost",
                &[(
                    "fan.done >= needed && each.enough.is_some()",
                    "fan.done + fan.lost >= needed && each.enough.is_some()",
                )],
                &["semantics::each::enough_good_answers_end_the_step_and_cancel_the_rest"],
            ),
            (
                "each-ends-with-the-first-lost",
                &[("each.lost != Lost::Fail && fan.size - fan.lost >= needed", "false")],
                &[
                    "semantics::each::a_lost_element_is_left_out_or_none",
                    "semantics::each::all_may_be_lost",
                ],
            ),
            (
                "each-goes-on-after-a-lost-one",
                &[(
                    "each.lost != Lost::Fail && fan.size - fan.lost >= needed",
                    "fan.size - fan.lost >= needed",
                )],
                &["semantics::each::a_lost_element_cancels_the_rest_and_fails_the_step"],
            ),
            (
                "each-attempt-too-few",
                &[("fn try_element_again( … key.attempt > retries", "key.attempt >= retries")],
                &["semantics::each::attempts_are_of_each_element"],
            ),
            (
                "each-free-of-the-turn",
                &[("self.count_in_walk(step, is_model);", "self.count_in_walk(step, false);")],
                &[
                    "semantics::each::it_is_one_step_for_the_calls_of_a_turn_and_each_element_is_a_call_of_the_limits",
                ],
            ),
            (
                "each-free-of-the-limits",
                &[(
                    "is_model && !self.charge_call(state, whole.leaf, sink)",
                    "is_model && state.index() > 9999",
                )],
                &[
                    "semantics::each::it_is_one_step_for_the_calls_of_a_turn_and_each_element_is_a_call_of_the_limits",
                ],
            ),
            (
                "each-leaves-the-rest-open",
                &[("sink.effect(Effect::Cancel(key));", "let _ = key;")],
                &[
                    "semantics::each::a_lost_element_cancels_the_rest_and_fails_the_step",
                    "semantics::each::leaving_the_state_cancels_what_is_open",
                ],
            ),
            (
                "each-without-doubt",
                &[("fn element_answer( … Some(Occurrence::StepDoubt(step))", "None::<Occurrence>")],
                &["semantics::each::an_element_in_doubt_takes_the_doubt_line_or_is_lost"],
            ),
        ],
    )
}
