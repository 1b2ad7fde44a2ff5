//! What is expected holds, or the test fails there and says what was found.

use super::{desk, fails, passes, play};

#[test]
fn states_and_ends() {
    passes("at", "expect at idle\nexpect not at sorting\nexpect not ended");
    fails("at-not", "expect at sorting", "expect at", "expected to be at `sorting`");
    fails("not-at", "expect not at idle", "expect not", "expected not to be at `idle`");
    fails("ended", "expect ended ok", "expect ended", "it goes on, at `idle`");
    fails(
        "ended-otherwise",
        "at done\nturn\nanswers sum 1\nexpect ended ok",
        "expect ended",
        "it has ended partial, at `over`",
    );
}

#[test]
fn a_step_that_waits_for_a_turn() {
    let why = "and no turn has begun: steps start in a `turn`";
    fails(
        "unasked",
        "at sorting\nexpect asked next",
        "expect asked",
        &format!("it has not asked, {why}"),
    );
    fails(
        "unanswered",
        "at sorting\nanswers next drop",
        "answers next",
        &format!("nothing waits for an answer, {why}"),
    );
    let (text, _) = desk("other", "at sorting\nturn\nanswers next drop\nanswers next drop");
    assert!(text.contains("does not ask now") && !text.contains("no turn"), "{text}");
}

#[test]
fn conditions_show_what_they_read() {
    passes("holds", "given name = \"ann\"\nexpect name == \"ann\" and calls == 0 and hour == 9");
    fails(
        "holds-not",
        "given name = \"ann\"\nexpect name == \"bob\" or calls > hour",
        "expect name",
        "name is \"ann\", calls is 0, hour is 9",
    );
    fails("error", "expect order.id == \"x\" or hour / 0 == 1.0", "expect order", "no value here");
}

#[test]
fn options_offered() {
    let body = "at sorting\nturn\nexpect offered drop\nexpect not offered note, drop, shop.order";
    fails("offered-not", body, "expect not offered", "offered: shop.order, note, drop");
    fails(
        "offered-only",
        "at sorting\nturn\nexpect offered only drop",
        "expect offered only",
        "expected only `drop` to be offered",
    );
    passes(
        "offered",
        "at sorting\nturn\nexpect offered only drop, note, shop.order\nanswers next drop",
    );
    fails("offered-never", "expect offered drop", "expect offered", "nothing was offered yet");
}

#[test]
fn prompts_and_texts() {
    passes(
        "prompt",
        "given name = \"ann\"\nat sorting\nset hour = 22\nturn\nexpect prompt of next contains \"ann at 22\"\n\
         expect not prompt of next contains \"Well?\"\nanswers next drop",
    );
    fails(
        "prompt-not",
        "at sorting\nturn\nexpect prompt of next contains \"owls\"",
        "expect prompt",
        "expected the prompt of `next` to contain \"owls\"",
    );
    fails("prompt-never", "expect prompt of next contains \"\"", "expect prompt", "has not asked");
    passes("advice", "at asking\nexpect advice contains \"has to\"");
    fails("advice-not", "expect advice contains \"has to\"", "expect advice", "it is \"\"");
}

#[test]
fn calls_of_tools_and_functions() {
    let body = "given fn vip = true\nsend knock(\"ann\")\nexpect called tell(\"welcome ann\")\n\
                expect called vip\nexpect not called tell(\"x\")";
    passes("called", body);
    fails(
        "called-otherwise",
        "given fn vip = true\nsend knock(\"ann\")\nexpect called tell(\"welcome bob\")",
        "expect called",
        "called: tell(\"welcome ann\")",
    );
    passes(
        "tool",
        "at sorting\nturn\nanswers next shop.order(\"o1\")\nexpect called shop.order(\"o1\")\n\
         tool shop.order returns Order { id: \"o1\", total: 3.5 }\nexpect order.total == 3.5\n\
         turn\nanswers next shop.order(\"o2\")\ntool shop.order fails \"gone\"\nexpect fails_here == 1\n\
         expect order.id == \"o1\"",
    );
}

