//! The providers whose names are known, and where they are.

use crate::wire::{Wire, anthropic, gemini, ollama, openai};

/// A provider that a client may name, as `"name:model"`.
pub struct Provider {
    /// Before the colon.
    pub name: &'static str,
    /// Where it is, if nobody says so.
    pub url: &'static str,
    /// Whether it wants a key there.
    pub wants_key: bool,
    /// The command that starts its server; empty for one that others run.
    pub start: &'static str,
    pub(crate) wire: Wire,
}

/// All of them. To add one: a row here, and a wire if it speaks an interface of its own.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "openai",
        url: "https://api.openai.com/v1",
        wants_key: true,
        start: "",
        wire: openai::WIRE,
    },
    Provider {
        name: "anthropic",
        url: "https://api.anthropic.com/v1",
        wants_key: true,
        start: "",
        wire: anthropic::WIRE,
    },
    Provider {
        name: "gemini",
        url: "https://generativelanguage.googleapis.com/v1beta",
        wants_key: true,
        start: "",
        wire: gemini::WIRE,
    },
    Provider {
        name: "ollama",
        url: "http://localhost:11434",
        wants_key: false,
        start: "ollama serve",
        wire: ollama::WIRE,
    },
    Provider {
        name: "lmstudio",
        url: "http://localhost:1234/v1",
        wants_key: false,
        start: "lms server start",
        wire: openai::WIRE,
    },
    Provider {
        name: "llamacpp",
        url: "http://localhost:8080/v1",
        wants_key: false,
        start: "llama-server -m MODEL.gguf",
        wire: openai::WIRE,
    },
    Provider {
        name: "vllm",
        url: "http://localhost:8000/v1",
        wants_key: false,
        start: "vllm serve MODEL",
        wire: openai::WIRE,
    },
];

/// The provider with a name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// How the server of a provider is spoken to: as OpenAI is, where the name is not known, and where an address ends with `/v1` although the
/// provider's own does not.
pub(crate) fn wire(known: Option<&'static Provider>, url: &str) -> &'static Wire {
    const OTHER: Wire = openai::WIRE;
    match known {
        Some(known) if url.ends_with("/v1/") && !known.url.contains("/v1") => &OTHER,
        Some(known) => &known.wire,
        None => &OTHER,
    }
}
