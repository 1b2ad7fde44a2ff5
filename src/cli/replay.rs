//! The command `chartc replay`.

#[cfg(feature = "sqlite")]
use super::durable;
use super::files::{self, Root};
use super::instance::{InitialValues, instance, read_made};
use super::output::{Exit, StyledText, print, say};
use super::pick::pick_to_run;
use super::trace::world::{Log, text_of};
use chartc_compiler::compile::Checked;
use chartc_core::expr::Map;
use chartc_core::model::{Chart, VariableKind};
use chartc_core::plan::Plan;
use chartc_core::visible;
use chartc_core::wording::counted;
use chartc_runtime::replay::{ReplayError, Replayed, Tape, replay};
use chartc_runtime::trace::What;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Run a chart again from a trace, with the same inputs, answers and results at the same times, without asking anybody.
///
/// Every line of the new trace must equal the recorded one. The first difference is shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc run builder.chart --llm random:7 --param agent_id=ada --trace run.jsonl
  chartc replay run.jsonl                          the chart that the trace names
  chartc replay run.jsonl changed.chart            does a changed chart behave the same?
  chartc replay run.jsonl changed.chart --force    even if its structure has changed
  chartc replay --store runs.db ada                a run of a store
  chartc replay world.jsonl trader.chart --agent ada
                                                   one agent of a world's log

Exit codes: 0 identical, 1 a difference, or errors in the chart, 2 wrong usage, or the trace of
another chart, 3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// Trace written by `chartc run --trace`, or with --store the name of the run
    trace: PathBuf,
    /// Store of `chartc run --store` that has the run
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// File of the chart [default: the one that the trace names, relative to this folder or else to the trace's]
    file: Option<String>,
    /// Agent to replay, if the trace is the log of a world with many agents
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Replay even if the chart's structure has changed, to see where the runs differ
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let name = args.trace.display().to_string();
    #[cfg(feature = "sqlite")]
    let stored = args.store.as_deref().map(|store| durable::trace(store, &name)).transpose()?;
    #[cfg(not(feature = "sqlite"))]
    let stored: Option<Result<String, Exit>> = None;
    let text = match stored {
        Some(Ok(text)) => text,
        Some(Err(exit)) => return Ok(exit),
        None => match (Log::open(&args.trace)?, args.agent.as_deref()) {
            (Some(log), Some(agent)) => text_of(log, agent)?,
            (Some(_), None) => {
                return Err(miette::miette!(
                    help = "add --agent NAME; `chartc trace LOG` shows who is in it",
                    "{name} is the log of a world with many agents, and a replay is of one"
                ));
            }
            (None, Some(_)) => {
                return Err(miette::miette!(
                    "--agent is for the log of a world; {name} is the trace of one run"
                ));
            }
            (None, None) => read_made(&args.trace)?,
        },
    };
    let parsed = |text: &str| {
        Tape::read(text).map_err(|fault| {
            miette::miette!(help = "`chartc trace` shows the readable part", "{name}, {fault}")
        })
    };
    let mut tape = parsed(&text)?;
    let recorded = match recorded(&tape, (&name, &args.trace), args.file, &args.root, args.force)? {
        Ok(recorded) => recorded,
        Err(exit) => return Ok(exit),
    };
    if args.force {
        tape = parsed(&with_hash(&text, &hash_of(&recorded.chart)))?;
    }
    let wanted = recorded.chart.name.clone();
    let plans = recorded.plans();
    let machine = instance(&plans, &recorded.given(&tape), tape.host())?;
    tell(&name, &wanted, replay(&tape, machine))
}

/// Prints how the replay went, and returns the exit code.
fn tell(name: &str, chart: &str, outcome: Result<Replayed, ReplayError>) -> miette::Result<Exit> {
    match outcome {
        Ok(done) => {
            let lines = done.lines;
            let (turns, answers) = (counted(done.turns, "turn"), counted(done.answers, "answer"));
            say(format!(
                "{name}: the same again: {chart}, {lines} lines, {turns}, {answers} from the trace, 0 model calls"
            ))?;
            Ok(Exit::Clean)
        }
        Err(different) => {
            let mut out = StyledText::default();
            out.block("", &format!("{}, {different}", visible::line(name)));
            print(&out)?;
            Ok(Exit::Findings)
        }
    }
}

