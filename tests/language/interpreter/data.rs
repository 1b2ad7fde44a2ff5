//! Params, inputs, payloads, answers, results: what goes into a run and what it keeps.

use super::{chart, create, start, text};
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{About, Machine, Mismatch};
use chartc_core::machine::{Effect, Input, Outcome, Receipt, Record, Sink, Status};
use chartc_core::plan::Plan;

const BUILDER: &str = include_str!("../../../charts/builder.chart");

#[test]
fn the_builder_ships() {
    let chart = chart(BUILDER);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("agent_id", text("a1"))]);
    for state in ["observing", "ideating", "implementing", "testing"] {
        assert_eq!(run.at(), [state]);
        run.give(Input::Turn, 0);
        run.answer(run.open(), Value::None);
    }
    run.give(Input::Turn, 0);
    run.choose(run.open(), "ship", Vec::new());
    assert_eq!(run.at(), ["shipping"]);
    assert_eq!(run.machine.ended(), Some(Status::Ok));
    assert!(run.log.effects.contains(&Effect::Ended(Status::Ok)));
    assert_eq!(run.machine.take_notes(), [""; 0]);
}

#[test]
fn the_builder_starts_over_when_it_should_pivot() {
    let chart = chart(BUILDER);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[("agent_id", text("a1"))]);
    run.give(Input::Turn, 0);
    run.answer(run.open(), Value::None);
    assert_eq!(run.at(), ["ideating"]);
    run.machine.set_input("total", Value::Int(5)).expect("an Int");
    run.give(Input::Turn, 0);
    assert_eq!(run.at(), ["observing"]);
    assert_eq!(run.variable("seen"), Value::Int(5));
    assert_eq!(run.variable("success_rate"), Value::Float(0.0));
}

#[test]
fn params_are_checked() {
    let chart = chart(
        "chart C { param n: Int in 1..10 = 5 param x: Float in 0.0..1.0 = 0.5 param who: Text initial a state a }",
    );
    let plan = Plan::new(&chart);
    let why = |params: &[(&str, Value)]| match create(&plan, params) {
        Ok(_) => "fits".to_owned(),
        Err(Mismatch(why)) => why,
    };
    let who = ("who", text("a"));
    assert_eq!(why(core::slice::from_ref(&who)), "fits");
    assert_eq!(why(&[]), "param `who` is missing");
    assert_eq!(why(&[who.clone(), ("n", Value::Int(10))]), "fits");
    assert_eq!(why(&[who.clone(), ("n", Value::Int(11))]), "param `n`: 11 is not in 1..10");
    assert_eq!(why(&[who.clone(), ("x", Value::Int(1))]), "fits", "an Int for a Float");
    assert_eq!(
        why(&[who.clone(), ("x", Value::Float(f64::NAN))]),
        "param `x`: nan is not in 0.0..1.0"
    );
    assert_eq!(why(&[("who", Value::Int(1))]), "param `who`: expected Text, found Int");
    assert_eq!(why(&[who, ("whom", text("b"))]), "no param is named `whom`");
}

const TYPED: &str = "
type Post { id: Text  likes: Int  score: Float? }
enum Mood { calm keen }
chart Typed {
  input budget: Float = 1.0
  input wait: Duration = 30s
  event post(post: Post, mood: Mood)
  event plain
  var last: Post? = none
  var mood: Mood = Mood.calm
  var n: Int = 0
  initial a
  state a {
    on post(p, m) if p.likes > 2 -> b { last = p  mood = m }
    on plain { n = n + 1 }
  }
  state b
}
";

#[test]
fn inputs_are_checked_and_converted() {
    let chart = chart(TYPED);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.machine.set_input("budget", Value::Int(3)), Ok(()));
    assert_eq!(run.variable("budget"), Value::Float(3.0));
    assert_eq!(run.machine.set_input("wait", text("2h")), Ok(()));
    assert_eq!(run.variable("wait"), Value::Duration(7_200_000));
    let why = |r: Result<(), Mismatch>| r.expect_err("it does not fit").0;
    assert_eq!(
        why(run.machine.set_input("budget", text("3"))),
        "input `budget`: expected Float, found Text"
    );
    assert_eq!(
        why(run.machine.set_input("wait", text("2 h"))),
        "input `wait`: `2 h` is no Duration"
    );
    assert_eq!(why(run.machine.set_input("n", Value::Int(3))), "no input is named `n`");
}

