//! Events played without a model.

use super::*;
use chartc_core::expr::Map;
use chartc_runtime::data::entries;
use chartc_runtime::simulate::{Simulation, simulate};

fn play(text: &str, events: &str) -> Result<Simulation, String> {
    let chart = chart(text);
    let plan = Plan::new(&chart);
    let machine = Interpreter::new(&plan, Script::empty(), []).expect("no params");
    let entries = entries(events).map_err(|e| e.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(simulate(machine, &Map::new(), &entries, ())).map_err(|e| e.to_string())
}

fn check(text: &str, events: &str, configurations: &str) {
    let seen = play(text, events).expect(events);
    assert_eq!(
        serde_json::to_string(&seen.configurations).expect("JSON"),
        configurations,
        "{events}"
    );
}

const DOOR: &str = "
chart Door {
  event open
  event close
  event key(code: Int)
  event smash
  initial house
  parallel house {
    state door {
      initial shut
      state shut { on open -> ajar }
      state ajar { on close -> shut  after 10s -> shut }
    }
    state alarm {
      initial off
      state off { on key(c) if c == 7 -> armed.quiet }
      state armed {
        initial quiet
        state quiet { on open -> loud }
        state loud { on key -> off }
      }
    }
    on smash -> broken
  }
  final broken : error
}
";

const REMINDER: &str = "
chart Reminder {
  event order
  event remind(nth: Int)
  event paid
  initial idle
  state idle { on order -> open }
  state open {
    initial fresh
    enter { send remind(1) after 24h as reminder }
    exit { cancel reminder }
    state fresh
    state late
    on remind(nth) if nth < 3 -> late { send remind(nth + 1) after 24h as reminder }
    on remind -> lost
    on paid -> idle
  }
  final lost : stuck
}
";

#[test]
fn sent_events_come_while_time_passes() {
    check(
        REMINDER,
        r#"[{"event":"order"},{"after_ms":86399999},{"after_ms":1},{"event":"paid"},{"after_ms":604800000},
            {"event":"order"},{"after_ms":172800000},{"after_ms":86400000}]"#,
        r#"[["idle"],["fresh"],["fresh"],["late"],["idle"],["idle"],["fresh"],["late"],["lost"]]"#,
    );
}

#[test]
fn basic_states_by_their_own_names() {
    check(
        DOOR,
        r#"[{"event":"key","data":{"code":7}},{"event":"open"},{"event":"close"}]"#,
        r#"[["shut","off"],["shut","quiet"],["ajar","loud"],["shut","loud"]]"#,
    );
    let seen = play(DOOR, r#"[{"event":"key","data":{"code":7}}]"#).expect("an event");
    assert_eq!(seen.paths[1], ["house.door.shut", "house.alarm.armed.quiet"]);
}

#[test]
fn deadlines_that_come_due_in_between_fire_first() {
    check(
        DOOR,
        r#"[{"event":"open"},{"event":"key","data":{"code":1},"after_ms":9999}]"#,
        r#"[["shut","off"],["ajar","off"],["ajar","off"]]"#,
    );
    check(
        DOOR,
        r#"[{"event":"open"},{"event":"key","data":{"code":1},"after_ms":10000}]"#,
        r#"[["shut","off"],["ajar","off"],["shut","off"]]"#,
    );
}

#[test]
fn after_the_end_the_last_configuration_stays() {
    let seen = play(DOOR, r#"[{"event":"smash"},{"event":"open"}]"#).expect("events");
    assert_eq!(seen.configurations, [vec!["shut", "off"], vec!["broken"], vec!["broken"]]);
    assert_eq!(seen.receipts, ["handled", "handled", "closed"]);
    assert_eq!(seen.status, Some("error"));
}

#[test]
fn an_event_that_nothing_handles() {
    let seen = play(DOOR, r#"[{"event":"close"}]"#).expect("events");
    assert_eq!(seen.receipts, ["handled", "unhandled"]);
}

const ASK: &str = r#"
chart Ask {
  event go
  var text: Text = ""
  initial here
  state here {
    llm think { prompt """Think.""" done if think.action == "move" -> there }
    ask pick on go else stay { prompt """{options}""" }
    may say(what: Text) "speak" -> there { text = what }
    may nod "agree" -> over
  }
  state there { on go -> here }
  final over
}
"#;

#[test]
fn an_entry_answers_the_open_question() {
    check(ASK, r#"[{"event":"go"},{"answer":"nod"}]"#, r#"[["here"],["here"],["over"]]"#);
    check(
        ASK,
        r#"[{"event":"go"},{"answer":"say","data":{"what":"hi"}}]"#,
        r#"[["here"],["here"],["there"]]"#,
    );
    check(ASK, r#"[{"event":"go"},{"answer":null}]"#, r#"[["here"],["here"],["here"]]"#);
}

#[test]
fn an_entry_answers_the_open_step_of_a_turn() {
    check(
        ASK,
        r#"[{"event":"turn"},{"answer":{"action":"stay"}},{"event":"turn"},{"answer":{"action":"move"}},{"turn":{}}]"#,
        r#"[["here"],["here"],["here"],["here"],["there"],["there"]]"#,
    );
}

#[test]
fn an_entry_that_does_not_fit_is_named_by_its_number() {
    for (events, why) in [
        (r#"[{"event":"go"},{"event":"gone"}]"#, "entry 2: no event `gone`; declared: `go`"),
        (r#"[{"event":"go","data":{"a":1}}]"#, "entry 1: event `go`: it declares no data"),
        (r#"[{"answer":"nod"}]"#, "entry 1: no step and no question is open"),
        (
            r#"[{"event":"go"},{"answer":"shout"}]"#,
            "entry 2: `shout` is not offered now; offered: `say`, `nod`",
        ),
        (r#"[{"event":"go"},{"answer":"say","data":{"what":[1]}}]"#, "entry 2: "),
        (
            r#"[{"event":"go"},{"answer":"say","data":{"how":1}}]"#,
            "entry 2: `say` has no argument `how`",
        ),
        (
            r#"[{"event":"turn"},{"event":"turn"}]"#,
            "entry 2: the last turn still waits for an answer to `think`",
        ),
        (
            r#"[{"event":"turn"},{"event":"go"},{"answer":"nod"}]"#,
            "entry 3: say which with `step`; open: `think`, `pick`",
        ),
        (r#"[{"turn":{"speed":1}}]"#, "entry 1: input `speed`"),
    ] {
        let fault = play(ASK, events).expect_err(events);
        assert!(fault.starts_with(why), "{events}: {fault}");
    }
}

#[test]
fn a_step_is_named_where_two_are_open() {
    check(
        ASK,
        r#"[{"event":"turn"},{"event":"go"},{"answer":"nod","step":"pick"}]"#,
        r#"[["here"],["here"],["here"],["over"]]"#,
    );
}
