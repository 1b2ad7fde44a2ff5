//! What must hold for any input. Each function is one fuzz target. The tests of the project run them on all kept inputs, each module in
//! the test program that links what it needs: `language` needs the compiler only.

pub mod editor;
pub mod language;
pub mod network;
pub mod store;

pub use editor::lsp;
pub use language::*;
pub use network::{http, mcp};
pub use store::store;
