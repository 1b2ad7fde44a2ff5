//! The arguments of `chartc run`.

use super::super::files::Root;
use super::super::output::Colour;
use super::super::{crowd, otel, servers};
use std::path::PathBuf;

/// Run a chart with answers from a script, a recording, a real model, a person, or a stand-in (first, random, deny).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc run charts/builder.chart --llm script:charts/builder.script.yaml --param agent_id=ada
  chartc run agent.yaml --llm random:7 --turns 20 --trace run.jsonl
  chartc run social.chart --llm first --events posts.jsonl
  chartc run agent.yaml --llm human --record calls/
  chartc run agent.yaml --llm replay:calls/
  chartc run agent.yaml --llm openai:gpt-4o-mini
  chartc run support.chart --llm clients --snapshot run.json
  chartc run support.chart --llm clients --resume run.json
  chartc run support.chart --llm clients --store runs.db --run ada
  chartc run support.chart --llm clients --tools tools.toml
  chartc run agent.yaml --llm script:answers.yaml --world world.yaml --turns 20
  chartc run agent.yaml --llm clients --world world.yaml --memory agents.db

Many agents in one world, those of a folder or of its run.yaml (docs/world.md):
  chartc run examples/ecology --ticks 20 --seed 7 --log world.jsonl
  chartc run agents/ --duration 60 --llm clients --format text
  chartc run agents/ --config night.yaml --workers 4 --format json
  chartc run examples/ecology --store world.db       continues after a crash
  chartc trace world.jsonl --plot                    who was in which state, and when

Exit codes: 0 the run ended ok, partial or canceled, or used all its turns; 1 errors in the chart,
the last turn failed, the run ended stuck, limit or error, or an agent of many could not continue;
2 wrong usage, 3 internal error, 4 no chart in the file")]
pub(in crate::cli) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, - for standard input, or a folder, whose agents run in one world
    pub(super) file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    pub(super) chart: Option<String>,
    /// Who answers: script:FILE, replay:DIR, first, random:SEED, human, deny, clients, PROVIDER:MODEL, or a URL [default: deny, and stop at the first question]
    ///
    /// script:FILE takes scripted answers; replay:DIR takes the calls that --record kept; first takes the first option; random:SEED
    /// chooses at random; human asks at the terminal; deny fails every call. `clients` asks the model of each step's client; openai:MODEL,
    /// anthropic:MODEL, gemini:MODEL and ollama:MODEL ask that model in all steps. Variables such as OPENAI_API_KEY and OLLAMA_BASE_URL
    /// hold keys and addresses; `chartc doctor` shows what is set. A URL such as http://localhost:8000/v1 is any server with OpenAI's chat
    /// interface: it gets all questions, with the key CHARTC_API_KEY.
    #[arg(long, value_name = "WHO")]
    pub(super) llm: Option<String>,
    /// Model for steps without a client, with `--llm clients` or a URL, such as openai:gpt-4o-mini
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Who answers `human` steps: terminal, script:FILE, or with --store `later` for `chartc store … reply` [default: as --llm; with a real model, terminal]
    #[arg(long, value_name = "WHO")]
    pub(super) human: Option<String>,
    /// Script with results of host functions and tools [default: the script of --llm]
    #[arg(long, value_name = "FILE")]
    pub(super) functions: Option<PathBuf>,
    #[command(flatten)]
    pub(super) servers: servers::Options,
    #[command(flatten)]
    pub(super) otel: otel::Options,
    /// YAML file with the world in which the agent acts: agent, balances, disk and artifacts
    ///
    /// After each turn, the action that its `llm` steps chose (read_artifact, write_artifact, invoke_artifact) is performed in this world.
    /// Its result, and the rest of the agent's context, are set as inputs before the next turn. Host functions read this world, too.
    #[arg(long, value_name = "FILE")]
    pub(super) world: Option<PathBuf>,
    /// SQLite file with the agent's memories, created if missing, or `:memory:` for this run only
    ///
    /// After each turn, the action and its result are stored. Before each turn, if the chart's `rag` is enabled, the input `memories` is set to
    /// the result of a search for `query_template`. Several agents may share a file: each sees only its own memories.
    #[arg(long, value_name = "FILE")]
    pub(super) memory: Option<PathBuf>,
    /// Events from the host: one JSON object per line, or a JSON array
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Set an input; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) input: Vec<String>,
    /// Set a param; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) param: Vec<String>,
    /// Turns to run after the events [default: 100; 0 with --events, or if nothing in the chart happens in a turn]
    #[arg(long, value_name = "N")]
    pub(super) turns: Option<u32>,
    /// Model calls that one turn may make, instead of the chart's own limit; 0 means no limit
    #[arg(long, value_name = "N")]
    pub(super) calls_per_turn: Option<u32>,
    /// Run an agent even if it says `enabled: false`
    #[arg(long)]
    pub(super) even_disabled: bool,
    /// File for the trace, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Folder to record each call of a model, a person or a tool in, for --llm replay:DIR
    #[arg(long, value_name = "DIR")]
    pub(super) record: Option<PathBuf>,
    /// File to save the run in if it stops before its end: by Ctrl-C, by an error, or when it has used all its turns
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,
    /// Continue a run that --snapshot saved; --trace appends to its trace
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<PathBuf>,
    /// SQLite file in which the run survives this process, created if missing
    ///
    /// Each step of the run is committed before it is shown, and each call before it is made. The same command again after a crash, or after
    /// `kill -9`, continues the run: no call is made twice. `chartc store` lists the runs of a file. For a folder, the file keeps the
    /// whole world at each of its summaries, with the calls since then; `--run` is not needed.
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["snapshot", "resume", "record"])]
    pub(super) store: Option<PathBuf>,
    /// Name of the run in the store
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(super) run: Option<String>,
    /// Whether time is real, or jumps to the next deadline [default: virtual; real with a real model]
    #[arg(long, value_name = "KIND", value_parser = ["virtual", "real"])]
    pub(super) clock: Option<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    pub(super) color: Colour,
    #[command(flatten)]
    pub(super) root: Root,
    #[command(flatten)]
    pub(super) many: crowd::Options,
}

impl Args {
    /// The name of the first given option that has no meaning for many agents.
    pub(super) fn of_one_agent(&self) -> Option<&'static str> {
        #[cfg(feature = "sqlite")]
        let is_named = self.run.is_some();
        #[cfg(not(feature = "sqlite"))]
        let is_named = false;
        let all = [
            (self.chart.is_some(), "--chart"),
            (self.memory.is_some(), "--memory"),
            (self.events.is_some(), "--events"),
            (!self.input.is_empty(), "--input"),
            (!self.param.is_empty(), "--param"),
            (self.turns.is_some(), "--turns"),
            (self.trace.is_some(), "--trace"),
            (self.record.is_some(), "--record"),
            (self.snapshot.is_some(), "--snapshot"),
            (self.resume.is_some(), "--resume"),
            (self.servers.are_given(), "--tools"),
            (self.clock.is_some(), "--clock"),
            (self.calls_per_turn.is_some(), "--calls-per-turn"),
            (is_named, "--run"),
            (self.otel.is_given(), "--otel"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }
}
