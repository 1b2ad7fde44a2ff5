//! Sessions on interpreted charts.

use super::*;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_runtime::oracle::{Deny, First, Random};
use std::sync::Arc;

fn ada() -> Vec<(&'static str, Value)> {
    vec![("agent_id", Value::Text("ada".into()))]
}

/// Answers of the steps of the builder up to the one that leaves `state`.
const BUILD: &str = "
answers:
  observe: {then: repeat, answers: [{action: noop}]}
  ideate: {then: repeat, answers: [{action: noop}]}
  implement: {then: repeat, answers: [{action: noop}]}
  test: {then: repeat, answers: [{action: noop}]}
  reflect: [continue, ship]
";

#[test]
fn the_builder_ships() {
    let ran = run(&shipped("builder.chart"), &ada(), BUILD, None, async |session| {
        session.run_turns(20).await.map(drop)
    });
    assert_eq!((ran.error, ran.status), (None, Some("ok")));
    assert_eq!(ran.states, ["shipping"]);
}

#[test]
fn a_failing_record_sends_the_builder_back_from_any_other_state() {
    let places = ["observing", "ideating", "implementing", "testing", "reflecting"];
    for (turns, state) in places.iter().enumerate().skip(1) {
        let ran = run(&shipped("builder.chart"), &ada(), BUILD, None, async |session| {
            session.run_turns(turns as u32).await?;
            assert_eq!(session.configuration(), [*state]);
            session.input("total", 5_i64)?;
            session.turn().await.map(drop)
        });
        assert_eq!(ran.error, None, "{state}");
        let taken = ran.of(&["taken"]);
        assert!(
            taken[turns].contains(r#""targets":["observing"],"trigger":"when""#),
            "{state}: {taken:?}"
        );
        // The pivot is used up: the turn goes on with the first step of the state it went to.
        assert_eq!(ran.states, ["ideating"], "{state}");
    }
}

#[test]
fn a_failing_record_sends_the_agent_back_from_any_other_state() {
    let places = ["observing", "ideating", "implementing", "testing", "reflecting", "shipping"];
    let script = std::fs::read_to_string(root().join("charts/builder.agent.script.yaml"));
    let script = script.expect("a script we ship").replace("    - pivot\n", "");
    for (turns, state) in places.iter().enumerate().skip(1) {
        let ran = run(&shipped("builder.agent.yaml"), &[], &script, None, async |session| {
            session.input("balance", 100_i64)?;
            session.run_turns(turns as u32).await?;
            assert_eq!(session.configuration(), [*state]);
            session.input("failed_actions", 5_i64)?;
            session.turn().await.map(drop)
        });
        assert_eq!(ran.error, None, "{state}");
        let moves = ran.moves();
        assert_eq!(moves[turns..], ["observing", "ideating"], "{state}");
    }
}

#[test]
fn a_good_record_does_not() {
    let ran = run(&shipped("builder.chart"), &ada(), BUILD, None, async |session| {
        session.run_turns(3).await?;
        session.input("total", 5_i64)?;
        session.input("successes", 2_i64)?;
        session.turn().await.map(drop)
    });
    assert_eq!(ran.states, ["reflecting"]);
}

#[test]
fn chance_is_the_same_under_the_same_seed() {
    let chart = shipped("builder.chart");
    let play = |seed| {
        let oracle: Arc<dyn Oracle> = Arc::new(Random::new(seed));
        let ran =
            run(&chart, &ada(), "{}", Some(oracle), async |s| s.run_turns(40).await.map(drop));
        serde_json::to_string(&ran.lines).expect("JSON")
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
}

const CHOICE: &str = r#"
chart Choice {
  event go(n: Int)
  param name: Text = "ada"
  var why: Text = ""
  var count: Int = 0
  initial here
  state here {
    ask pick on go else given_up("nobody answered") {
      prompt """What now, {name}? {options}"""
      retry 1
      timeout 30s -> given_up("too late")
    }
    may leave(reason: Text) "go away" -> away { why = reason }
    may count_up "once more" { count = count + 1 }
    may skip "do nothing" if count >= 1 -> away
    on go(n) if n < 0 -> away
  }
  state away { on go -> here  on go(n) { count = n } }
  final given_up(why: Text) : stuck
}
"#;

fn go(n: i64) -> Map {
    [("n".to_owned(), Value::Int(n))].into_iter().collect()
}

#[test]
fn an_option_with_arguments() {
    let script = "answers: {pick: [{option: leave, data: {reason: bored}}]}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| s.send("go", go(1)).await.map(drop));
    assert_eq!(ran.error, None);
    assert_eq!(ran.states, ["away"]);
    assert_eq!(ran.of(&["answer"]).len(), 1);
    assert!(ran.of(&["answer"])[0].contains(r#""option":"leave""#));
    let question = &ran.of(&["question"])[0];
    assert!(
        question.contains("What now, ada?") && question.contains(r#"["leave","count_up"]"#),
        "{question}"
    );
}

#[test]
fn only_options_that_are_legal_now_are_understood() {
    let script = "answers: {pick: [skip, count_up, skip]}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| {
        s.send("go", go(1)).await?;
        s.send("go", go(1)).await.map(drop)
    });
    assert_eq!(ran.states, ["away"]);
    assert_eq!(ran.of(&["unusable"]).len(), 1);
    assert_eq!(ran.moves(), ["may count_up", "away"]);
}

#[test]
fn an_ambiguous_answer_is_asked_again_then_falls_back() {
    let script = "answers: {pick: ['count_up or leave', 'I would not leave']}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| s.send("go", go(1)).await.map(drop));
    assert_eq!((ran.states.as_slice(), ran.status), (&["given_up".to_owned()][..], Some("stuck")));
    let kinds = ["question", "unusable", "retried", "fallback"];
    assert_eq!(ran.of(&kinds).len(), 6, "{:#?}", ran.of(&kinds));
    assert!(ran.of(&["question"])[1].contains("both `leave` and `count_up` are named"));
    assert_eq!(ran.of(&["fallback"]), [r#"{"kind":"fallback","step":"pick","why":"unusable"}"#]);
    assert!(ran.of(&["ended"])[0].contains(r#""result":{"why":"nobody answered"}"#));
}

#[test]
fn an_argument_of_another_type_is_unusable() {
    let script = "answers: {pick: [{option: leave, data: {reason: [1]}}, count_up]}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| s.send("go", go(1)).await.map(drop));
    assert_eq!(ran.of(&["unusable"]).len(), 1);
    assert_eq!(ran.moves(), ["may count_up"]);
}

#[test]
fn a_client_says_how_often_its_steps_are_asked_again() {
    let chart = |client: u32, step: &str, defaults: &str| {
        chart(&format!(
            "chart A {{ client c {{ model \"x:y\" retry {client} }} event go {defaults} initial a state a {{
               ask pick with c on go else stay {{ prompt \"{{options}}\" {step} }}
               may wait \"a\"  may leave \"b\" -> b }} final b }}"
        ))
    };
    let asked = |chart: &Arc<Chart>| {
        let script = "answers: {pick: {answers: [maybe], then: repeat}}";
        let ran = run(chart, &[], script, None, async |s| s.send("go", Map::new()).await.map(drop));
        ran.of(&["question"]).len()
    };
    assert_eq!(asked(&chart(2, "", "")), 3);
    assert_eq!(asked(&chart(2, "retry 1", "")), 2);
    assert_eq!(asked(&chart(0, "", "defaults { retry 3 }")), 1);
}

#[test]
fn nobody_answers_so_the_chart_falls_back() {
    let deny: Option<Arc<dyn Oracle>> = Some(Arc::new(Deny));
    let ran = run(&chart(CHOICE), &[], "{}", deny, async |s| s.send("go", go(1)).await.map(drop));
    assert_eq!(ran.status, Some("stuck"));
    assert!(ran.of(&["call_failed"])[0].contains(r#""error":"denied""#));
    assert_eq!(ran.of(&["fallback"]), [r#"{"kind":"fallback","step":"pick","why":"failed"}"#]);
}

#[test]
fn a_used_up_script_never_becomes_the_else() {
    let ran = run(&chart(CHOICE), &[], "answers: {pick: []}", None, async |s| {
        s.send("go", go(1)).await.map(drop)
    });
    assert!(
        ran.error.as_deref().is_some_and(|e| e.contains("only 0 answers for step `pick`")),
        "{:?}",
        ran.error
    );
    assert_eq!((ran.states.as_slice(), ran.status), (&["here".to_owned()][..], None));
}

#[test]
fn leaving_the_state_cancels_its_question() {
    let script = "answers: {pick: [{answer: count_up, after: 10s}]}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| {
        s.post("go", go(1)).await?;
        s.advance(5000).await?;
        s.post("go", go(1)).await?;
        s.post("go", go(-1)).await?;
        s.settle().await
    });
    assert_eq!(ran.states, ["away"]);
    assert_eq!(ran.of(&["refused"]).len(), 1, "a second question while the first is open");
    assert_eq!(ran.of(&["cancelled"]).len(), 1);
    assert_eq!(ran.moves(), ["away"]);
}

#[test]
fn a_question_that_takes_too_long_times_out() {
    let script = "answers: {pick: [{answer: count_up, after: 1m}]}";
    let ran = run(&chart(CHOICE), &[], script, None, async |s| s.send("go", go(1)).await.map(drop));
    assert_eq!(ran.status, Some("stuck"));
    let ended = ran.lines.last().expect("lines");
    assert_eq!(ended.at_ms, 30_000);
    assert!(ran.of(&["ended"])[0].contains("too late"));
}

const TYPED: &str = r#"
type Verdict { score: Int  reason: Text? }
enum Mood { good bad }
chart Typed {
  var verdict: Verdict? = none
  var mood: Mood = Mood.bad
  fn threshold(n: Int) -> Int else 5
  fn other(n: Int) -> Int
  do publish(n: Int)
  limits { calls 0 per turn }
  defaults { retry 1 then fail }
  initial judging
  state judging {
    llm judge { prompt """Judge.""" returns Verdict into verdict  done if judge.score >= threshold(1) -> feeling }
  }
  state feeling {
    llm feel { prompt """How?""" returns Mood into mood  done if mood == Mood.good -> happy }
  }
  final happy
}
"#;

#[test]
fn answers_of_declared_types() {
    let script = "
answers:
  judge: [{text: 'Well: {score: 3, reason: null}'}, {score: high}, {score: 7}]
  feel: [{text: 'I feel Good.'}]
functions: {threshold: 6}";
    let ran = run(&chart(TYPED), &[], script, None, async |s| s.run_turns(2).await.map(drop));
    assert_eq!(
        (ran.error.as_deref(), ran.status),
        (None, Some("ok")),
        "{:#?}",
        ran.of(&["unusable", "answer", "note"])
    );
    assert_eq!(ran.of(&["unusable"]).len(), 1);
    assert_eq!(ran.of(&["fallback"]), [r#"{"kind":"fallback","step":"judge","why":"no_line"}"#]);
}

#[test]
fn a_function_that_the_script_lacks_has_its_else() {
    let script = "answers: {judge: [{score: 5}], feel: [{text: good}]}";
    let ran = run(&chart(TYPED), &[], script, None, async |s| s.run_turns(1).await.map(drop));
    assert_eq!(ran.status, Some("ok"), "{:#?}", ran.of(&["note", "unusable"]));
}

#[test]
fn the_first_option_and_the_least_value() {
    let first: Option<Arc<dyn Oracle>> = Some(Arc::new(First));
    let ran = run(&chart(TYPED), &[], "functions: {threshold: 0}", first, async |s| {
        s.run_turns(1).await.map(drop)
    });
    assert_eq!(ran.status, Some("ok"), "{:#?}", ran.of(&["answer", "note", "unusable"]));
    assert!(
        ran.of(&["answer"])[0].contains(r#""value":{"reason":null,"score":0}"#),
        "{:?}",
        ran.of(&["answer"])
    );
}

#[test]
fn a_step_that_fails_for_good_fails_the_turn() {
    let script = "answers: {judge: {then: last, answers: [{fail: connection}]}}";
    let ran = run(&chart(TYPED), &[], script, None, async |s| {
        let report = s.turn().await?;
        assert_eq!((report.failed.as_deref(), report.calls), (Some("judge"), 2));
        Ok(())
    });
    assert_eq!(ran.states, ["judging"]);
}

#[test]
fn events_that_a_chart_sends_come_in_time_and_are_told_apart_from_those_of_the_host() {
    let text = "chart T { event remind(nth: Int) event e(n: Int) event stop initial a
       state a { enter { send remind(1) after 2s as reminder  send e(7) after 1s }
         on remind { } on e { } on stop { cancel reminder } } }";
    let ran = run(&chart(text), &[], "answers: {}", None, async |s| {
        s.start().await?;
        assert_eq!(s.machine().sends().len(), 2);
        s.advance(1_500).await?;
        let data = [("n".to_owned(), Value::Int(3))].into_iter().collect();
        s.post("e", data).await?;
        s.post("stop", Map::new()).await?;
        s.advance(10_000).await
    });
    assert_eq!(ran.error, None);
    let told = ran.of(&["sent", "delivered", "send_canceled", "event", "refused"]);
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"due_ms":2000,"event":"remind","kind":"sent"}
    {"due_ms":1000,"event":"e","kind":"sent"}
    {"event":"e","kind":"delivered"}
    {"data":{"n":3},"event":"e","kind":"event"}
    {"data":{},"event":"stop","kind":"event"}
    {"event":"remind","kind":"send_canceled"}
    "#);
    let at = ran.lines.iter().find(|l| matches!(l.what, What::Delivered { .. }));
    assert_eq!(at.map(|l| l.at_ms), Some(1_000));
}

#[test]
fn a_chart_that_keeps_itself_busy_without_time_passing_ends_as_a_livelock() {
    let text = "chart T { event e event go initial a on error.livelock -> tired
       // chartc: allow(C0313) that is what is tried
       state a { on go { send e } on e { send e } } state tired { on go { } } }";
    let ran = run(&chart(text), &[], "answers: {}", None, async |s| {
        s.start().await?;
        s.send("go", Map::new()).await.map(drop)
    });
    assert_eq!((ran.error.as_deref(), &ran.states[..]), (None, &["tired".to_owned()][..]));
    assert_eq!(ran.of(&["error"]), [r#"{"error":"livelock","kind":"error"}"#]);
}