fn post(likes: i64) -> Value {
    let fields = [("likes", Value::Int(likes)), ("id", text("p1"))];
    Value::Map(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

#[test]
fn a_payload_is_checked_against_the_event() {
    let chart = chart(TYPED);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    let mut why = |payload| run.event("post", payload).map(|_| ()).expect_err("it does not fit").0;
    assert_eq!(why(vec![]), "event `post`: 2 fields are declared, not 0");
    assert_eq!(
        why(vec![Value::Int(1), text("calm")]),
        "event `post`: `post`: expected Post, found Int"
    );
    assert_eq!(
        why(vec![post(1), text("angry")]),
        "event `post`: `mood`: `angry` is none of `calm` `keen`"
    );
    let Value::Map(mut extra) = post(1) else { panic!("a map") };
    extra.insert("shares".to_owned(), Value::Int(1));
    assert_eq!(
        why(vec![Value::Map(extra), text("calm")]),
        "event `post`: `post`: no field `shares` is declared"
    );
    assert_eq!(run.at(), ["a"], "nothing has happened");
}

#[test]
fn a_record_gets_its_declared_order_and_absent_fields() {
    let chart = chart(TYPED);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.event("post", vec![post(1), text("keen")]), Ok(Receipt::Unhandled));
    assert_eq!(run.event("post", vec![post(3), text("keen")]), Ok(Receipt::Handled));
    assert_eq!(run.at(), ["b"]);
    assert_eq!(run.variable("mood"), text("keen"));
    let Value::Map(last) = run.variable("last") else { panic!("a record") };
    let names: Vec<_> = last.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["id", "likes", "score"]);
    assert_eq!(last.get("score"), Some(&Value::None));
}

#[test]
fn vars_see_inputs_set_before_the_start() {
    let chart = chart(
        "chart C { input n: Int  input k: Int = 1  var m: Int = n * 2  var l: Int = k + m  initial a state a }",
    );
    let plan = Plan::new(&chart);
    let mut run = create(&plan, &[]).expect("no params");
    assert_eq!(
        run.try_give(Input::Start, 0),
        Err(Mismatch("default of `m`: `n` has no value yet".to_owned()))
    );
    run.machine.set_input("n", Value::Int(4)).expect("an Int");
    run.machine.set_input("k", Value::Int(2)).expect("an Int");
    assert_eq!(run.try_give(Input::Start, 0), Ok(Receipt::Handled));
    assert_eq!(run.variable("l"), Value::Int(10));
}

#[test]
fn a_failing_guard_is_false_and_noted() {
    let chart = chart(
        "chart C { event e(n: Int) initial a state a { on e(n) if 10 / n > 1 -> b } state b }",
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.event("e", vec![Value::Int(0)]), Ok(Receipt::Unhandled));
    assert_eq!(run.machine.take_notes(), ["guard of the `on e` line of `a`: division by zero"]);
    assert_eq!(run.event("e", vec![Value::Int(5)]), Ok(Receipt::Handled));
    assert_eq!(run.at(), ["b"]);
}

/// Whether it takes notes.
struct Reader(bool);

impl Sink for Reader {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}

    fn takes_notes(&self) -> bool {
        self.0
    }
}

#[test]
fn notes_are_kept_if_the_sink_of_the_last_input_takes_them() {
    let chart = chart(
        "chart C { event e(n: Int) initial a state a { on e(n) if 10 / n > 1 -> b } state b }",
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    for takes in [true, false, true] {
        let event = Input::Event(EventId(0), vec![Value::Int(0)]);
        let receipt = run.machine.handle(event, 0, &mut Reader(takes));
        assert_eq!(receipt, Ok(Receipt::Unhandled));
        assert_eq!(run.machine.take_notes().len(), usize::from(takes));
    }
}

#[test]
fn the_reason_why_an_answer_does_not_fit_is_kept_for_every_sink() {
    let chart = chart(
        "chart C { initial a state a { llm ask { returns Int prompt \"?\" } on done(ask) -> b } state b }",
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    let answer = Input::Answer(run.open(), Outcome::Done(vec![text("x")]));
    run.machine.handle(answer, 0, &mut Reader(false)).expect("it is taken as unusable");
    let notes = run.machine.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].about, About::Answer);
}

const HOSTED: &str = r#"
chart Hosted {
  fn double(n: Int) -> Int
  fn broken(n: Int) -> Int else 7
  fn worse(n: Int) -> Int
  do tell(text: Text)
  event go(n: Int)
  event again
  event seen(n: Int)
  event log
  var n: Int = 0
  var k: Int = 1
  initial a
  state a {
    on go(x) if double(x) > 4 { n = broken(x)  tell("got {x}")  raise seen(x + 1) }
    on seen(m) { k = m }
    on again { n = 1  n = worse(n)  n = 2 }
    on log { log "n is {n:03d}" }
  }
}
"#;

