//! The table of known providers: names, addresses, and the API that each speaks.

use crate::wire::{Wire, anthropic, gemini, ollama, openai};

/// A provider that a client may name, as in `"openai:gpt-5"`.
pub struct Provider {
    /// The name, the part of a client's model before the colon.
    pub name: &'static str,
    /// The base URL that is used unless another is set.
    pub url: &'static str,
    /// Whether requests to `url` need an API key.
    pub wants_key: bool,
    /// The shell command that starts its server; empty for a hosted service.
    pub start: &'static str,
    pub(crate) wire: Wire,
}

/// All known providers. To add one, add a row here, and a file in `wire` if it has an API of its own.
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

/// Finds a provider by its name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The API for a server: OpenAI's if the provider is unknown, or if the address ends with `/v1` although the provider's own address does
/// not (Ollama, for example, offers OpenAI's API below `/v1`).
pub(crate) fn wire(known: Option<&'static Provider>, url: &str) -> &'static Wire {
    const OTHER: Wire = openai::WIRE;
    match known {
        Some(known) if url.ends_with("/v1/") && !known.url.contains("/v1") => &OTHER,
        Some(known) => &known.wire,
        None => &OTHER,
    }
}
