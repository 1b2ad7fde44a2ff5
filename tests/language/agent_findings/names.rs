//! Keys and states with a slip in their names, or listed twice.

use super::{agent, beside, findings, says};
use crate::agent_front;
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

#[test]
fn misspelt_names_of_the_context_are_guessed() {
    let text = "id: a\nworkflow:\n  steps:\n    - name: look\n      type: llm\n      run_if: balnce > 1 and tick > 1\n      \
                prompt: '{my_artefacts} {turns_her}'\n";
    let found = agent_front::findings(&agent_front::check("agent.yaml", text));
    let helps: Vec<&str> = found.lines().filter(|l| l.contains("help: ")).map(str::trim).collect();
    assert_eq!(
        helps,
        ["help: did you mean `balance`?", "help: did you mean `my_artifacts`?"],
        "{found}"
    );
}

/// What calls took is a word of charts. An agent that has no such name of its own is told so, as for any other name.
#[test]
fn agents_do_not_see_what_calls_took() {
    let agent = |code: &str| {
        format!(
            "id: seen
workflow:
  steps:
    - name: spend
      type: code
      code: |
        {code}
    - name: think
      type: llm
      prompt: 'What? {{tokens}}'
      run_if: 'cost > 5'
"
        )
    };
    let found = agent_front::findings(&agent_front::check("seen.agent.yaml", &agent("other = 1")));
    for missing in ["`tokens` is not in the context", "`cost` is not in the context"] {
        assert!(found.contains(missing), "{found}");
    }
    let own = agent_front::check("seen.agent.yaml", &agent("cost = 9; tokens = 3"));
    assert_eq!(agent_front::findings(&own), "");
    let chart = own.charts[0].chart();
    assert!(!chart.reads_amounts);
    let names: Vec<&str> = chart.variables.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["cost", "tokens"], "its own names stay as they are");
}
