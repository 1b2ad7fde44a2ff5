//! The output of a run of many agents: a line of JSON or text for each tick, and a status line on a terminal.

use super::super::files::Stream;
use super::super::glance::{LISTED, at_a_glance};
use super::super::output::{StyledText, foot, print_json, say};
use chartc_core::wording::counted;
use chartc_runtime::trace::Logged;
use chartc_runtime::trace::view::{joined, spent};
use chartc_world::Census;
use chartc_world::engine::{Output, Summary};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// The format of summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Format {
    /// A line of text for each tick.
    Text,
    /// A JSON object for each tick, and one at the end.
    Json,
}

/// The outputs of a run: summaries, the log, the status line and the store.
pub(super) struct WorldOutput {
    pub(super) format: Format,
    pub(super) log: Option<io::BufWriter<Stream>>,
    pub(super) ticks: Option<u32>,
    /// The number of agents at the start.
    pub(super) agents: usize,
    pub(super) is_live: bool,
    /// The states of all agents, for the status line.
    pub(super) census: Census,
    /// The store of the run, if it survives its process.
    #[cfg(feature = "sqlite")]
    pub(super) checkpoints: Option<super::store::CheckpointWriter>,
}

impl Output for WorldOutput {
    fn logged(&mut self, line: &Logged) -> io::Result<()> {
        #[cfg(feature = "sqlite")]
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.line(line)?;
        }
        if self.is_live {
            self.census.observe(&line.agent, &line.line);
        }
        let Some(log) = &mut self.log else { return Ok(()) };
        log.write_all(line.text()?.as_bytes())
    }

    #[cfg(feature = "sqlite")]
    fn keeps(&self) -> bool {
        self.checkpoints.is_some()
    }

    #[cfg(feature = "sqlite")]
    fn keep(&mut self, checkpoint: chartc_world::Checkpoint) -> io::Result<()> {
        self.checkpoints.as_mut().map_or(Ok(()), |checkpoints| checkpoints.commit(checkpoint))
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        if let Some(log) = &mut self.log {
            // Whoever follows the log sees whole ticks.
            log.flush()?;
        }
        let told = |why: miette::Report| io::Error::other(why.to_string());
        match self.format {
            Format::Json => {
                let text = serde_json::to_string(&Typed { ty: "tick_summary", of: summary })?;
                print_json(&format!("{text}\n")).map_err(told)
            }
            Format::Text => {
                if self.is_live {
                    foot::wipe()?;
                }
                say(self.line(summary)).map_err(told)?;
                for note in &summary.highlights {
                    say(format!("  {note}")).map_err(told)?;
                }
                if self.is_live {
                    foot::draw(&self.progress(summary))?;
                }
                Ok(())
            }
        }
    }
}

/// The end of a run.
#[derive(serde::Serialize)]
pub(super) struct RunEnd<'e> {
    pub(super) now_ms: u64,
    pub(super) llm_calls: u64,
    pub(super) llm_tokens: u64,
    pub(super) cost: f64,
    pub(super) balances: BTreeMap<String, i64>,
    pub(super) states: BTreeMap<String, Vec<String>>,
    pub(super) loops: BTreeMap<&'e str, &'static str>,
    /// Why agents are idle.
    pub(super) idle: BTreeMap<String, String>,
    pub(super) broken: &'e BTreeMap<&'e str, &'e str>,
}

impl RunEnd<'_> {
    /// What was spent, and the agents. Of many, there are the numbers in each loop and in each state (`glance`), and some that are idle.
    pub(super) fn text(&self, glance: &str) -> StyledText {
        let mut out = StyledText::default();
        let paid = spent(self.llm_tokens, (self.cost * 1e6).round() as u64);
        let calls = counted(self.llm_calls, "model call");
        let paid = if paid.is_empty() { String::new() } else { format!(", {calls}{paid}") };
        out.line(format!("ended after {} s of the world's time{paid}", self.now_ms / 1000));
        let is_few = self.states.len() <= LISTED;
        if !is_few {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for word in self.loops.values() {
                *counts.entry(word).or_default() += 1;
            }
            let counts = counts.iter().map(|(word, count)| format!("{count} {word}"));
            let all = counted(self.states.len(), "agent");
            out.line(format!("  {all}: {}", counts.collect::<Vec<_>>().join(", ")));
            out.line(format!("  {glance}"));
        }
        let is_shown = |name: &String| is_few || self.idle.contains_key(name);
        for (name, states) in self.states.iter().filter(|(name, _)| is_shown(name)).take(LISTED) {
            let scrip = format!("{} scrip", self.balances.get(name).copied().unwrap_or_default());
            let states = if states.is_empty() { "ended".to_owned() } else { states.join(", ") };
            let why = self.idle.get(name).filter(|_| states != "ended");
            let why = why.map_or("", String::as_str);
            out.line(format!("  {name}: {}", joined(", ", &[&states, &scrip, why])));
        }
        if !is_few {
            out.line("  --format json lists all agents");
        }
        out
    }
}

/// An object with its type as the first field.
#[derive(serde::Serialize)]
pub(super) struct Typed<'s, T> {
    #[serde(rename = "type")]
    pub(super) ty: &'static str,
    #[serde(flatten)]
    pub(super) of: &'s T,
}

impl WorldOutput {
    /// Creates or empties the file of the log, and writes the lines that the store has of the run.
    pub(super) fn open_log(&mut self, path: &Path) -> miette::Result<()> {
        let log = self.log.insert(io::BufWriter::new(Stream::create(path)?));
        #[cfg(feature = "sqlite")]
        if let Some(checkpoints) = &self.checkpoints {
            for line in checkpoints.log()? {
                log.write_all(line.as_bytes())
                    .map_err(|why| miette::miette!("the log cannot be written: {why}"))?;
            }
        }
        #[cfg(not(feature = "sqlite"))]
        let _ = log;
        Ok(())
    }

    fn line(&self, summary: &Summary) -> String {
        let mut parts = vec![format!(
            "tick {}: {} of {} agents active",
            summary.tick,
            summary.agents_active,
            self.agents.max(summary.agents_active)
        )];
        parts.extend(summary.actions_by_type.iter().map(|(word, n)| format!("{n} {word}")));
        let Summary { total_scrip_transferred: scrip, total_llm_tokens: tokens, .. } = summary;
        let counts = [
            (summary.llm_calls, counted(summary.llm_calls, "model call")),
            (usize::from(*tokens > 0), counted(*tokens, "token")),
            (usize::from(*scrip > 0), format!("{scrip} scrip moved")),
            (summary.artifacts_created, counted(summary.artifacts_created, "artifact") + " made"),
            (summary.errors, counted(summary.errors, "error")),
            (summary.skipped, counted(summary.skipped, "turn") + " skipped"),
            (summary.paused, counted(summary.paused, "agent") + " paused"),
        ];
        parts.extend(counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text));
        parts.join(", ")
    }

    fn progress(&self, summary: &Summary) -> String {
        let when = match self.ticks {
            Some(all) => format!("tick {} of {all}", summary.tick),
            None => format!("{} s", summary.now_ms / 1000),
        };
        format!("{when}  {}", at_a_glance(&self.census))
    }
}
