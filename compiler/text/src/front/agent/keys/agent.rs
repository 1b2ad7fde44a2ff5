//! The keys at the top level of an `agent.yaml`, and of the mappings there.

use super::{ERRORS, NAME, WORKFLOW};
use crate::keys::{Key, Mapping, Shape, Sign, Word};

/// The values of `cognitive_schema`.
pub const FORMS: &[Word] = &[
    Word::new("simple", "An action is written with its `thought_process`."),
    Word::new("ooda", "An action is written with `situation_assessment` and `action_rationale`."),
];

const NAMES: Shape = Shape::list(&NAME);
/// The form of a model's name: `provider/model`.
const MODEL: Shape = Shape::Pattern(r"^\s*[^\s/][^/]*/.*\S", "gemini/gemini-2.0-flash");
/// A mapping from names to initial values.
pub(super) const NAMED: Shape = Shape::ByName {
    of: &Shape::Anything,
    names: Some("^[A-Za-z][A-Za-z0-9_]*$"),
    is_filled: false,
};
const PRICE: Shape = Shape::Number(Sign::NotNegative);

/// The keys of the whole file.
pub static AGENT: Mapping = Mapping::new(
    "agent",
    "An agent: its model, its workflow and what it may use. Any other key is a finding.",
    &[
        Key::new("id", NAME, "The name of the agent. In the chart it is the name in `UpperCamel`, and the value of `agent_id` unless the host gives one.").required(),
        Key::new("enabled", Shape::Switch, "`false`: the agent is checked as any other, and `chartc run` does not run it, unless it is given `--even-disabled`.").default("true"),
        Key::new("description", Shape::Anything, "What the agent is for. It is kept as metadata."),
        Key::new("llm_model", MODEL, "The model of all steps, as `provider/model`, such as `gemini/gemini-2.0-flash`."),
        Key::new("temperature", Shape::Number(Sign::Any), "The temperature of the model. It means nothing without `llm_model`."),
        Key::new("max_tokens", Shape::small(0), "The most tokens of an answer. It means nothing without `llm_model`."),
        Key::new("input_price", PRICE, "The price of a million tokens that the model reads."),
        Key::new("output_price", PRICE, "The price of a million tokens that the model writes."),
        Key::new("cognitive_schema", Shape::Words(FORMS), "The form in which the model writes its actions."),
        Key::new("action_schema", Shape::Text, "A text with which the prompt of each `llm` step ends, as it is written. Braces in it are no placeholders."),
        Key::new("llm_budget", Shape::Either(&[PRICE, Shape::Mapping(&BUDGET)]), "What the agent may spend in a run: an amount of money, or `cost`, `tokens` and `calls`. A run that reaches a bound ends as `limit`."),
        Key::new("inputs", NAMED, "What the host may give beside the context: names with their defaults, such as `{has_context: false, mood: calm}`. A default of nothing takes any value.").or_nothing(),
        Key::new("components", Shape::Mapping(&COMPONENTS), "Fragments of prompts that several agents share, from the folder `_components`.").or_nothing(),
        Key::new("workflow", Shape::Mapping(&WORKFLOW), "What the agent does in a turn. Without it the agent has one step, which asks for the next action."),
        Key::new("error_handling", Shape::Mapping(&ERRORS), "What a failed step does. It belongs into `workflow`.").old("workflow.error_handling"),
        Key::new("rag", Shape::Mapping(&RAG), "What the agent recalls before a turn, with `--memory FILE`."),
        Key::new("memory", Shape::Mapping(&MEMORY), "Settings of memory. `working_memory` in it is read, the rest is kept as metadata."),
        Key::new("working_memory", Shape::Mapping(&WORKING_MEMORY), "What becomes of the agent's working memory, in a world."),
        Key::new("inject_working_memory", Shape::Switch, "An older name of `working_memory.auto_inject`, which takes precedence.").old("working_memory.auto_inject"),
        Key::new("working_memory_max_bytes", Shape::small(0), "An older name of `working_memory.max_size_bytes`, which takes precedence.").old("working_memory.max_size_bytes"),
        Key::new("starting_scrip", Shape::Number(Sign::Any), "Scrip that the agent has at the beginning, in a world that says nothing of it."),
        Key::new("starting_credits", Shape::Number(Sign::Any), "An older name of `starting_scrip`.").old("starting_scrip"),
        Key::new("is_genesis", Shape::Switch, "Metadata for a world of artifacts: whether the agent is there from the beginning."),
        Key::new("has_standing", Shape::Switch, "Metadata for a world of artifacts: whether the agent can own things."),
        Key::new("can_execute", Shape::Switch, "Metadata for a world of artifacts: whether the agent can act."),
        Key::new("memory_artifact_id", NAME, "Metadata for a world of artifacts: the artifact that is the agent's memory."),
        Key::new("genotype", Shape::Anything, "Traits of the agent, by name. They are kept as metadata."),
        Key::new("visibility", Shape::Anything, "What others see of the agent. It is kept as metadata."),
        Key::new("interface_discovery", Shape::Anything, "How the agent finds out what artifacts can do. It is kept as metadata."),
        Key::new("system_prompt", Shape::Anything, "It is kept as metadata. The value of the placeholder `{system_prompt}` is the file `system_prompt.md` beside the agent."),
        Key::new("motivation*", Shape::Anything, "What drives the agent. Each key that begins with `motivation` is kept as metadata."),
        Key::new("meta", Shape::Anything, "Anything else about the agent. It is kept as metadata."),
    ],
);

