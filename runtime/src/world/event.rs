//! An event as agents see it: a record with the same fields in every world.

use chartc_core::expr::{Map, Value};

/// Events that an agent sees in a turn, the newest.
pub const EVENTS: usize = 20;

/// Something that happened in a world. All fields are always there; a text that does not apply is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its place in the order of all events, from 1. An action without an event of its own has the number of the event before it.
    pub number: u64,
    /// The tick in which it happened; the agent's turn in a world without ticks.
    pub tick: u64,
    /// What happened: `written`, `invoked`, `minted` and so on.
    pub event: &'a str,
    /// The agent that did it.
    pub by: &'a str,
    /// The action that it was, such as `write_artifact`. An action is one event.
    pub action: &'a str,
    /// The artifact that it is about.
    pub artifact: &'a str,
    /// Whether it worked. Only actions can fail.
    pub success: bool,
}

impl Event<'_> {
    /// The record, followed by what only events of this kind have.
    pub fn value<'m>(&self, more: impl IntoIterator<Item = (&'m str, &'m Value)>) -> Value {
        let mut map = Map::new();
        let number = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        map.insert("number".into(), number(self.number));
        map.insert("tick".into(), number(self.tick));
        let texts = [
            ("event", self.event),
            ("by", self.by),
            ("action", self.action),
            ("artifact_id", self.artifact),
        ];
        for (name, text) in texts {
            map.insert(name.into(), Value::Text(text.to_owned()));
        }
        map.insert("success".into(), Value::Bool(self.success));
        for (name, value) in more {
            if map.get(name).is_none() {
                map.insert(name.to_owned(), value.clone());
            }
        }
        Value::Map(map)
    }
}

/// The number of an event, and whether it is an action of this agent.
pub(crate) fn look(event: &Value, agent: &str) -> (u64, bool) {
    let Value::Map(event) = event else { return (0, false) };
    let number = match event.get("number") {
        Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
        Some(_) | None => 0,
    };
    let is = |name: &str, wanted: &dyn Fn(&str) -> bool| matches!(event.get(name), Some(Value::Text(text)) if wanted(text));
    (number, is("by", &|by| by == agent) && is("action", &|action| !action.is_empty()))
}
