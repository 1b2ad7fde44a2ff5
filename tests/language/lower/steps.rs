//! Steps, questions, outcomes, and what does not run yet.

#[test]
fn texts_that_may_be_cut_off() {
    let chart = super::chart(
        "chart C { initial a state a { llm t { prompt \"x\"  cut ok  returns Text } -> b llm u { prompt \"x\" } -> b } final b }",
    );
    assert_eq!(chart.steps.iter().map(|step| step.accepts_cut).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn calls_that_may_be_made_twice() {
    let chart = super::chart(
        "tool t(q: Text) -> Json idempotent
        tool u() -> Json
        chart C {
          initial a
          state a {
            call one t(\"x\") -> b
            call two u() { doubt retry } -> b
            call three u() -> b
          }
          final b
        }",
    );
    assert_eq!(chart.tools.iter().map(|tool| tool.idempotent).collect::<Vec<_>>(), [true, false]);
    let doubts: Vec<bool> =
        (0..3).map(|n| chart.may_doubt(chartc_core::arena::StepId(n))).collect();
    assert_eq!(doubts, [false, false, true]);
}

#[test]
fn a_line_behind_a_model_step_without_a_body_is_a_line() {
    let chart = super::chart(
        "component c into one, two, three, four \"x\"
        chart C {
          event go(n: Int)
          var n: Int = 0
          initial a
          state a {
            llm one
            on go(k) { n = k }
            llm two
            on go if n > 3 { }
            llm three on go(k) { returns Int into n }
            llm four
            on go -> b
          }
          final b
        }",
    );
    let waits: Vec<bool> = chart.steps.iter().map(|step| step.is_on_event()).collect();
    assert_eq!(waits, [false, false, true, false]);
    assert_eq!(chart.transitions.len(), 3);
}
