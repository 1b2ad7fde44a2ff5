//! Converts Python's syntax tree to expressions and statements of the language, and infers types.

mod call;
mod convert;
mod given;
mod scope;
mod statement;
mod ty;
mod walked;

pub(super) use convert::Converter;
pub(super) use given::InputUse;
pub(super) use scope::{AMOUNTS, OBSERVABLES, Role, Scope};
pub(super) use statement::is_identity;
pub(super) use ty::Ty;
pub(super) use walked::{Status, Walked};
