//! The providers whose names are known, and where they are.

use crate::wire::{Wire, anthropic, gemini, openai};

/// A provider that a client may name, as `"name:model"`.
pub struct Provider {
    /// Before the colon.
    pub name: &'static str,
    /// Where it is, if nobody says so.
    pub url: &'static str,
    /// Whether it wants a key there.
    pub wants_key: bool,
    pub(crate) wire: Wire,
}

/// All of them. To add one: a row here, and a wire if it speaks an interface of its own.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "openai",
        url: "https://api.openai.com/v1",
        wants_key: true,
        wire: openai::WIRE,
    },
    Provider {
        name: "anthropic",
        url: "https://api.anthropic.com/v1",
        wants_key: true,
        wire: anthropic::WIRE,
    },
    Provider {
        name: "gemini",
        url: "https://generativelanguage.googleapis.com/v1beta",
        wants_key: true,
        wire: gemini::WIRE,
    },
    Provider {
        name: "ollama",
        url: "http://localhost:11434/v1",
        wants_key: false,
        wire: openai::WIRE,
    },
];

/// The provider with a name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// How a provider is spoken to: one whose name is not known as OpenAI is.
pub(crate) fn wire(name: &str) -> &'static Wire {
    const OTHER: Wire = openai::WIRE;
    provider(name).map_or(&OTHER, |provider| &provider.wire)
}
