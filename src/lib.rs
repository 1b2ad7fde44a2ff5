//! chartc compiles declarative statecharts of agent behaviours: text to model, checks, pictures, Rust.
//!
//! [`check`] loads charts and says everything that is wrong with them; a chart without errors is a [`Checked`], which
//! [`emit`] draws or generates Rust from. Build scripts call [`build::compile`].
//!
//! ```
//! use chartc::load::Memory;
//!
//! let text = "chart Door {\n  event open\n  initial closed\n  state closed { on open -> opened }\n  final opened\n}\n";
//! let files = Memory::of("door.chart", text);
//! let checked = chartc::check(&["door.chart".to_owned()], &files);
//! assert!(checked.diagnostics.is_empty());
//! let mermaid = (chartc::emit::mermaid::EMITTER.emit)(&checked.charts[0], &chartc::emit::Options::default());
//! assert!(mermaid.is_ok_and(|picture| picture.contains("stateDiagram")));
//! ```
//!
//! The stages are crates of their own, whose interfaces follow the needs of this one: `chartc-text` reads and prints,
//! `chartc-check` lowers and analyses, `chartc-emit` draws and generates. What is exported here is what stays.
#![doc = ""]
#![doc = include_str!("ARCHITECTURE.md")]

pub mod build;
#[cfg(feature = "run")]
pub mod chart_compiler;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod costs;
mod disk;
#[cfg(feature = "lsp")]
pub mod editor;
#[cfg(feature = "cli")]
pub mod keys;
pub mod report;
#[cfg(feature = "run")]
pub mod scenario;

#[doc(inline)]
pub use chartc_check::compile::{Checked, Compilation, check, check_within};
pub use chartc_emit as emit;
#[doc(inline)]
pub use chartc_text::{diagnostic, load, source, span};
