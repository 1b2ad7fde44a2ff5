//! Tables of the keys of the files that chartc reads beside charts. `docs/*.schema.json`, completion and hover come from them.

pub use chartc_compiler::front::agent::keys::{AGENT, COMPONENT};
pub use chartc_compiler::front::keys::{Case, Key, Mapping, Names, Need, Shape, Sign, Word};

// The keys of `chartc.toml`.

/// The words of `fail-on`.
pub const BARS: &[Word] = &[
    Word::new("error", "Only errors make a check fail."),
    Word::new("warning", "Errors and warnings do."),
    Word::new("note", "Everything that is reported does."),
];

/// The whole file.
pub static CONFIG: Mapping = Mapping::new(
    "config",
    "What a project sets for all commands. A file has the settings of the nearest `chartc.toml`, in its folder or above. Options of a command count more.",
    &[
        Key::new("check", Shape::Mapping(&CHECK), "What is checked, and when a check fails."),
        Key::new(
            "lints",
            Shape::Levels,
            "The level of each rule, by its name or code: `allow`, `warn` or `deny`. `warnings` is all of them.",
        ),
        Key::new(
            "per-path",
            Shape::by_name(&Shape::Levels),
            "Levels for the files that a pattern matches, such as `[per-path.\"legacy/**\"]`. Later tables count more than earlier ones. A pattern that begins with `!` is for all other files.",
        ),
    ],
);

/// The table `[check]` of [`CONFIG`].
pub static CHECK: Mapping = Mapping::new(
    "check",
    "What is checked, and when a check fails.",
    &[
        Key::new(
            "fail-on",
            Shape::Words(BARS),
            "The lowest level that makes a check fail, as `--fail-on`.",
        )
        .default("\"error\""),
        Key::new(
            "explore",
            Shape::from(0),
            "How many states to explore for a `check` line, as `--explore`.",
        )
        .default("2000"),
        Key::new("tests", Shape::Flag, "Whether tests are played; `false` is `--no-tests`.")
            .default("true"),
        Key::new(
            "exclude",
            Shape::list(&Shape::Text),
            "What is left out of folders that are searched: patterns as in a `.gitignore`, such as `vendor/`.",
        ),
    ],
);

// The keys of a run file, `run.yaml` in a folder of agents.

/// A key of a run file. If it has no value, it counts as absent.
const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key::new(name, shape, doc).or_nothing()
}

/// A duration as text: a number and a unit.
const DURATION: Shape = Shape::Pattern(r"^[0-9]+(ms|s|m|h|d)$", "90s");
const TIME: Shape = Shape::Either(&[Shape::Number(Sign::NotNegative), DURATION]);
/// A time greater than 0.
const SPAN: Shape = Shape::Either(&[
    Shape::Number(Sign::Positive),
    Shape::Pattern(r"^0*[1-9][0-9]*(ms|s|m|h|d)$", "90s"),
]);
const NATURAL: Shape = Shape::from(0);
const MONEY: Shape = Shape::Number(Sign::NotNegative);
const BY_AGENT: Shape = Shape::Either(&[NATURAL, Shape::by_name(&NATURAL)]);
const VALUES: Shape = Shape::by_name(&Shape::Anything);

/// `resource_exhaustion_policy`.
const POLICIES: &[Word] = &[
    Word::new("skip", "The agent leaves out the turn."),
    Word::new("block", "The agent waits until there is room."),
];

/// The whole file.
pub static RUN: Mapping = Mapping::new(
    "run",
    "Which agents run, for how long, and what each of them may use. Options of the command line count more.",
    &[
        key("execution", Shape::Mapping(&EXECUTION), "How the agents run."),
        key(
            "agents",
            Shape::list(&Shape::Mapping(&AGENT_ENTRY)),
            "Who runs. Without it, the charts and agents of the folder.",
        ),
        key("balances", Shape::by_name(&NATURAL), "Scrip at the beginning, by agent."),
        key("resources", Shape::Mapping(&RESOURCES), "What the world allows."),
        key(
            "rate_limiting",
            Shape::Mapping(&RATES),
            "What may be used in a rolling window of time.",
        ),
        key(
            "auction",
            Shape::Mapping(&AUCTION),
            "Auctions of the mint. Without it, there are none.",
        ),
        key("statechart", Shape::Mapping(&STATECHART), "Settings of all charts."),
        key(
            "working_memory",
            Shape::Mapping(&WORKING_MEMORY),
            "What becomes of the working memory of agents that say nothing of theirs.",
        ),
        key("llm", Shape::Mapping(&LLM), "Settings of models.").old("execution"),
    ],
);

