//! Looks up events by the name that a host uses.

use super::Tables;
use crate::arena::EventId;

/// The name of an event that stands for all undeclared ones. A chart that declares it accepts any event of the host.
pub const CATCH_ALL: &str = "*";

impl Tables<'_> {
    /// Whether the chart accepts any event of the host, declared or not.
    pub fn is_open(&self) -> bool {
        self.exactly(CATCH_ALL).is_some()
    }

    /// The event for a name that the host uses. Without [`CATCH_ALL`], only a declared event of this name; with it, any other name means
    /// the event of its longest declared dotted prefix, or else [`CATCH_ALL`] itself.
    #[inline]
    pub fn event_named(&self, name: &str) -> Option<EventId> {
        if let Some(found) = self.exactly(name) {
            return Some(found);
        }
        let any = self.exactly(CATCH_ALL)?;
        // From the last dot on, so the longest prefix comes first.
        let mut prefixes = name.rmatch_indices('.').map(|(at, _)| &name[..at]);
        Some(prefixes.find_map(|prefix| self.exactly(prefix)).unwrap_or(any))
    }

    #[inline]
    fn exactly(&self, name: &str) -> Option<EventId> {
        self.events.iter().position(|event| event.name == name).map(EventId::at)
    }
}
