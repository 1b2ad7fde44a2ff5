//! What tests of several layers share.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start programs"
)]

pub mod cases;
pub mod chance;
pub mod hostile;
pub mod kept;
pub mod mermaid;
pub mod project;
