//! Agents that remember: `run --memory`.

use super::command::{chartc, folder};
use chartc_runtime::trace::{self, Line, What};
use std::path::{Path, PathBuf};

const AGENT: &str = "\
id: ada
rag: {enabled: true, limit: 2, query_template: \"{last_action_result}\"}
workflow:
  state_machine: {states: [trading], transitions: []}
  steps:
    - name: trade
      type: llm
      in_state: trading
      prompt: \"{balance}: {memories}\"
";

const WORLD: &str = "\
balances: {ada: 9, ben: 9}
artifacts:
  lamps: {owner: bob, price: {buy: 2}, methods: {buy: [a lamp of brass, a lamp of tin]}}
  chairs: {owner: bob, methods: {sit: [comfortable]}}
";

const ANSWERS: &str = "\
answers:
  trade:
    - {reasoning: it is dark, action: invoke_artifact, artifact_id: lamps, method: buy}
    - {reasoning: I am tired, action: invoke_artifact, artifact_id: chairs, method: sit}
    - {reasoning: \"it's \\\"dark\\\"* NEAR(me)\", action: invoke_artifact, artifact_id: lamps, method: buy}
    - {reasoning: r, action: read_artifact, artifact_id: nothing}
    - {reasoning: r, action: noop}
";

fn agent(name: &str) -> PathBuf {
    let folder = folder(&format!("recall-{name}"));
    for (file, text) in [("agent.yaml", AGENT), ("world.yaml", WORLD), ("answers.yaml", ANSWERS)] {
        write(&folder, file, text);
    }
    folder
}

fn write(folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).expect("the folder can be written");
}

fn run(folder: &Path, more: &[&str]) -> (i32, String) {
    let fixed = ["run", "agent.yaml", "--llm", "script:answers.yaml", "--world", "world.yaml"];
    let trace = ["--trace", "t.jsonl"];
    let (code, out, errors) = chartc(folder, &[&fixed[..], &trace, more].concat());
    (code, out + &errors)
}

fn lines(folder: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(folder.join("t.jsonl")).expect("the trace was written");
    trace::read(&text).expect("it can be read back")
}

/// The prompts of a run.
fn prompts(folder: &Path) -> Vec<String> {
    let lines = lines(folder);
    let prompt = |line: &Line| {
        if let What::Question { prompt, .. } = &line.what { Some(prompt.clone()) } else { None }
    };
    lines.iter().filter_map(prompt).collect()
}

/// What the trace says of recalling.
fn notes(folder: &Path) -> Vec<String> {
    let lines = lines(folder);
    let note = |line: &Line| match &line.what {
        What::HostNote { about, text } if about == "memories" => Some(text.clone()),
        _ => None,
    };
    lines.iter().filter_map(note).collect()
}

const LAMP: &str = "{'text': 'invoke_artifact(lamps) -> SUCCESS: a lamp of brass, because: it is dark', 'kind': 'action', 'tick': 1, 'action': 'invoke_artifact', 'artifact_id': 'lamps', 'success': True}";
const CHAIR: &str = "{'text': 'invoke_artifact(chairs) -> SUCCESS: comfortable, because: I am tired', 'kind': 'action', 'tick': 2, 'action': 'invoke_artifact', 'artifact_id': 'chairs', 'success': True}";

#[test]
fn what_was_done_is_recalled_in_the_turns_and_the_runs_after() {
    let folder = agent("runs");
    let (code, said) = run(&folder, &["--memory", "agents.db", "--turns", "3"]);
    assert_eq!(code, 0, "{said}");
    let first = prompts(&folder);
    assert_eq!(first[..2], ["9: []".to_owned(), format!("7: [{LAMP}]")]);
    // Of two that have `SUCCESS` alike the one with `comfortable`, too, comes first.
    assert_eq!(first[2], format!("7: [{CHAIR}, {LAMP}]"));
    assert_eq!(
        notes(&folder),
        ["1 recalled for: SUCCESS: a lamp of brass", "2 recalled for: SUCCESS: comfortable"]
    );
    // The next run begins without a result, and so with the newest.
    let (code, said) = run(&folder, &["--memory", "agents.db", "--turns", "1"]);
    assert_eq!(code, 0, "{said}");
    let again = prompts(&folder);
    assert!(again[0].starts_with("9: [{'text': 'invoke_artifact(lamps) -> SUCCESS: a lamp of tin, because: it\\'s \"dark\"* NEAR(me)'"), "{}", again[0]);
    assert!(again[0].ends_with(&format!(", {CHAIR}]")), "{}", again[0]);
}

#[test]
fn a_replay_needs_no_memory() {
    let folder = agent("replay");
    run(&folder, &["--memory", "agents.db", "--turns", "5"]);
    run(&folder, &["--memory", "agents.db", "--turns", "5"]);
    let five = prompts(&folder);
    // What failed is remembered as well: it is the nearest of what begins like it.
    assert!(
        five[4].contains(
            "read_artifact(nothing) -> FAILED: not_found: there is no artifact `nothing`"
        ),
        "{}",
        five[4]
    );
    std::fs::remove_file(folder.join("agents.db")).expect("it was made");
    let (code, out, errors) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!(code, 0, "{out}{errors}");
    assert!(out.contains("the same again"), "{out}");
}

#[test]
fn agents_share_a_file_and_nothing_else() {
    let folder = agent("two");
    run(&folder, &["--memory", "agents.db", "--turns", "3"]);
    write(&folder, "agent.yaml", &AGENT.replace("id: ada", "id: ben"));
    run(&folder, &["--memory", "agents.db", "--turns", "2"]);
    assert_eq!(prompts(&folder), ["9: []".to_owned(), format!("7: [{LAMP}]")]);
}

#[test]
fn the_host_s_own_memories_go_first() {
    let folder = agent("host");
    run(&folder, &["--memory", "agents.db", "--turns", "1"]);
    run(&folder, &["--memory", "agents.db", "--turns", "2", "--input", "memories=[\"mine\"]"]);
    assert_eq!(prompts(&folder), ["9: ['mine']", "7: ['mine']"]);
    assert_eq!(notes(&folder), [""; 0]);
    write(&folder, "agent.yaml", &AGENT.replace("enabled: true", "enabled: false"));
    run(&folder, &["--memory", "agents.db", "--turns", "1"]);
    assert_eq!(prompts(&folder), ["9: []"]);
}

#[test]
fn thinking_that_failed_is_an_observation() {
    let folder = agent("failed");
    write(
        &folder,
        "answers.yaml",
        "answers: {trade: {then: repeat, answers: [{fail: connection}]}}",
    );
    run(&folder, &["--memory", ":memory:", "--turns", "2"]);
    let found = prompts(&folder).pop().expect("a prompt");
    assert!(found.contains("{'text': 'trade -> FAILED: llm_error: "), "{found}");
    assert!(found.contains("'kind': 'observation', 'tick': 1, "), "{found}");
    assert!(!folder.join(":memory:").exists());
}

#[test]
fn without_a_world_what_was_chosen_is_remembered() {
    let folder = agent("alone");
    write(
        &folder,
        "agent.yaml",
        &AGENT.replace("{last_action_result}", "{agent_id} {_current_state} lamps {tick:03d}"),
    );
    let fixed =
        ["run", "agent.yaml", "--llm", "script:answers.yaml", "--trace", "t.jsonl", "--turns", "3"];
    let (code, out, errors) = chartc(&folder, &[&fixed[..], &["--memory", ":memory:"]].concat());
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    let lamps = "{'text': 'invoke_artifact(lamps), because: it is dark', 'kind': 'action', 'tick': 1, 'action': 'invoke_artifact', 'artifact_id': 'lamps'}";
    assert_eq!(prompts(&folder)[1..], [format!("0: [{lamps}]"), format!("0: [{lamps}]")]);
    assert_eq!(notes(&folder), ["1 recalled for: ada trading lamps 002"]);
}

#[test]
fn what_cannot_be_meant_is_said() {
    let folder = agent("faults");
    let said = |arguments: &[&str], code: i32, words: &str| {
        let (exit, said) = run(&folder, &[&["--turns", "2"], arguments].concat());
        assert!(exit == code && said.contains(words), "{exit} {said}");
    };
    write(
        &folder,
        "songs.db",
        "no database at all, but a text that is long enough to be looked at",
    );
    said(
        &["--memory", "songs.db"],
        2,
        "songs.db is no SQLite file: give another path, or take it away",
    );
    said(&["--memory", "none/agents.db"], 2, "there is no such folder");
    let change = |from: &str, to: &str| write(&folder, "agent.yaml", &AGENT.replace(from, to));
    change("limit: 2", "limit: 2000");
    said(&["--memory", ":memory:"], 2, "`Ada`: rag.limit: 2000 is not between 0 and 1000");
    change("{last_action_result}", "{last_action_result");
    said(&["--memory", ":memory:"], 2, "rag.query_template: character 1: this `{` is not closed");
    change("{last_action_result}", "{last_result} {goal}");
    said(
        &["--memory", ":memory:"],
        0,
        "uses `goal`, `last_result`, which adds nothing to the query",
    );
    // What only shows in a turn is in the trace, and the turn goes on.
    change("{last_action_result}", "{balance:s}");
    said(&["--memory", ":memory:"], 0, "");
    assert_eq!(
        notes(&folder),
        ["nothing is recalled: rag.query_template: Int takes no format `s`"; 2]
    );
    change("{balance}: {memories}", "{balance}");
    said(&["--memory", ":memory:"], 0, "");
    assert_eq!(notes(&folder), ["nothing is recalled: nothing in the chart reads `memories`"]);
}

#[test]
fn a_query_is_checked_before_it_is_made() {
    let folder = agent("checked");
    let check = |template: &str| {
        let text = AGENT.replace("\"{last_action_result}\"", &format!("\"{template}\""));
        write(&folder, "agent.yaml", &text);
        let (code, out, errors) = chartc(&folder, &["check", "agent.yaml", "--format", "short"]);
        (code, out + &errors)
    };
    let whole = "{balance:.0f} {_current_state} {tick} {strategic_goal} {{x}}";
    assert_eq!(check(whole).1, "");
    let (code, said) = check("{balence} {trade} {nothing_at_all} }");
    assert_eq!(code, 0, "warnings: {said}");
    for words in [
        "agent.yaml:2:",
        "`balence` adds nothing to the query: nothing before a turn has that name",
        "`trade` adds nothing to the query",
        "`nothing_at_all` adds nothing to the query",
        "this `}` closes no placeholder",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_the_agent_has_in_mind_is_looked_for_too() {
    let folder = agent("mind");
    let mind =
        "  ada: {owner: ada, content: {working_memory: {current_goal: a chair in chairs}}}\n";
    write(&folder, "world.yaml", &format!("{WORLD}{mind}"));
    let third = |includes: bool| {
        let head = format!(
            "id: ada\nmemory: {{working_memory: {{auto_inject: false, include_in_rag: {includes}}}}}\n"
        );
        let text = AGENT
            .replace("id: ada\n", &head)
            .replace("{last_action_result}", "")
            .replace("limit: 2", "limit: 1");
        write(&folder, "agent.yaml", &text);
        let (code, said) = run(&folder, &["--memory", ":memory:", "--turns", "4"]);
        assert_eq!(code, 0, "{said}");
        prompts(&folder).pop().expect("a prompt")
    };
    assert!(third(true).contains("invoke_artifact(chairs)"));
    assert!(third(false).contains("invoke_artifact(lamps)"), "the newest");
}

#[test]
fn a_run_that_goes_on_has_its_memory() {
    let folder = agent("resumed");
    run(&folder, &["--memory", "whole.db", "--turns", "3"]);
    let whole = prompts(&folder);
    run(&folder, &["--memory", "agents.db", "--turns", "2", "--snapshot", "run.json"]);
    std::fs::remove_file(folder.join("t.jsonl")).expect("it was written");
    let (code, said) =
        run(&folder, &["--memory", "agents.db", "--turns", "1", "--resume", "run.json"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(prompts(&folder), whole[2..]);
}
