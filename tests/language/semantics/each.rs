//! A step for each element of a list.

use super::walks::walks;

/// Searches for some queries; `body` is what stands in the step.
fn search(queries: &str, body: &str) -> String {
    format!(
        "chart T {{ tool t(q: Int) -> Int event go var found: List(Int) = [] var xs: List(Int) = {queries} initial a
          state a {{ call search each q in xs t(q) {{ {body} done -> b {{ found = search }} error -> lost }} on go -> b }}
          state b {{ code x {{ }} }} state lost }}"
    )
}

#[test]
fn an_empty_list_is_done_at_once() {
    let sim =
        walks(&search("[]", ""), &[("turn", "search, search done, -> b, x, x done, turn ended")]);
    assert_eq!(sim.var("found"), "[]");
}

#[test]
fn elements_go_some_at_a_time_and_the_answer_is_in_their_order() {
    let sim = walks(
        &search("[1, 2, 3]", "2 at a time"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("done search[1]", "search[1] done, search[2]"),
            ("turn", "Busy"),
            ("done search[2]", "search[2] done"),
            ("done search[0]", "search[0] done, search done, -> b, x, x done, turn ended"),
            // What comes twice is dropped.
        ],
    );
    assert_eq!(sim.var("found"), "[1, 1, 1]");
}

#[test]
fn a_lost_element_cancels_the_rest_and_fails_the_step() {
    walks(
        &search("[1, 2, 3]", "2 at a time"),
        &[
            ("turn", "search, search[0], search[1]"),
            (
                "fail search[0]",
                "search[0] lost, search failed, -> lost, turn ended, cancel search[1]",
            ),
        ],
    );
}

#[test]
fn a_lost_element_is_left_out_or_none() {
    let table = [
        ("turn", "search, search[0], search[1], search[2]"),
        ("fail search[1]", "search[1] lost"),
        ("done search[2]", "search[2] done"),
        ("done search[0]", "search[0] done, search done, -> b, x, x done, turn ended"),
    ];
    let sim = walks(&search("[1, 2, 3]", "else skip"), &table);
    assert_eq!(sim.var("found"), "[1, 1]");
    let chart = search("[1, 2, 3]", "else none").replace("found: List(Int)", "found: List(Int?)");
    let sim = walks(&chart, &table);
    assert_eq!(sim.var("found"), "[1, None, 1]");
}

#[test]
fn all_may_be_lost() {
    let sim = walks(
        &search("[1, 2]", "else skip"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("fail search[1]", "search[1] lost"),
            ("fail search[0]", "search[0] lost, search done, -> b, x, x done, turn ended"),
        ],
    );
    assert_eq!(sim.var("found"), "[]");
}

#[test]
fn enough_good_answers_end_the_step_and_cancel_the_rest() {
    let chart = search("[1, 2, 3, 4]", "3 at a time enough 2 else skip");
    let sim = walks(
        &chart,
        &[
            ("turn", "search, search[0], search[1], search[2]"),
            ("done search[2]", "search[2] done, search[3]"),
            ("fail search[0]", "search[0] lost"),
            (
                "done search[3]",
                "search[3] done, search done, -> b, x, x done, turn ended, cancel search[1]",
            ),
        ],
    );
    assert_eq!(sim.var("found"), "[1, 1]");
    // As soon as enough is impossible it fails.
    walks(
        &chart,
        &[
            ("turn", "search, search[0], search[1], search[2]"),
            ("fail search[0]", "search[0] lost, search[3]"),
            ("fail search[1]", "search[1] lost"),
            (
                "fail search[2]",
                "search[2] lost, search failed, -> lost, turn ended, cancel search[3]",
            ),
        ],
    );
    // A shorter list needs all.
    walks(
        &search("[1]", "enough 2 else skip"),
        &[
            ("turn", "search, search[0]"),
            ("done search[0]", "search[0] done, search done, -> b, x, x done, turn ended"),
        ],
    );
}

#[test]
fn attempts_are_of_each_element() {
    walks(
        &search("[1, 2]", "retry 1"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("fail search[0]", "search[0]"),
            ("fail search[1]", "search[1]"),
            ("done search[0]", "search[0] done"),
            ("fail search[1]", "search[1] lost, search failed, -> lost, turn ended"),
        ],
    );
}

