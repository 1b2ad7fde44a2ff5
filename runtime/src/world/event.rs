//! Events of a world, in the form in which agents see them: the same fields in every world.

use chartc_core::expr::{Map, Value};

/// The maximum number of events that an agent sees in a turn; the latest ones.
pub const EVENTS: usize = 20;

/// An event of a world. All fields are always present; a text that does not apply is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The position among all events, from 1. An action that causes no event has the number of the event before it.
    pub number: u64,
    /// The tick of the event; in a world without ticks, the agent's turn.
    pub tick: u64,
    /// The kind of event: `written`, `invoked`, `minted` and so on.
    pub event: &'a str,
    /// The name of the agent that caused it.
    pub by: &'a str,
    /// The action, such as `write_artifact`; empty for events that are no actions.
    pub action: &'a str,
    /// The id of the artifact that it concerns.
    pub artifact: &'a str,
    /// Whether it succeeded. Only actions can fail.
    pub success: bool,
}

impl Event<'_> {
    /// The event as a value, followed by the fields that only events of this kind have.
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
            // Further fields never replace the common ones.
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
