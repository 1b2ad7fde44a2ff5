//! Tools that the model calls: who may, what a call belongs to, when its line is taken; `call` and `human` steps.

use super::Sim;
use chartc_core::host::Machine;

const CHART: &str = "
tool web.find(query: Text) -> Json
tool web.read(url: Text) -> Text
tool mail.send(to: Text) -> Bool
tools web = web.find | web.read
tools any_tool = any
chart T {
  event go event stop event off
  var open: Bool = true
  var seen: Json = none
  initial a
  ask choose on go else failed { prompt \"{options}\" }
  state a {
    may call web into seen if open -> b
    may rest \"nothing\"
    on off { open = false }
    on stop -> c
    after 10s -> c
  }
  state b { when streak(tool) > 1 -> c  may call any_tool  may back \"back\" -> a }
  state c
  state failed
}";

fn asked() -> Sim {
    let mut sim = Sim::of(CHART);
    sim.send("go");
    sim
}

#[test]
fn each_tool_of_the_set_is_an_option() {
    assert_eq!(asked().options("choose"), ["web.find", "web.read", "rest"]);
}

#[test]
fn the_line_is_taken_when_the_tool_has_returned() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]);
    assert_eq!((sim.leaves(), sim.open()), (vec!["a".to_owned()], vec!["choose".to_owned()]));
    sim.done("choose", r#"{"hits": 1}"#);
    assert_eq!(sim.leaves(), ["b"]);
    assert_eq!(sim.var("seen"), "{'hits': 1}");
    assert!(sim.trace().contains("called web.find by web"), "{}", sim.trace());
    assert_eq!(sim.open(), [""; 0]);
}

#[test]
fn the_guard_holds_for_the_call_and_is_not_asked_again_on_return() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]).send("off").done("choose", "1");
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn leaving_the_state_gives_the_call_up_and_what_it_returns_is_dropped() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]);
    let key = sim.open_key("choose");
    sim.send("stop");
    assert_eq!((sim.canceled(), sim.leaves()), (vec!["choose".to_owned()], vec!["c".to_owned()]));
    sim.answer(key, chartc_core::machine::Outcome::Done(vec![]));
    assert_eq!(sim.receipt(), "Refused");
    assert_eq!(sim.var("seen"), "None");
}

#[test]
fn a_deadline_of_the_state_gives_the_call_up() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]).at(10_000);
    assert_eq!((sim.canceled(), sim.leaves()), (vec!["choose".to_owned()], vec!["c".to_owned()]));
}

#[test]
fn a_tool_that_fails_leaves_the_state_and_counts() {
    let mut sim = Sim::of(&CHART.replace("state b {", "state b { when fails_here > 0 -> failed "));
    sim.send("go").call("choose", "web.read", &["\"x\""]).fail("choose");
    assert_eq!((sim.leaves(), sim.open()), (vec!["a".to_owned()], vec![]));
    assert!(sim.trace().contains("call failed web.read"), "{}", sim.trace());
    // Counted for the leaf that called, and gone with it.
    sim.send("go").call("choose", "web.find", &["\"x\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["b"]);
    sim.send("go").call("choose", "mail.send", &["\"x\""]).fail("choose");
    assert_eq!(sim.leaves(), ["failed"]);
}

#[test]
fn a_call_in_doubt_counts_as_failed() {
    let mut sim = Sim::of(&CHART.replace("state a {", "state a { when fails_here > 0 -> failed "));
    sim.send("go").call("choose", "web.find", &["\"x\""]);
    sim.answer(sim.open_key("choose"), chartc_core::machine::Outcome::Doubt);
    assert_eq!((sim.leaves(), sim.open()), (vec!["failed".to_owned()], vec![]));
    assert!(sim.trace().contains("call failed web.find"), "{}", sim.trace());
}

#[test]
fn a_tool_that_no_enabled_line_permits_is_refused_counted_and_asked_again() {
    let mut sim = Sim::of(&CHART.replace("{options}\"", "{options}\" retry 1"));
    sim.send("go").call("choose", "mail.send", &["\"x\""]);
    assert!(sim.trace().contains("forbidden mail.send\nretried choose"), "{}", sim.trace());
    assert_eq!(sim.open(), ["choose"]);
    sim.send("off").call("choose", "web.find", &["\"x\""]);
    assert_eq!(sim.leaves(), ["failed"], "out of attempts");
}

#[test]
fn a_result_of_another_type_is_a_failure_of_the_tool() {
    let mut sim = asked();
    sim.call("choose", "web.read", &["\"x\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["a"]);
    assert!(sim.trace().contains("call failed web.read"), "{}", sim.trace());
}

#[test]
fn an_answer_to_a_question_that_has_become_a_call_is_dropped() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]).choose("choose", "rest");
    assert_eq!(sim.receipt(), "Refused");
    assert_eq!(sim.open(), ["choose"]);
}

#[test]
fn a_single_tool_is_never_called_unasked() {
    let chart = "tool t() -> Json tools only = t chart C { event go initial a
        state a { ask choose on go else stay { prompt \"{options}\" } may call only -> b } state b }";
    let mut sim = Sim::of(chart);
    sim.send("go");
    assert_eq!((sim.open(), sim.leaves()), (vec!["choose".to_owned()], vec!["a".to_owned()]));
}

#[test]
fn a_call_under_way_goes_through_a_snapshot() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]);
    sim.restart_from_snapshot();
    let key = sim.open_key("choose");
    let call = sim.machine.call(key).expect("under way");
    assert_eq!((call.tool.as_str(), call.arguments.len()), ("web.find", 1));
    sim.done("choose", "1").send("go").call("choose", "web.find", &["\"y\""]);
    sim.restart_from_snapshot();
    sim.done("choose", "1");
    assert_eq!(sim.leaves(), ["c"], "the streak went through both");
}

