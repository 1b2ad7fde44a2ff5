//! What an agent is told of its world and of its run.

use super::command::folder;
use super::world::{lines, prompts, run, write};

/// An agent without a workflow, as most begin: its prompt tells what there is to tell.
#[test]
fn an_agent_without_a_workflow_is_told_all_that_its_world_knows() {
    let folder = folder("world-implicit");
    write(&folder, "agent.yaml", "id: ada\nrag: {enabled: true, limit: 1, query_template: shop}\n");
    write(&folder, "system_prompt.md", "You trade.");
    let world = "balances: {ada: 5, bob: 3}\ndisk: 500\nartifacts:\n  shop: {owner: bob, price: 5, methods: {buy: gold}}\n";
    write(&folder, "world.yaml", world);
    let answers = "answers:
  propose_action:
    - {reasoning: r, action: invoke_artifact, artifact_id: shop, method: buy}
    - {reasoning: r, action: invoke_artifact, artifact_id: shop, method: buy}
    - {reasoning: r, action: noop}
";
    write(&folder, "answers.yaml", answers);
    let more = ["--turns", "3", "--trace", "t.jsonl", "--memory", ":memory:"];
    let (_, errors) = run(&folder, &more);
    assert_eq!(errors, "");
    let lines = lines(&folder, "t.jsonl");
    let prompts = prompts(&lines);
    let of_the_world =
        ["census", "escrow", "event_log", "ledger", "mint", "rights_registry", "store"];
    let row = |id: &str, ty: &str, by: &str| {
        format!(
            "{{'id': '{id}', 'type': '{ty}', 'created_by': '{by}', 'executable': True, 'is_genesis': True}}"
        )
    };
    let rows = of_the_world.map(|id| row(&format!("genesis_{id}"), "genesis", "system"));
    let rows = [&rows[..], &[row("shop", "executable", "bob")]].concat().join(", ");
    assert_eq!(
        prompts[0],
        format!(
            "You trade.\n\nYou are ada, with 5 scrip. Event 1. Propose your next action.\n\n\
             Balances: {{'ada': 5, 'bob': 3}}\n\nQuotas: {{'disk_used': 32, 'disk_quota': 500, 'compute': 1000}}\n\n\
             Artifacts: [{rows}]"
        )
    );
    let sections = |prompt: &str| {
        let heads = prompt.split("\n\n").skip(2).filter_map(|part| part.split(':').next());
        heads.map(str::to_owned).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        sections(prompts[2]),
        "Balances, Quotas, Artifacts, Recent events, Memories, Last action, Recent failures"
    );
}

#[test]
fn an_agent_is_told_how_much_of_its_run_is_left() {
    let folder = folder("world-progress");
    let agent = "id: ada\nworkflow:\n  steps:\n    - {name: look, type: llm, prompt: \"{time_remaining}, {progress_percent:.0f}%, event {event_number}; {economic_context}\"}\n";
    write(&folder, "agent.yaml", agent);
    write(&folder, "world.yaml", "balances: {ada: 5, bob: 7}\n");
    write(&folder, "answers.yaml", "answers: {look: {then: repeat, answers: [{action: noop}]}}\n");
    run(&folder, &["--turns", "2", "--trace", "t.jsonl", "--snapshot", "s.json"]);
    let economy = "12 scrip in circulation; you are number 2 of 2 by scrip";
    assert_eq!(
        prompts(&lines(&folder, "t.jsonl")),
        [format!("2 turns, 0%, event 1; {economy}"), format!("1 turn, 50%, event 2; {economy}")]
    );
    let more = ["--turns", "2", "--resume", "s.json", "--trace", "u.jsonl"];
    run(&folder, &more);
    assert_eq!(
        prompts(&lines(&folder, "u.jsonl")),
        [format!("2 turns, 50%, event 3; {economy}"), format!("1 turn, 75%, event 4; {economy}")]
    );
}