#[test]
fn what_was_before_the_last_thing_that_the_host_did_is_past() {
    let body = "at sorting\nturn\nanswers next note(\"x\")\nexpect called tell\nexpect asked next\n\
                wait 1s\nexpect not called tell\nexpect not asked next";
    passes("past", body);
}

#[test]
fn an_expectation_is_no_call_of_the_run() {
    fails(
        "looks",
        "given fn vip = true\nexpect vip(\"ann\")\nexpect called vip",
        "expect called",
        "`vip` was not called",
    );
}

#[test]
fn time_passes_only_when_it_is_said() {
    passes(
        "wait",
        "at sorting\nturn\nexpect elapsed == 0s\nwait 599s\nexpect at sorting\nwait 1s\nexpect at idle\n\
         expect elapsed_here == 0s",
    );
}

#[test]
fn functions_by_what_they_are_called_with() {
    passes(
        "cases",
        "given fn vip = false\ngiven fn vip(\"ann\") = true\nsend knock(\"bob\")\nexpect at sorting",
    );
    passes(
        "later",
        "given fn vip = false\nsend knock(\"ann\")\nturn\nanswers next drop\ngiven fn vip = true\n\
         send knock(\"ann\")\nexpect at done",
    );
    passes("fails", "given fn vip fails \"down\"\nsend knock(\"ann\")\nexpect at sorting");
}

#[test]
fn answers_of_every_kind() {
    passes("option", "at sorting\nturn\nanswers next note(\"x\")\nexpect called tell(\"x\")");
    passes("text", "at sorting\nturn\nanswers next \"Let us **drop** it.\"\nexpect at idle");
    passes("json", "at sorting\nturn\nanswers next {\"choice\": \"drop\"}\nexpect at idle");
    passes("value", "at asking\nturn\nanswers approve Verdict.yes\nexpect at done");
    passes(
        "failed",
        "at sorting\nturn\nfails next timeout\nfails next \"cut\"\nexpect at idle\nexpect calls == 2",
    );
}

#[test]
fn a_failure_as_it_is_shown() {
    let (text, _) = desk(
        "shown",
        "given fn vip = false\nsend knock(\"ann\")\nturn\nanswers next note(\"call her\")\nexpect at done",
    );
    insta::assert_snapshot!(text);
}

const READER: &str = "
tool web.search(query: Text) -> Json
tool web.open(url: Text) -> Text
tool mail.send(to: Text) -> Bool
tools reading = web.*
chart Reader {
  initial work
  state work { llm report { prompt \"Report.\"  tools reading calls 2  returns Int } -> done }
  final done
}";

#[test]
fn the_model_of_an_llm_step_calls_its_tools() {
    let body = "turn\nanswers report web.search(\"owls\")\ntool web.search returns {\"hits\": 1}\n\
                expect called web.search(\"owls\")\nexpect prompt of report contains \"hits\"\n\
                answers report web.open(\"a\")\ntool web.open fails \"gone\"\n\
                answers report 3\nexpect ended ok";
    let (text, code) =
        play("reader", &format!("{READER}\ntest \"it\" for Reader {{\n{body}\n}}\n"));
    assert_eq!((text.as_str(), code), ("ok     it.chart: it\n\n1 passed, 0 failed\n", 0));
    for (name, line, why) in [
        (
            "reader-other",
            "answers report mail.send(\"a\")\nexpect called mail.send",
            "was not called",
        ),
        ("reader-type", "answers report web.search(1)", "expected `Text`"),
        ("reader-none", "answers report web.serch(\"a\")", "chooses no option"),
    ] {
        let text = format!("{READER}\ntest \"it\" for Reader {{\nturn\n{line}\n}}\n");
        let (text, code) = play(name, &text);
        assert_eq!(code, 1, "{text}");
        assert!(super::flat(&text).contains(why), "{line}: wanted {why}:\n{text}");
    }
}
