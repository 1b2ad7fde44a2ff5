//! The option `--otel`: exports runs as spans to a collector.

#[cfg(not(feature = "otel"))]
mod absent;
#[cfg(feature = "otel")]
mod exporting;

#[cfg(not(feature = "otel"))]
use absent as spans;
#[cfg(feature = "otel")]
use exporting as spans;

pub(super) use spans::{Exporting, Options};
