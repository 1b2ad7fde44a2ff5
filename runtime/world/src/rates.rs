//! Rates.

/// What a window can bound.
pub const RESOURCES: [&str; 5] = ["llm_calls", "llm_tokens", "tool_calls", "actions", "spawns"];
