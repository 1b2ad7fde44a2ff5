//! Determines the notation of a file.

use chartc_text::front::{FRONTENDS, Frontend, agent, scxml};
use chartc_text::source::Source;

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// A `.chart` file.
    Chart,
    /// An `agent.yaml`, a component or a run file.
    Yaml,
    /// An SCXML document.
    Xml,
}

/// The notation of a source, by its name or, if that says nothing, by its text.
pub(super) fn notation(source: &Source) -> Notation {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name);
    if name.ends_with(".yaml") || name.ends_with(".yml") {
        return Notation::Yaml;
    }
    let named = FRONTENDS.iter().find(|front| (front.takes)(name));
    let front = named.or_else(|| FRONTENDS.iter().find(|front| (front.looks)(&source.text)));
    let is = |one: &Frontend| front.is_some_and(|front| front.name == one.name);
    if is(&agent::FRONTEND) {
        Notation::Yaml
    } else if is(&scxml::FRONTEND) {
        Notation::Xml
    } else {
        Notation::Chart
    }
}
