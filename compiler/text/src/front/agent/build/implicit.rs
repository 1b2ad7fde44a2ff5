//! An agent without `workflow`: one step that says what the agent knows and asks for an action.

use crate::front::agent::definition::{
    Agent, Component, ComponentKind, Injection, Listed, Policy, Source, Step, StepType, Workflow,
};
use crate::front::agent::scalar::Text;
use crate::span::{Ident, Span};
use crate::syntax::InsertPosition;

/// The name of the only step.
const STEP: &str = "propose_action";

const PROMPT: &str =
    "You are {agent_id}, with {balance} scrip. Event {event_number}. Propose your next action.";

/// The sections of the prompt in their order: a name, the condition under which the section is inserted, and its text.
const SECTIONS: &[(&str, &str, &str)] = &[
    (SYSTEM_PROMPT, "system_prompt != ''", "{system_prompt}"),
    ("goal", "goal != ''", "Goal: {goal}"),
    ("balances", "len(balances) > 0", "Balances: {balances}"),
    ("quotas", "len(quotas) > 0", "Quotas: {quotas}"),
    ("artifacts", "len(artifacts) > 0", "Artifacts: {artifacts}"),
    ("my_artifacts", "len(my_artifacts) > 0", "Your artifacts: {my_artifacts}"),
    ("mint_submissions", "len(mint_submissions) > 0", "Mint submissions: {mint_submissions}"),
    ("recent_events", "len(recent_events) > 0", "Recent events: {recent_events}"),
    (MEMORIES, "len(memories) > 0", "Memories: {memories}"),
    ("last_action_result", "last_action_result != ''", "Last action: {last_action_result}"),
    ("recent_failures", "len(recent_failures) > 0", "Recent failures: {recent_failures}"),
];

/// The section that begins the prompt.
const SYSTEM_PROMPT: &str = "system_prompt";
/// The section that only agents with `rag` have.
const MEMORIES: &str = "memories";

/// The workflow: one step, which asks for an action in each turn.
pub(super) fn workflow(agent: &Agent) -> Workflow {
    let span = place(agent);
    let step = Step {
        name: Ident::new(STEP.to_owned(), span),
        kind: StepType::Llm,
        states: None,
        run_if: None,
        prompt: Some(Source::Text(Text::at(span, PROMPT))),
        code: None,
        action: None,
        to: None,
        map: None,
        decision: None,
        policy: Policy::default(),
        span,
    };
    let policy = Policy::default();
    Workflow { machine: None, steps: vec![step], policy, calls: None, keep: Vec::new() }
}

/// The sections of the step's prompt, each as a component with its condition.
pub(super) fn sections(agent: &Agent) -> Vec<Component> {
    let span = place(agent);
    let sections = SECTIONS.iter().filter(|(name, ..)| *name != MEMORIES || agent.rag.is_some());
    let section = |(name, condition, words): &(&str, &str, &str)| {
        let place = Injection {
            step: Ident::new(STEP.to_owned(), span),
            place: if *name == SYSTEM_PROMPT { InsertPosition::Start } else { InsertPosition::End },
            condition: Some(Source::Text(Text::at(span, condition))),
        };
        component(&format!("tell_{name}"), vec![place], Text::at(span, words), span)
    };
    sections.map(section).collect()
}

/// The agent's `action_schema` as a component, which ends the prompt of each `llm` step and is inserted verbatim.
pub(super) fn action_schema(agent: &Agent, workflow: &Workflow) -> Option<Component> {
    let schema = agent.action_schema.as_ref()?;
    let steps = workflow.steps.iter().filter(|step| step.kind == StepType::Llm);
    let place = |step: &Step| Injection {
        step: step.name.clone(),
        place: InsertPosition::End,
        condition: None,
    };
    // The text has no placeholders, so its braces are escaped.
    let (words, span) = (schema.value.replace('{', "{{").replace('}', "}}"), schema.whole());
    Some(component("action_schema", steps.map(place).collect(), Text::at(span, &words), span))
}

fn component(name: &str, places: Vec<Injection>, fragment: Text, span: Span) -> Component {
    Component {
        listed: Listed { kind: ComponentKind::Phase, name: Ident::new(name.to_owned(), span) },
        description: None,
        places,
        fragment: Some(fragment),
        requires: Vec::new(),
        comments: Vec::new(),
    }
}

fn place(agent: &Agent) -> Span {
    agent.id.as_ref().map_or(agent.span, |id| id.span)
}
