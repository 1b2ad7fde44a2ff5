//! Agents that rewrite their records, and that count their population, by the command.

use super::folder;
use super::making::logged;
use super::running::with;
use serde_json::Value;

const ALICE: &str = "
id: alice
llm_model: gemini/flash
temperature: 0.7
";
const SCRIPT: &str = "
answers:
  propose_action:
    then: last
    answers:
      - {reasoning: r, action: write_artifact, artifact_id: alice, content: {system_prompt: Sell lamps., temperature: 0.2, llm_model: gemini/pro}}
      - {reasoning: r, action: write_artifact, artifact_id: alice, content: {temperature: hot}}
      - {reasoning: r, action: write_artifact, artifact_id: alice, content: {working_memory: {goal: gold}}}
      - {reasoning: r, action: noop}
";
const RUN: &str = "
execution: {ticks: 5}
llm: {models: [gemini/pro]}
agents: [{file: alice/agent.yaml, llm: 'script:alice.script.yaml'}]
";

#[test]
fn a_rewritten_record_counts_from_the_next_turn_and_after_a_restart() {
    let folder = folder("record");
    with(
        &folder,
        &[
            ("alice/agent.yaml", ALICE),
            ("alice/system_prompt.md", "Be honest."),
            ("alice.script.yaml", SCRIPT),
            ("run.yaml", RUN),
        ],
    );
    let (_, log) = logged(&folder, &[]);
    let prompts: Vec<&str> = (log.iter())
        .filter(|line| line["kind"] == "question")
        .filter_map(|line| line["prompt"].as_str()?.lines().next())
        .collect();
    let new = "Sell lamps.";
    assert_eq!(prompts, ["Be honest.", new, new, new, new]);
    let overrides: Vec<&Value> = log.iter().filter(|line| line["kind"] == "overrides").collect();
    let said = &overrides[0]["overrides"];
    assert_eq!(overrides.len(), 1, "what stays is said once");
    assert_eq!(
        (&said["temperature"], &said["llm_model"]["name"]),
        (&0.2.into(), &"gemini:pro".into())
    );
    let refused = log.iter().find(|line| line["failed"] == "intent_rejected").expect("one");
    let why = refused["why"].as_str().expect("a reason");
    assert!(why.contains("stays as it was: `temperature`"), "{why}");
    // Stopped and continued, it is the same run.
    #[cfg(feature = "sqlite")]
    {
        logged(&folder, &["--store", "world.db", "--ticks", "3"]);
        let (_, again) = logged(&folder, &["--store", "world.db"]);
        assert!(again == log, "{again:#?}");
    }
    let replayed =
        super::chartc(&folder, &["replay", "log.jsonl", "alice/agent.yaml", "--agent", "alice"]);
    let done = { replayed }.output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

const CROWD: &str = r#"
/// Goes in unless two are inside.
chart Crowd {
  param place: Int in 1..9
  fn count(state: Text) -> Int from "genesis_census" "agents_in_state"
  initial outside
  state outside { after place turns if count("inside") < 2 -> inside }
  state inside { after 20 turns -> outside }
}
"#;

#[test]
fn a_chart_counts_the_population_of_its_world() {
    let folder = folder("counted");
    let agents: String = [1, 1, 1, 2, 3]
        .iter()
        .enumerate()
        .map(|(nth, at)| {
            format!("  - {{file: crowd.chart, id: c{nth}, params: {{place: {at}}}}}\n")
        })
        .collect();
    let run = format!("execution: {{ticks: 8}}\nagents:\n{agents}");
    with(&folder, &[("crowd.chart", CROWD), ("run.yaml", &run)]);
    let (out, _) = logged(&folder, &["--workers", "3"]);
    // The first three see the same world, in which nobody is inside; the others see three.
    let inside = serde_json::json!({"inside": 3, "outside": 2});
    assert_eq!((&out[0]["states"]["Crowd"], &out[7]["states"]["Crowd"]), (&inside, &inside));
}
