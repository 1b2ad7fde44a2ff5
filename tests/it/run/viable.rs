//! The agents that watch themselves, `alpha_2` and `beta_2`: as `agent.yaml` and as charts written by hand, with one outcome.

use super::command::{chartc, folder};
use super::*;
use crate::project::{files, read};
use chartc_runtime::trace;

/// Both forms of an agent.
fn forms(name: &str) -> [Chart; 2] {
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

/// What a turn came to: the answers, and the state it ended in, without what is around it.
#[derive(Debug, PartialEq)]
struct Turn {
    answers: Vec<String>,
    state: String,
}

/// Runs one form of an agent with its script and its events; the screen, and the turns.
fn play(name: &str, chart: &str, events: &str) -> (String, Vec<Turn>) {
    let folder = folder(&format!("viable-{}", chart.replace('/', "-")));
    let kept = folder.join("trace.jsonl");
    let script = format!("script:charts/{name}.script.yaml");
    let kept = kept.to_str().expect("the target folder is text");
    let arguments = ["run", chart, "--llm", &script, "--events", events, "--trace", kept];
    let (code, out, errors) = chartc(root(), &arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{chart}");
    let text = std::fs::read_to_string(kept).expect("the trace was written");
    let (mut turns, mut answers, mut state) = (Vec::new(), Vec::new(), String::new());
    for line in trace::read(&text).expect("it can be read back") {
        match line.what {
            What::Entered { state: entered } => {
                entered.rsplit('.').next().unwrap_or_default().clone_into(&mut state);
            }
            What::Answer { step, option, value, .. } => {
                answers.push(format!("{step}: {}", option.unwrap_or(format!("{value:?}"))));
            }
            What::TurnEnded { .. } => {
                let answers = std::mem::take(&mut answers);
                turns.push(Turn { answers, state: state.clone() });
            }
            _ => {}
        }
    }
    (out, turns)
}

/// Both forms, run: their screens are kept, and their turns come to the same.
fn both(name: &str) -> Vec<Turn> {
    let (agent, chart) = (format!("charts/{name}/agent.yaml"), format!("charts/{name}.chart"));
    let events = format!("charts/{name}.events.jsonl");
    let (agent_screen, turns) = play(name, &agent, &events);
    let (chart_screen, of_chart) = play(name, &chart, &events);
    assert_eq!(turns, of_chart);
    insta::assert_snapshot!(format!("{name}_agent_screen"), agent_screen);
    insta::assert_snapshot!(format!("{name}_chart_screen"), chart_screen);
    turns
}

#[test]
fn alpha_changes_its_approach_twice() {
    let states: Vec<String> = both("alpha_2").into_iter().map(|turn| turn.state).collect();
    let wanted = [["building"; 4].as_slice(), &["reviewing"], &["trading"; 5], &["reviewing"]];
    assert_eq!(states, [wanted.concat(), ["learning"; 2].to_vec()].concat());
}

#[test]
fn beta_reviews_when_it_is_stuck_and_after_ten_turns() {
    let turns = both("beta_2");
    let reviews: Vec<usize> = (1..=turns.len())
        .filter(|turn| turns[turn - 1].answers.iter().any(|a| a.starts_with("strategic_review")))
        .collect();
    // Stuck in turn 7; ten turns after that, though it advances.
    assert_eq!(reviews, [7, 17]);
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
fn asked(chart: &Chart, turns: &[Vec<(&str, Value)>]) -> Vec<Vec<String>> {
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
