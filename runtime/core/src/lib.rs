//! The statechart model and step semantics that chartc's interpreter and generated code share.
//!
//! Without features this crate neither allocates nor needs `std`: it holds the [`tables`] of a chart, the step algorithm over
//! them ([`semantics::Engine`]) and the trait by which a chart's guards and actions are asked ([`program::Program`]).
//! Feature `alloc` (default) adds the resolved [`model`], [`expr`]essions and the [`interpreter`].
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod arena;
pub mod bits;
pub mod caller;
#[cfg(feature = "alloc")]
pub mod calls;
#[cfg(feature = "alloc")]
pub mod describe;
pub mod direct;
#[cfg(feature = "alloc")]
pub mod drive;
pub mod duration;
#[cfg(feature = "alloc")]
pub mod expr;
#[cfg(feature = "alloc")]
pub mod family;
pub mod form;
pub mod forward;
pub mod generated;
#[cfg(feature = "alloc")]
pub mod interpreter;
pub mod machine;
#[cfg(feature = "alloc")]
pub mod model;
pub mod ops;
pub mod outbox;
#[cfg(feature = "alloc")]
pub mod plan;
pub mod prelude;
pub mod program;
pub mod semantics;
pub mod status;
pub mod store;
pub mod tables;
#[cfg(feature = "alloc")]
pub mod visible;
