//! Events by name, as a host gives them.

use super::Tables;
use crate::arena::EventId;

/// The name of the event that stands for all that are not declared. A chart that declares it takes any event of the host.
pub const CATCH_ALL: &str = "*";

impl Tables<'_> {
    /// Whether any event of the host is taken, declared or not.
    pub fn is_open(&self) -> bool {
        self.exactly(CATCH_ALL).is_some()
    }

    /// The event that a name of the host means: the declared one of this name. Where [`CATCH_ALL`] is declared, another name is the
    /// longest declared one that it begins with, dots dividing names, else [`CATCH_ALL`] itself.
    pub fn event_named(&self, name: &str) -> Option<EventId> {
        if let Some(found) = self.exactly(name) {
            return Some(found);
        }
        let any = self.exactly(CATCH_ALL)?;
        let mut prefixes = name.rmatch_indices('.').map(|(at, _)| &name[..at]);
        Some(prefixes.find_map(|prefix| self.exactly(prefix)).unwrap_or(any))
    }

    fn exactly(&self, name: &str) -> Option<EventId> {
        self.events.iter().position(|event| event.name == name).map(EventId::at)
    }
}
