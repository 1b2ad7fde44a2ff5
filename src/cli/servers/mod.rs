//! The option `--tools`: servers, commands and endpoints that make the tool calls of a run.

#[cfg(not(feature = "mcp"))]
mod absent;
#[cfg(feature = "mcp")]
mod pooled;

#[cfg(not(feature = "mcp"))]
pub(super) use absent::Options;
#[cfg(feature = "mcp")]
pub(super) use pooled::{
    Found, Options, Serving, configuration, finding_json, found, heard, write_findings,
};

/// The other sources of tool results: the values of `--llm` and `--functions`.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "a build without servers asks nobody"))]
pub(super) struct Beside<'a> {
    pub(super) llm: Option<&'a str>,
    pub(super) functions: Option<&'a std::path::Path>,
}
