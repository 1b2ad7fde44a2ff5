//! Events that a chart sends: when they are delivered, in which order, and what takes them back.

use super::Sim;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;

cases! { "sending.cases":
    a_sent_event_waits_until_it_is_due
    without_a_delay_it_comes_after_all_that_is_internal_and_before_the_next_input
    what_is_overdue_comes_before_an_event_of_the_host
    events_sent_at_the_start_are_delivered_before_the_first_input
    those_that_are_overdue_come_by_their_due_times_and_then_as_sent
    a_sent_event_comes_before_a_deadline_of_the_same_time_and_after_an_earlier_one
    its_data_are_those_of_the_moment_when_it_was_sent
    cancel_takes_back_all_of_its_id_and_no_other
    leaving_a_state_takes_nothing_back_and_the_end_takes_all
    what_nothing_handles_is_refused
    it_is_the_event_that_conditions_see
    a_chart_that_sends_to_itself_without_delay_is_stopped_and_told_once
    a_livelock_gives_up_what_was_sent_without_delay
    a_full_queue_fails_the_block_and_loses_nothing_that_waits
    a_turn_goes_on_after_an_event_that_one_of_its_steps_sent
    a_way_out_of_a_dead_end_may_be_sent
    dead_ends_and_sent_events_that_lead_to_each_other_are_stopped
    what_waits_survives_a_restart
    everything_that_a_line_can_be_on_is_seen_by_on_every_occurrence
    on_every_occurrence_sees_errors_and_outcomes_but_no_deadline_and_no_choice
    on_every_occurrence_sees_doubts_failures_and_warnings
    payloads_of_events_of_the_host_are_not_those_of_sent_ones
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
    assert!(sim.open_keys().is_empty());
    sim.play("at 1000");
    let key = sim.open_key("next").expect("it is put");
    assert_eq!(key.event, 1, "it counts as an event of its own");
    sim.play("choose next y");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn a_chart_that_sends_to_itself_with_a_delay_is_not() {
    let mut sim = Sim::of(
        "chart T { event tick var n: Int = 0 initial a
           on error.livelock { n = -1000 }
           state a { enter { send tick after 1s } on tick { n = n + 1  send tick after 1s } } }",
    );
    for second in 1..=1_500 {
        sim.play(&format!("at {}", second * 1_000));
    }
    assert_eq!(sim.var("n"), "1500");
}

#[test]
fn a_snapshot_whose_sent_events_no_run_has_is_refused() {
    let mut sim = Sim::of(
        "chart T { event e(n: Int) event go initial a
           on e(n) { }
           on go { send e(1) after 3s  send e(2) after 5s }
           state a }",
    );
    sim.play("send go");
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
            Interpreter::resume(&sim.plan, [], sim.host.clone(), &snapshot).is_err(),
            "{path} = {value}"
        );
    }
}