static EXECUTION: Mapping = Mapping::new(
    "execution",
    "How the agents run.",
    &[
        key(
            "ticks",
            Shape::from(1),
            "How many ticks there are. Without it, each agent has a loop of its own.",
        ),
        key("duration", SPAN, "How long the run takes: seconds, or a duration such as `5m`."),
        key(
            "seed",
            NATURAL,
            "The seed of everything random. The same seed is the same run, as long as nobody real answers.",
        ),
        key("delay", TIME, "From tick to tick: seconds, or a duration such as `90s`.")
            .default("15"),
        key("rate_limit_delay", TIME, "Another name of `delay`.").old("delay"),
        key(
            "use_autonomous_loops",
            Shape::Flag,
            "Whether each agent has a loop of its own. It is `true` unless `ticks` is there.",
        ),
        key("interval", TIME, "Between the turns of an autonomous agent.").default("1"),
        key("max_backoff", TIME, "The longest time that an autonomous agent sleeps after errors.")
            .default("60"),
        key(
            "max_consecutive_errors",
            Shape::small(1),
            "So many errors one after the other pause an agent.",
        )
        .default("5"),
        key(
            "resource_exhaustion_policy",
            Shape::Words(POLICIES),
            "What an agent does that has no room when its turn begins.",
        )
        .default("skip"),
        key("workers", Shape::small(1), "Threads. There are as many as cores unless given."),
        key(
            "use_worker_pool",
            Shape::Flag,
            "Whether agents are kept in a store, from which workers take them.",
        )
        .default("false"),
        key("worker_pool", Shape::Mapping(&POOL), "Those workers."),
    ],
);

static POOL: Mapping = Mapping::new(
    "worker_pool",
    "Workers that take agents from a store.",
    &[
        key("num_workers", Shape::small(1), "How many.").default("4"),
        key("state_db_path", Shape::Label, "The file of the store, as `--store`."),
    ],
);

static LLM: Mapping = Mapping::new(
    "llm",
    "Settings of models.",
    &[
        key("rate_limit_delay", TIME, "The same as `execution.delay`.").old("execution.delay"),
        key(
            "models",
            Shape::list(&Shape::Label),
            "The models that agents may choose in their records, as `provider/model`, beside those of their own charts.",
        ),
    ],
);

static RATES: Mapping = Mapping::new(
    "rate_limiting",
    "What may be used in a rolling window of time.",
    &[
        key("enabled", Shape::Flag, "`false` switches all of it off.").default("true"),
        key("window_seconds", SPAN, "How long a window is.").default("60"),
        key("resources", Shape::Mapping(&USES), "The most that each agent may use in a window."),
        key(
            "providers",
            Shape::by_name(&Shape::Mapping(&PROVIDER)),
            "What all agents together may use of a provider. `\"*\"` holds for each that is not named.",
        ),
    ],
);

static PROVIDER: Mapping = Mapping::new(
    "provider",
    "What all agents together may use of a provider.",
    &[
        key(
            "window_seconds",
            SPAN,
            "How long a window is. It is that of `rate_limiting` unless given.",
        ),
        key(
            "resources",
            Shape::Mapping(&USES),
            "The most in a window. Of a provider, only `llm_calls` and `llm_tokens` count.",
        ),
    ],
);

static USES: Mapping = Mapping::new(
    "window",
    "The most in a window.",
    &[
        key("llm_calls", Shape::Mapping(&MOST), "Calls of models."),
        key("llm_tokens", Shape::Mapping(&MOST), "Their tokens, in and out."),
        key("tool_calls", Shape::Mapping(&MOST), "Calls of tools."),
        key("actions", Shape::Mapping(&MOST), "Actions in the world."),
        key("spawns", Shape::Mapping(&MOST), "Agents that an agent makes."),
    ],
);

static MOST: Mapping = Mapping::new(
    "most",
    "A bound of a window.",
    &[key("max_per_window", Shape::from(1), "The most in a window.")],
);

static STATECHART: Mapping = Mapping::new(
    "statechart",
    "Settings of all charts.",
    &[
        key(
            "default_timeout_ticks",
            Shape::small(1),
            "Turns after which a state without a limit of its own times out.",
        ),
        key("max_history_depth", Shape::small(0), "Transitions that an agent remembers."),
        key("oracle_enabled", Shape::Flag, "Whether models are asked.").default("true"),
    ],
);

static AUCTION: Mapping = Mapping::new(
    "auction",
    "Auctions of the mint. Window and scoring together must fit into the period.",
    &[
        key("period_seconds", SPAN, "From one opening to the next.").default("60"),
        key("bidding_window_seconds", SPAN, "How long an auction is open.").default("30"),
        key("first_auction_delay_seconds", TIME, "Before the first one opens.").default("30"),
        key("scoring_seconds", TIME, "The longest time for the model's score.").default("20"),
        key(
            "scoring",
            Shape::Label,
            "Who scores, such as `script:scores.yaml`. It is the agents' real model unless given.",
        ),
        key("minimum_bid", NATURAL, "The lowest bid, and the lowest price.").default("1"),
        key("scrip_per_point", NATURAL, "New scrip for each point of the score.").default("1"),
        key("default_score", NATURAL, "The score where no model gives one, from 0 to 100.")
            .default("0"),
        key(
            "max_submissions",
            Shape::from(1),
            "Bids that wait at a time. Then the lowest makes room for a higher one.",
        )
        .default("1000"),
        key("max_history", Shape::from(1), "Auctions that the history keeps.").default("100"),
    ],
);

