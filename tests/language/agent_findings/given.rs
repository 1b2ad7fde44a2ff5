//! Names that nothing in an agent sets: what the host may give, and what is misspelt.

use super::{agent, findings, says};
use chartc::diagnostic::Severity;
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
    for (run_if, input, words) in [
        ("has_context", "input has_context: Bool = false", "it is false unless"),
        ("not (has_context or tick > 3)", "input has_context: Bool = false", "it is false unless"),
        ("phase == 'x'", "input phase: Json = none", "the condition is false unless"),
        ("len(found) > 2", "input found: Json = none", "the condition is false unless"),
        ("phase and phase != 'x'", "input phase: Json = none", "the condition is false unless"),
    ] {
        let text = step(run_if);
        says(&text, &[(4, "C0102", words)]);
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
        assert_eq!(done.diagnostics[0].severity, Severity::Warning, "{run_if}");
        let inputs = printed(&text, &["input "]);
        assert!(inputs.contains(&input.to_owned()), "{run_if}: {inputs:?}");
    }
}

#[test]
fn a_name_like_a_known_one_is_an_error_as_before() {
    let is_error = |text: &str| {
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
        let [finding] = done.diagnostics.as_slice() else { panic!("{:#?}", done.diagnostics) };
        (finding.rule.code, finding.severity == Severity::Error, finding.help.clone())
    };
    let help = |name: &str| Some(format!("did you mean `{name}`?"));
    assert_eq!(is_error(&step("balence > 3")), ("C0102", true, help("balance")));
    let declared = format!("inputs: {{has_context: false}}\n{}", step("has_contxt"));
    let found = findings(&declared);
    assert!(found.iter().any(|(_, _, words)| words == "no variable `has_contxt`"), "{found:#?}");
    // Where code or a prompt reads it too, there is no turn without it.
    let code = agent(
        "  steps:\n    - {name: c, type: code, code: y = phase}\n    - {name: s, type: llm, prompt: '{y}', run_if: phase}\n",
    );
    assert!(findings(&code).iter().all(|(_, code, _)| *code == "C0102"), "{:#?}", findings(&code));
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
    says(&text, &[]);
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
    let set = format!(
        "inputs: {{rich: false}}\n{}",
        agent(
            "  steps:\n    - {name: c, type: code, code: rich = balance > 3}\n    - {name: s, type: llm, run_if: rich, prompt: Go.}\n"
        )
    );
    says(&set, &[(5, "C0006", "`rich` is an input, which only the host sets")]);
    says(
        &format!("inputs: {{two words: 1}}\n{}", step("tick > 1")),
        &[(1, "C0004", "`two words` cannot be the name of an input")],
    );
}
