//! The agents that watch themselves, `alpha_2` and `beta_2`: as `agent.yaml` and as charts written by hand, with one outcome.

use super::command::{chartc, folder};
use super::root;
use chartc_runtime::trace::{self, What};

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
