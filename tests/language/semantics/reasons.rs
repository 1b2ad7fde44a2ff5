//! Which alternatives of a guard held.

use super::Sim;

cases! { "reasons.cases":
    those_that_held_before_the_actions_are_told_in_order
    a_named_condition_stands_for_its_alternatives
    a_fault_does_not_hold
    other_guards_have_no_reasons
    nobody_who_does_not_ask_is_told
    the_leaf_for_which_the_guard_holds_says_why
}

#[test]
fn too_many_alternatives_are_one_condition() {
    let many: Vec<String> = (0..100).map(|n| format!("n == {n}")).collect();
    let mut sim = Sim::of(&format!(
        "chart T {{ event e var n: Int = 0 initial s state s {{ on e if {} {{ n = n + 10 }} }} }}",
        many.join(" or ")
    ));
    sim.play("why; send e");
    assert_eq!(sim.var("n"), "10");
    assert!(sim.log.held.is_empty(), "{:?}", sim.log.held);
}