#[test]
fn streaks_are_broken_by_any_other_option() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]).done("choose", "1");
    sim.send("go").choose("choose", "back").send("go");
    sim.call("choose", "web.find", &["\"x\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["b"]);
    sim.send("go").call("choose", "web.find", &["\"y\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn a_call_step_waits_for_its_tool_and_keeps_the_result() {
    let chart = "tool add(a: Int, b: Int) -> Int chart C {
        var n: Int = 2  initial a
        state a { call sum add(n, n + 1) { returns Int into n  done if n > 4 -> b  error -> c } llm l { prompt \"\" } }
        state b state c }";
    let mut sim = Sim::of(chart);
    sim.turn();
    assert_eq!((sim.open(), sim.is_walking()), (vec!["sum".to_owned()], true));
    sim.done("sum", "5");
    assert_eq!((sim.var("n"), sim.leaves()), ("5".to_owned(), vec!["b".to_owned()]));
    let mut sim = Sim::of(chart);
    sim.turn().fail("sum");
    assert_eq!(sim.leaves(), ["c"]);
    let mut sim = Sim::of(chart);
    sim.turn().done("sum", "\"five\"");
    assert_eq!(sim.leaves(), ["c"], "what does not fit is a failure of the tool");
}

#[test]
fn a_person_is_not_waited_for_and_not_asked_twice() {
    let chart = "chart C { event go  var said: Text = \"\"  initial a
        state a { human name \"Who are you?\" { returns Text into said  done if said != \"\" -> b }  llm l { prompt \"\" } }
        state b { on go -> a } }";
    let mut sim = Sim::of(chart);
    sim.turn();
    assert_eq!(sim.open(), ["name", "l"]);
    sim.done("l", "{}");
    assert!(!sim.is_walking());
    sim.turn();
    assert_eq!(sim.started(), ["name", "l", "l"]);
    sim.done("name", "\"Ann\"");
    assert_eq!((sim.var("said"), sim.leaves()), ("Ann".to_owned(), vec!["b".to_owned()]));
    assert_eq!(sim.canceled(), ["l"]);
}

#[test]
fn a_tool_alone_and_any_tool_are_sets_of_their_own() {
    let chart = "tool web.find(query: Text) -> Json tool mail.send(to: Text) -> Bool
        chart C { event go initial a
        state a {
            ask choose on go else stay { prompt \"{options}\" }
            may call web.find \"look it up\"
            may call any \"anything else\"
            when streak(web.find.query) > 1 -> c
            when streak(any.to) > 1 -> d
        }
        state c state d }";
    let mut sim = Sim::of(chart);
    sim.send("go");
    let key = sim.open_key("choose");
    let offers = sim.machine.options(key);
    let told: Vec<(&str, &str)> = offers.iter().map(|offer| (&*offer.name, &*offer.text)).collect();
    assert_eq!(told, [("web.find", "look it up"), ("mail.send", "anything else")]);
    sim.call("choose", "mail.send", &["\"x\""]).done("choose", "true");
    sim.send("go").call("choose", "web.find", &["\"x\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["a"]);
    sim.send("go").call("choose", "web.find", &["\"x\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn a_call_that_fails_counts_for_streaks() {
    let mut sim = asked();
    sim.call("choose", "web.find", &["\"x\""]).fail("choose").send("go");
    sim.call("choose", "web.find", &["\"y\""]).done("choose", "1");
    assert_eq!(sim.leaves(), ["c"]);
}
