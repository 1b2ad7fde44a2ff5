//! Keys about the model of an agent, what it may spend, and what only the world reads.

use super::given::printed;
use super::{agent, says};

const STEP: &str = "  steps:\n    - {name: s, type: llm, prompt: Go.}\n    - {name: t, type: llm, prompt: Go on.}\n";

#[test]
fn what_an_agent_may_spend_is_a_limit() {
    let with = |keys: &str, calls: &str| format!("{keys}{}", agent(&format!("{calls}{STEP}")));
    let limits = |text: &str| {
        says(text, &[]);
        printed(text, &["limits "])
    };
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
    // Money is held before a call only where prices say how much.
    says(
        &with("llm_model: a/b\nllm_budget: 2\n", two),
        &[(2, "C0506", "what the calls of `s` and of one more step cost is not known")],
    );
    says(&with("llm_budget: -1\n", two), &[(1, "C0004", "`llm_budget` must not be negative")]);
    says(
        &with("llm_budget: {money: 1}\n", two),
        &[(1, "C0101", "`llm_budget` has no key `money`")],
    );
    // One call a turn, unless the file says otherwise.
    says(&with("", ""), &[(5, "C0307", "`t` never runs")]);
    says(
        &format!("calls_per_turn: 2\n{}", agent(STEP)),
        &[(1, "C0101", "no key `calls_per_turn`"), (6, "C0307", "`t` never runs")],
    );
}

#[test]
fn the_form_of_actions_is_that_of_the_model() {
    let with = |keys: &str| format!("{keys}{}", agent("  calls_per_turn: 2\n") + STEP);
    let text = with("llm_model: a/b\ncognitive_schema: ooda\n");
    says(&text, &[]);
    assert_eq!(printed(&text, &["client "]), ["client model { model \"a:b\"  actions ooda }"]);
    // The host chooses the model; the rest is of the agent.
    let text = with("temperature: 0.5\nmax_tokens: 90\ncognitive_schema: simple\n");
    says(&text, &[]);
    assert_eq!(
        printed(&text, &["client "]),
        ["client model { temperature 0.5  max_tokens 90  actions simple }"]
    );
    says(
        &with("llm_model: a/b\ncognitive_schema: oda\n"),
        &[(2, "C0101", "`cognitive_schema` cannot be `oda`")],
    );
}

#[test]
fn an_action_schema_ends_each_prompt_as_it_is_written() {
    let text = format!(
        "action_schema: 'Say {{\"action\": \"noop\"}}.'\n{}",
        agent("  calls_per_turn: 2\n") + STEP
    );
    says(&text, &[]);
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
    says(&text, &[]);
    let keys = ["is_genesis", "has_standing", "can_execute", "memory_artifact_id"];
    assert_eq!(printed(&text, &keys).len(), keys.len());
    says(&with("has_standing: maybe\n"), &[(1, "C0004", "`has_standing`")]);
}

#[test]
fn older_keys_of_working_memory_are_options_of_it() {
    let with = |keys: &str| format!("{keys}{}", agent("  calls_per_turn: 2\n") + STEP);
    let carries = |keys: &str, wanted: &str| {
        let all = printed(&with(keys), &[""]).join("\n");
        assert!(all.contains(wanted), "{keys}\n{all}");
    };
    let old = "inject_working_memory: true\nworking_memory_max_bytes: 300\n";
    says(&with(old), &[]);
    carries(old, "  working_memory: {auto_inject: true, max_size_bytes: 300}");
    carries(
        &format!("working_memory: {{enabled: true}}\n{old}"),
        "working_memory: {enabled: true, auto_inject: true, max_size_bytes: 300}",
    );
    carries(
        &format!("memory: {{working_memory: {{enabled: true}}}}\n{old}"),
        "memory: {working_memory: {enabled: true, auto_inject: true, max_size_bytes: 300}}",
    );
    says(
        &with(&format!("working_memory: {{auto_inject: false}}\n{old}")),
        &[(2, "C0006", "`inject_working_memory` has no effect beside")],
    );
    says(&with("working_memory_max_bytes: lots\n"), &[(1, "C0004", "`working_memory_max_bytes`")]);
}

#[test]
fn what_code_sets_lasts_for_a_turn_unless_it_is_kept() {
    let steps = |code: &str| {
        format!(
            "  steps:\n    - {{name: c, type: code, code: '{code}'}}\n    - {{name: t, type: llm, prompt: \"It is {{n}}.\"}}\n"
        )
    };
    let asks = steps("n = locals().get(\"n\", 0) + 1");
    says(&agent(&asks), &[(4, "C0407", "`n` is never set here")]);
    for steps in [asks, steps("n = n + 1"), steps("n = context.get(\"n\", 5) + 1")] {
        let kept = agent(&format!("  keep: {{n: 0}}\n{steps}"));
        assert_eq!(printed(&kept, &["var "]), ["var n: Int = 0"], "{kept}");
    }
    let kept = |keep: &str| agent(&format!("  keep: {{{keep}}}\n{}", steps("n = n + 1")));
    says(&kept("n: 0"), &[]);
    assert_eq!(printed(&kept("n: 0.5"), &["var "]), ["var n: Float = 0.5"]);
    says(&kept("n: 0, m: 1"), &[(3, "C0006", "no code step sets `m`")]);
    says(&kept("n: 0, 9m: 1"), &[(3, "C0004", "`9m` cannot be the name of a variable")]);
    let input =
        format!("inputs: {{n: 1}}\n{}", agent("  calls_per_turn: 0\n  keep: {n: 0}\n") + STEP);
    says(&input, &[(5, "C0006", "`n` is an input")]);
}

#[test]
fn an_action_after_a_model_step_runs_only_after_noop() {
    let act = "    - {name: act, type: code, action: execute_decision}\n";
    let with = |calls: u32| agent(&format!("  calls_per_turn: {calls}\n{STEP}{act}"));
    for calls in [0, 3] {
        says(&with(calls), &[(7, "C0307", "`act` runs only if `t` answers")]);
    }
}
