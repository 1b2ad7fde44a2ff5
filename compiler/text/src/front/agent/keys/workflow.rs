//! The keys of `workflow` and of the mappings in it, except those of steps.

use super::agent::NAMED;
use super::{NAME, SOURCE, STATE, STEP};
use crate::keys::{Key, Mapping, Names, Shape, Word};

/// The values of `on_failure` and `default_on_failure`.
pub const FAILURES: &[Word] = &[
    Word::new("retry", "The step is tried again, up to `max_retries` times. Then the turn stops."),
    Word::new("skip", "The turn goes on with the next step."),
    Word::new("fail", "The turn stops."),
];

/// The values of `on_step_failure`.
pub const STEP_FAILURES: &[Word] = &[
    Word::new("continue", "The turn goes on with the next step, as `default_on_failure: skip`."),
    Word::new("abort", "The turn stops, as `default_on_failure: fail`."),
];

/// The mapping under `workflow`.
pub static WORKFLOW: Mapping = Mapping::new(
    "workflow",
    "What the agent does in a turn: the steps, in order, as far as their states and conditions permit.",
    &[
        Key::new(
            "state_machine",
            Shape::Mapping(&MACHINE),
            "The states of the agent and the transitions between them.",
        )
        .or_nothing(),
        Key::new("steps", Shape::some(&Shape::Mapping(&STEP)), "The steps of a turn, in order.")
            .required(),
        Key::new(
            "error_handling",
            Shape::Mapping(&ERRORS),
            "What a failed step does, unless it says something else.",
        ),
        Key::new(
            "default_on_failure",
            Shape::Words(FAILURES),
            "What a failed step does. It counts more than `error_handling`.",
        )
        .default("retry"),
        Key::new(
            "default_max_retries",
            Shape::small(0),
            "How often a step is tried again. It counts more than `error_handling`.",
        )
        .default("3"),
        Key::new(
            "calls_per_turn",
            Shape::small(0),
            "How many `llm` and `transition` steps a turn may ask. 0 is no bound.",
        )
        .default("1"),
        Key::new("keep", NAMED, "Variables of code steps that last from turn to turn, with their values at the beginning, such as `{reviewed_at: 0}`. All others last until the turn ends.").or_nothing(),
    ],
);

/// The mapping under `error_handling`.
pub static ERRORS: Mapping = Mapping::new(
    "error_handling",
    "What a failed step does.",
    &[
        Key::new(
            "default_on_failure",
            Shape::Words(FAILURES),
            "What a failed step does, unless it says something else.",
        )
        .default("retry"),
        Key::new("max_retries", Shape::small(0), "How often a step is tried again.").default("3"),
        Key::new(
            "on_step_failure",
            Shape::Words(STEP_FAILURES),
            "An older form of `default_on_failure`, which counts more.",
        ),
    ],
);

/// The mapping under `state_machine`.
pub static MACHINE: Mapping = Mapping::new(
    "state_machine",
    "The states of the agent and the transitions between them.",
    &[
        Key::new("states", Shape::some(&NAME), "The names of all states.").required(),
        Key::new("initial_state", STATE, "Where the agent begins. It is the first of `states` unless given."),
        Key::new("transitions", Shape::list(&Shape::Either(&[ARROW, Shape::Mapping(&PERMIT)])), "What is permitted: `from->to`, or `from`, `to` and a `condition`. A condition permits, and moves nothing by itself. Without this key everything is permitted.").or_nothing(),
    ],
);

/// A transition that is written as a text.
const ARROW: Shape = Shape::Pattern(r"\S.*->.*\S", "looking->selling");

/// A row of `transitions` that is written as a mapping.
pub static PERMIT: Mapping = Mapping::new(
    "transition",
    "A transition that is permitted.",
    &[
        Key::new("to", STATE, "The state that it leads to.").required(),
        Key::new("from", Shape::Name(Names::StateOrAll), "The state that it leaves; `*` is every state.").default("\"*\""),
        Key::new("condition", SOURCE, "It is permitted only where this holds: an expression, or an invocation. A condition that fails is false.").or_nothing(),
    ],
);
