//! What editors are told: pure functions of a compilation, and the language server around them.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start its programs"
)]

mod actions;
mod client;
mod complete;
mod desk;
mod edits;
mod emacs;
mod folds;
mod fuzzed;
mod hints;
mod hover;
mod lenses;
mod names;
mod neovim;
mod outline;
mod pytest;
mod requests;
mod server;
mod tokens;
mod treesitter;
mod xml;
mod yaml;
