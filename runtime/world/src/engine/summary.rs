//! The events of a tick in numbers.

use crate::census::Census;
use crate::request::Notice;
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::ACTIONS;
use chartc_runtime::trace::{Line, What};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of notable events in the summary of a tick.
const HIGHLIGHTS: usize = 10;

/// The summary of a tick, or of a period of the same length in an autonomous run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Its number, from 1.
    pub tick: u32,
    /// The world's time at its end, in milliseconds.
    pub now_ms: u64,
    /// The number of agents whose turn has chosen an action, including `noop`. Each agent counts once.
    pub agents_active: usize,
    /// The number of actions that were tried, including `noop`.
    pub actions_executed: usize,
    /// The same by kind of action.
    pub actions_by_type: BTreeMap<String, usize>,
    /// The number of model calls.
    pub llm_calls: usize,
    /// Tokens of all calls, in and out.
    pub total_llm_tokens: u64,
    /// Scrip that was transferred between agents.
    pub total_scrip_transferred: u64,
    /// The number of new artifacts.
    pub artifacts_created: usize,
    /// The number of actions and turns that failed.
    pub errors: usize,
    /// The number of agents that were skipped because their limits left no room.
    pub skipped: usize,
    /// The number of agents in each basic state, by chart. States without agents are omitted.
    pub states: BTreeMap<String, BTreeMap<String, u64>>,
    /// The first notable events, as text.
    pub highlights: Vec<String>,
}

impl Summary {
    /// The summary as the data of a line of the log.
    pub(super) fn data(&self) -> Map {
        let text = serde_json::to_string(self);
        text.and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
    }
}

/// The number of agents in each state.
fn states(census: &Census) -> BTreeMap<String, BTreeMap<String, u64>> {
    let all = census.state_distribution().into_iter().map(|row| {
        let present = row.states.into_iter().filter(|state| state.count > 0);
        (row.chart, present.map(|state| (state.state, state.count)).collect())
    });
    all.collect()
}

/// The summary of the current tick.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TickStats {
    pub(super) summary: Summary,
    /// The active agents.
    active: BTreeSet<String>,
}

impl TickStats {
    /// Counts a line of an agent's trace.
    pub(super) fn count_line(&mut self, agent: &str, line: &Line) {
        let summary = &mut self.summary;
        if let What::Question { .. } = line.what {
            summary.llm_calls += 1;
        } else if let What::Usage { input_tokens, output_tokens, .. } = line.what {
            let both = input_tokens.saturating_add(output_tokens);
            summary.total_llm_tokens = summary.total_llm_tokens.saturating_add(both);
        } else if let What::Acted { action, failed, .. } = &line.what {
            // A model may invent a name. It must not become a key of the summary.
            self.act(if ACTIONS.contains(&action.as_str()) { action } else { "unknown" });
            self.summary.errors += usize::from(!failed.is_empty());
        } else if let What::NotActed { .. } = line.what {
            summary.errors += 1;
        } else if let What::Ended { status, .. } = &line.what
            && line.child.is_empty()
        {
            self.note(format!("{agent} has ended: {status}"));
        }
    }

    /// Counts an agent whose turn has chosen an action.
    pub(super) fn count_active(&mut self, agent: &str) {
        if !self.active.contains(agent) {
            self.active.insert(agent.to_owned());
        }
    }

    /// Counts an action that was tried.
    pub(super) fn act(&mut self, word: &str) {
        self.summary.actions_executed += 1;
        *self.summary.actions_by_type.entry(word.to_owned()).or_default() += 1;
    }

    /// Counts an event of the world.
    pub(super) fn notice(&mut self, notice: &Notice) {
        let number = |name: &str| match notice.data.get(name) {
            Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
            Some(_) | None => 0,
        };
        let text = |name: &str| match notice.data.get(name) {
            Some(Value::Text(text)) => text.clone(),
            Some(_) | None => String::new(),
        };
        let note = match notice.event.as_str() {
            // New agents have an event of their own, `spawned`.
            "created" if matches!(text("type").as_str(), "agent" | "memory") => return,
            "created" => format!("{} made {}", text("by"), text("artifact_id")),
            "auction_resolved" => {
                let (bid, price) = (number("bid"), number("price"));
                let (winner, won) = (text("winner"), text("artifact_id"));
                format!("{winner} won the auction with {won}, bid {bid} and paid {price} scrip")
            }
            "minted" => format!("{} scrip minted for {}", number("amount"), text("to")),
            "spawned" => format!("{} made the agent {}", text("by"), text("agent")),
            "sold" => {
                let price = number("price");
                format!("{} bought {} for {price} scrip", text("to"), text("artifact_id"))
            }
            "rejected" => {
                format!("{} wrote {}, which does not compile", text("by"), text("artifact_id"))
            }
            _ => return,
        };
        self.note(note);
    }

    /// Adds a notable event.
    pub(super) fn note(&mut self, text: String) {
        if self.summary.highlights.len() < HIGHLIGHTS {
            self.summary.highlights.push(text);
        }
    }

    /// Returns the summary, and begins the next one.
    pub(super) fn take(
        &mut self,
        tick: u32,
        now_ms: u64,
        world: crate::state::Summary,
        census: &Census,
    ) -> Summary {
        let Self { summary, active } = std::mem::take(self);
        Summary {
            tick,
            now_ms,
            agents_active: active.len(),
            states: states(census),
            total_scrip_transferred: u64::try_from(world.scrip_transferred).unwrap_or(0),
            artifacts_created: world.artifacts_created as usize,
            ..summary
        }
    }

    /// Resets all counts.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether nothing has happened.
    pub(super) fn is_empty(&self) -> bool {
        self.summary == Summary::default() && self.active.is_empty()
    }
}
