//! chartc compiles declarative statecharts of agent behaviours: text to model, checks, pictures, Rust.
//!
//! [`check`] loads charts and reports everything that is wrong with them. A chart without errors becomes a [`Checked`], which [`emit`]
//! draws or turns into Rust. Build scripts call [`build::compile`].
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
//! The stages are modules of the crate `chartc-compiler`, whose interface may change with any release; what this crate exports is stable.

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
pub mod ide;
#[cfg(feature = "cli")]
pub mod keys;
pub mod report;
#[cfg(feature = "run")]
pub mod scenario;
#[cfg(feature = "run")]
pub mod setup;

#[doc(inline)]
pub use chartc_compiler::compile::{Checked, Compilation, check, check_within};
pub use chartc_compiler::emit;
#[doc(inline)]
pub use chartc_compiler::front::load;
#[doc(inline)]
pub use chartc_compiler::syntax::{diagnostic, source};

/// Places in sources.
pub mod span {
    pub use chartc_compiler::syntax::source::{FileId, Ident, Span, Spanned};
}
