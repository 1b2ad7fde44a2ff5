//! The options of `chartc run` for a folder, and the settings that follow from them and the run file.

use super::show::Format;
use chartc_world::RunFile;
use chartc_world::engine::Settings;
use std::path::PathBuf;

/// The default duration of an autonomous run, in milliseconds.
const DURATION: u64 = 60_000;

/// The options of `chartc run` for a folder.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Many agents")]
pub(in crate::cli) struct Options {
    /// For a folder: ticks to run, in each of which all agents think about the same world and then act in a random order
    #[arg(long, value_name = "N")]
    pub(super) ticks: Option<u32>,
    /// For a folder: seconds of the world's time to run, each agent in a loop of its own [default: 60]
    #[arg(long, value_name = "SECONDS", conflicts_with = "ticks")]
    pub(super) duration: Option<f64>,
    /// For a folder: seconds from one tick to the next [default: 15]
    #[arg(long, value_name = "SECONDS")]
    pub(super) delay: Option<f64>,
    /// For a folder: decides the order in which agents act [default: 0]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    /// For a folder: the run file, which says who runs and with what limits [default: run.yaml in the folder]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// For a folder: file for the log of all agents, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// For a folder: threads on which agents think; 0 means as many as there are processors [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) workers: Option<usize>,
    /// For a folder: how summaries are written [default: text on a terminal, otherwise json]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(super) format: Option<Format>,
}

impl Options {
    /// The name of the first option that was given and applies only to a folder.
    pub(in crate::cli) fn given(&self) -> Option<&'static str> {
        let all = [
            (self.ticks.is_some(), "--ticks"),
            (self.duration.is_some(), "--duration"),
            (self.delay.is_some(), "--delay"),
            (self.seed.is_some(), "--seed"),
            (self.config.is_some(), "--config"),
            (self.log.is_some(), "--log"),
            (self.workers.is_some(), "--workers"),
            (self.format.is_some(), "--format"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }
}

/// The end of a run: after a number of ticks, or at a time of the world in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Ticks(u32),
    Time(u64),
}

impl End {
    pub(super) fn from_options(file: &RunFile, options: &Options) -> miette::Result<Self> {
        if let Some(ticks) = options.ticks {
            return Ok(Self::Ticks(ticks));
        }
        if let Some(seconds) = options.duration {
            return Ok(Self::Time(milliseconds(seconds, "--duration")?));
        }
        let execution = &file.execution;
        let time = execution.duration.unwrap_or(DURATION);
        if execution.is_autonomous() {
            return Ok(Self::Time(time));
        }
        let ticks = execution.ticks.unwrap_or_else(|| time.div_ceil(execution.delay.max(1)));
        Ok(Self::Ticks(u32::try_from(ticks).unwrap_or(u32::MAX)))
    }
}

/// Converts the seconds of an option to milliseconds.
fn milliseconds(seconds: f64, option: &str) -> miette::Result<u64> {
    if seconds.is_finite() && (0.0..1e12).contains(&seconds) {
        Ok((seconds * 1000.0).round() as u64)
    } else {
        Err(miette::miette!("{option} is a number of seconds, 0 or more"))
    }
}

pub(super) fn settings(
    file: &RunFile,
    options: &Options,
    is_real: bool,
) -> miette::Result<Settings> {
    let execution = &file.execution;
    let delay = options.delay.map(|seconds| milliseconds(seconds, "--delay")).transpose()?;
    Ok(Settings {
        seed: options.seed.or(execution.seed).unwrap_or(0),
        delay: delay.unwrap_or(execution.delay),
        interval: execution.interval,
        max_backoff: execution.max_backoff,
        max_errors: execution.max_consecutive_errors,
        is_real,
        exhaustion: execution.exhaustion,
    })
}
