//! `--tools`: the servers, commands and endpoints that make a run's tool calls.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod findings;
#[cfg(feature = "mcp")]
mod pooled;

#[cfg(not(feature = "mcp"))]
pub(super) use absent::Options;
#[cfg(feature = "mcp")]
pub(super) use findings::{Found, found, json, write_findings};
#[cfg(feature = "mcp")]
pub(super) use pooled::{Options, Serving, configuration, heard};

/// What else a run's tools come from: the words of `--llm` and `--functions`.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "a build without servers asks nobody"))]
pub(super) struct Beside<'a> {
    pub(super) llm: Option<&'a str>,
    pub(super) functions: Option<&'a std::path::Path>,
}
