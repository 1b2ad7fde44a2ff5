//! Nothing is answered that the test does not answer.

use super::{desk, fails, flat, passes};

#[test]
fn an_answer_that_is_not_given() {
    fails(
        "no-answer",
        "at sorting\nset hour = 10\nturn",
        "turn",
        "`next` asks, and the test gives no answer",
    );
    let (text, _) = desk("no-answer-asked", "at sorting\nturn");
    assert!(
        flat(&text).contains("asked: at 9: - shop.order(id: Text) - note(text: Text)"),
        "{text}"
    );
    assert!(flat(&text).contains("offered: shop.order, note, drop"), "{text}");
}

#[test]
fn an_answer_that_is_used_up_is_not_given_twice() {
    fails(
        "asked-again",
        "at sorting\nturn\nanswers next \"hm\"",
        "answers next \"hm\"",
        "`next` asks, and the test gives no answer",
    );
}

#[test]
fn a_turn_that_waits_is_no_place_for_the_next() {
    fails("two-turns", "at sorting\nturns 2", "turns 2", "`next` asks, and the test gives no");
}

#[test]
fn a_function_that_is_not_given_is_no_default() {
    // `vip` has an `else` value: a run would go on with it.
    fails(
        "no-function",
        "send knock(\"ann\")",
        "send knock",
        "`vip` is called, and the test gives no result for it",
    );
    fails(
        "no-case",
        "given fn vip(\"bob\") = true\nsend knock(\"ann\")",
        "send knock",
        "calls vip(\"ann\")",
    );
}

#[test]
fn a_tool_that_is_not_given() {
    fails(
        "no-tool",
        "at sorting\nturn\nanswers next shop.order(\"o1\")",
        "answers next",
        "the tool `shop.order` is called, and the test gives no result",
    );
}

#[test]
fn a_person_may_be_silent() {
    passes("silent", "at asking\nturn\nexpect asked approve\nsend leave\nexpect at idle");
}

#[test]
fn who_does_not_ask_is_not_answered() {
    fails("not-asked", "answers next drop", "answers next", "`next` does not ask now");
    fails(
        "another",
        "at sorting\nturn\ntool shop.order fails \"no\"",
        "tool shop",
        "`shop.order` is not being called now",
    );
}

#[test]
fn after_the_end_nothing_is_done() {
    fails(
        "over",
        "at done\nturn\nanswers sum 3\nexpect ended partial\nexpect result.count == 3\nturn",
        "turn",
        "the run has ended partial",
    );
}
