//! Adds up the summaries of ticks.

use crate::cli::output::StyledText;
use crate::cli::trace::summary::list;
use crate::cli::trace::tell::{number, time};
use chartc_core::expr::{Map, Value};
use chartc_runtime::trace::{Line, What};
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of highlights that are kept, the last ones.
const HIGHLIGHTS: usize = 10;

/// The sums of the summaries of all ticks.
#[derive(Debug, Default, Serialize)]
pub(super) struct Totals {
    pub(super) ticks: u64,
    pub(super) last_tick: u64,
    /// The number of agents with an action, added up over the ticks.
    agents_active: u64,
    actions_executed: u64,
    actions_by_type: BTreeMap<String, u64>,
    total_llm_tokens: u64,
    pub(super) total_scrip_transferred: u64,
    artifacts_created: u64,
    errors: u64,
    skipped: u64,
    /// The last highlights, each with its tick.
    highlights: Vec<(u64, String)>,
    #[serde(skip)]
    at_ms: u64,
}

fn count(data: &Map, name: &str) -> u64 {
    match data.get(name) {
        Some(Value::Int(count)) => u64::try_from(*count).unwrap_or(0),
        Some(Value::Float(count)) => *count as u64,
        Some(_) | None => 0,
    }
}

impl Totals {
    /// Adds a line of the world, if it summarizes a tick.
    pub(super) fn line(&mut self, line: &Line) {
        let What::World { event, data: Value::Map(data) } = &line.what else { return };
        if event != "tick_summary" {
            return;
        }
        let tick = count(data, "tick");
        self.ticks += 1;
        self.last_tick = self.last_tick.max(tick);
        self.at_ms = self.at_ms.max(line.at_ms);
        for (sum, name) in [
            (&mut self.agents_active, "agents_active"),
            (&mut self.actions_executed, "actions_executed"),
            (&mut self.total_llm_tokens, "total_llm_tokens"),
            (&mut self.total_scrip_transferred, "total_scrip_transferred"),
            (&mut self.artifacts_created, "artifacts_created"),
            (&mut self.errors, "errors"),
            (&mut self.skipped, "skipped"),
        ] {
            *sum = sum.saturating_add(count(data, name));
        }
        if let Some(Value::Map(types)) = data.get("actions_by_type") {
            for (action, _) in types.iter() {
                *self.actions_by_type.entry(action.to_owned()).or_default() += count(types, action);
            }
        }
        if let Some(Value::List(notes)) = data.get("highlights") {
            for note in notes {
                if let Value::Text(note) = note {
                    self.highlights.push((tick, note.clone()));
                }
            }
            let over = self.highlights.len().saturating_sub(HIGHLIGHTS);
            self.highlights.drain(..over);
        }
    }

    /// Formats the sums for people; empty if there were no ticks.
    pub(super) fn text(&self) -> StyledText {
        let mut out = StyledText::default();
        if self.ticks == 0 {
            return out;
        }
        let end = if self.at_ms > 0 { format!(", {}", time(self.at_ms)) } else { String::new() };
        out.line(format!("{}{end}", number(self.ticks, "tick")));
        let mut row = |what: &str, is_there: bool, text: String| {
            if is_there {
                out.line(format!("  {what:<12}{text}"));
            }
        };
        let active = self.agents_active as f64 / self.ticks as f64;
        row("active", true, format!("{active:.1} agents a tick"));
        let actions = format!("{}: {}", self.actions_executed, list(&self.actions_by_type));
        row("actions", self.actions_executed > 0, actions);
        row("tokens", self.total_llm_tokens > 0, self.total_llm_tokens.to_string());
        let scrip = format!("{} moved", self.total_scrip_transferred);
        row("scrip", self.total_scrip_transferred > 0, scrip);
        row("artifacts", self.artifacts_created > 0, format!("{} made", self.artifacts_created));
        row("errors", self.errors > 0, self.errors.to_string());
        row(
            "skipped",
            self.skipped > 0,
            format!("{} for want of room", number(self.skipped, "turn")),
        );
        for (nth, (tick, note)) in self.highlights.iter().enumerate() {
            let word = if nth == 0 { "highlights" } else { "" };
            row(word, true, format!("tick {tick}: {note}"));
        }
        out
    }
}
