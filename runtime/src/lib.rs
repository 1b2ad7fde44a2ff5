//! Runs charts: what `chartc-core` decides, this crate does.

pub mod clock;
pub mod ladder;
pub mod oracle;
pub mod schema;

pub use chartc_core as core;
