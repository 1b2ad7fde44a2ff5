//! What must hold whatever the input is. Each function is one fuzz target; the tests of the project run them on every input that is
//! kept, each part where what it needs is linked: `language` needs the compiler only.

pub mod editor;
#[path = "language.rs"]
pub mod language;
pub mod network;
pub mod store;

pub use editor::lsp;
pub use language::*;
pub use network::{http, mcp};
pub use store::store;
