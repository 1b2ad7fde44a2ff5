//! One walk per region: where a turn's walks fork, wait, join and end. Each input stands beside what it makes the machine do.

mod asks;
mod ends;

use super::Sim;
use chartc_core::machine::{Effect, Outcome, Record};

/// Gives the inputs one after another, and compares what each does: steps started, done, failed and cancelled, transitions taken, walks and
/// turns ended. Does it twice, the second time from a snapshot before each input.
pub(super) fn walks(chart: &str, table: &[(&str, &str)]) -> Sim {
    let mut sims = [Sim::of(chart), Sim::of(chart)];
    for (nth, (input, expected)) in table.iter().enumerate() {
        for (is_restored, sim) in [false, true].into_iter().zip(&mut sims) {
            if is_restored {
                sim.restart_from_snapshot();
            }
            let (records, effects) = (sim.log.records.len(), sim.log.effects.len());
            give(sim, input);
            let mut did: Vec<String> =
                sim.log.records[records..].iter().filter_map(|r| shown(sim, *r)).collect();
            did.extend(sim.log.effects[effects..].iter().filter_map(|effect| match effect {
                Effect::Cancel(key) => Some(format!("cancel {}", sim.element(*key))),
                Effect::Start(_) | Effect::Ask(_) | Effect::Call(..) | Effect::Ended(_) => None,
            }));
            if matches!(sim.receipt(), receipt if receipt != "Handled") {
                did.push(sim.receipt());
            }
            let place = format!("input {nth}, `{input}`, restored: {is_restored}\n{}", sim.trace());
            assert_eq!(did.join(", "), *expected, "{place}");
            assert!(sim.is_legal(), "{place}");
        }
    }
    let [sim, _] = sims;
    sim
}

fn give(sim: &mut Sim, input: &str) {
    let words: Vec<&str> = input.split(' ').collect();
    match words[..] {
        ["turn"] => sim.turn(),
        ["done", step] => sim.done(step, "1"),
        ["late", step] => sim.late(step, "1"),
        ["fail", step] => sim.fail(step),
        ["doubt", step] => sim.answer(sim.open_key(step), Outcome::Doubt),
        ["pick", step, option] => sim.choose(step, option),
        // The question in the last leaf of those in which it is open.
        ["pick", "last", step, option] => {
            let of_step = sim.step(step);
            let key = sim.open_keys().into_iter().rfind(|k| k.step == of_step).expect("open");
            let choice = sim.choice(option);
            sim.answer(key, Outcome::Choice(choice, Vec::new()))
        }
        ["send", event] => sim.send(event),
        ["at", time] => sim.at(time.parse().expect("a time")),
        _ => panic!("no input: {input}"),
    };
}

fn shown(sim: &Sim, record: Record) -> Option<String> {
    let step = |s| sim.step_name(s);
    Some(match record {
        Record::Started(key) => sim.element(key),
        Record::ElementDone(key) => format!("{} done", sim.element(key)),
        Record::ElementLost(key) => format!("{} lost", sim.element(key)),
        Record::Done(s) => format!("{} done", step(s)),
        Record::Failed(s) => format!("{} failed", step(s)),
        Record::Skipped(s) => format!("{} skipped", step(s)),
        Record::Dropped(key) => format!("{} dropped", step(key.step)),
        Record::Taken(line) => {
            let text = sim.line(line);
            match text.rsplit_once(" -> ") {
                Some((from, "")) => from.to_owned(),
                Some((_, to)) => format!("-> {to}"),
                None => text,
            }
        }
        Record::WalkEnded(why) => match why {
            chartc_core::machine::WalkEnd::Calls(region) => {
                format!("calls of {} used up", sim.chart.state(region).path)
            }
            why => format!("{why:?}"),
        },
        Record::TurnEnded(_) => "turn ended".into(),
        _ => return None,
    })
}