#[test]
fn host_functions_effects_and_raised_events() {
    let chart = chart(HOSTED);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.event("go", vec![Value::Int(1)]), Ok(Receipt::Unhandled));
    assert_eq!(run.event("go", vec![Value::Int(3)]), Ok(Receipt::Handled));
    assert_eq!(run.variable("n"), Value::Int(7), "the fallback");
    assert_eq!(run.variable("k"), Value::Int(4), "the payload of the raised event");
    run.machine.with_host(|host| assert_eq!(host.told, [text("got 3")]));
    assert_eq!(
        run.machine.take_notes(),
        [
            "double(1) = 2",
            "double(3) = 6",
            "broken(3) failed, 7 instead: no function broken",
            "tell('got 3') = None",
        ]
    );
}

#[test]
fn a_failing_action_ends_its_block() {
    let chart = chart(HOSTED);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.event("again", vec![]), Ok(Receipt::Handled));
    assert_eq!(run.variable("n"), Value::Int(1));
    assert_eq!(
        run.machine.take_notes(),
        [
            "worse(1) failed: no function worse",
            "actions of the `on again` line of `a`: `worse` failed: no function worse",
        ]
    );
    run.event("log", vec![]).expect("no payload");
    assert_eq!(run.machine.take_notes(), ["log: n is 001"]);
}

const STEPS: &str = r#"
type Plan { steps: List(Text)  cost: Float }
chart Steps {
  var plan: Plan? = none
  var tries: Int = 0 per turn
  code count { tries = tries + 1 }
  initial a
  state a {
    llm think {
      prompt "Think."
      returns Plan into plan
      retry 1 then -> c
      done if think.cost < 5.0 -> b
      error -> c
    }
  }
  state b
  final c
}
"#;

fn plan_value(cost: Value) -> Value {
    let steps = Value::List(vec![text("one")]);
    let fields = [("steps", steps), ("cost", cost)];
    Value::Map(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

#[test]
fn an_answer_is_kept_and_seen_by_its_lines() {
    let chart = chart(STEPS);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    run.answer(run.open(), plan_value(Value::Int(3)));
    assert_eq!(run.at(), ["b"]);
    let Value::Map(kept) = run.variable("plan") else { panic!("a record") };
    assert_eq!(kept.get("cost"), Some(&Value::Float(3.0)), "an Int given for a Float");
    run.give(Input::Turn, 0);
    assert_eq!(run.variable("tries"), Value::Int(1), "starts afresh each turn");
}

#[test]
fn an_answer_that_does_not_fit_is_unusable() {
    let chart = chart(STEPS);
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    run.answer(run.open(), plan_value(text("much")));
    assert_eq!(run.machine.take_notes(), ["answer to `think`: .cost: expected Float, found Text"]);
    assert_eq!(run.at(), ["a"], "asked again");
    run.answer(run.open(), plan_value(Value::None));
    assert_eq!(run.at(), ["c"]);
    assert_eq!(run.variable("plan"), Value::None);
}

#[test]
fn a_final_state_keeps_its_arguments() {
    let chart = chart(
        r#"chart C { event end(n: Int, why: Text) var total: Int = 10 initial a
           state a { on end(n, why) -> over(total + n, "because {why}") { total = 0 } }
           final over(sum: Int, text: Text) : partial }"#,
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.machine.result(), []);
    run.event("end", vec![Value::Int(5), text("late")]).expect("a payload that fits");
    assert_eq!(run.machine.ended(), Some(Status::Partial));
    assert_eq!(
        run.machine.result(),
        [("sum".to_owned(), Value::Int(15)), ("text".to_owned(), text("because late"))],
        "read before the actions"
    );
}

#[test]
fn a_bound_is_computed_when_the_state_is_entered() {
    let chart = chart(
        "chart C { param n: Int = 3 initial a state a { after 2s * n -> b } state b { after n turns -> a } }",
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    assert_eq!(run.machine.next_deadline(), Some(6000));
    run.give(Input::Tick, 6000);
    assert_eq!(run.at(), ["b"]);
    run.give(Input::Turn, 6000);
    run.give(Input::Turn, 6000);
    assert_eq!(run.at(), ["b"]);
    run.give(Input::Turn, 6000);
    assert_eq!(run.at(), ["a"]);
}

#[test]
fn a_failed_step_gives_its_reason() {
    let chart = chart(
        r#"chart C { var why: Text = "" initial a
           state a { llm think { prompt "?" } on error(think) as e -> b { why = e } } state b }"#,
    );
    let plan = Plan::new(&chart);
    let mut run = start(&plan, &[]);
    run.give(Input::Turn, 0);
    let key = run.open();
    run.give(Input::Answer(key, Outcome::Failed(vec![text("no connection")])), 0);
    assert_eq!(run.at(), ["b"]);
    assert_eq!(run.variable("why"), text("no connection"));
}
