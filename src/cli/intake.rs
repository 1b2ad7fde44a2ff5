//! The command `chartc intake`: runs the agents of a store with events from a Redis stream.

use super::durable::{RunArgs, RunParts, finish_calls, options, refused, service};
use super::files::{self, Root};
use super::instance::{InitialValues, PairKind, backends, values};
use super::output::{Exit, complain, say};
use super::pick::pick_to_run;
use super::signals;
use crate::setup::{Answerers, is_live, variable};
use chartc_adapters::redis::{Counts, Intake, IntakeError, Notice, Options};
use chartc_compiler::explore::STATES;
use chartc_runtime::clock::{Clock, RealClock};
use chartc_runtime::trace::Origin;
use chartc_store::{Options as RunOptions, Safety, Store, Worker};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Run the agents of a chart in a store, with events from a Redis stream: each is applied exactly once.
///
/// An entry of the stream has the fields `agent`, `event` (one of the chart, or `turn`), `data` (a JSON object, if the event has any), and
/// perhaps an `id` of its sender. Entries that are of no use go into the stream NAME:dead with the reason. On Ctrl-C the events under way
/// end, and the command stops; the same command goes on later. `chartc store` lists the agents.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc intake support.chart --store runs.db --stream tickets --group agents --llm clients
  chartc intake support.chart --store runs.db --redis redis://cache --stream tickets --group agents
  redis-cli XADD tickets '*' agent ada event reply data '{\"text\":\"hello\"}'

Exit codes: 0 stopped by Ctrl-C or SIGTERM, 1 errors in the chart, 2 wrong usage, a store or a server that
refuses, 3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// SQLite file with the agents, created if missing
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
    /// Address of the server, redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] [default: the variable REDIS_URL, which no list of processes shows, or redis://127.0.0.1]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// Name of the stream
    #[arg(long, value_name = "NAME")]
    stream: String,
    /// Name of the consumer group, made if missing: it begins with the oldest entry
    #[arg(long, value_name = "NAME")]
    group: String,
    /// Read NAME:0 to NAME:N-1 instead of one stream; all events of an agent belong into one of them
    #[arg(long, value_name = "N", default_value_t = 1)]
    shards: usize,
    /// Name of this process in the group; each needs its own
    #[arg(long, value_name = "NAME", default_value = "chartc")]
    consumer: String,
    /// Seconds of silence after which others take over what a process has read
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    idle: u64,
    /// Days for which ids of events are kept: longer than this command ever stands still
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    horizon: u64,
    /// Who answers, as for `chartc run` [default: deny]
    #[arg(long, value_name = "WHO")]
    llm: Option<String>,
    /// Model for steps without a client, with `--llm clients` or a URL, such as openai:gpt-4o-mini
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Who answers `human` steps: script:FILE, or `later` for `chartc store … reply`
    #[arg(long, value_name = "WHO", default_value = "later")]
    human: String,
    /// Script with results of host functions and tools
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    /// Set an input of each new agent; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Set a param of each new agent; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let checked = match pick_to_run(&args.file, args.chart.as_deref(), &args.root, STATES)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let chart = checked.chart();
    let given = InitialValues {
        params: values(chart, PairKind::Param, &args.param)?,
        inputs: values(chart, PairKind::Input, &args.input)?,
    };
    let intake = intake(&args)?;
    files::check(&args.store)?;
    let store = Store::own(&args.store, Safety::Full).map_err(refused)?;
    let now = store.moment(None, true).map_err(refused)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let charts = checked.family();
    let plans = checked.plans();
    runtime.block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(RealClock::starting_at(now));
        let replies = args.human == "later";
        let human = Some(args.human.as_str()).filter(|_| !replies);
        let answerers = Answerers {
            llm: args.llm.as_deref(),
            model: args.model.as_deref(),
            human,
            functions: args.functions.as_deref(),
        };
        let backends = backends(&charts, answerers, &clock)?;
        let origin = Origin {
            // Standard input is not a file that a replay could read.
            file: if args.file == "-" { String::new() } else { args.file.clone() },
            real_clock: true,
            ..Origin::default()
        };
        let parts = RunParts {
            plans: &plans,
            given: &given,
            backends,
            clock,
            is_live: is_live(args.llm.as_deref()),
            is_real: true,
            is_typed: false,
            replies,
            origin,
            args: args.run_args(&given),
            entries: &[],
            turns: 0,
            memory: None,
        };
        let options = RunOptions { service: Some(service()), ..options(parts, |_| Ok(())) };
        let (engine, mut worker) = Worker::new(store, options);
        worker.load_all().map_err(refused)?;
        // The future owns the only handle of the engine: when it ends, the worker ends, too.
        let taken = async move {
            intake
                .run(
                    &engine,
                    async {
                        _ = signals::signal().await;
                    },
                    tell,
                )
                .await
        };
        let (worked, taken) = tokio::select! {
            worked = worker.work() => (worked, None),
            taken = taken => (Ok(()), Some(taken)),
        };
        worked.map_err(refused)?;
        finish_calls(&mut worker).await?;
        if let Some(taken) = taken {
            say_counts(&taken.map_err(unfit)?)?;
        }
        Ok(Exit::Clean)
    })
}

/// Makes the intake from the stream that the command line names.
fn intake(args: &Args) -> miette::Result<Intake> {
    let url = args.redis.clone().or_else(|| variable("REDIS_URL"));
    let url = url.unwrap_or_else(|| "redis://127.0.0.1".to_owned());
    let options = Options::new(&url, &args.stream, &args.group)
        .with_shards(args.shards)
        .with_consumer(&args.consumer)
        .with_idle(Duration::from_secs(args.idle))
        .with_horizon(Duration::from_secs(args.horizon.saturating_mul(86_400)));
    Intake::new(options).map_err(unfit)
}

fn say_counts(counts: &Counts) -> miette::Result<()> {
    say(format!(
        "{} events applied, {} known before, {} put aside",
        counts.applied, counts.repeated, counts.dead
    ))
}

fn unfit(fault: IntakeError) -> miette::Report {
    miette::miette!("{fault}")
}

fn tell(notice: Notice) {
    complain(match notice {
        Notice::Connected { address } => format!("connected to {address}"),
        Notice::Lost { address, why, pause } => {
            format!("{address} does not answer, tried again in {pause:?}: {why}")
        }
        Notice::Reads(stream) => format!("reads {stream}"),
        Notice::Leaves(stream) => format!("leaves {stream} to others"),
        Notice::Dead { stream, entry, reason } => {
            format!("entry {entry} of {stream} is put aside: {reason}")
        }
        Notice::EngineAway(why) => format!("the engine does not answer, tried again: {why}"),
    });
}

impl Args {
    /// The arguments that the store keeps for a new agent, for `chartc store … resume`.
    fn run_args(&self, given: &InitialValues) -> RunArgs {
        RunArgs {
            file: self.file.clone(),
            chart: self.chart.clone(),
            llm: self.llm.clone(),
            model: self.model.clone(),
            human: Some(self.human.clone()),
            functions: self.functions.as_ref().map(|path| path.display().to_string()),
            turns: Some(0),
            // A resumed run stays in real time. With a real model this follows from `--llm`.
            clock: (!is_live(self.llm.as_deref())).then(|| "real".to_owned()),
            params: given.params.clone(),
            inputs: given.inputs.clone(),
            ..RunArgs::default()
        }
    }
}
