//! The agents that watch themselves, `alpha_2` and `beta_2`: when each of their forms asks what.

use super::*;
use std::sync::Arc;
use test_support::project::{files, read};

/// Both forms of an agent.
fn forms(name: &str) -> [Arc<Chart>; 2] {
    let mut all = Memory::default();
    all.0.extend(files("charts", "").into_iter().map(|path| {
        let text = read(&path);
        (path, text)
    }));
    [format!("charts/{name}/agent.yaml"), format!("charts/{name}.chart")].map(|path| {
        // Less the notes about `check` lines that unbounded inputs leave open.
        let done = chartc::check_within(std::slice::from_ref(&path), &all, 0);
        let found = chartc::report::short(&done.diagnostics, &done.sources);
        assert_eq!(found, "", "{path}");
        done.charts[0].chart().clone()
    })
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON is a value")
}

const ANY: &str = "
answers:
  self_audit: {then: repeat, answers: [{action: noop}]}
  review_strategy: {then: repeat, answers: [trade]}
  strategic_review: {then: repeat, answers: [{action: noop}]}
  tactical_plan: {then: repeat, answers: [{action: noop}]}
  decide_action: {then: repeat, answers: [{action: read_artifact, artifact_id: a}]}
";

/// Which steps asked the model, turn by turn, under these inputs. Those that a form does not have are left out.
fn asked(chart: &Arc<Chart>, turns: &[Vec<(&str, Value)>]) -> Vec<Vec<String>> {
    let mut asked = Vec::new();
    let ran = run(chart, &[], ANY, None, async |session| {
        for inputs in turns {
            for (name, value) in inputs {
                if chart.variables.iter().any(|v| v.name == *name) {
                    session.input(name, value.clone())?;
                }
            }
            session.turn().await?;
        }
        Ok(())
    });
    assert_eq!(ran.error, None);
    let mut now = Vec::new();
    for line in &ran.lines {
        match &line.what {
            What::Answer { step, .. } => now.push(step.clone()),
            What::TurnEnded { .. } => asked.push(std::mem::take(&mut now)),
            _ => {}
        }
    }
    asked
}

#[test]
fn alpha_audits_itself_exactly_when_it_must() {
    let event = |id: &str, success: bool| {
        format!(
            r#"{{"by":"alpha_2","action":"invoke_artifact","artifact_id":"{id}","success":{success}}}"#
        )
    };
    let list = |all: &[(&str, bool)]| {
        let all: Vec<String> =
            all.iter().map(|(action, success)| event(action, *success)).collect();
        format!("[{}]", all.join(","))
    };
    let same = list(&[("buy", true), ("buy", true), ("buy", true)]);
    let fails = list(&[("buy", false), ("sell", false), ("ask", false)]);
    let mixed =
        list(&[("buy", false), ("buy", false), ("buy", false), ("sell", true), ("ask", false)]);
    let two = list(&[("buy", false), ("buy", false)]);
    // Actions taken, successes, the last events; whether its approach is given up.
    for (taken, good, events, audits) in [
        (5, 1, "[]", true),
        (10, 3, "[]", false),
        (100, 29, "[]", true),
        (4, 0, "[]", false),
        (5, 5, "[]", false),
        (3, 3, &same, true),
        (3, 2, &fails, true),
        (9, 6, &mixed, false),
        (9, 9, &two, false),
        // What is new gets three actions.
        (2, 2, &same, false),
        (2, 0, &fails, false),
    ] {
        for chart in forms("alpha_2") {
            let inputs = vec![
                ("actions_taken", Value::Int(taken)),
                ("successful_actions", Value::Int(good)),
                ("recent_events", value(events)),
            ];
            let steps = asked(&chart, &[inputs]);
            let wanted = if audits { "self_audit" } else { "decide_action" };
            assert_eq!(steps, [[wanted]], "{} {taken} {good} {events}", chart.name);
        }
    }
}

#[test]
fn alpha_takes_no_approach_that_it_has_just_given_up() {
    let script = ANY.replace("answers: [trade]", "answers: [build, build, build, build, trade]");
    for chart in &forms("alpha_2") {
        let ran = run(chart, &[], &script, None, async |session| {
            session.input("actions_taken", 5_i64)?;
            session.turn().await?;
            session.turn().await?;
            assert!(session.configuration()[0].ends_with("reviewing"));
            Ok(())
        });
        assert_eq!(ran.error, None, "{}", chart.name);
    }
}

#[test]
fn beta_reviews_its_strategy_at_turn_ten_and_when_stuck() {
    // Ticks; actions on the subgoal; the ticks at which it reviews.
    for (ticks, actions, reviews) in [(21, 2, &[10, 20][..]), (12, 1, &[6, 9, 12]), (4, 0, &[])] {
        for chart in forms("beta_2") {
            let turn = |tick: i64| {
                let taken = if tick == 1 { 0 } else { actions };
                vec![("tick", Value::Int(tick)), ("actions_taken", Value::Int(taken))]
            };
            let turns: Vec<Vec<(&str, Value)>> = (1..=ticks).map(turn).collect();
            let steps = asked(&chart, &turns);
            let found: Vec<i64> = (1..=ticks)
                .filter(|tick| steps[*tick as usize - 1] == ["strategic_review"])
                .collect();
            assert_eq!(found, reviews, "{} {actions}: {steps:?}", chart.name);
        }
    }
}
