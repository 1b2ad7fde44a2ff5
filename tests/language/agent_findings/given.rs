//! Names that nothing in an agent sets: what the host may give.

use super::agent;
use chartc::load::Memory;

/// What `convert` prints of these lines.
pub(super) fn printed(text: &str, begins: &[&str]) -> Vec<String> {
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    let lines = printed.lines().map(str::trim);
    lines.filter(|l| begins.iter().any(|word| l.starts_with(word))).map(str::to_owned).collect()
}

fn step(run_if: &str) -> String {
    agent(&format!("  steps:\n    - {{name: s, type: llm, prompt: Go., run_if: \"{run_if}\"}}\n"))
}

#[test]
fn a_name_that_only_conditions_read_is_an_input_of_the_host() {
    for (run_if, input) in [
        ("has_context", "input has_context: Bool = false"),
        ("not (has_context or tick > 3)", "input has_context: Bool = false"),
        ("phase == 'x'", "input phase: Json = none"),
        ("len(found) > 2", "input found: Json = none"),
        ("phase and phase != 'x'", "input phase: Json = none"),
    ] {
        let inputs = printed(&step(run_if), &["input "]);
        assert!(inputs.contains(&input.to_owned()), "{run_if}: {inputs:?}");
    }
}

#[test]
fn a_name_that_code_reads_is_no_input() {
    let code = agent(
        "  steps:\n    - {name: c, type: code, code: y = phase}\n    - {name: s, type: llm, prompt: '{y}', run_if: phase}\n",
    );
    assert_eq!(printed(&code, &["input phase"]), [""; 0]);
}

#[test]
fn inputs_are_declared_with_their_defaults() {
    let text = format!(
        "inputs:\n  has_context: false\n  mood: calm\n  level: 3\n  share: 0.5\n  seen: [1, 2]\n  any:\n  balance: 0.0\n{}",
        agent(
            "  steps:\n    - {name: s, type: llm, run_if: has_context and level > 2, prompt: '{mood} {share:.1f} {seen} {any} {balance:.2f}'}\n"
        )
    );
    assert_eq!(
        printed(&text, &["input "]),
        [
            "input has_context: Bool = false",
            "input mood: Text = \"calm\"",
            "input level: Int = 3",
            "input share: Float = 0.5",
            "input seen: List(Int) = [1, 2]",
            "input any: Json = none",
            "input balance: Float = 0.0",
        ]
    );
}