/// Two regions with a model step each.
const TWO: &str = "chart T { event go initial p
  parallel p {
    state a { initial a1 state a1 { llm one { prompt \"1\" done -> a2 } } state a2 { code x { } } }
    state b { initial b1 state b1 { llm two { prompt \"2\" done -> b2 } } state b2 { code y { } } }
  } }";

#[test]
fn regions_wait_at_the_same_time_and_each_outcome_is_taken_at_once() {
    walks(
        TWO,
        &[
            ("turn", "one, two"),
            ("done two", "two done, -> p.b.b2, y, y done"),
            ("done one", "one done, -> p.a.a2, x, x done, turn ended"),
            ("turn", "x, x done, y, y done, turn ended"),
        ],
    );
}

#[test]
fn a_turn_that_is_walked_takes_no_other() {
    walks(
        TWO,
        &[
            ("turn", "one, two"),
            ("turn", "Busy"),
            ("done one", "one done, -> p.a.a2, x, x done"),
            ("turn", "Busy"),
            ("done two", "two done, -> p.b.b2, y, y done, turn ended"),
        ],
    );
}

/// Steps of the parallel before, between and behind its regions, and steps behind it.
const AROUND: &str = "chart T { initial p
  parallel p {
    code before { }
    state a { initial a1 state a1 { llm one { prompt \"1\" } } }
    code between { }
    state b { initial b1 state b1 { call two t.t() } }
    llm behind { prompt \"3\" }
  }
  code last { }
  tool t.t() -> Int }";

#[test]
fn steps_of_the_parallel_run_before_its_first_region_or_when_all_have_ended() {
    walks(
        AROUND,
        &[
            ("turn", "before, before done, one, two"),
            ("done two", "two done"),
            ("done one", "one done, between, between done, behind"),
            ("done behind", "behind done, last, last done, turn ended"),
        ],
    );
}

#[test]
fn each_walk_has_its_own_calls() {
    let chart = "chart T { initial p
      llm first { prompt \"0\" }
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" } llm again { prompt \"1\" } code x { } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      }
      llm last { prompt \"3\" } }";
    // `again` ends the walk of its region, and `last` that of the chart.
    walks(
        chart,
        &[
            ("turn", "first"),
            ("done first", "first done, one, two"),
            ("done one", "one done, calls of p.a used up"),
            ("done two", "two done, calls of  used up, turn ended"),
        ],
    );
}

#[test]
fn parallels_in_regions_fork_again() {
    let chart = "chart T { initial p
      parallel p {
        state a { initial q
          code before { }
          parallel q {
            state c { initial c1 state c1 { llm one { prompt \"1\" } } }
            state d { initial d1 state d1 { llm two { prompt \"2\" } } }
          }
          llm after_q { prompt \"4\" }
        }
        state b { initial b1 state b1 { llm three { prompt \"3\" } } }
      }
      code last { } }";
    walks(
        chart,
        &[
            ("turn", "before, before done, one, two, three"),
            ("done three", "three done"),
            ("done two", "two done"),
            ("done one", "one done, after_q"),
            ("done after_q", "after_q done, last, last done, turn ended"),
        ],
    );
}

#[test]
fn a_region_walks_no_further_when_the_outer_walk_has_gone_on() {
    let chart = "chart T { event go initial p
      limits { calls 2 per turn }
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" } on go -> a2 } state a2 { llm other { prompt \"o\" } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
        llm behind { prompt \"3\" }
      } }";
    walks(
        chart,
        &[
            ("turn", "one, two"),
            ("done two", "two done"),
            ("done one", "one done, behind"),
            ("send go", "-> p.a.a2"),
            ("done behind", "behind done, turn ended"),
        ],
    );
}

#[test]
fn a_walk_goes_on_until_it_waits_before_the_next_one_does() {
    let chart = "chart T { var n: Int = 0 initial p
      parallel p {
        state a { initial a1 state a1 { code w { } code x { } when n > 0 -> a2 } state a2 { code v { } } }
        state b { initial b1 state b1 { code y { n = 1 } code z { } } }
      } }";
    // `y` leads the first region on, and `z` comes before that.
    walks(
        chart,
        &[("turn", "w, w done, x, x done, y, y done, -> p.a.a2, z, z done, v, v done, turn ended")],
    );
}

/// The outcome of `one` leaves the parallel.
const LEAVING: &str = "chart T { event go initial p
  parallel p {
    state a { initial a1 state a1 { llm one { prompt \"1\" done -> out } llm never { prompt \"\" } } }
    state b { initial b1 state b1 { llm two { prompt \"2\" } } }
  }
  state out { on go -> p  code behind { } } }";

#[test]
fn an_outcome_that_leaves_the_parallel_cancels_the_other_region_and_ends_its_walk() {
    walks(
        LEAVING,
        &[
            ("turn", "one, two"),
            ("done one", "one done, -> out, behind, behind done, turn ended, cancel two"),
            ("late two", "two dropped, Refused"),
            ("send go", "-> p"),
            ("turn", "one, two"),
        ],
    );
}

#[test]
fn a_parallel_forks_once_a_turn() {
    let chart = "chart T { event back initial p
      parallel p {
        state a { initial a1 history h deep -> a1
          state a1 { llm one { prompt \"1\" done -> out } }
          state a2 { llm other { prompt \"o\" } }
        }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      }
      state out { llm three { prompt \"3\" done -> p } }
      code last { } }";
    // Entered again, its walks are over, and the outer one goes on behind it.
    walks(
        chart,
        &[
            ("turn", "one, two"),
            ("done one", "one done, -> out, three, cancel two"),
            ("done three", "three done, -> p, last, last done, turn ended"),
            ("turn", "one, two"),
        ],
    );
    // By its history, too.
    let by_history = chart.replace("done -> p }", "done -> p.a.h }");
    walks(
        &by_history,
        &[
            ("turn", "one, two"),
            ("done one", "one done, -> out, three, cancel two"),
            ("done three", "three done, -> p.a.h, last, last done, turn ended"),
        ],
    );
}

#[test]
fn a_parallel_in_a_region_forks_once_a_turn() {
    let chart = "chart T { event go event back initial p
      limits { calls 2 per turn }
      parallel p {
        state a { initial q
          parallel q {
            state c { initial c1 state c1 { llm one { prompt \"1\" } llm more { prompt \"m\" } } }
            state d { initial d1 state d1 { llm two { prompt \"2\" } } }
            on go -> w
          }
          state w { on back -> q  llm after_q { prompt \"4\" } }
        }
        state b { initial b1 state b1 { llm three { prompt \"3\" } } }
      } }";
    // The region around it goes on behind it.
    walks(
        chart,
        &[
            ("turn", "one, two, three"),
            ("send go", "-> p.a.w, after_q, cancel two, cancel one"),
            ("send back", "-> p.a.q, cancel after_q"),
            ("done three", "three done, turn ended"),
        ],
    );
    let nothing_there = chart.replace("  llm after_q { prompt \"4\" }", "");
    walks(
        &nothing_there,
        &[
            ("turn", "one, two, three"),
            ("send go", "-> p.a.w, cancel two, cancel one"),
            ("send back", "-> p.a.q"),
            ("done three", "three done, turn ended"),
            ("turn", "one, two, three"),
        ],
    );
}

#[test]
fn a_parallel_that_is_entered_before_its_steps_forks() {
    let chart = "chart T { initial start
      state start { llm zero { prompt \"0\" done -> p.a.a2 } }
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" } } state a2 { llm other { prompt \"o\" } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      } }";
    walks(
        chart,
        &[
            ("turn", "zero"),
            ("done zero", "zero done, -> p.a.a2, other, two"),
            ("done two", "two done"),
            ("done other", "other done, turn ended"),
        ],
    );
}

#[test]
fn a_walk_that_has_ended_goes_on_when_an_event_enters_states_with_further_steps() {
    let chart = "chart T { event go event back initial p
      parallel p {
        state a { initial a1
          state a1 { code x { } on go -> a2 }
          state a2 { llm one { prompt \"1\" } on back -> a1 on go -> a3 }
          state a3 { llm other { prompt \"o\" } on back -> a2 }
        }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      } }";
    let chart = chart.replace("initial p\n", "limits { calls 5 per turn } initial p\n");
    // Neither `x` nor `one` runs a second time.
    walks(
        &chart,
        &[
            ("turn", "x, x done, two"),
            ("send go", "-> p.a.a2, one"),
            ("send back", "-> p.a.a1, cancel one"),
            ("send go", "-> p.a.a2"),
            ("send go", "-> p.a.a3, other"),
            ("done two", "two done"),
            ("done other", "other done, turn ended"),
        ],
    );
}

#[test]
fn a_transition_inside_a_region_cancels_its_calls_and_the_others_go_on() {
    let chart = "chart T { event go initial p
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" } on go -> a2 } state a2 { code x { } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      } }";
    walks(
        chart,
        &[
            ("turn", "one, two"),
            ("send go", "-> p.a.a2, x, x done, cancel one"),
            ("late one", "one dropped, Refused"),
            ("done two", "two done, turn ended"),
        ],
    );
}
