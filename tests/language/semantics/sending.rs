//! Events that a chart sends: when they are delivered, in which order, and what takes them back.

use super::{Input, Outcome, Sim};
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::Machine;

#[test]
fn a_sent_event_waits_until_it_is_due() {
    let mut sim = Sim::of(
        "chart T { event go initial a
           state a { enter { send go after 5s } on go -> b }
           state b }",
    );
    assert_eq!((sim.next_deadline(), sim.sends()), (Some(5_000), vec!["go at 5000".to_owned()]));
    sim.at(4_999);
    assert_eq!(sim.leaves(), ["a"]);
    sim.at(5_000);
    assert_eq!((sim.leaves(), sim.next_deadline()), (vec!["b".to_owned()], None));
    assert!(sim.trace().contains("sent go due 5000"), "{}", sim.trace());
    assert!(sim.trace().contains("delivered go\ntaken on a -> b"), "{}", sim.trace());
}

#[test]
fn without_a_delay_it_comes_after_all_that_is_internal_and_before_the_next_input() {
    let mut sim = Sim::of(
        "chart T { event e event sent event raised event f var l: Text = \"\" initial a
           on sent { l = concat(l, \"sent \") }
           on raised { l = concat(l, \"raised \") }
           on f { l = concat(l, \"f \") }
           state a { on e -> b { send sent  raise raised } }
           state b { when l == \"\" { l = \"when \" } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("l"), "when raised sent ");
    sim.send("f");
    assert_eq!(sim.var("l"), "when raised sent f ");
}

#[test]
fn what_is_overdue_comes_before_an_event_of_the_host() {
    let mut sim = Sim::of(
        "chart T { event e event f var l: Text = \"\" initial s
           state s { enter { send e after 2s } on e { l = concat(l, \" e\") } on f { l = concat(l, \" f\") } } }",
    );
    sim.wait(5_000).send("f");
    assert_eq!(sim.var("l"), " e f");
}

#[test]
fn events_sent_at_the_start_are_delivered_before_the_first_input() {
    let sim = Sim::of(
        "chart T { event go initial a
           state a { enter { send go } on go -> b }
           state b { on go -> c } state c }",
    );
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn those_that_are_overdue_come_by_their_due_times_and_then_as_sent() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int) event go var l: Text = \"\" initial a
           on e(n) { l = concat(l, str(n), \"@\", str(elapsed), \" \") }
           state a { on go { send e(1) after 3s  send e(2) after 1s  send e(3) after 3s  send e(4) after 2s } } }",
    );
    sim.send("go").at(10_000);
    assert_eq!(sim.var("l"), "2@1s 4@2s 1@3s 3@3s ");
}

#[test]
fn a_sent_event_comes_before_a_deadline_of_the_same_time_and_after_an_earlier_one() {
    let chart = |event: &str, line: &str| {
        format!(
            "chart T {{ event reply initial a
               state a {{ enter {{ send reply after {event} }} after {line} -> late  on reply -> in_time }}
               state late state in_time }}"
        )
    };
    assert_eq!(Sim::of(&chart("5s", "5s")).at(5_000).leaves(), ["in_time"]);
    assert_eq!(Sim::of(&chart("5s", "4s")).at(9_000).leaves(), ["late"]);
    assert_eq!(Sim::of(&chart("4s", "5s")).at(9_000).leaves(), ["in_time"]);
}

#[test]
fn its_data_are_those_of_the_moment_when_it_was_sent() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int, t: Text) event go event r(n: Int) var n: Int = 1 var seen: Text = \"\" initial a
           on e(k, t) { seen = concat(seen, t, str(k), \" \") }
           on r(k) { seen = concat(seen, \"r\", str(k), \" \") }
           state a { on go { send e(n, \"first\") after 2s  n = 2  send e(n, \"then\") after 1s  raise r(9) } } }",
    );
    sim.send("go");
    assert_eq!(sim.var("seen"), "r9 ");
    sim.at(2_000);
    assert_eq!(sim.var("seen"), "r9 then2 first1 ");
}

#[test]
fn cancel_takes_back_all_of_its_id_and_no_other() {
    let mut sim = Sim::of(
        "chart T { event tick event other event go event stop var n: Int = 0 var m: Int = 0 initial a
           on tick { n = n + 1 }
           on other { m = m + 1 }
           on go { send tick after 1s as clock  send other after 1s as rest  send tick after 2s as clock  send tick after 3s }
           on stop { cancel clock }
           state a }",
    );
    sim.send("go").send("stop").at(5_000);
    assert_eq!((sim.var("n"), sim.var("m")), ("1".to_owned(), "1".to_owned()));
    assert_eq!(sim.trace().matches("canceled tick").count(), 2);
    sim.send("stop");
    assert_eq!(sim.receipt(), "Handled", "with nothing to take back");
}

#[test]
fn leaving_a_state_takes_nothing_back_and_the_end_takes_all() {
    let mut sim = Sim::of(
        "chart T { event tick event go event end var n: Int = 0 initial a
           on tick { n = n + 1 }
           on end -> over
           state a { enter { send tick after 5s } on go -> b }
           state b { enter { send tick after 60s } }
           final over }",
    );
    sim.send("go").at(5_000);
    assert_eq!(sim.var("n"), "1");
    sim.send("end");
    assert_eq!((sim.next_deadline(), sim.sends()), (None, vec![]));
    sim.at(90_000);
    assert_eq!((sim.var("n"), sim.receipt()), ("1".to_owned(), "Closed".to_owned()));
}

#[test]
fn what_nothing_handles_is_refused() {
    let mut sim = Sim::of(
        "chart T { event lost event e initial a
           state a { enter { send lost after 1s } on e { } } }",
    );
    sim.at(1_000);
    assert!(sim.trace().ends_with("delivered lost\nrefused lost"), "{}", sim.trace());
}

#[test]
fn it_puts_the_questions_that_an_event_of_the_host_would() {
    let mut sim = Sim::of(
        "chart T { event reply initial a
           state a { enter { send reply after 1s }
             ask next on reply else stay { prompt \"{options}\" }
             may x \"x\" -> b
             may y \"y\" -> c }
           state b state c }",
    );
    assert!(sim.open().is_empty());
    sim.at(1_000);
    assert_eq!(sim.open(), ["next"]);
    let key = sim.open_key("next");
    assert_eq!(key.event, 1, "it counts as an event of its own");
    sim.choose("next", "y");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn it_is_the_event_that_conditions_see() {
    let mut sim = Sim::of(
        "chart T { event tick initial a
           state a { enter { send tick after 1s } on * if event == \"tick\" -> b }
           state b }",
    );
    sim.at(1_000);
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn a_chart_that_sends_to_itself_without_delay_is_stopped_and_told_once() {
    let mut sim = Sim::of(
        "chart T { event e event go var n: Int = 0 var stopped: Int = 0 initial a
           on go { send e }
           on error.livelock { stopped = stopped + 1  send e }
           state a { on e { n = n + 1  send e  send e } } }",
    );
    sim.send("go");
    let (n, stopped) = (sim.var("n"), sim.var("stopped"));
    assert_eq!((n.as_str(), stopped.as_str()), ("1000", "1"));
    assert_eq!(sim.next_deadline(), None, "what is due was given up");
    sim.at(1);
    assert_eq!(sim.var("n"), "1000");
    sim.send("go");
    assert_eq!((sim.var("n"), sim.var("stopped")), ("2000".to_owned(), "2".to_owned()));
}

#[test]
fn a_livelock_gives_up_what_was_sent_without_delay() {
    let mut sim = Sim::of(
        "chart T { event e event go var n: Int = 0 var told: Int = 0 initial a
           on error.livelock { told = told + 1 }
           on go { send e  send e after 1s }
           state a { on e -> b }
           state b { when n >= 0 -> c { n = n + 1  send e } }
           state c { when n >= 0 -> b } }",
    );
    sim.send("go");
    assert_eq!((sim.var("told"), sim.next_deadline()), ("1".to_owned(), Some(1_000)));
}

#[test]
fn a_chart_that_sends_to_itself_with_a_delay_is_not() {
    let mut sim = Sim::of(
        "chart T { event tick var n: Int = 0 initial a
           on error.livelock { n = -1000 }
           state a { enter { send tick after 1s } on tick { n = n + 1  send tick after 1s } } }",
    );
    for second in 1..=1_500 {
        sim.at(second * 1_000);
    }
    assert_eq!(sim.var("n"), "1500");
}

#[test]
fn a_full_queue_fails_the_block_and_loses_nothing_that_waits() {
    let mut sim = Sim::of(
        "chart T { event tick event go var n: Int = 0 var sent: Int = 0 var full: Int = 0 initial a
           on tick { n = n + 1 }
           on go { send tick after 1s  sent = sent + 1 }
           on error.execution { full = full + 1 }
           state a }",
    );
    for _ in 0..20 {
        sim.send("go");
    }
    assert_eq!((sim.var("sent"), sim.var("full")), ("16".to_owned(), "4".to_owned()));
    assert_eq!(
        sim.machine_notes(),
        ["actions of the `on go` line of the chart: no room to send `tick`"; 4]
    );
    sim.at(1_000);
    assert_eq!(sim.var("n"), "16");
    sim.send("go");
    assert_eq!(sim.var("sent"), "17");
}

#[test]
fn a_turn_goes_on_after_an_event_that_one_of_its_steps_sent() {
    let mut sim = Sim::of(
        "chart T { event e var l: Text = \"\" initial a
           on e { l = concat(l, \"e \") }
           state a { on turn { send e  l = \"turn \" }
             code one { l = concat(l, \"one \") } -> b }
           state b { enter { send e } code two { l = concat(l, \"two \") } } }",
    );
    sim.turn();
    assert_eq!(sim.var("l"), "turn e one e two ");
    assert_eq!(sim.turns(), 1);
}

#[test]
fn a_way_out_of_a_dead_end_may_be_sent() {
    let sim = Sim::of(
        "chart T { event go initial a
           state a { on error.stuck.dead -> b }
           state b { enter { send go } on go -> c }
           state c }",
    );
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn dead_ends_and_sent_events_that_lead_to_each_other_are_stopped() {
    let sim = Sim::of(
        "chart T { event go initial a
           on error.stuck.dead -> b
           state a
           state b { enter { send go } on go -> a } }",
    );
    assert_eq!(sim.trace().matches("error livelock").count(), 1);
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn what_waits_survives_a_restart() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int) event go event stop var l: Text = \"\" initial a
           on e(n) { l = concat(l, str(n), \" \") }
           on stop { cancel later }
           on go { send e(1) after 3s  send e(2) after 1s  send e(3) after 2s as later  send e(4) after 3s }
           state a }",
    );
    sim.send("go").at(1_000);
    sim.restart_from_snapshot();
    assert_eq!(sim.next_deadline(), Some(2_000));
    sim.restart_from_snapshot();
    sim.send("stop").at(9_000);
    assert_eq!(sim.var("l"), "2 1 4 ");
}

#[test]
fn a_snapshot_whose_sent_events_no_run_has_is_refused() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int) event go initial a
           on e(n) { }
           on go { send e(1) after 3s  send e(2) after 5s }
           state a }",
    );
    sim.send("go");
    for (path, value) in [
        ("/registers/sends/0/due", "7000"),
        ("/registers/sends/0/event", "\"nine\""),
        ("/registers/sends/0/to", "{\"Child\": \"nobody\"}"),
        ("/sent/0", "[]"),
        ("/sent/0/0", "\"x\""),
        ("/sent", "[]"),
    ] {
        let mut data =
            serde_json::to_value(sim.machine.save().expect("it can be saved")).expect("data");
        let place = data.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
        *place = serde_json::from_str(value).expect("JSON");
        let snapshot = serde_json::from_value(data).expect("the same shape");
        assert!(
            chartc_core::interpreter::Interpreter::resume(
                sim.plan,
                &[],
                sim.host.clone(),
                &snapshot
            )
            .is_err(),
            "{path} = {value}"
        );
    }
}

#[test]
fn everything_that_a_line_can_be_on_is_seen_by_on_every_occurrence() {
    let mut sim = Sim::of(
        "chart T { event e event raised event go var l: Text = \"\" var zero: Int = 0 initial s
           on ** { l = concat(l, \"* \") }
           on e { l = concat(l, \"never \") }
           state s { initial a
             state a { on go { raise raised } on e -> z } final z } }",
    );
    let seen = |sim: &Sim| sim.var("l").matches('*').count();
    sim.send("go");
    assert_eq!(seen(&sim), 1, "raised");
    sim.send("e");
    assert_eq!(seen(&sim), 2, "done(s)");
    sim.send("e");
    assert_eq!((seen(&sim), sim.var("l").contains("never")), (3, false), "document order decides");
    sim.turn();
    assert_eq!(seen(&sim), 4, "turn");
}

#[test]
fn on_every_occurrence_sees_errors_and_outcomes_but_no_deadline_and_no_choice() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 var zero: Int = 0 initial s
           on ** { n = n + 1 }
           state s { after 5s { }  on e { zero = 1 div zero }
             llm think { prompt \"x\" }
             may x \"x\" { } ask next on turn else stay { prompt \"{options}\" } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("n"), "1", "error.execution");
    sim.at(5_000);
    assert_eq!(sim.var("n"), "1", "the deadline belongs to its line");
    sim.turn();
    assert_eq!(sim.var("n"), "2", "turn");
    sim.done("think", "{}");
    assert_eq!(sim.var("n"), "3", "done(think)");
}

#[test]
fn on_every_occurrence_sees_doubts_failures_and_warnings() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 limits { turns 9 warn 2 } initial s
           on ** { n = n + 1 }
           state s { llm think { prompt \"x\" } human look \"?\" } }",
    );
    sim.turn();
    assert_eq!(sim.var("n"), "1", "turn");
    sim.fail("think");
    assert_eq!(sim.var("n"), "2", "error(think)");
    sim.answer(sim.open_key("look"), Outcome::Doubt);
    assert_eq!(sim.var("n"), "3", "doubt(look)");
    assert!(!sim.trace().contains("failed look"), "a doubt that a line takes is no failure");
    sim.turn().done("think", "{}");
    assert_eq!(sim.var("n"), "6", "turn, done(think), limit.warn.turns");
}

#[test]
fn payloads_of_events_of_the_host_are_not_those_of_sent_ones() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int) var l: Text = \"\" initial a
           on e(n) { l = concat(l, str(n), \" \") }
           state a { enter { send e(1) after 1s } } }",
    );
    sim.wait(2_000).give(Input::Event(EventId(0), vec![Value::Int(7)]));
    assert_eq!(sim.var("l"), "1 7 ");
}
