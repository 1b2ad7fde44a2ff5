//! chartc compiles declarative statecharts of agent behaviours: text to model, checks, pictures, Rust.
//!
//! The stages, in order: [`load`] → [`front`] → [`lower`] → [`facts`] → [`lint`] → [`emit`]; `src/ARCHITECTURE.md` tells
//! who may know whom. [`check`] runs all but the last; `scenario`, with feature `run`, plays the tests of what was checked.
#![doc = ""]
#![doc = include_str!("ARCHITECTURE.md")]

mod allow;
pub mod build;
pub mod compile;
pub mod diagnostic;
mod disguise;
mod disk;
pub mod emit;
pub mod explore;
pub mod facts;
pub mod front;
pub mod lint;
pub mod load;
pub mod lower;
pub mod notation;
pub mod print;
pub mod report;
pub mod rules;
#[cfg(feature = "run")]
pub mod scenario;
pub mod source;
pub mod span;
mod spelling;
pub mod syntax;
pub mod turn;

#[cfg(feature = "cli")]
pub mod cli;

pub use compile::{Checked, Compilation, check, check_within};
