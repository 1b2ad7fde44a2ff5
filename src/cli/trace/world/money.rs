//! Counts what happened in the world, from the world's own lines.

use chartc_core::expr::Value;
use chartc_runtime::trace::{Line, What};
use serde::Serialize;
use std::collections::BTreeMap;

/// The events that move scrip.
const KINDS: [&str; 3] = ["transferred", "minted", "burned"];

/// The number and the sum of transfers of one kind.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct Moved {
    pub(super) times: u64,
    pub(super) scrip: i64,
}

/// The events of the world by name, and the scrip that they moved.
#[derive(Debug, Default, Serialize)]
pub(super) struct World {
    /// The number of events, by name.
    pub(super) events: BTreeMap<String, u64>,
    /// The scrip moved, by event: `transferred`, `minted`, `burned`.
    pub(super) scrip: BTreeMap<String, Moved>,
}

impl World {
    pub(super) fn line(&mut self, line: &Line) {
        let What::World { event, data: Value::Map(data) } = &line.what else { return };
        if event == "tick_summary" {
            return;
        }
        *self.events.entry(event.clone()).or_default() += 1;
        let is_money = KINDS.contains(&event.as_str());
        if let (Some(Value::Int(amount)), true) = (data.get("amount"), is_money) {
            let moved = self.scrip.entry(event.clone()).or_default();
            moved.times += 1;
            moved.scrip = moved.scrip.saturating_add(*amount);
        }
    }

    /// Formats the movements of scrip on one line.
    pub(super) fn scrip(&self) -> String {
        let kinds = KINDS.iter().filter_map(|kind| Some((*kind, self.scrip.get(*kind)?)));
        let each = kinds.map(|(what, moved)| {
            let times =
                if moved.times == 1 { "once".into() } else { format!("{} times", moved.times) };
            format!("{} {what} ({times})", moved.scrip)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The events that moved no scrip.
    pub(super) fn others(&self) -> BTreeMap<String, u64> {
        let others = self.events.iter().filter(|(event, _)| !self.scrip.contains_key(*event));
        others.map(|(event, count)| (event.clone(), *count)).collect()
    }
}
