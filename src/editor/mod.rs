//! What an editor asks of the compiler: names and their uses, symbols, hover, completion, colours, hints, lenses, folds, actions.
//!
//! Pure functions of a [`Compilation`](crate::Compilation) and a place in one of its files, in bytes. No protocol, no files, no
//! clock: the language server (`chartc lsp`) translates, and keeps the texts.

pub mod actions;
pub mod complete;
pub mod folds;
pub mod hints;
pub mod hover;
mod known;
pub mod lenses;
pub mod names;
mod notation;
pub mod outline;
mod show;
pub mod tokens;
mod visit;
mod xml;
pub mod yaml;
