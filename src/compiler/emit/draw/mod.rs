//! Pictures of charts: for Graphviz, for Mermaid, and as text for a terminal.

pub mod dot;
pub mod mermaid;
pub mod outline;
pub(super) mod picture;
