//! Keys about the model of an agent, what it may spend, and what only the world reads.

use super::agent;
use super::given::printed;

const STEP: &str = "  steps:\n    - {name: s, type: llm, prompt: Go.}\n    - {name: t, type: llm, prompt: Go on.}\n";

#[test]
fn what_an_agent_may_spend_is_a_limit() {
    let with = |keys: &str, calls: &str| format!("{keys}{}", agent(&format!("{calls}{STEP}")));
    let limits = |text: &str| printed(text, &["limits "]);
    let model = "llm_model: a/b\nmax_tokens: 9\ninput_price: 0.1\noutput_price: 0.5\n";
    let two = "  calls_per_turn: 2\n";
    assert_eq!(
        limits(&with(&format!("{model}llm_budget: 2\n"), two)),
        ["limits { cost 2.0  calls 2 per turn }"]
    );
    assert_eq!(
        limits(&with("llm_budget: {tokens: 5000, calls: 9}\n", "  calls_per_turn: 0\n")),
        ["limits { tokens 5000  calls 9  calls 0 per turn }"]
    );
}

#[test]
fn the_form_of_actions_is_that_of_the_model() {
    let with = |keys: &str| format!("{keys}{}", agent("  calls_per_turn: 2\n") + STEP);
    let text = with("llm_model: a/b\ncognitive_schema: ooda\n");
    assert_eq!(printed(&text, &["client "]), ["client model { model \"a:b\"  actions ooda }"]);
    // The host chooses the model; the rest is of the agent.
    let text = with("temperature: 0.5\nmax_tokens: 90\ncognitive_schema: simple\n");
    assert_eq!(
        printed(&text, &["client "]),
        ["client model { temperature 0.5  max_tokens 90  actions simple }"]
    );
}

#[test]
fn an_action_schema_ends_each_prompt_as_it_is_written() {
    let text = format!(
        "action_schema: 'Say {{\"action\": \"noop\"}}.'\n{}",
        agent("  calls_per_turn: 2\n") + STEP
    );
    assert_eq!(
        printed(&text, &["component "]),
        ["component action_schema into s, t \"Say {{\\\"action\\\": \\\"noop\\\"}}.\""]
    );
}

#[test]
fn what_only_a_world_reads_is_carried() {
    let with = |keys: &str| format!("{keys}{}", agent("  calls_per_turn: 2\n") + STEP);
    let text = with(
        "is_genesis: true\nhas_standing: true\ncan_execute: true\nmemory_artifact_id: a_memory\n",
    );
    let keys = ["is_genesis", "has_standing", "can_execute", "memory_artifact_id"];
    assert_eq!(printed(&text, &keys).len(), keys.len());
}

#[test]
fn older_keys_of_working_memory_are_options_of_it() {
    let with = |keys: &str| format!("{keys}{}", agent("  calls_per_turn: 2\n") + STEP);
    let carries = |keys: &str, wanted: &str| {
        let all = printed(&with(keys), &[""]).join("\n");
        assert!(all.contains(wanted), "{keys}\n{all}");
    };
    let old = "inject_working_memory: true\nworking_memory_max_bytes: 300\n";
    carries(old, "  working_memory: {auto_inject: true, max_size_bytes: 300}");
    carries(
        &format!("working_memory: {{enabled: true}}\n{old}"),
        "working_memory: {enabled: true, auto_inject: true, max_size_bytes: 300}",
    );
    carries(
        &format!("memory: {{working_memory: {{enabled: true}}}}\n{old}"),
        "memory: {working_memory: {enabled: true, auto_inject: true, max_size_bytes: 300}}",
    );
}

#[test]
fn what_code_sets_lasts_for_a_turn_unless_it_is_kept() {
    let steps = |code: &str| {
        format!(
            "  steps:\n    - {{name: c, type: code, code: '{code}'}}\n    - {{name: t, type: llm, prompt: \"It is {{n}}.\"}}\n"
        )
    };
    let asks = steps("n = locals().get(\"n\", 0) + 1");
    for steps in [asks, steps("n = n + 1"), steps("n = context.get(\"n\", 5) + 1")] {
        let kept = agent(&format!("  keep: {{n: 0}}\n{steps}"));
        assert_eq!(printed(&kept, &["var "]), ["var n: Int = 0"], "{kept}");
    }
    let kept = |keep: &str| agent(&format!("  keep: {{{keep}}}\n{}", steps("n = n + 1")));
    assert_eq!(printed(&kept("n: 0.5"), &["var "]), ["var n: Float = 0.5"]);
}