#[test]
fn the_timeout_is_of_the_whole_step() {
    walks(
        &search("[1, 2]", "timeout 9s -> lost"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("done search[0]", "search[0] done"),
            ("at 9000", "-> lost, turn ended, cancel search[1]"),
        ],
    );
}

#[test]
fn leaving_the_state_cancels_what_is_open() {
    walks(
        &search("[1, 2, 3]", "2 at a time"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("send go", "-> b, x, x done, turn ended, cancel search[0], cancel search[1]"),
            ("turn", "x, x done, turn ended"),
        ],
    );
}

#[test]
fn an_element_in_doubt_takes_the_doubt_line_or_is_lost() {
    walks(
        &search("[1, 2]", "doubt -> lost"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("doubt search[0]", "-> lost, turn ended, cancel search[0], cancel search[1]"),
        ],
    );
    walks(
        &search("[1, 2]", "else skip"),
        &[
            ("turn", "search, search[0], search[1]"),
            ("doubt search[0]", "search[0] lost"),
            ("done search[1]", "search[1] done, search done, -> b, x, x done, turn ended"),
        ],
    );
}

#[test]
fn a_list_that_is_too_long_fails_before_anything_is_made() {
    walks(&search("[1, 2, 3]", "up to 2"), &[("turn", "search failed, -> lost, turn ended")]);
}

/// Grades some texts.
const GRADE: &str = "chart T { var xs: List(Int) = [1, 2, 3] var all: List(Int) = [] limits { calls 4 } initial a
  state a { llm grade each x in xs { prompt \"{x} of {len(xs)}\" returns Int into all } llm again { prompt \"\" } }
  on limit.calls -> over state over }";

#[test]
fn it_is_one_step_for_the_calls_of_a_turn_and_each_element_is_a_call_of_the_limits() {
    let mut sim = walks(
        GRADE,
        &[
            ("turn", "grade, grade[0], grade[1], grade[2]"),
            ("done grade[0]", "grade[0] done"),
            ("done grade[1]", "grade[1] done"),
            ("done grade[2]", "grade[2] done, grade done, calls of  used up, turn ended"),
            // There is room for one more call, and three are needed.
            ("turn", "-> over, calls of  used up, turn ended"),
        ],
    );
    assert_eq!(sim.var("all"), "[1, 1, 1]");
    sim = sim.again();
    sim.turn();
    let prompts: Vec<_> = sim.open_keys().into_iter().map(|key| sim.prompt(key)).collect();
    assert_eq!(prompts, ["1 of 3", "2 of 3", "3 of 3"]);
}

#[test]
fn a_thousand_elements() {
    let mut sim = super::Sim::of(
        &search("[n for n in [0]]", "7 at a time")
            .replace("[n for n in [0]]", &format!("{:?}", (0..1000).collect::<Vec<_>>())),
    );
    sim.turn();
    for nth in 0..1000 {
        assert!(sim.open_keys().len() <= 7);
        // The newest first.
        let key = *sim.open_keys().last().expect("open");
        sim.answer(
            key,
            chartc_core::machine::Outcome::Done(vec![chartc_core::expr::Value::Int(nth)]),
        );
    }
    assert_eq!(sim.leaves(), ["b"]);
    let found: Vec<i64> = serde_json::from_str(&sim.var("found")).expect("a list");
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    assert_eq!(
        found[999],
        999 - 6,
        "the answers are in the order of the elements, not in that of their coming"
    );
}

#[test]
fn people_are_asked_beside_the_walk() {
    let chart = "chart T { var xs: List(Text) = [\"a\", \"b\"] initial a
      state a { human sure each x in xs \"Is {x} right?\" { returns Int done -> b } code y { } } state b }";
    let mut sim = walks(
        chart,
        &[
            ("turn", "sure, sure[0], sure[1], y, y done, turn ended"),
            ("turn", "y, y done, turn ended"),
            ("done sure[1]", "sure[1] done"),
            ("done sure[0]", "sure[0] done, sure done, -> b"),
        ],
    );
    sim = sim.again();
    sim.turn();
    let key = sim.open_key("sure[1]");
    assert_eq!(sim.prompt(key), "Is b right?");
}
