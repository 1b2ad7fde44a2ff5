//! The statechart model and step semantics that chartc's interpreter and generated code share.
//!
//! Without features this crate neither allocates nor needs `std`: it contains the [`tables`] of a chart, the step algorithm over them
//! ([`semantics::Stepper`]), and the trait through which it evaluates a chart's guards and actions ([`program::Program`]). The feature
//! `alloc` (default) adds the resolved [`model`], [`expr`]essions and the [`interpreter`].
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod arena;
mod caller;
#[cfg(feature = "alloc")]
mod calls;
mod duration;
#[cfg(feature = "alloc")]
pub mod expr;
mod failure;
#[cfg(feature = "alloc")]
pub mod family;
mod form;
mod forward;
pub mod generated;
#[cfg(feature = "alloc")]
pub mod host;
#[cfg(feature = "alloc")]
pub mod interpreter;
pub mod machine;
#[cfg(feature = "alloc")]
pub mod model;
mod ops;
mod outbox;
#[cfg(feature = "alloc")]
pub mod plan;
pub mod program;
#[cfg(feature = "alloc")]
pub mod saved;
pub mod semantics;
mod status;
pub mod store;
pub mod structure;
pub mod tables;
#[cfg(feature = "alloc")]
mod value;
#[cfg(feature = "alloc")]
pub mod visible;
#[cfg(feature = "alloc")]
pub mod wording;
