//! The command `chartc simulate`.

use super::files::Root;
use super::instance::{InitialValues, PairKind, instance, read, values};
use super::output::{Exit, StyledText, complain, cut, padded, print, print_json, width};
use super::pick::pick_to_run;
use crate::setup::functions;
use chartc_runtime::data;
use chartc_runtime::simulate::{Simulation, simulate};
use std::path::PathBuf;

/// The maximum width of the column of inputs, in columns of the terminal.
const NAME: usize = 80;

/// Send events to a chart without a model, in virtual time, and show the configuration after each.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc simulate door.chart --events events.json
  chartc simulate door.chart --events events.json --format json

Entries of the events:

  {\"event\": \"e\", \"data\": {}, \"after_ms\": 0}    an event; data and after_ms are optional
  {\"event\": \"turn\"}                            a turn
  {\"answer\": \"option\", \"data\": {}}             the answer to the open question or step
  {\"fail\": \"why\"}                              its failure
  {\"unusable\": true}, {\"doubt\": true}          an unusable answer; unknown whether it ran

If several steps are open, add \"step\": \"name\" to an answer.

Exit codes: 0 played, 1 errors in the chart, 2 wrong usage or an invalid entry, 3 internal error,
4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Events to send: a JSON array, or one JSON object per line
    #[arg(long, value_name = "FILE")]
    events: PathBuf,
    /// Script with results of host functions
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    /// Set an input; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Set a param; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Output format
    #[arg(long, default_value = "human", value_parser = ["human", "json"])]
    format: String,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let checked = match pick_to_run(&args.file, args.chart.as_deref(), &args.root, 0)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let chart = checked.chart();
    let given = InitialValues {
        params: values(chart, PairKind::Param, &args.param)?,
        inputs: values(chart, PairKind::Input, &args.input)?,
    };
    let entries = data::entries(&read(&args.events)?)
        .map_err(|fault| miette::miette!("{}: {fault}", args.events.display()))?;
    let charts = checked.family();
    let plans = checked.plans();
    let machine =
        instance(&plans, &given, functions(&charts, args.functions.as_deref(), &complain)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let seen = runtime
        .block_on(simulate(machine, &given.inputs, &entries, ()))
        .map_err(|fault| miette::miette!("{}: {fault}", args.events.display()))?;
    if args.format == "json" {
        let text = serde_json::to_string(&seen).map_err(|fault| miette::miette!("{fault}"))?;
        print_json(&format!("{text}\n"))?;
    } else {
        print(&human(&seen, &entries))?;
    }
    Ok(Exit::Clean)
}

fn human(seen: &Simulation, entries: &[data::Entry]) -> StyledText {
    let names = std::iter::once("start".to_owned()).chain(entries.iter().map(name));
    let rows: Vec<(String, String)> = names
        .zip(&seen.paths)
        .zip(&seen.receipts)
        .map(|((name, paths), receipt)| {
            let note = if *receipt == "handled" { String::new() } else { format!("  ({receipt})") };
            (cut(&name, NAME), paths.join(", ") + &note)
        })
        .collect();
    let widest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let mut text = StyledText::default();
    for (name, states) in rows {
        text.line(format!("{}  {states}", padded(&name, widest)));
    }
    if let Some(status) = seen.status {
        text.line(format!("ended {status}"));
    }
    text
}

fn name(entry: &data::Entry) -> String {
    let what = match &entry.what {
        data::Sent::Nothing if entry.inputs.is_empty() => String::new(),
        data::Sent::Nothing => "input".to_owned(),
        data::Sent::Turn => "turn".to_owned(),
        data::Sent::Event(name, _) => name.clone(),
        data::Sent::Answer { value, .. } => {
            format!("answer {}", chartc_runtime::trace::view::json(value))
        }
        data::Sent::Fail { .. } => "fail".to_owned(),
        data::Sent::Unusable { .. } => "unusable".to_owned(),
        data::Sent::Doubt { .. } => "doubt".to_owned(),
    };
    match entry.after_ms {
        Some(milliseconds) if milliseconds > 0 => {
            let after = chartc_core::expr::Duration(milliseconds);
            format!("+{after} {what}").trim_end().to_owned()
        }
        Some(_) | None => what,
    }
}
