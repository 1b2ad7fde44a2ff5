//! Names of an agent's own that are words of charts.

use crate::agent_front::check;

#[test]
fn an_agents_own_names_for_what_calls_took_stay_as_they_are() {
    let own = check(
        "seen.agent.yaml",
        "id: seen
workflow:
  steps:
    - {name: spend, type: code, code: cost = 9; tokens = 3}
    - {name: think, type: llm, prompt: 'What? {tokens}', run_if: 'cost > 5'}
",
    );
    let chart = own.charts[0].chart();
    assert!(!chart.reads_amounts);
    let names: Vec<&str> = chart.variables.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["cost", "tokens"]);
}
