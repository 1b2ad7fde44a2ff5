//! Agents from `agent.yaml` that run.

use super::*;

const SOURCES: &str = include_str!("../../language/fixtures/agents/sources.yaml");

/// One turn of the agent whose transitions a function of the host decides.
fn judged(script: &str) -> Ran {
    let chart = named("agent.yaml", SOURCES);
    run(&chart, &[], script, None, async |session| {
        session.input("successful_actions", 1_i64)?;
        session.input("failed_actions", 1_i64)?;
        session.turn().await.map(drop)
    })
}

#[test]
fn a_function_that_decides_leaves_nothing_to_ask() {
    let ran = judged("functions: {referee_judge: PIVOT}");
    assert_eq!((ran.states.clone(), ran.error.clone()), (vec!["building".to_owned()], None));
    assert_eq!(ran.of(&["asked", "answer", "failed"]), [""; 0]);
}

#[test]
fn a_decision_that_the_map_lacks_moves_nothing_and_asks_nobody() {
    let ran = judged("functions: {referee_judge: perhaps}");
    assert_eq!((ran.states.clone(), ran.error.clone()), (vec!["resting".to_owned()], None));
    assert_eq!(ran.of(&["asked", "answer", "failed"]), [""; 0]);
}

#[test]
fn where_the_function_fails_the_model_decides() {
    let ran = judged("functions: {referee_judge: {fail: away}}\nanswers: {judge: [Stop]}");
    assert_eq!((ran.states.clone(), ran.error.clone()), (vec!["leaving".to_owned()], None));
    let told = ran.lines.iter().map(|l| serde_json::to_string(&l.what).expect("a line is JSON"));
    let told: Vec<String> = told.collect();
    assert!(told.iter().any(|l| l.contains("away")), "the failure is told: {told:#?}");
}

#[test]
fn where_the_model_fails_as_well_the_record_decides() {
    let script = "answers: {judge: [{fail: connection}]}\nfunctions: {referee_judge: {fail: away}, repeats_one_artifact: REPEATS}";
    for (repeats, state) in [("true", "building"), ("false", "trading")] {
        let ran = judged(&script.replace("REPEATS", repeats));
        assert_eq!(
            (ran.states.clone(), ran.error.clone()),
            (vec![state.to_owned()], None),
            "{repeats}"
        );
    }
}

const RISKY: &str = "
id: risky
workflow:
  default_on_failure: DEFAULT
  steps:
    - {name: divide, code: share = 1 / balance, on_failure: OWN}
    - {name: count, code: seen = 1}
";

#[test]
fn a_code_step_fails_as_it_says_itself() {
    for (default, own, goes_on) in
        [("retry", "skip", true), ("skip", "fail", false), ("skip", "retry", false)]
    {
        let text = RISKY.replace("DEFAULT", default).replace("OWN", own);
        let chart = named("agent.yaml", &text);
        let ran =
            run(&chart, &[], "answers: {}", None, async |session| session.turn().await.map(drop));
        let done = [r#"{"kind":"done","step":"count"}"#.to_owned()];
        let wanted = if goes_on { &done[..] } else { &[] };
        assert_eq!(ran.of(&["done"]), wanted, "{default} {own}");
        let failed = [r#"{"kind":"failed","step":"divide"}"#];
        assert_eq!(ran.of(&["failed"]), failed, "{default} {own}");
    }
}

#[test]
fn a_code_step_that_fails_may_move_the_chart() {
    let text = "chart A {
  input n: Int = 0
  var x: Float = 0.0
  initial a
  state a { code divide { x = 1 / n } -> good else -> bad }
  final good
  final bad
}";
    for (n, state) in [(0_i64, "bad"), (2, "good")] {
        let ran = run(&chart(text), &[], "answers: {}", None, async |session| {
            session.input("n", n)?;
            session.turn().await.map(drop)
        });
        assert_eq!((ran.states, ran.error), (vec![state.to_owned()], None), "{n}");
    }
}
