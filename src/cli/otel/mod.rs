//! `--otel`: runs as spans for a collector.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod exporting;

#[cfg(not(feature = "otel"))]
pub(super) use absent::{Exporting, Options};
#[cfg(feature = "otel")]
#[cfg_attr(
    not(feature = "serve"),
    expect(unused_imports, reason = "runs name only what they are given")
)]
pub(super) use exporting::{Exporting, Options};
