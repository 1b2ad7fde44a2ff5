//! The events of a world, for the host that runs the agents and for the agents themselves.

use super::{State, int, text};
use crate::request::Notice;
use chartc_core::expr::{Map, Value};
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

    /// The event as agents see it: `number`, `event`, `tick`, and its data.
    pub(crate) fn value(&self) -> Value {
        let mut map = Map::new();
        map.insert("number".into(), int(self.number));
        map.insert("event".into(), text(&self.notice.event));
        if let Some(tick) = self.tick {
            map.insert("tick".into(), Value::Int(i64::from(tick)));
        }
        for (name, value) in self.notice.data.iter() {
            map.insert(name.to_owned(), value.clone());
        }
        Value::Map(map)
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
