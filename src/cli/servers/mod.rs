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