/// The mapping under `llm_budget`.
pub static BUDGET: Mapping = Mapping::new(
    "budget",
    "What the agent may spend in a run.",
    &[
        Key::new("cost", PRICE, "Money, in the unit of the prices. A bound of cost needs prices."),
        Key::new("tokens", Shape::small(0), "Tokens, in and out."),
        Key::new("calls", Shape::small(0), "Calls of the model."),
    ],
);

/// The mapping under `components`.
pub static COMPONENTS: Mapping = Mapping::new(
    "components",
    "Names of files in `_components`, without `.yaml`. In each prompt behaviors come first, then goals, traits, phases.",
    &[
        Key::new("behaviors", NAMES, "Files in `_components/behaviors`.").or_nothing(),
        Key::new("goals", NAMES, "Files in `_components/goals`.").or_nothing(),
        Key::new("traits", NAMES, "Files in `_components/traits`.").or_nothing(),
        Key::new("phases", NAMES, "Files in `_components/phases`.").or_nothing(),
    ],
);

/// The mapping under `rag`.
pub static RAG: Mapping = Mapping::new(
    "rag",
    "What the agent recalls before a turn.",
    &[
        Key::new("enabled", Shape::Switch, "`false` remembers and does not recall.")
            .default("true"),
        Key::new("limit", Shape::small(0), "The most memories of a turn.").default("5"),
        Key::new(
            "query_template",
            Shape::Text,
            "What is looked for: a text with placeholders, as a prompt. A name without a value adds nothing.",
        ),
    ],
);

/// The mapping under `memory`.
pub static MEMORY: Mapping = Mapping::new(
    "memory",
    "Settings of memory. Other keys are kept as metadata.",
    &[Key::new(
        "working_memory",
        Shape::Mapping(&WORKING_MEMORY),
        "What becomes of the agent's working memory, in a world.",
    )],
)
.open();

/// The mapping under `working_memory`.
pub static WORKING_MEMORY: Mapping = Mapping::new(
    "working_memory",
    "What becomes of what an agent writes under `working_memory` into the artifact with its own name.",
    &[
        Key::new("enabled", Shape::Switch, "Whether there is any.").default("true"),
        Key::new("auto_inject", Shape::Switch, "Prompts of the agent end with it, as a section. It is `true` where one of these keys is written.").default("true"),
        Key::new("max_size_bytes", Shape::small(0), "What is longer is cut.").default("2000"),
        Key::new("structured_format", Shape::Switch, "The section has a line for each key, the goal first, rather than JSON.").default("true"),
        Key::new("warn_on_missing", Shape::Switch, "The trace tells when there is none.").default("false"),
        Key::new("include_in_rag", Shape::Switch, "It is part of what long-term memory is asked for.").default("false"),
    ],
);
