//! Answers an editor's questions: names and their uses, symbols, hover, completion, colours, hints, lenses, folds, actions.
//!
//! An editor asks about text that is being written, so it is usually broken, and the answers must still be of use. All functions are
//! pure: they take a [`Compilation`](crate::Compilation) and an offset in bytes, and know no protocol, no files and no clock. The
//! language server (`chartc lsp`) translates and keeps the texts. For a click on `open` in `on reply -> open`:
//!
//! 1. The server compiles the text with an index of names ([`Compilation::uses`](crate::Compilation::uses)), and turns line and
//!    column into an offset.
//! 2. [`names::definition`] looks the offset up in the index, and returns the span of `state open`.
//! 3. The server turns the span into a file and a range.
//!
//! What lowering has resolved comes from the compilation. Where the text has errors, modules read the syntax ([`known`], `syntax::visit`),
//! the tokens, or the text itself with readers that never fail ([`xml`], [`yaml`]).

pub mod actions;
pub mod complete;
pub mod folds;
pub mod hints;
pub mod hover;
mod known;
pub mod names;
mod notation;
pub mod outline;
pub mod tokens;
mod xml;
pub mod yaml;

// Determines the notation of a file.

// Formats parts of a declaration.
