//! The keys of a component: a fragment of prompts that several agents share.

use super::{NAME, SOURCE};
use crate::keys::{Key, Mapping, Names, Shape, Word};

/// The values of `type` in a component.
pub const KINDS: &[Word] = &[
    Word::new("behavior", "A file in `_components/behaviors`."),
    Word::new("goal", "A file in `_components/goals`."),
    Word::new("trait", "A file in `_components/traits`."),
    Word::new("phase", "A file in `_components/phases`."),
];

/// The values of `at`: the position of a fragment in a prompt.
pub const PLACES: &[Word] = &[
    Word::new("start", "Before the prompt of the step."),
    Word::new("end", "After the prompt of the step."),
    Word::new("replace", "In place of the prompt of the step."),
];

/// A component's file in `_components`.
pub static COMPONENT: Mapping = Mapping::new(
    "component",
    "A fragment of prompts, in `_components/behaviors`, `goals`, `traits` or `phases`.",
    &[
        Key::new("inject_into", Shape::Either(&[STEP, INTO, Shape::list(&Shape::Either(&[STEP, INTO]))]), "The step, or the list of steps, whose prompts have the fragment. An entry is the name of a step, or `{step, if, at}`.").required(),
        Key::new("prompt_fragment", Shape::Text, "What goes into the prompt, with placeholders of its own.").required(),
        Key::new("at", Shape::Words(PLACES), "Where in the prompt the fragment goes.").default("end").or_nothing(),
        Key::new("requires_context", Shape::list(&NAME), "Names that have to be in the context of an agent that lists the component.").or_nothing(),
        Key::new("name", NAME, "The name of the file, without `.yaml`.").or_nothing(),
        Key::new("type", Shape::Words(KINDS), "What it is, as its folder says.").or_nothing(),
        Key::new("description", Shape::Text, "What the component is for. It becomes its documentation.").or_nothing(),
        Key::new("version", Shape::Anything, "The version of the component. Nothing reads it."),
    ],
);

// The name of a step. The steps are declared by agents, in other files, so any name is accepted.
const STEP: Shape = Shape::Name(Names::Free);
const INTO: Shape = Shape::Mapping(&INJECTION);

/// An entry of `inject_into`.
pub static INJECTION: Mapping = Mapping::new(
    "injection",
    "A step whose prompt has the fragment.",
    &[
        Key::new("step", STEP, "The step.").required(),
        Key::new(
            "if",
            SOURCE,
            "The prompt has the fragment only where this holds: an expression, or an invocation.",
        )
        .or_nothing(),
        Key::new(
            "at",
            Shape::Words(PLACES),
            "Where in the prompt the fragment goes, instead of what the component says.",
        )
        .default("end"),
        Key::new(
            "always",
            Shape::Switch,
            "`true`: there is no condition. `false`: the fragment does not go there.",
        ),
    ],
);