static RESOURCES: Mapping = Mapping::new(
    "resources",
    "What the world allows.",
    &[
        key(
            "starting_scrip",
            NATURAL,
            "Scrip of an agent of which neither `balances` nor its configuration says anything.",
        )
        .default("100"),
        key(
            "disk",
            BY_AGENT,
            "Bytes that the artifacts of an agent may have: for all, or by agent.",
        )
        .default("1000000"),
        key("compute", BY_AGENT, "Units of compute in each tick: for all, or by agent.")
            .default("1000"),
        key("max_artifacts", Shape::from(1), "Artifacts of the whole world.").default("100000"),
        key(
            "max_artifacts_per_agent",
            Shape::from(1),
            "Artifacts that an agent has made, its record and memory among them.",
        )
        .default("1000"),
        key("max_content_bytes", Shape::from(1), "Bytes of one artifact.").default("100000"),
        key(
            "compile_bytes_per_unit",
            Shape::from(1),
            "Bytes of text that a unit of compute compiles.",
        )
        .default("256"),
        key("max_invocation_depth", Shape::small(0), "How deep artifacts invoke artifacts.")
            .default("4"),
        key("invocation_fuel", NATURAL, "Steps of one invocation of a chart.").default("100000"),
        key("max_events", NATURAL, "Events that the world's log keeps.").default("1000"),
        key(
            "max_seen",
            NATURAL,
            "Artifacts, other agents and balances that an agent sees in a turn, of each so many.",
        )
        .default("100"),
        key(
            "max_data_bytes",
            Shape::from(1),
            "Bytes of the data of an agent's run: variables, answers and events on their way, with its child charts.",
        )
        .default("4000000"),
        key(
            "max_lines",
            Shape::from(1),
            "Lines that one event, answer or turn makes an agent write, after which it is stopped as in a livelock.",
        )
        .default("10000"),
        key(
            "shared_working_memory",
            Shape::Flag,
            "Whether agents can read the working memories of others, which are part of their records.",
        )
        .default("false"),
        key("spawn", Shape::Mapping(&SPAWN), "Agents that agents make."),
    ],
);

static SPAWN: Mapping = Mapping::new(
    "spawn",
    "Agents that agents make. A new agent's scrip, disk and compute are its maker's before.",
    &[
        key("max_depth", Shape::small(0), "Generations below an agent of this file.").default("2"),
        key("max_agents", Shape::small(1), "Agents at the same time.").default("1000"),
        key("per_parent", Shape::small(0), "Agents of one maker.").default("10"),
        key("cost", NATURAL, "Scrip that making an agent costs; it leaves circulation.")
            .default("0"),
        key("min_endowment", NATURAL, "Scrip that a new agent gets at least.").default("1"),
        key("disk", NATURAL, "Bytes of disk that it gets.").default("10000"),
        key("compute", NATURAL, "Units of compute that it gets.").default("50"),
    ],
);

static WORKING_MEMORY: Mapping = Mapping::new(
    "working_memory",
    "What becomes of what an agent writes under `working_memory` into the artifact with its own name.",
    &[
        key("enabled", Shape::Flag, "Whether there is any.").default("true"),
        key("auto_inject", Shape::Flag, "Prompts of the agent end with it, as a section.")
            .default("true"),
        key("max_size_bytes", NATURAL, "What is longer is cut.").default("2000"),
        key(
            "structured_format",
            Shape::Flag,
            "The section has a line for each key, the goal first, rather than JSON.",
        )
        .default("true"),
        key("warn_on_missing", Shape::Flag, "The trace tells when there is none.").default("false"),
        key("include_in_rag", Shape::Flag, "It is part of what long-term memory is asked for.")
            .default("false"),
    ],
);

static AGENT_ENTRY: Mapping = Mapping::new(
    "agent_entry",
    "Agents of one kind.",
    &[
        Key::new("file", Shape::Label, "A chart or an `agent.yaml`, relative to the run file.")
            .required(),
        key(
            "id",
            Shape::Label,
            "The name of the agent; with `count` they are `id_1`, `id_2` and so on. It is what the file says unless given.",
        ),
        key("count", Shape::small(1), "How many there are.").default("1"),
        key(
            "chart",
            Shape::Label,
            "The name of a chart in the file. It is the first one unless given.",
        ),
        key("params", VALUES, "Values for the params of the chart."),
        key("inputs", VALUES, "Values for its inputs."),
        key("llm", Shape::Label, "Who answers, as `--llm`, such as `script:trader.yaml`."),
        key("budget", Shape::Mapping(&BUDGET), "What each of them may spend on models in the run."),
    ],
);

static BUDGET: Mapping = Mapping::new(
    "budget",
    "What an agent may spend on models in a run. An agent whose budget is used up is paused.",
    &[
        key("llm_calls", NATURAL, "Calls."),
        key("llm_tokens", NATURAL, "Tokens, in and out."),
        key("cost", MONEY, "Money, in the unit of the prices."),
    ],
);