/// The hash of a chart, in the form of a trace: 16 hexadecimal digits.
fn hash_of(chart: &Arc<Chart>) -> String {
    format!("{:016x}", Plan::new(chart).tables().hash)
}

/// Replaces the hash in the first line of a trace, so that the replay of another version of the chart begins and shows where the runs
/// differ.
fn with_hash(text: &str, hash: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(mut line) = serde_json::from_str::<serde_json::Value>(first) else {
        return text.to_owned();
    };
    if let Some(field) = line.get_mut("hash") {
        *field = hash.into();
    }
    format!("{line}\n{rest}")
}

/// The chart of a trace, with the settings of the recorded run.
pub(super) struct Recorded {
    checked: Checked,
    chart: Arc<Chart>,
}

impl Recorded {
    /// The plans of the chart and its child charts. The recorded chart may differ from the checked one in its limit of calls for a turn.
    pub(super) fn plans(&self) -> Arc<[Plan]> {
        self.checked.plans_with(&self.chart)
    }

    /// The values of the params of the recorded run.
    pub(super) fn given(&self, tape: &Tape) -> InitialValues {
        let is_param = |name: &str| {
            let mut variables = self.chart.variables.iter();
            variables.any(|v| v.name == name && matches!(v.kind, VariableKind::Param { .. }))
        };
        let params: Map = tape.variables().into_iter().filter(|(name, _)| is_param(name)).collect();
        InitialValues { params, inputs: Map::new() }
    }
}

/// Reads the chart of a trace, from `file` or else from the file that the trace names.
pub(super) fn recorded(
    tape: &Tape,
    (name, trace): (&str, &Path),
    file: Option<String>,
    root: &Root,
    force: bool,
) -> miette::Result<Result<Recorded, Exit>> {
    let Some(What::Run { chart: wanted, hash, .. }) = tape.first().map(|line| &line.what) else {
        return Err(miette::miette!("{name}: {}", ReplayError::NoRun));
    };
    let file = match file {
        Some(file) => file,
        None => find(name, trace, &tape.origin().file, root)?,
    };
    let checked = match pick_to_run(&file, Some(wanted), root, 0)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(Err(exit)),
    };
    let mut chart = checked.chart().clone();
    if let Some(calls) = tape.origin().calls_per_turn {
        Arc::make_mut(&mut chart).calls_per_turn = (calls > 0).then_some(calls);
    }
    let found = hash_of(&chart);
    if found != *hash && !force {
        return Err(miette::miette!(
            help = "name the original file: chartc replay TRACE FILE; or use --force to see where the runs differ",
            "{name} is a run of another chart: `{wanted}` had the hash {hash}, in {file} it has {found}"
        ));
    }
    Ok(Ok(Recorded { checked, chart }))
}

/// Finds the file that a trace names, relative to this folder or else to the folder of the trace.
fn find(name: &str, trace: &Path, file: &str, root: &Root) -> miette::Result<String> {
    if file.is_empty() {
        return Err(miette::miette!(
            help = "name it: chartc replay TRACE FILE",
            "{name} does not name the file of its chart"
        ));
    }
    let beside = trace.parent().unwrap_or(Path::new("")).join(file);
    // The empty path stands for this folder: the name is resolved as an import of a file here would be.
    let ways = [(PathBuf::from(file), Path::new("")), (beside, trace)];
    let found = files::linked(&ways, root).map_err(|refused| {
        let why = refused.map_or("which does not exist".to_owned(), |why| {
            format!("which must be named explicitly: {why}")
        });
        miette::miette!(
            help = "name it: chartc replay TRACE FILE",
            "{name} is a run of {file}, {why}"
        )
    })?;
    Ok(found.display().to_string())
}
