//! Tools that the model of an `llm` step calls before it answers.

use super::Sim;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::Outcome;

const CHART: &str = "
tool web.find(query: Text) -> Json
tool web.read(url: Text) -> Text
tool mail.send(to: Text) -> Bool
tools web = web.find | web.read
chart T {
  event stop event go
  var got: Text = \"\"
  limits { calls 6 }
  initial a
  state a {
    llm report {
      prompt \"p\"  tools web calls 2  retry 1 then fail
      returns Int
      done if report > 3 -> good
      error -> bad
      timeout 10s -> slow
    }
    ask choose on go else stay { prompt \"{options}\" }
    may call mail.send -> b
    may rest \"\" -> b
    when streak(web.find.query) >= 2 -> looping
    on stop -> b
  }
  state b state good state bad state slow state looping
  on error.limit.calls -> bad
}";

/// Tools whose calls are under way, in document order of what was asked.
fn calling(sim: &Sim) -> Vec<String> {
    let tools = sim.open_keys().into_iter().filter_map(|key| sim.machine.calls(key));
    let mut names: Vec<String> =
        tools.map(|tool| sim.chart.tools[tool.index()].name.clone()).collect();
    names.sort();
    names
}

fn started() -> Sim {
    let mut sim = Sim::of(CHART);
    sim.turn();
    sim
}

#[test]
fn the_model_is_asked_again_when_the_tool_has_returned() {
    let mut sim = started();
    assert_eq!(sim.options("report"), ["web.find", "web.read"]);
    sim.call("report", "web.find", &["\"x\""]);
    assert_eq!(calling(&sim), ["web.find"]);
    sim.done("report", r#"{"hits": 1}"#);
    assert_eq!((sim.leaves(), sim.open()), (vec!["a".to_owned()], vec!["report".to_owned()]));
    assert_eq!(sim.started(), ["report", "report"]);
    sim.done("report", "4");
    assert_eq!(sim.leaves(), ["good"]);
    assert!(!sim.is_walking());
}

#[test]
fn when_all_calls_are_made_no_tool_is_offered_any_more() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).done("report", "1");
    sim.call("report", "web.read", &["\"y\""]).done("report", "\"text\"");
    assert_eq!(sim.options("report"), [""; 0]);
    sim.call("report", "web.read", &["\"z\""]);
    assert!(sim.trace().contains("forbidden web.read"), "{}", sim.trace());
    assert_eq!(calling(&sim), [""; 0]);
    assert_eq!(sim.open(), ["report"], "it is asked again: that was an attempt");
    sim.call("report", "web.read", &["\"z\""]);
    assert_eq!(sim.leaves(), ["bad"], "with no attempt left the step fails");
}

#[test]
fn a_tool_of_another_set_is_forbidden() {
    let mut sim = started();
    sim.call("report", "mail.send", &["\"ada\""]);
    assert!(sim.trace().contains("forbidden mail.send"), "{}", sim.trace());
    assert_eq!((calling(&sim), sim.open()), (Vec::<String>::new(), vec!["report".to_owned()]));
}

#[test]
fn a_tool_that_fails_is_told_to_the_model_and_costs_no_attempt() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).fail("report");
    assert_eq!(sim.open(), ["report"]);
    sim.unusable("report").done("report", "5");
    assert_eq!(sim.leaves(), ["good"], "the attempt was still there");
}

#[test]
fn a_tool_that_fails_or_is_in_doubt_counts() {
    let text = CHART
        .replace("var got: Text = \"\"", "var n: Int = 0")
        .replace("on stop -> b", "on stop { n = fails_here } on doubt(report) { n = fails_here }");
    let mut sim = Sim::of(&text);
    sim.turn().call("report", "web.find", &["\"x\""]).fail("report").send("stop");
    assert_eq!(sim.var("n"), "1");
    sim.call("report", "web.find", &["\"y\""]);
    sim.answer(sim.open_key("report"), Outcome::Doubt);
    assert_eq!(sim.var("n"), "2");
}

#[test]
fn calls_are_charged_to_the_limits() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).done("report", "1");
    sim.call("report", "web.find", &["\"y\""]).done("report", "1").done("report", "1");
    sim.turn().call("report", "web.find", &["\"z\""]).done("report", "1");
    sim.call("report", "web.read", &["\"y\""]).done("report", "\"t\"");
    assert_eq!(sim.open(), ["report"], "the sixth call");
    sim.done("report", "1").turn();
    assert_eq!(sim.leaves(), ["bad"], "a seventh is not made");
}

#[test]
fn the_limit_may_be_reached_between_a_tool_and_the_next_question() {
    let text = CHART.replace("calls 6", "calls 1").replace("on error.limit.calls -> bad", "");
    let mut sim = Sim::of(&text);
    sim.turn().call("report", "web.find", &["\"x\""]).done("report", "1");
    assert_eq!(sim.ended(), Some("limit"));
    assert_eq!(sim.open(), [""; 0]);
}

#[test]
fn what_a_tool_brings_may_lead_away_while_the_step_is_under_way() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).done("report", "1");
    sim.call("report", "web.find", &["\"x\""]).done("report", "1");
    assert_eq!(sim.leaves(), ["looping"]);
    assert_eq!(sim.started(), ["report", "report"], "the model is not asked for nothing");
    assert_eq!((sim.open(), sim.canceled()), (Vec::<String>::new(), vec!["report".to_owned()]));
    assert!(!sim.is_walking(), "the walk does not wait for it any more");
}

#[test]
fn leaving_the_state_gives_the_call_up() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).send("stop");
    assert_eq!((sim.leaves(), calling(&sim)), (vec!["b".to_owned()], Vec::<String>::new()));
    assert_eq!(sim.canceled(), ["report"]);
    assert!(!sim.is_walking());
}

#[test]
fn the_timeout_of_the_step_counts_through_its_calls() {
    let mut sim = started();
    sim.at(6_000).call("report", "web.find", &["\"x\""]);
    sim.at(9_999);
    assert_eq!(sim.leaves(), ["a"]);
    sim.at(10_000);
    assert_eq!(sim.leaves(), ["slow"]);
}

#[test]
fn a_question_of_the_same_leaf_may_call_at_the_same_time() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]).send("go");
    sim.call("choose", "mail.send", &["\"ada\""]);
    assert_eq!(calling(&sim), ["mail.send", "web.find"]);
    for (step, argument) in [("report", "x"), ("choose", "ada")] {
        let key = sim.open_key(step);
        let call = sim.machine.call(key).unwrap_or_else(|_| panic!("`{step}` calls nothing"));
        assert_eq!(call.arguments[0].1, Value::Text(argument.into()), "of {step}");
    }
    sim.done("report", "1");
    assert_eq!(calling(&sim), ["mail.send"]);
    sim.done("choose", "true");
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn a_run_that_is_saved_during_a_call_goes_on_with_it() {
    let mut sim = started();
    sim.call("report", "web.find", &["\"x\""]);
    sim.restart_from_snapshot();
    assert_eq!(calling(&sim), ["web.find"]);
    sim.done("report", "1").call("report", "web.read", &["\"y\""]);
    sim.restart_from_snapshot();
    sim.done("report", "\"t\"");
    assert_eq!(sim.options("report"), [""; 0], "both calls count");
}
