//! The events of a world, for the host that runs the agents and for the agents themselves.

use super::State;
use crate::request::Notice;
use chartc_core::expr::Value;
use serde::{Deserialize, Serialize};

/// The agents that may know of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Audience {
    /// All agents.
    Everyone,
    /// Only these agents.
    Only(Vec<String>),
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    /// The number of the event, from 1.
    pub(crate) number: u64,
    /// When it happened.
    pub(crate) tick: Option<u32>,
    pub(crate) notice: Notice,
    pub(crate) audience: Audience,
}

impl Event {
    /// Whether `agent` may know of it.
    pub(crate) fn is_for(&self, agent: &str) -> bool {
        match &self.audience {
            Audience::Everyone => true,
            Audience::Only(agents) => agents.iter().any(|name| name == agent),
        }
    }

    /// The event as agents see it: the fields of each event, and its own data.
    pub(crate) fn value(&self) -> Value {
        let data = &self.notice.data;
        let said = |name: &str| match data.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        let event = chartc_runtime::agent::Event {
            number: self.number,
            tick: u64::from(self.tick.unwrap_or(0)),
            event: &self.notice.event,
            by: said("by"),
            action: action(&self.notice.event, said("type")),
            artifact: said("artifact_id"),
            success: self.notice.event != "rejected",
        };
        event.value(data.iter())
    }
}

/// The action that an event is; events that follow from an action, and those of the world itself, are none.
fn action(event: &str, ty: &str) -> &'static str {
    match event {
        "invoked" => "invoke_artifact",
        "written" | "rejected" => "write_artifact",
        // The record and the memory of a new agent are made by the world.
        "created" if !matches!(ty, "agent" | "memory") => "write_artifact",
        _ => "",
    }
}

impl State {
    /// Adds an event.
    pub(crate) fn tell<const N: usize>(
        &mut self,
        event: &str,
        data: [(&str, Value); N],
        audience: Audience,
    ) {
        let data = data.into_iter().filter(|(_, value)| *value != Value::None);
        let data = data.map(|(name, value)| (name.to_owned(), value)).collect();
        let notice = Notice { event: event.to_owned(), data };
        self.event_number += 1;
        let (number, tick) = (self.event_number, self.moment.tick);
        self.notices.push(notice.clone());
        self.events.push_back(Event { number, tick, notice, audience });
        while self.events.len() as u64 > self.settings.max_events {
            self.events.pop_front();
        }
    }

    /// The agents that may know of an action on an artifact: all agents, if all may read it.
    pub(crate) fn audience(&self, id: &str, agent: &str) -> Audience {
        use chartc_runtime::agent::Who;
        match self.artifacts.get(id) {
            Some(artifact) => match &artifact.policy.read {
                Who::Everyone => Audience::Everyone,
                Who::Owner | Who::Nobody => {
                    Audience::Only(vec![agent.to_owned(), artifact.owner.clone()])
                }
                Who::Only(names) => {
                    let own = [agent.to_owned(), artifact.owner.clone()];
                    Audience::Only(names.iter().cloned().chain(own).collect())
                }
            },
            None => Audience::Everyone,
        }
    }
}
