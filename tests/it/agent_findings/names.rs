//! Keys and states with a slip in their names, or listed twice.

use super::{agent, beside, findings, says};
use chartc::load::Memory;

#[test]
fn a_state_that_its_list_misspells() {
    let text = |listed: &str, prompt: &str| {
        agent(&format!(
            "  state_machine:
    states: [idle, {listed}]
    transitions: [idle->reviewing, reviewing->idle]
  steps:
    - {{name: i, type: llm, in_state: idle, prompt: '{prompt}', transition_to: reviewing}}
    - {{name: r, type: llm, in_state: reviewing, prompt: Look., transition_to: idle}}
"
        ))
    };
    says(&text("reviewing", "Go."), &[]);
    let misspelt = text("refviewing", "Go.");
    let words = "the state `refviewing` is named nowhere else, and `reviewing` is named 4 times";
    says(&misspelt, &[(4, "C0102", words)]);
    let places = beside(&misspelt);
    assert_eq!(places, vec![("reviewing".to_owned(), "named here".to_owned()); 4]);
    // A state that something names is not renamed.
    let named = findings(&text("refviewing", "Leave refviewing."));
    assert_eq!(named.iter().filter(|(_, code, _)| *code == "C0102").count(), 4, "{named:?}");
}

#[test]
fn a_misspelt_key_is_told_of_once() {
    for (right, wrong) in [("prompt", "promt"), ("name", "nmae")] {
        let step = agent("  steps:\n    - {type: llm, name: s, prompt: Go.}\n");
        let text = step.replace(&format!("{right}:"), &format!("{wrong}:"));
        says(&text, &[(4, "C0101", &format!("a step has no key `{wrong}`"))]);
        let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
        assert_eq!(done.diagnostics[0].severity, chartc::diagnostic::Severity::Error);
        assert_eq!(done.diagnostics[0].help, Some(format!("did you mean `{right}`?")));
    }
    says(&agent("  step:\n    - {type: llm, name: s, prompt: Go.}\n"), &[(3, "C0101", "`step`")]);
    // Another key that is unknown leaves it missing.
    let other = agent("  steps:\n    - {type: llm, name: s, colour: red}\n");
    says(&other, &[(4, "C0005", "needs a `prompt`"), (4, "C0101", "colour")]);
}

#[test]
fn a_state_that_is_listed_twice_is_told_of_once() {
    let states = |states: &str| {
        agent(&format!(
            "  state_machine: {{states: [{states}], transitions: [a->b, b->a]}}\n  steps:\n    \
             - {{name: x, type: llm, in_state: a, prompt: 'A.', transition_to: b}}\n    \
             - {{name: y, type: llm, in_state: b, prompt: 'B.', transition_to: a}}\n"
        ))
    };
    says(&states("a, b, a"), &[(3, "C0103", "state `a` is declared twice")]);
    says(&states("a, b, c"), &[(3, "C0203", "`c` can never be entered")]);
}
