//! The tables of the keys of `agent.yaml` and of its components. The reader accepts these keys and no others.

use crate::front::keys::{Case, Key, Mapping, Names, Need, Shape, Sign, Word};

/// A name that nothing else in the file declares.
const NAME: Shape = Shape::Name(Names::Free);
/// A name of a state.
const STATE: Shape = Shape::Name(Names::State);
/// A text, or an invocation whose result is one.
const SOURCE: Shape = Shape::Either(&[Shape::Text, Shape::Mapping(&INVOKE)]);

// The keys at the top level of an `agent.yaml`, and of the mappings there.

/// The values of `cognitive_schema`.
pub(crate) const FORMS: &[Word] = &[
    Word::new("simple", "An action is written with its `thought_process`."),
    Word::new("ooda", "An action is written with `situation_assessment` and `action_rationale`."),
];

const NAMES: Shape = Shape::list(&NAME);
/// The form of a model's name: `provider/model`.
const MODEL: Shape = Shape::Pattern(r"^\s*[^\s/][^/]*/.*\S", "gemini/gemini-2.0-flash");
/// A mapping from names to initial values.
const NAMED: Shape = Shape::ByName {
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
        Key::new("is_genesis", Shape::Switch, "Whether the agent counts as there from the beginning of a world, as agents of a run file do. A chart carries it as metadata."),
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
pub(crate) static RAG: Mapping = Mapping::new(
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

// The keys of `workflow` and of the mappings in it, except those of steps.

/// The values of `on_failure` and `default_on_failure`.
pub const FAILURES: &[Word] = &[
    Word::new("retry", "The step is tried again, up to `max_retries` times. Then the turn stops."),
    Word::new("skip", "The turn goes on with the next step."),
    Word::new("fail", "The turn stops."),
];

/// The values of `on_step_failure`.
pub(crate) const STEP_FAILURES: &[Word] = &[
    Word::new("continue", "The turn goes on with the next step, as `default_on_failure: skip`."),
    Word::new("abort", "The turn stops, as `default_on_failure: fail`."),
];

/// The mapping under `workflow`.
pub(crate) static WORKFLOW: Mapping = Mapping::new(
    "workflow",
    "What the agent does in a turn: the steps, in order, as far as their states and conditions permit.",
    &[
        Key::new(
            "state_machine",
            Shape::Mapping(&MACHINE),
            "The states of the agent and the transitions between them.",
        )
        .or_nothing(),
        Key::new("steps", Shape::some(&Shape::Mapping(&STEP_KEYS)), "The steps of a turn, in order; a workflow with states can do without."),
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
pub(crate) static ERRORS: Mapping = Mapping::new(
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
pub(crate) static PERMIT: Mapping = Mapping::new(
    "transition",
    "A transition that is permitted.",
    &[
        Key::new("to", STATE, "The state that it leads to.").required(),
        Key::new("from", Shape::Name(Names::StateOrAll), "The state that it leaves; `*` is every state.").default("\"*\""),
        Key::new("condition", SOURCE, "It is permitted only where this holds: an expression, or an invocation. A condition that fails is false.").or_nothing(),
    ],
);

// The keys of a step, and of invocations in it.

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
pub(crate) static STEP_KEYS: Mapping = Mapping::new(
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
pub(crate) static INVOKE: Mapping = Mapping::new(
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

// The keys of a component: a fragment of prompts that several agents share.

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
        Key::new("inject_into", Shape::Either(&[ANY_STEP, INTO, Shape::list(&Shape::Either(&[ANY_STEP, INTO]))]), "The step, or the list of steps, whose prompts have the fragment. An entry is the name of a step, or `{step, if, at}`.").required(),
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
const ANY_STEP: Shape = Shape::Name(Names::Free);
const INTO: Shape = Shape::Mapping(&INJECTION);

/// An entry of `inject_into`.
pub(crate) static INJECTION: Mapping = Mapping::new(
    "injection",
    "A step whose prompt has the fragment.",
    &[
        Key::new("step", ANY_STEP, "The step.").required(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::keys::{Key, Mapping};
    use std::collections::BTreeMap;

    fn collect(shape: &'static Shape, all: &mut BTreeMap<&'static str, &'static Mapping>) {
        for shape in shape.alternatives() {
            if let Shape::Mapping(mapping) = shape {
                walk(mapping, all);
            } else if let Shape::List { of, .. } | Shape::ByName { of, .. } = shape {
                collect(of, all);
            }
        }
    }

    fn walk(mapping: &'static Mapping, all: &mut BTreeMap<&'static str, &'static Mapping>) {
        if let Some(known) = all.insert(mapping.name, mapping) {
            assert_eq!(known, mapping, "two mappings are called {}", mapping.name);
            return;
        }
        mapping.keys.iter().for_each(|key: &Key| collect(&key.shape, all));
    }

    #[test]
    fn tables_are_whole() {
        let mut all = BTreeMap::new();
        walk(&AGENT, &mut all);
        walk(&COMPONENT, &mut all);
        assert!(all.len() > 12, "{:?}", all.keys());
        for mapping in all.values() {
            let mut names: Vec<_> = mapping.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), mapping.keys.len(), "a key of {} is there twice", mapping.name);
            for case in mapping.cases {
                let named =
                    case.needs.iter().flat_map(|need| need.without.iter().chain([&need.key]));
                for key in named.chain(case.ignores).chain([&case.key]) {
                    assert!(mapping.key(key).is_some(), "{} has no key {key}", mapping.name);
                }
            }
            for key in mapping.keys {
                assert!(key.doc.ends_with('.'), "{}: {}", key.name, key.doc);
                assert!(!key.is_required || key.default.is_none(), "{}", key.name);
            }
        }
    }
}
