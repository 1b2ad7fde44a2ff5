//! The keys of a step, and of invocations in it.

use super::workflow::FAILURES;
use super::{NAME, SOURCE, STATE};
use crate::keys::{Case, Key, Mapping, Need, Shape, Word};

/// The values of `type` in a step.
pub const TYPES: &[Word] = &[
    Word::new(
        "llm",
        "Asks the model, by `prompt`. Its answer is an action, and the first one that is not `noop` ends the turn.",
    ),
    Word::new("code", "Runs `code`, or calls the function of the host that `action` names."),
    Word::new(
        "transition",
        "Asks the model which way to go, and `transition_map` has a state for each answer. With `transition_source` a function of the host decides.",
    ),
];

/// An entry of `steps`.
pub static STEP: Mapping = Mapping::new(
    "step",
    "A step of a turn.",
    &[
        Key::new("name", NAME, "The name of the step. Later steps read its answer by this name.").required(),
        Key::new("type", Shape::Words(TYPES), "What the step does. Without it, it is a `code` step.").default("code"),
        Key::new("in_state", Shape::Either(&[STATE, Shape::some(&STATE)]), "The state, or the list of states, in which the step runs. It runs in every state unless given.").or_nothing(),
        Key::new("run_if", SOURCE, "The step runs only where this holds: an expression, or an invocation.").or_nothing(),
        Key::new("prompt", SOURCE, "What the model is asked: a text with placeholders, such as `{balance}`, or an invocation. Braces of the text itself are doubled: `{{` and `}}`.").or_nothing(),
        Key::new("code", Shape::Text, "Assignments in Python, with `if` and `for` over lists. What they set is gone when the turn ends.").or_nothing(),
        Key::new("action", NAME, "A function of the host, called when the step is done.").or_nothing(),
        Key::new("transition_to", STATE, "The state to go to when the step is done, if the table permits it from the state that is active then.").or_nothing(),
        Key::new("transition_map", Shape::ByName { of: &STATE, names: None, is_filled: true }, "A state for each answer. An answer that is not there moves nothing.").or_nothing(),
        Key::new("transition_source", Shape::Mapping(&INVOKE), "An invocation that decides instead of the model. Where it fails, its `fallback` is the decision.").or_nothing(),
        Key::new("on_failure", Shape::Words(FAILURES), "What the step does where it fails, in place of what the workflow says.").or_nothing(),
        Key::new("max_retries", Shape::small(0), "How often the step is tried again, in place of what the workflow says.").or_nothing(),
        Key::new("description", Shape::Anything, "What the step is for. Nothing reads it."),
    ],
)
.cases(&[
    Case {
        key: "type",
        value: Some("llm"),
        needs: &[Need::from_key("prompt"), Need::from_key("transition_to")],
        ignores: &["code", "action", "transition_map", "transition_source"],
    },
    Case {
        key: "type",
        value: Some("code"),
        needs: &[Need::from_key("code"), Need::from_key("action"), Need::from_key("transition_to")],
        ignores: UNREAD_BY_CODE,
    },
    Case {
        key: "type",
        value: Some("transition"),
        needs: &[Need::from_key("transition_map"), Need::from_key("transition_to"), Need::from_key("prompt")],
        ignores: &["code", "action"],
    },
    Case {
        key: "type",
        value: None,
        needs: &[
            Need::from_key("code"),
            Need::from_key("action"),
            // Other keys show that another type was meant.
            Need { key: "transition_to", without: UNREAD_BY_CODE },
        ],
        ignores: &[],
    },
]);

const UNREAD_BY_CODE: &[&str] = &["prompt", "transition_map", "transition_source"];

/// A call of an artifact of the host.
pub static INVOKE: Mapping = Mapping::new(
    "invocation",
    "A call of an artifact of the host, which returns a value.",
    &[
        Key::new("invoke", NAME, "The artifact.").required(),
        Key::new("method", NAME, "Its method."),
        Key::new(
            "args",
            Shape::list(&Shape::Anything),
            "Arguments; texts may have placeholders, such as `\"{balance}\"`. Where one has no value, nothing is called and the `fallback` holds.",
        ),
        Key::new("fallback", Shape::Anything, "The value where the call fails."),
    ],
);
